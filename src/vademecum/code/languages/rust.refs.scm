; What Rust refers to. The vocabulary of captures is explained in find_references.py.
[(call_expression function: (_) @call) (macro_invocation macro: (_) @call)]
(struct_expression name: (_) @new)
[(use_declaration) (extern_crate_declaration) (mod_item !body)] @using
(parameter pattern: (identifier) @name type: (_) @type)
(closure_parameters (identifier) @name)
(let_declaration pattern: (identifier) @name type: (_) @type)
(let_declaration pattern: (identifier) @name !type value: (_) @value)
[(const_item name: (_) @name type: (_) @type) (static_item name: (_) @name type: (_) @type)]
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
[(closure_expression) (const_item value: (block)) (static_item value: (block))] @inner
[(block) (match_arm)] @block
(token_tree [(identifier) (primitive_type)] @token . (token_tree))
; `lazy_static! { static ref A: B = ...; }`
(token_tree (identifier) @_ref . (identifier) @name . ":" . (identifier) @type . "=" (#eq? @_ref "ref"))
(token_tree (identifier) @_ref . (identifier) @name . ":" . (identifier) . ["<" "::"] (#eq? @_ref "ref"))
[(struct_item body: (ordered_field_declaration_list) @fields) (enum_variant body: (ordered_field_declaration_list) @fields)]
[(tuple_struct_pattern) (struct_pattern)] @pattern
(let_declaration pattern: (tuple_pattern) @pattern)
; names that are bound anew for what follows
(let_declaration pattern: (_) @anew) @let
(if_expression condition: [(let_condition pattern: (_) @anew) @let (let_chain (let_condition pattern: (_) @anew) @let)] consequence: (_) @until)
(while_expression condition: [(let_condition pattern: (_) @anew) @let (let_chain (let_condition pattern: (_) @anew) @let)] body: (_) @until)
(for_expression pattern: (_) @anew value: (_) @let body: (_) @until)
; a method by the name of its trait, of those that the library has
(call_expression function: (scoped_identifier path: [(identifier) (scoped_identifier)] @trait name: (identifier) @_method) arguments: (arguments . (_) @object)
  (#match? @trait "(^|:)[A-Z]\\w*$")
  (#any-of? @_method "fmt" "clone" "cmp" "partial_cmp" "eq" "ne" "hash" "next" "size_hint" "deref" "deref_mut" "as_ref" "as_mut" "borrow" "borrow_mut" "into" "try_into" "into_iter" "to_string" "to_owned" "write_str" "source" "poll" "serialize" "index" "index_mut" "neg" "not" "add" "sub" "mul" "div" "rem"))
; what an option or a result holds
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_holder . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name) (reference_pattern (identifier) @name)]) value: (_) @value
  (#any-of? @_holder "Some" "Ok"))
(let_declaration pattern: (tuple_struct_pattern type: (identifier) @_holder . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name) (reference_pattern (identifier) @name)]) value: (_) @value (#any-of? @_holder "Some" "Ok"))
(match_expression value: (_) @value body: (match_block (match_arm pattern: (match_pattern
  (tuple_struct_pattern type: (identifier) @_holder . [(identifier) @name (ref_pattern (identifier) @name) (reference_pattern (identifier) @name)]))))
  (#any-of? @_holder "Some" "Ok"))
; elements that a closure or a counting loop is given
(call_expression function: (field_expression value: (_) @each field: (field_identifier) @_method)
  arguments: (arguments . (closure_expression parameters: (closure_parameters . (identifier) @name)))
  (#any-of? @_method "map" "for_each" "filter_map" "flat_map" "any" "all" "filter" "find" "position" "and_then" "map_or" "take_while" "skip_while"))
; what a closure is given, and by what
(call_expression function: (_) @given arguments: (arguments [(closure_expression parameters: (closure_parameters (identifier) @name) @listed)
  (reference_expression value: (closure_expression parameters: (closure_parameters (identifier) @name) @listed))]) @among)
[(function_item parameters: (_) @taking) (function_signature_item parameters: (_) @taking)]
(for_expression pattern: (tuple_pattern (identifier) @name .)
  value: (call_expression function: (field_expression value: (_) @each field: (field_identifier) @_method)) (#eq? @_method "enumerate"))
; values of a map
(for_expression pattern: (tuple_pattern . [(_) "_"] . "," . (identifier) @name .) value: (_) @each
  (#match? @each "^[&\\w.\\s]*(\\.(iter|iter_mut|into_iter|drain)\\([^()]*\\))?$"))
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
