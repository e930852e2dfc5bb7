; What Typescript declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(extends_clause value: (_) @base)
(implements_clause (_) @base)
(extends_type_clause type: (_) @base)
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name value: [(object_type) (intersection_type)] @body) @interface
(type_alias_declaration name: (_) @name) @alias
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @field))
(type_alias_declaration value: (intersection_type (object_type (property_signature name: (_) @name) @field)))
(type_alias_declaration value: (intersection_type (intersection_type (object_type (property_signature name: (_) @name) @field))))
(type_alias_declaration value: (intersection_type [(type_identifier) (generic_type) (nested_type_identifier)] @base))
(type_alias_declaration value: (intersection_type (intersection_type [(type_identifier) (generic_type) (nested_type_identifier)] @base)))
(type_alias_declaration value: (intersection_type (intersection_type (intersection_type [(type_identifier) (generic_type) (nested_type_identifier)] @base))))
(enum_declaration name: (_) @name body: (_) @body) @enum
(internal_module name: (_) @name body: (_) @body) @namespace
(module name: (_) @name body: (_) @body) @namespace
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @member
(abstract_method_signature name: (_) @name) @member
(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @member
(public_field_definition name: (_) @name) @field
(interface_body (property_signature name: (_) @name) @field)
(enum_body [(property_identifier) @name (enum_assignment name: (_) @name)] @field)
(internal_module body: (statement_block (export_statement (lexical_declaration (variable_declarator name: (identifier) @name)) @constant)))
(ambient_declaration (declaration)) @wrap
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name)) @constant)
(expression_statement . (internal_module) .) @wrap
