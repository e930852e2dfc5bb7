; What Ruby refers to. The vocabulary of captures is explained in references.py.
(call receiver: (_)? @object method: (_) @method)
(call method: (identifier) @_require arguments: (argument_list . (string))) @using
(body_statement (identifier) @bare)
(assignment left: [(identifier) (instance_variable)] @name right: (_) @value)
(left_assignment_list (identifier) @name)
(method_parameters (identifier) @name)
(method_parameters [(optional_parameter name: (_) @name) (keyword_parameter name: (_) @name)
  (splat_parameter name: (_) @name) (hash_splat_parameter name: (_) @name) (block_parameter name: (_) @name)])
(block_parameters (identifier) @name)
(argument_list [(constant) (scope_resolution)] @load)
(exceptions [(constant) (scope_resolution)] @ref)
[(block) (do_block)] @inner
