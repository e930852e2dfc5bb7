; What Java declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(record_declaration name: (_) @name body: (_) @body) @record
(annotation_type_declaration name: (_) @name body: (_) @body) @annotation
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_) @body) @constructor
(compact_constructor_declaration name: (_) @name body: (_) @body) @constructor
(annotation_type_element_declaration name: (_) @name) @method
(class_body (field_declaration (variable_declarator name: (_) @name)) @field)
(interface_body (constant_declaration (variable_declarator name: (_) @name)) @field)
(enum_constant name: (_) @name) @field
(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
[(marker_annotation) (annotation)] @decorator
[(line_comment) (block_comment)] @comment
(method_invocation name: (_) @call)
(object_creation_expression type: [(type_identifier) @call (generic_type . (type_identifier) @call)])
[(if_statement) (for_statement) (enhanced_for_statement) (while_statement) (do_statement) (switch_label) (catch_clause)
 (ternary_expression)] @branch
["&&" "||"] @branch
(import_declaration [(scoped_identifier) (identifier)] @import)
