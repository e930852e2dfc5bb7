; What C declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_definition body: (_) @body) @function
(function_declarator declarator: (identifier) @name)
; In a body of a function it is a variable that is made with arguments.
(translation_unit (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(declaration_list (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(linkage_specification (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(preproc_if (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(preproc_ifdef (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(preproc_else (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(preproc_elif (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(ERROR (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(preproc_function_def name: (_) @name) @macro
(preproc_def name: (_) @name value: (_)) @constant
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @union
(enum_specifier name: (_) @name body: (_) @body) @enum
(field_declaration declarator: [(field_identifier) @name (pointer_declarator declarator: (field_identifier) @name)
  (array_declarator declarator: (field_identifier) @name)]) @field
(enumerator name: (_) @name) @field
(type_definition) @alias
(type_definition declarator: [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name) (function_declarator declarator: (_) @name)])
(declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)])) @constant
(comment) @comment
(call_expression function: [(identifier) @call (field_expression field: (_) @call)])
[(if_statement) (for_statement) (while_statement) (do_statement) (case_statement) (conditional_expression)] @branch
(binary_expression operator: ["&&" "||"] @branch)
(preproc_include path: (_) @import)
