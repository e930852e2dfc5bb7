; What Scala declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(class_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name body: (_)? @body) @object
(package_object name: (_) @name body: (_)? @body) @object
(trait_definition name: (_) @name body: (_)? @body) @trait
(enum_definition name: (_) @name body: (_) @body) @enum
(simple_enum_case name: (_) @name) @field
(full_enum_case name: (_) @name) @field
(function_definition name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name) @function
(extension_definition parameters: (parameters (parameter type: (_) @name))) @extension
(type_definition name: (_) @name) @alias
(given_definition name: (_) @name) @constant
(compilation_unit [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)] @constant)
(template_body [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)
  (val_declaration name: (identifier) @name) (var_declaration name: (identifier) @name)] @field)
(extends_clause type: (_) @base)
(annotation) @decorator
[(comment) (block_comment)] @comment
(call_expression function: [(identifier) @call (field_expression field: (_) @call)
  (generic_function function: [(identifier) @call (field_expression field: (_) @call)])])
(instance_expression . [(type_identifier) @call (generic_type . (type_identifier) @call)])
[(if_expression) (for_expression) (while_expression) (case_clause) (catch_clause)] @branch
(import_declaration path: (_)) @import
