; What only JavaScript refers to, on top of what it shares with TypeScript.
(field_definition property: (_) @name value: (_) @value)
(for_in_statement left: (identifier) @name right: (_) @each)
(formal_parameters (identifier) @name)
(formal_parameters (assignment_pattern left: (identifier) @name))
(rest_pattern (identifier) @name)
(jsx_opening_element name: (_) @call)
(jsx_self_closing_element name: (_) @call)
