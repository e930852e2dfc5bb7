; What C refers to. The vocabulary of captures is explained in find_references.py.
(call_expression function: (_) @call)
(preproc_include) @using
(parameter_declaration type: (_) @type declarator: (_) @name)
(declaration type: (_) @type declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)])])
(field_declaration type: (_) @type declarator: [(field_identifier) @name (pointer_declarator declarator: (field_identifier) @name)])
(function_definition type: (_) @return)
(argument_list (identifier) @load)
(argument_list (pointer_expression (identifier) @load))
(init_declarator value: (identifier) @load)
(initializer_list (identifier) @load)
(initializer_pair value: (identifier) @load)
(assignment_expression right: (identifier) @load)
; a name that is read, and may be a constant or a macro
[
  (binary_expression (identifier) @constant)
  (unary_expression argument: (identifier) @constant)
  (conditional_expression (identifier) @constant)
  (parenthesized_expression (identifier) @constant)
  (return_statement (identifier) @constant)
  (case_statement value: (identifier) @constant)
  (subscript_expression (identifier) @constant)
  (array_declarator size: (identifier) @constant)
]
(preproc_if [(function_definition) (declaration) (preproc_def) (preproc_function_def)] @conditional)
(preproc_ifdef [(function_definition) (declaration) (preproc_def) (preproc_function_def)] @conditional)
(preproc_else [(function_definition) (declaration) (preproc_def) (preproc_function_def)] @conditional)
(preproc_elif [(function_definition) (declaration) (preproc_def) (preproc_function_def)] @conditional)
[(compound_statement) (for_statement)] @block
