; What Rust refers to. The vocabulary of captures is explained in find_references.py.
[(call_expression function: (_) @call) (macro_invocation macro: (_) @call)]
(struct_expression name: (_) @new)
[(use_declaration) (extern_crate_declaration) (mod_item !body)] @using
(parameter pattern: (identifier) @name type: (_) @type)
(closure_parameters (identifier) @name)
(let_declaration pattern: (identifier) @name type: (_) @type)
(let_declaration pattern: (identifier) @name !type value: (_) @value)
(for_expression pattern: [(identifier) @name (reference_pattern (identifier) @name)] value: (_) @each)
(tuple_struct_pattern type: (_) (identifier) @name)
(field_declaration name: (_) @name type: (_) @type)
[(function_item return_type: (_) @return) (function_signature_item return_type: (_) @return)]
(arguments [(identifier) (scoped_identifier)] @load)
; what is read anywhere else, and may be a constant or a variant
[
  (binary_expression [(scoped_identifier) @load (identifier) @constant])
  (unary_expression [(scoped_identifier) @load (identifier) @constant])
  (reference_expression value: [(scoped_identifier) @load (identifier) @constant])
  (parenthesized_expression [(scoped_identifier) @load (identifier) @constant])
  (index_expression [(scoped_identifier) @load (identifier) @constant])
  (range_expression [(scoped_identifier) @load (identifier) @constant])
  (array_expression [(scoped_identifier) @load (identifier) @constant])
  (tuple_expression [(scoped_identifier) @load (identifier) @constant])
  (return_expression [(scoped_identifier) @load (identifier) @constant])
  (match_pattern [(scoped_identifier) @load (identifier) @constant])
  (or_pattern [(scoped_identifier) @load (identifier) @constant])
  (match_arm value: [(scoped_identifier) @load (identifier) @constant])
  (match_expression value: [(scoped_identifier) @load (identifier) @constant])
  (block [(scoped_identifier) @load (identifier) @constant])
  (assignment_expression right: [(scoped_identifier) @load (identifier) @constant])
  (compound_assignment_expr right: [(scoped_identifier) @load (identifier) @constant])
  (let_declaration value: [(scoped_identifier) @load (identifier) @constant])
  (field_initializer value: [(scoped_identifier) @load (identifier) @constant])
  (const_item value: [(scoped_identifier) @load (identifier) @constant])
  (static_item value: [(scoped_identifier) @load (identifier) @constant])
  (type_cast_expression value: [(scoped_identifier) @load (identifier) @constant])
  (array_type length: [(scoped_identifier) @load (identifier) @constant])
]
(arguments (identifier) @constant)
(closure_expression) @inner
[(block) (match_arm)] @block
(token_tree [(identifier) (primitive_type)] @token . (token_tree))
; `lazy_static! { static ref A: B = ...; }`
(token_tree (identifier) @_ref . (identifier) @name . ":" . (identifier) @type . "=" (#eq? @_ref "ref"))
(token_tree (identifier) @_ref . (identifier) @name . ":" . (identifier) . ["<" "::"] (#eq? @_ref "ref"))
[(struct_item body: (ordered_field_declaration_list) @fields) (enum_variant body: (ordered_field_declaration_list) @fields)]
[(tuple_struct_pattern) (struct_pattern)] @pattern
; what an option or a result holds
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_holder . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name) (reference_pattern (identifier) @name)]) value: (_) @value
  (#any-of? @_holder "Some" "Ok"))
(let_declaration pattern: (tuple_struct_pattern type: (identifier) @_holder . (identifier) @name) value: (_) @value (#any-of? @_holder "Some" "Ok"))
(match_expression value: (_) @value body: (match_block (match_arm pattern: (match_pattern
  (tuple_struct_pattern type: (identifier) @_holder . [(identifier) @name (ref_pattern (identifier) @name) (reference_pattern (identifier) @name)]))))
  (#any-of? @_holder "Some" "Ok"))
; elements that a closure or a counting loop is given
(call_expression function: (field_expression value: (_) @each field: (field_identifier) @_method)
  arguments: (arguments . (closure_expression parameters: (closure_parameters . (identifier) @name)))
  (#any-of? @_method "map" "for_each" "filter_map" "flat_map" "any" "all" "filter" "find" "position" "and_then" "map_or" "take_while" "skip_while"))
(for_expression pattern: (tuple_pattern (identifier) @name .)
  value: (call_expression function: (field_expression value: (_) @each field: (field_identifier) @_method)) (#eq? @_method "enumerate"))
[(type_parameter name: (type_identifier) @alias bounds: (_) @type) (type_parameter name: (type_identifier) @alias !bounds)]
(where_predicate left: (type_identifier) @alias bounds: (_) @type)
[(associated_type name: (type_identifier) @alias bounds: (_) @type) (associated_type name: (type_identifier) @alias !bounds)]
(type_item name: (type_identifier) @alias type: (_) @type)
; names that patterns bind to parts of a value
(tuple_struct_pattern type: (_) (tuple_struct_pattern type: (_) [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name)]))
(tuple_struct_pattern type: (scoped_identifier) [(ref_pattern (identifier) @name) (mut_pattern (identifier) @name)])
[(tuple_pattern (identifier) @name) (tuple_pattern (mut_pattern (identifier) @name)) (slice_pattern (identifier) @name)]
(captured_pattern . (identifier) @name)
[(reference_pattern (identifier) @name) (ref_pattern (identifier) @name) (mut_pattern (identifier) @name)]
(match_expression value: (_) @value body: (match_block (match_arm pattern: (match_pattern . (identifier) @name))) (#match? @name "^[a-z_]"))
(field_pattern name: (shorthand_field_identifier) @name)
(field_pattern pattern: (identifier) @name)
