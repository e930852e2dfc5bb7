; What Ruby refers to. The vocabulary of captures is explained in find_references.py.
(call receiver: (_)? @object method: (_) @method)
(super) @inherited
(call method: (identifier) @_require arguments: (_ . (string))) @using
[(assignment left: (_ receiver: (_) @object method: (identifier) @setter))
 (operator_assignment left: (_ receiver: (_) @object method: (identifier) @setter))
 (left_assignment_list (_ receiver: (_) @object method: (identifier) @setter))]
(block_argument (simple_symbol) @token)
(call method: (identifier) @_send arguments: (_ . (simple_symbol) @token) (#any-of? @_send "send" "__send__" "public_send"))
(call !receiver method: (identifier) @_hands_on arguments: (_ (simple_symbol) @token) (#eq? @_hands_on "delegate"))
(call !receiver method: (identifier) @_hands_on arguments: (_ . (_) (simple_symbol) @token)
  (#any-of? @_hands_on "def_delegators" "def_delegator" "def_instance_delegators" "def_instance_delegator"))
(alias name: (_) @alias alias: (_) @type)
(call !receiver method: (identifier) @_alias arguments: (_ . (simple_symbol) @alias . (simple_symbol) @type) (#eq? @_alias "alias_method"))
(method body: (body_statement (_statement) @returned . [(rescue) (ensure)]? .))
(singleton_method body: (body_statement (_statement) @returned . [(rescue) (ensure)]? .))
(optional_parameter name: (_) @name value: [(call) (constant) (scope_resolution)] @value)
(return (argument_list . (_) @returned .))
; a name may be a call wherever a value may stand
(_primary/identifier) @bare
(assignment left: [(identifier) (instance_variable) (constant)] @name right: (_) @value)
(operator_assignment left: [(identifier) (instance_variable)] @name right: (_) @value)
; what a test of RSpec is given by a name
(call !receiver method: (identifier) @_let arguments: (_ . (simple_symbol) @name)
  block: (_ body: (_ (_) @value .)) (#any-of? @_let "let" "let!" "subject"))
(call !receiver method: (identifier) @name !arguments block: (_ body: (_ (_) @value .)) (#eq? @name "subject"))
(left_assignment_list (identifier) @name)
[(exception_variable (identifier) @name) (for pattern: (identifier) @name) (rest_assignment (identifier) @name)]
[(destructured_parameter (identifier) @name) (lambda_parameters (identifier) @name) (destructured_left_assignment (identifier) @name)]
[(array_pattern (identifier) @name) (as_pattern name: (identifier) @name) (in_clause pattern: (identifier) @name)]
(keyword_pattern key: (hash_key_symbol) @name !value)
(block_parameters [(optional_parameter name: (_) @name) (keyword_parameter name: (_) @name)
  (splat_parameter name: (_) @name) (hash_splat_parameter name: (_) @name) (block_parameter name: (_) @name)])
(method_parameters (identifier) @name)
(method_parameters [(optional_parameter name: (_) @name) (keyword_parameter name: (_) @name)
  (splat_parameter name: (_) @name) (hash_splat_parameter name: (_) @name) (block_parameter name: (_) @name)])
(block_parameters (identifier) @name)
; what a method hands to its block, and what it hands its block to
[(yield (argument_list) @taking) (call arguments: (_ (block_argument (identifier))) @taking)]
(call receiver: (identifier) @_block method: (identifier) @_call arguments: (_) @taking
  (#any-of? @_block "block" "blk") (#eq? @_call "call"))
(call receiver: (_)? @of method: (_) @given block: (_) @evaluated)
[(singleton_method name: (_) @static) (singleton_class body: (_ (method name: (_) @static)))]
; the class that a test of RSpec is about
(call method: (identifier) @_describe arguments: (_ . [(constant) (scope_resolution)] @value) block: (_) @described
  (#any-of? @_describe "describe" "context"))
(_ receiver: (constant) @_class method: (identifier) @_new arguments: (_ . [(constant) (scope_resolution)] @value)
  block: (_) @described (#eq? @_class "Class") (#eq? @_new "new"))
(call !receiver method: (identifier) @_mixin arguments: (_ [(constant) (scope_resolution)] @mixed) (#eq? @_mixin "include"))
(argument_list [(constant) (scope_resolution)] @load)
(exceptions [(constant) (scope_resolution)] @ref)
[(block) (do_block)] @inner
; a constant that is read; what methods are called on is a class, unless its name is all in capitals
[
  (program [(constant) (scope_resolution)] @load) (body_statement [(constant) (scope_resolution)] @load)
  (then [(constant) (scope_resolution)] @load) (else [(constant) (scope_resolution)] @load)
  (do [(constant) (scope_resolution)] @load) (block_body [(constant) (scope_resolution)] @load)
  (parenthesized_statements [(constant) (scope_resolution)] @load) (pattern [(constant) (scope_resolution)] @load)
  (array [(constant) (scope_resolution)] @load) (interpolation [(constant) (scope_resolution)] @load)
  (binary [(constant) (scope_resolution)] @load) (unary [(constant) (scope_resolution)] @load)
  (conditional [(constant) (scope_resolution)] @load) (range [(constant) (scope_resolution)] @load)
  (splat_argument [(constant) (scope_resolution)] @load) (element_reference [(constant) (scope_resolution)] @load)
  (right_assignment_list [(constant) (scope_resolution)] @load) (in [(constant) (scope_resolution)] @load)
  (_ [right: (constant) right: (scope_resolution) condition: (constant) condition: (scope_resolution)
    value: (constant) value: (scope_resolution) pattern: (constant) pattern: (scope_resolution)] @load)
]
(_ receiver: [(constant) (scope_resolution)] @load (#match? @load "(^|::)[A-Z][A-Z0-9_]*$"))
; what tells the type of a name
(call receiver: (identifier) @subject method: (identifier) @_is arguments: (_ . [(constant) (scope_resolution)] @kind .)
  (#any-of? @_is "is_a?" "kind_of?" "instance_of?")) @test
(case value: (identifier) @subject (when . pattern: (pattern [(constant) (scope_resolution)] @kind) . body: (then) @told))
