; What Python declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_definition name: (identifier) @name body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
(decorated_definition) @wrap
(decorator (_) @decorator)
(type_alias_statement left: (type (identifier) @name)) @alias

(module (expression_statement (assignment left: (identifier) @name)) @constant)
(module (expression_statement (assignment left: (pattern_list (identifier) @name))) @constant)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @field))

(block . (expression_statement (string) @docstring))
(module . (comment)* . (expression_statement (string) @docstring))
(comment) @comment

(call function: [(identifier) @call (attribute attribute: (identifier) @call)])

(import_statement name: [(dotted_name) @import (aliased_import name: (dotted_name) @import)])
(import_from_statement module_name: (_) @import)
