; What Kotlin declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(class_declaration "interface" name: (_) @name) @interface
(class_declaration (modifiers (class_modifier) @_enum) name: (_) @name (#eq? @_enum "enum")) @enum
(class_declaration name: (_) @name) @class
(class_declaration [(class_body) (enum_class_body)] @body)
(object_declaration name: (_) @name (class_body)? @body) @object
(companion_object name: (_)? @name (class_body)? @body) @object
(function_declaration name: (_) @name) @function
(function_declaration [(user_type) @scope (nullable_type (user_type) @scope)] name: (_))
(function_declaration (function_body) @body)
(secondary_constructor "constructor" @name (block)? @body) @constructor
(anonymous_initializer "init" @name (block) @body) @constructor
(source_file (property_declaration (variable_declaration . (identifier) @name)) @property)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @property)
(class_parameter ["val" "var"] . (identifier) @name) @property
(enum_entry . (identifier) @name) @field
(type_alias type: (_) @name) @alias
(delegation_specifiers (delegation_specifier [(user_type) @base (constructor_invocation (user_type) @base)]))
(annotation) @decorator
[(line_comment) (block_comment)] @comment
(call_expression . [(identifier) @call (navigation_expression (identifier) @call .)])
[(if_expression) (for_statement) (while_statement) (do_while_statement) (when_entry) (catch_block)] @branch
["&&" "||" "?:"] @branch
(import (qualified_identifier) @import)
