; What only C++ refers to. The vocabulary of captures is explained in find_references.py.
(declaration type: (_) @type declarator: (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
  (reference_declarator (identifier) @name)] value: (_) @value))
(declaration type: (_) @type declarator: (reference_declarator (identifier) @name))
(declaration type: (_) @type declarator: (init_declarator declarator: (reference_declarator (identifier) @name)))
(compound_statement (declaration type: (_) @type declarator: (function_declarator declarator: (identifier) @name)))
(compound_statement (declaration declarator: (function_declarator parameters: (parameter_list
  (parameter_declaration type: [(type_identifier) (qualified_identifier)] @call declarator: (abstract_function_declarator))))))
(namespace_definition name: (_) @package body: (_) @space)
(new_expression type: (_) @new)
(field_declaration type: (_) @type declarator: (reference_declarator (field_identifier) @name))
(for_range_loop type: (_) @type declarator: [(identifier) @name (reference_declarator (identifier) @name)] right: (_) @each)
(field_declaration type: (_) @return declarator: (function_declarator))
(field_declaration type: (_) @return declarator: [(pointer_declarator (function_declarator)) (reference_declarator (function_declarator))])
(function_declarator (trailing_return_type (type_descriptor type: (_) @return)))
(template_argument_list (type_descriptor type: (type_identifier) @ref))
(using_declaration) @using
(lambda_expression) @inner
(type_parameter_declaration (type_identifier) @alias)
[(for_range_loop) (if_statement (condition_clause (declaration)))] @block
(alias_declaration name: (_) @alias type: (_) @type)
(type_definition type: [(type_identifier) (qualified_identifier) (template_type)] @type declarator: (type_identifier) @alias)
(compound_literal_expression type: [(type_identifier) (qualified_identifier) (template_type)] @new)
(field_initializer [(field_identifier) (qualified_identifier) (template_method)] @new)
