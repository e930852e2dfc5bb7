; What Kotlin refers to. The vocabulary of captures is explained in find_references.py.
(package_header (_) @package)
(call_expression . (_) @call)
(import) @using
(parameter (identifier) @name . (_) @type)
(class_parameter (identifier) @name . [(user_type) (nullable_type)] @type)
(class_parameter (identifier) @field . [(user_type) (nullable_type)] @type)
(variable_declaration (identifier) @name . (_) @type)
(property_declaration (variable_declaration (identifier) @name .) (_) @value .)
(for_statement (variable_declaration (identifier) @name .) . (_) @each)
(lambda_parameters (variable_declaration (identifier) @name .))
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @return)
(callable_reference) @load
(type_arguments (type_projection (user_type) @ref))
(lambda_literal) @inner
(type_parameter . (identifier) @alias (user_type) @type)
(type_parameter (identifier) @alias .)
