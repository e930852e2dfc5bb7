; What Go refers to. The vocabulary of captures is explained in find_references.py.
(package_clause (_) @package)
(call_expression function: (_) @call)
(composite_literal type: (_) @new)
(import_spec) @using
(method_declaration receiver: (parameter_list (parameter_declaration name: (_) @name type: (_) @type)))
(parameter_list (parameter_declaration name: (_) @name type: (_) @type))
(parameter_list (variadic_parameter_declaration name: (_) @name))
(function_declaration result: (_) @return)
(method_declaration result: (_) @return)
(method_elem result: (_) @return)
(field_declaration name: (_) @name type: (_) @type)
(field_declaration !name type: (_) @embedded)
(interface_type (type_elem (_) @embedded))
(short_var_declaration left: (expression_list . (identifier) @name) right: (expression_list . (_) @value))
(short_var_declaration left: (expression_list (_) . (identifier) @name))
(var_spec name: (_) @name type: (_) @type)
(var_spec name: (_) @name !type value: (expression_list . (_) @value))
(range_clause left: (expression_list . (identifier) @name))
(range_clause left: (expression_list (_) . (identifier) @name) right: (_) @each)
(type_switch_statement alias: (expression_list (identifier) @name))
(argument_list [(identifier) (selector_expression)] @load)
(literal_value (literal_element (identifier) @load))
(keyed_element value: (literal_element [(identifier) (selector_expression)] @load))
; what is before the colon is a field of a struct, and a value in a map or an array
(composite_literal
  type: [(map_type) (array_type) (slice_type) (implicit_length_array_type)]
  body: (literal_value (keyed_element key: (literal_element [(identifier) (selector_expression)] @load))))
(func_literal) @inner
(type_parameter_declaration name: (identifier) @alias)
