; What Dart declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(class_definition name: (_) @name body: (_) @body) @class
(mixin_declaration (mixin) . (identifier) @name (class_body) @body) @trait
(enum_declaration name: (_) @name body: (_) @body) @enum
(extension_declaration name: (_) @name body: (_) @body) @class
(extension_declaration !name class: (_) @name body: (_) @body) @extension
(extension_type_declaration name: (_) @name body: (_) @body) @class
(type_alias . (type_identifier) @name) @alias
(enum_constant name: (_) @name) @field
(program [(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name)] @function)
(lambda_expression parameters: (function_signature name: (_) @name) body: (_) @body) @function
(_ [(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name)]) @member
(_ [(constructor_signature (identifier) @name . (formal_parameter_list))
  (factory_constructor_signature (identifier) @name . (formal_parameter_list))
  (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))
  (constant_constructor_signature (identifier) @name . (formal_parameter_list))]) @constructor
(function_body) @rest
(declaration [(initialized_identifier_list . (initialized_identifier . (identifier) @name))
  (static_final_declaration_list . (static_final_declaration . (identifier) @name))]) @field
(program [(initialized_identifier_list . (initialized_identifier . (identifier) @name))
  (static_final_declaration_list . (static_final_declaration . (identifier) @name))] @constant)
[(superclass (type_identifier) @base) (mixins (type_identifier) @base) (interfaces (type_identifier) @base)]
(annotation) @decorator
[(comment) (documentation_comment)] @comment
((identifier) @call . (selector (argument_part)))
((selector (_ (identifier) @call)) . (selector (argument_part)))
[(if_statement) (for_statement) (while_statement) (do_statement) (switch_statement_case) (catch_clause)
 (conditional_expression) (logical_and_expression) (logical_or_expression) (if_null_expression)] @branch
(configurable_uri (uri (string_literal) @import))
(part_directive (uri (string_literal) @import))
