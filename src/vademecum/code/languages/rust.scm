; What Rust declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @macro
(struct_item name: (_) @name body: (_)? @body) @struct
(union_item name: (_) @name body: (_) @body) @union
(enum_item name: (_) @name body: (_) @body) @enum
(trait_item name: (_) @name body: (_) @body) @trait
(trait_item bounds: (trait_bounds (_) @base))
(impl_item type: (_) @name body: (_)? @body) @impl
(impl_item trait: (_) @base)
(mod_item name: (_) @name body: (_) @body) @namespace
(type_item name: (_) @name) @alias
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(field_declaration name: (_) @name) @field
(enum_variant name: (_) @name) @field
(attribute_item (attribute) @_attribute) @decorator
[(line_comment) (block_comment)] @comment
(source_file (line_comment (inner_doc_comment_marker)) @docstring)
(call_expression function: [(identifier) @call (field_expression field: (_) @call) (scoped_identifier name: (_) @call)
  (generic_function function: [(identifier) @call (field_expression field: (_) @call) (scoped_identifier name: (_) @call)])])
(macro_invocation macro: [(identifier) @call (scoped_identifier name: (_) @call)])
[(if_expression) (match_arm) (while_expression) (for_expression) (loop_expression)] @branch
(binary_expression operator: ["&&" "||"] @branch)
(use_declaration argument: (_) @import)
(extern_crate_declaration name: (_) @import)
