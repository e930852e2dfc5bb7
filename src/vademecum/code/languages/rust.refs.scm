; What Rust refers to. The vocabulary of captures is explained in references.py.
(call_expression function: (_) @call)
(macro_invocation macro: (_) @call)
(struct_expression name: (_) @new)
(use_declaration) @using
(mod_item !body) @using
(parameter pattern: (identifier) @name type: (_) @type)
(closure_parameters (identifier) @name)
(let_declaration pattern: (identifier) @name type: (_) @type)
(let_declaration pattern: (identifier) @name !type value: (_) @value)
(for_expression pattern: (identifier) @name value: (_) @each)
(let_condition pattern: (tuple_struct_pattern (identifier) @name))
(match_pattern (tuple_struct_pattern (identifier) @name))
(field_declaration name: (_) @name type: (_) @type)
(function_item return_type: (_) @return)
(function_signature_item return_type: (_) @return)
(arguments [(identifier) (scoped_identifier)] @load)
(closure_expression) @inner
(token_tree (identifier) @token . (token_tree))
