; What Swift declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @extension
(class_declaration name: (_) @name body: (_) @body) @class
(protocol_declaration name: (_) @name body: (_) @body) @protocol
(function_declaration name: (_) @name body: (_)? @body) @function
(protocol_function_declaration name: (_) @name) @method
(init_declaration "init" @name body: (_)? @body) @constructor
(deinit_declaration "deinit" @name body: (_)? @body) @method
(subscript_declaration "subscript" @name) @method
(source_file (property_declaration name: (pattern bound_identifier: (_) @name)) @constant)
(class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @property)
(enum_class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @property)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @property
(enum_entry name: (_) @name) @field
(typealias_declaration "typealias" . name: (_) @name) @alias
(inheritance_specifier inherits_from: (_) @base)
(attribute) @decorator
[(comment) (multiline_comment)] @comment
(call_expression . [(simple_identifier) @call (navigation_expression suffix: (navigation_suffix suffix: (_) @call))])
[(if_statement) (guard_statement) (for_statement) (while_statement) (repeat_while_statement) (switch_entry) (catch_block)
 (ternary_expression)] @branch
[(conjunction_expression) (disjunction_expression) (nil_coalescing_expression)] @branch
(import_declaration (identifier) @import)
