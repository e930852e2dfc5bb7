; What Kotlin refers to. The vocabulary of captures is explained in find_references.py.
(package_header (_) @package)
(call_expression . (_) @call)
(delegation_specifier (constructor_invocation (user_type) @new))
(constructor_delegation_call "super" @call)
(import) @using
(parameter (identifier) @name . (_) @type)
(class_parameter (identifier) @name . [(user_type) (nullable_type)] @type)
(class_parameter (identifier) @field . [(user_type) (nullable_type)] @type)
(variable_declaration (identifier) @name . (_) @type)
(property_declaration (variable_declaration (identifier) @name .) (_) @value .)
(for_statement (variable_declaration (identifier) @name .) . (_) @each)
(lambda_parameters (variable_declaration (identifier) @name .))
(multi_variable_declaration (variable_declaration (identifier) @name .))
(when_subject (variable_declaration (identifier) @name .) (_) @value)
(catch_block . (identifier) @name . (_) @type)
; elements and values that a lambda is given
(lambda_literal . (_)) @implied
(call_expression (navigation_expression (_) @each (identifier) @_method)
  (annotated_lambda (lambda_literal . (_) @_first) @implied)
  (#any-of? @_method "all" "any" "associate" "associateBy" "associateWith" "count" "distinctBy" "dropWhile" "filter" "filterNot" "find" "first"
    "firstOrNull" "flatMap" "forEach" "groupBy" "indexOfFirst" "last" "lastOrNull" "map" "mapNotNull" "maxByOrNull" "maxOf" "minByOrNull" "minOf"
    "none" "onEach" "partition" "removeAll" "removeIf" "single" "singleOrNull" "sortedBy" "sortedByDescending" "sumOf" "takeWhile"))
(call_expression (navigation_expression (_) @each (identifier) @_method)
  (annotated_lambda (lambda_literal (lambda_parameters . (variable_declaration (identifier) @name .) .)))
  (#any-of? @_method "all" "any" "associate" "associateBy" "associateWith" "count" "distinctBy" "dropWhile" "filter" "filterNot" "find" "first"
    "firstOrNull" "flatMap" "forEach" "groupBy" "indexOfFirst" "last" "lastOrNull" "map" "mapNotNull" "maxByOrNull" "maxOf" "minByOrNull" "minOf"
    "none" "onEach" "partition" "removeAll" "removeIf" "single" "singleOrNull" "sortedBy" "sortedByDescending" "sumOf" "takeWhile"))
(call_expression (navigation_expression (_) @value (identifier) @_method)
  (annotated_lambda (lambda_literal . (_) @_first) @implied) (#any-of? @_method "also" "let" "takeIf" "takeUnless"))
(call_expression (navigation_expression (_) @value (identifier) @_method)
  (annotated_lambda (lambda_literal (lambda_parameters . (variable_declaration (identifier) @name .) .)))
  (#any-of? @_method "also" "let" "takeIf" "takeUnless"))
; what is `this` in a lambda
(call_expression (navigation_expression (_) @value (identifier) @_method)
  (annotated_lambda (lambda_literal (_)) @receiving) (#any-of? @_method "apply" "run"))
(call_expression (call_expression (identifier) @_method (value_arguments . (value_argument (_) @value) .))
  (annotated_lambda (lambda_literal (_)) @receiving) (#eq? @_method "with"))
; what a function of the repository gives the lambda behind its call
(function_declaration (function_value_parameters) @taking)
(call_expression [(call_expression . (_) @given) (identifier) @given (navigation_expression) @given] (annotated_lambda (lambda_literal (_)) @handing))
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @return)
(callable_reference) @load
(type_arguments (type_projection (user_type) @ref))
(lambda_literal) @inner
(type_parameter . (identifier) @alias (user_type) @type)
(type_parameter (identifier) @alias .)
; what is read anywhere: a member, or a name that may be a constant or a property
[
  (binary_expression [(navigation_expression) @load (identifier) @constant])
  (unary_expression [(navigation_expression) @load (identifier) @constant])
  (range_expression [(navigation_expression) @load (identifier) @constant])
  (in_expression [(navigation_expression) @load (identifier) @constant])
  (is_expression [(navigation_expression) @load (identifier) @constant])
  (as_expression [(navigation_expression) @load (identifier) @constant])
  (parenthesized_expression [(navigation_expression) @load (identifier) @constant])
  (index_expression [(navigation_expression) @load (identifier) @constant])
  (interpolation [(navigation_expression) @load (identifier) @constant])
  (return_expression [(navigation_expression) @load (identifier) @constant])
  (throw_expression [(navigation_expression) @load (identifier) @constant])
  (function_body [(navigation_expression) @load (identifier) @constant])
  (block [(navigation_expression) @load (identifier) @constant])
  (lambda_literal [(navigation_expression) @load (identifier) @constant])
  (property_declaration [(navigation_expression) @load (identifier) @constant] .)
  (value_argument [(navigation_expression) @load (identifier) @constant] .)
  (assignment right: [(navigation_expression) @load (identifier) @constant])
  (if_expression [(navigation_expression) @load (identifier) @constant])
  (while_statement [(navigation_expression) @load (identifier) @constant])
  (for_statement [(navigation_expression) @load (identifier) @constant])
  (when_subject [(navigation_expression) @load (identifier) @constant])
  (when_entry [(navigation_expression) @load (identifier) @constant])
  (function_value_parameters [(navigation_expression) @load (identifier) @constant])
  (class_parameter [(navigation_expression) @load (identifier) @constant] .)
]
(call_expression (navigation_expression . (navigation_expression) @load))
(navigation_expression . (identifier) @constant (#match? @constant "^([a-z]|[A-Z][A-Z0-9_]*$)"))
; what tells the type of a name
(is_expression left: [(identifier) (navigation_expression)] @subject right: (_) @kind) @test
(when_expression (when_subject [(identifier) @subject (navigation_expression) @subject (variable_declaration (identifier) @subject)])
  (when_entry . condition: (type_test "is" (_) @kind) . (_)) @told)
