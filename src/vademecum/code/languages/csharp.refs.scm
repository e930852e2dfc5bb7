; What C# refers to. The vocabulary of captures is explained in find_references.py.
(constructor_initializer "base" @call)
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(invocation_expression function: (_) @call)
(object_creation_expression type: (_) @new)
(using_directive) @using
(parameter type: (_) @type name: (_) @name)
(method_declaration parameters: (parameter_list . (parameter (modifier) type: (_))) @taking)
(variable_declaration type: (_) @type (variable_declarator name: (_) @name))
(variable_declaration type: (implicit_type) (variable_declarator name: (_) @name (_) @value .))
(property_declaration type: (_) @type name: (_) @name)
(foreach_statement type: (_) @type left: (identifier) @name)
(foreach_statement type: (implicit_type) left: (identifier) @name right: (_) @each)
[(implicit_parameter) @name (parameter !type name: (_) @name) (tuple_pattern name: (_) @name) (recursive_pattern !type name: (_) @name)]
(recursive_pattern type: (_) @type name: (_) @name)
(from_clause name: (_) @name . (_) @each)
[(let_clause . (identifier) @name) (join_clause . (identifier) @name)]
(declaration_expression type: (_) @type name: (_) @name)
(declaration_pattern type: (_) @type name: (_) @name)
(catch_declaration type: (_) @type name: (_) @name)
(method_declaration returns: (_) @return)
(local_function_statement type: (_) @return)
(typeof_expression type: (_) @ref)
(cast_expression type: (_) @ref)
(type_argument_list (identifier) @ref)
(argument (identifier) @load)
(member_access_expression expression: (member_access_expression) @load)
; what is read anywhere else: a member, or a name that may be a constant or a property
[
  (argument (member_access_expression) @load)
  (binary_expression [(member_access_expression) @load (identifier) @constant])
  (prefix_unary_expression [(member_access_expression) @load (identifier) @constant])
  (conditional_expression [(member_access_expression) @load (identifier) @constant])
  (parenthesized_expression [(member_access_expression) @load (identifier) @constant])
  (return_statement [(member_access_expression) @load (identifier) @constant])
  (arrow_expression_clause [(member_access_expression) @load (identifier) @constant])
  (assignment_expression right: [(member_access_expression) @load (identifier) @constant])
  (element_access_expression expression: [(member_access_expression) @load (identifier) @constant])
  (interpolation [(member_access_expression) @load (identifier) @constant])
  (constant_pattern [(member_access_expression) @load (identifier) @constant])
  (variable_declarator name: (_) [(member_access_expression) @load (identifier) @constant] .)
  (switch_expression_arm [(member_access_expression) @load (identifier) @constant] .)
  (property_declaration value: [(member_access_expression) @load (identifier) @constant])
  (initializer_expression [(member_access_expression) @load (identifier) @constant])
  (if_statement condition: [(member_access_expression) @load (identifier) @constant])
  (while_statement condition: [(member_access_expression) @load (identifier) @constant])
  (foreach_statement right: [(member_access_expression) @load (identifier) @constant])
  (switch_statement value: [(member_access_expression) @load (identifier) @constant])
]
[(lambda_expression) (anonymous_method_expression)] @inner
; elements that a lambda is given
(invocation_expression function: (member_access_expression expression: (_) @each name: (identifier) @_method)
  arguments: (argument_list . (argument (lambda_expression parameters: (implicit_parameter) @name)))
  (#any-of? @_method "All" "Any" "Count" "Distinct" "DistinctBy" "Exists" "Find" "FindAll" "First" "FirstOrDefault" "ForEach" "GroupBy" "Last"
    "LastOrDefault" "Max" "MaxBy" "Min" "MinBy" "OrderBy" "OrderByDescending" "RemoveAll" "Select" "SelectMany" "Single" "SingleOrDefault"
    "SkipWhile" "Sum" "TakeWhile" "ToDictionary" "ToLookup" "Where"))
(type_parameter name: (identifier) @alias)
(type_parameter_constraints_clause . (identifier) @alias (type_parameter_constraint type: (_) @type))
