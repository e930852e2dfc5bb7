; What Swift declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(class_declaration declaration_kind: "struct") @struct.named
(class_declaration declaration_kind: "enum") @enum.named
(class_declaration declaration_kind: "extension") @extension.named
(class_declaration) @class.named
(protocol_declaration) @protocol.named
(function_declaration) @function.named
(protocol_function_declaration) @method.named
(init_declaration "init" @name body: (_)? @body) @constructor
(deinit_declaration "deinit" @name body: (_)? @body) @method
(subscript_declaration "subscript" @name) @method
(source_file (property_declaration name: (pattern bound_identifier: (_) @name)) @constant)
(class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @property)
(enum_class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @property)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @property
(enum_entry) @field.named
(typealias_declaration "typealias" . name: (_) @name) @alias
(inheritance_specifier inherits_from: (_) @base)
(attribute) @decorator
[(comment) (multiline_comment)] @comment
(call_expression . [(simple_identifier) @call (navigation_expression suffix: (navigation_suffix suffix: (_) @call))])
[(if_statement) (guard_statement) (for_statement) (while_statement) (repeat_while_statement) (switch_entry) (catch_block)
 (ternary_expression)] @branch
[(conjunction_expression) (disjunction_expression) (nil_coalescing_expression)] @branch
(import_declaration (identifier) @import)
