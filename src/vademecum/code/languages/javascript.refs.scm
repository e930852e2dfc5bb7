; What JavaScript refers to. The vocabulary of captures is explained in find_references.py.
(call_expression function: (_) @call)
(new_expression constructor: (_) @new)
(import_statement) @using
(call_expression function: (import) arguments: (arguments . (string))) @using
(export_statement) @exporting
((variable_declarator name: (_) @name value: (_) @value) (#not-match? @value "^inject[(][A-Z]\\w*[a-z]"))
; a class that a container is asked for, of which it gives an instance
((variable_declarator name: (_) @name value: (call_expression function: (identifier) @_inject arguments: (arguments . (identifier) @type)))
  (#eq? @_inject "inject") (#match? @type "^[A-Z]\\w*[a-z]"))
(variable_declarator name: (identifier) @holder value: (object) @members)
(arrow_function parameter: (identifier) @name)
(catch_clause parameter: [(identifier) (object_pattern)] @name)
(assignment_expression left: (member_expression) @name right: (_) @value)
(assignment_expression left: [(identifier) (object_pattern) (array_pattern)] @again right: (_) @value)
(return_statement (_) @returned)
(arrow_function body: [(identifier) (member_expression) (call_expression) (new_expression) (parenthesized_expression)
  (ternary_expression) (await_expression)] @returned)
(arguments [(identifier) (member_expression)] @load)
(pair value: (identifier) @load)
(array (identifier) @load)
(assignment_expression left: [(member_expression) (subscript_expression)] right: [(identifier) (member_expression)] @load)
(shorthand_property_identifier) @load
(member_expression object: (member_expression) @load)
; what is read anywhere else: a member, or a name that may be a constant
[
  (binary_expression [(member_expression) @load (identifier) @constant])
  (unary_expression argument: [(member_expression) @load (identifier) @constant])
  (ternary_expression [(member_expression) @load (identifier) @constant])
  (parenthesized_expression [(member_expression) @load (identifier) @constant])
  (subscript_expression [(member_expression) @load (identifier) @constant])
  (template_substitution [(member_expression) @load (identifier) @constant])
  (switch_case value: [(member_expression) @load (identifier) @constant])
  (pair value: (member_expression) @load)
  (computed_property_name [(member_expression) @load (identifier) @constant])
  (array (member_expression) @load)
  (spread_element [(member_expression) @load (identifier) @constant])
  (for_in_statement right: [(member_expression) @load (identifier) @constant])
  (await_expression [(member_expression) @load (identifier) @constant])
  (augmented_assignment_expression right: [(member_expression) @load (identifier) @constant])
  (assignment_pattern right: [(member_expression) @load (identifier) @constant])
  (expression_statement (member_expression) @load)
]
; elements that a callback is given
(call_expression function: (member_expression object: (_) @each property: (property_identifier) @_method)
  arguments: (arguments . (arrow_function parameter: (identifier) @name))
  (#any-of? @_method "forEach" "map" "filter" "find" "some" "every" "flatMap" "findIndex" "sort"))
[(arrow_function) (function_expression)] @inner
(method_definition "get" name: (_) @getter)
(binary_expression left: [(identifier) (member_expression)] @subject operator: "instanceof" right: [(identifier) (member_expression)] @kind) @test
