; What Haskell declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function name: (_) @name match: (_) @body) @function
(function (infix operator: (_) @name) match: (_) @body) @function
(function (infix operator: (infix_id (_) @name)) match: (_) @body) @function
(bind name: (_) @name match: (_) @body) @function
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synonym name: (_) @name) @alias
(class name: (_) @name declarations: (_)? @body) @class
(instance name: (_) @name declarations: (_)? @body) @impl
(data_constructor constructor: (_ name: (_) @name)) @field
(field name: (field_name (_) @name)) @field
(declarations (signature) @typing)
(class_declarations (signature name: (_) @name) @function)
[(comment) (haddock)] @comment
(apply function: [(variable) @call (qualified id: (variable) @call)])
[(conditional) (alternative) (guards) (multi_way_if)] @branch
(import module: (_) @import)
