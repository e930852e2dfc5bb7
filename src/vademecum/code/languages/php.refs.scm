; What PHP refers to. The vocabulary of captures is explained in find_references.py.
(namespace_definition name: (_) @package)
(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @object name: (name) @method)
(nullsafe_member_call_expression object: (_) @object name: (name) @method)
(scoped_call_expression scope: (_) @object name: (name) @method)
(object_creation_expression [(name) (qualified_name)] @new)
(namespace_use_declaration) @using
[(require_once_expression) (require_expression) (include_expression) (include_once_expression)] @using
(simple_parameter type: (_) @type name: (variable_name (name) @name))
(variadic_parameter type: (_) @type name: (variable_name (name) @name))
(simple_parameter !type name: (variable_name (name) @name))
(property_promotion_parameter type: (_) @type name: (variable_name (name) @name))
(property_promotion_parameter type: (_) @type name: (variable_name (name) @field))
(property_declaration type: (_) @type (property_element name: (variable_name (name) @name)))
(assignment_expression left: (variable_name (name) @name) right: (_) @value)
(assignment_expression left: (member_access_expression) @name right: (_) @value)
(foreach_statement . (_) @each (variable_name (name) @name))
(foreach_statement . (_) @each (pair (_) (variable_name (name) @name)))
(return_statement (_) @returned)
(catch_clause type: (type_list (_) @type) name: (variable_name (name) @name))
(method_declaration return_type: (_) @return)
(function_definition return_type: (_) @return)
(class_constant_access_expression . [(name) (qualified_name)] @ref)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @ref)
(class_constant_access_expression) @load
[(anonymous_function) (arrow_function)] @inner
; what a comment above says of types that the code leaves out
((comment) @docs . [(property_declaration) (method_declaration) (function_definition)] @documented)
((comment) @docs . (expression_statement (assignment_expression left: (variable_name)) @documented))
((comment) @docs . (foreach_statement . (_) [(variable_name) @documented (pair (_) (variable_name) @documented)]))
(binary_expression left: [(variable_name (name) @subject) (member_access_expression) @subject] operator: "instanceof" right: [(name) (qualified_name)] @kind) @test
