; What Go refers to. The vocabulary of captures is explained in find_references.py.
(package_clause (_) @package)
(call_expression function: (_) @call)
(type_conversion_expression type: (generic_type type: (_) @call))
(composite_literal type: (_) @new)
(argument_list . [(type_identifier) (qualified_type)] @new)
(import_spec) @using
(method_declaration receiver: (parameter_list (parameter_declaration name: (_) @name type: (_) @type)))
(parameter_list (parameter_declaration name: (_) @name type: (_) @type))
(parameter_list (variadic_parameter_declaration name: (_) @name type: (_) @type))
(function_declaration result: (_) @return)
(method_declaration result: (_) @return)
(method_elem result: (_) @return)
(field_declaration name: (_) @name type: (_) @type)
(field_declaration !name type: (_) @embedded)
(interface_type (type_elem (_) @embedded))
; of a struct with a name: one without has no scope of its own, and would hide the type in the function around
(type_spec type: (struct_type (field_declaration_list
  (field_declaration !name type: [(type_identifier) @name @type (qualified_type name: (_) @name) @type (generic_type type: (_) @name) @type]))))
((short_var_declaration left: (expression_list . (identifier) @name) right: (expression_list . (_) @value))
  (#not-match? @value "^make[(]"))
(short_var_declaration left: (expression_list (_) . (identifier) @name))
(short_var_declaration left: (expression_list (_) . (identifier) @further) right: (expression_list . (call_expression) @result .))
(type_spec name: (_) @collection type: [(slice_type) (array_type) (map_type)] @elements)
(var_spec name: (_) @name type: (_) @type)
(short_var_declaration
  left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression function: (identifier) @_make arguments: (argument_list . (_) @type)))
  (#eq? @_make "make"))
(var_spec
  name: (_) @name !type
  value: (expression_list . (call_expression function: (identifier) @_make arguments: (argument_list . (_) @type)))
  (#eq? @_make "make"))
(range_clause left: (expression_list . (identifier) @name))
(receive_statement left: (expression_list (identifier) @name))
(range_clause left: (expression_list (_) . (identifier) @name) right: (_) @each)
(type_switch_statement alias: (expression_list (identifier) @name))
(argument_list [(identifier) (selector_expression)] @load)
(literal_value (literal_element (identifier) @load))
(keyed_element value: (literal_element [(identifier) (selector_expression)] @load))
; what is before the colon is a field of a struct, and a value in a map or an array
(composite_literal
  type: [(map_type) (array_type) (slice_type) (implicit_length_array_type)]
  body: (literal_value (keyed_element key: (literal_element [(identifier) (selector_expression)] @load))))
(selector_expression operand: (selector_expression) @load)
; what is read anywhere else: a member, or a name that may be a constant
[
  (binary_expression [(selector_expression) @load (identifier) @constant])
  (unary_expression operand: [(selector_expression) @load (identifier) @constant])
  (index_expression [(selector_expression) @load (identifier) @constant])
  (slice_expression (selector_expression) @load)
  (parenthesized_expression [(selector_expression) @load (identifier) @constant])
  (if_statement condition: [(selector_expression) @load (identifier) @constant])
  (for_statement (selector_expression) @load)
  (for_clause condition: [(selector_expression) @load (identifier) @constant])
  (range_clause right: [(selector_expression) @load (identifier) @constant])
  (return_statement (expression_list [(selector_expression) @load (identifier) @constant]))
  (assignment_statement right: (expression_list [(selector_expression) @load (identifier) @constant]))
  (const_spec value: (expression_list [(selector_expression) @load (identifier) @constant]))
  (expression_switch_statement value: [(selector_expression) @load (identifier) @constant])
  (expression_case value: (expression_list [(selector_expression) @load (identifier) @constant]))
  (send_statement value: [(selector_expression) @load (identifier) @constant])
  (array_type length: [(selector_expression) @load (identifier) @constant])
]
(argument_list (identifier) @constant)
(func_literal) @inner
(type_parameter_declaration name: (identifier) @alias)
(type_switch_statement alias: (expression_list (identifier) @subject) (type_case . type: (_) @kind . (statement_list)) @told)
