; What Cpp declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_declarator declarator: [(field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)
(function_definition declarator: (operator_cast) @name)
(function_definition declarator: (qualified_identifier name: (operator_cast)) @name)
(declaration declarator: (function_declarator declarator: [(qualified_identifier) (destructor_name) (operator_name)])) @function
(declaration declarator: (reference_declarator (function_declarator))) @function
(template_declaration (declaration declarator: [(_ declarator: (identifier) parameters: (_))
  (_ !value declarator: (_ declarator: (identifier) parameters: (_)))]) @function)
(field_declaration declarator: (function_declarator)) @function
(field_declaration declarator: [(pointer_declarator (function_declarator)) (reference_declarator (function_declarator))]) @function
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field
; A test is a member of its fixture; its name comes after the macro's.
(function_declarator declarator: (identifier) @_macro parameters: (_
  . (_ type: (type_identifier) @scope !declarator) . (_ type: (type_identifier) @name !declarator) .)
  (#any-of? @_macro "TEST_F" "TEST_P" "TYPED_TEST" "TYPED_TEST_P"))
(class_specifier name: (_) @name body: (_) @body) @class
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(concept_definition name: (_) @name) @type
(alias_declaration name: (_) @name) @alias
(template_declaration) @wrap
(for_range_loop) @branch
(catch_clause) @branch
(call_expression function: [(qualified_identifier) @call (template_function name: (_) @call)
  (field_expression field: (template_method name: (_) @call))])
(new_expression type: (_) @call)
