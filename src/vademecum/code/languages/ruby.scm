; What Ruby declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(method name: (_) @name body: (_)? @body) @method
(singleton_method name: (_) @name body: (_)? @body) @method
(class name: (_) @name body: (_)? @body) @class
(module name: (_) @name body: (_)? @body) @module
(singleton_class body: (_)? @body) @impl
(superclass (_) @base)
(assignment left: (constant) @name) @constant
(call !receiver method: (identifier) @_attr arguments: (_ (simple_symbol) @name @field)
  (#any-of? @_attr "attr_accessor" "attr_reader" "attr_writer" "mattr_accessor" "cattr_accessor" "class_attribute" "delegate"))
(call !receiver method: (identifier) @_attr arguments: (_ . (_) (simple_symbol) @name @field)
  (#any-of? @_attr "def_delegators" "def_delegator" "def_instance_delegators" "def_instance_delegator"))
(assignment left: (constant) @name right: (_ receiver: (constant) @_made method: (identifier) @_new)
  (#any-of? @_made "Class" "Module" "Struct" "Data") (#any-of? @_new "new" "define")) @class
(assignment left: (constant) right: (_ receiver: (constant) @_made arguments: (_ . [(constant) (scope_resolution)] @base))
  (#eq? @_made "Class"))
([(assignment right: (_ receiver: (constant) @_made arguments: (_ (simple_symbol) @name @field)))
  (superclass (_ receiver: (constant) @_made arguments: (_ (simple_symbol) @name @field)))]
 (#any-of? @_made "Struct" "Data"))
(call !receiver method: (identifier) @_define arguments: (_ . [(simple_symbol) @name (string . (string_content) @name .)])
  (#any-of? @_define "define_method" "define_singleton_method")) @method
(call receiver: (_ [(bare_string) (bare_symbol) (simple_symbol)] @name @method) method: (identifier) @_each
  block: (_ body: (_ (_ !receiver method: (identifier) @_define)))
  (#eq? @_each "each") (#any-of? @_define "define_method" "define_singleton_method" "module_eval" "class_eval"))
(_ (assignment left: (constant) @_list right: [(_ [(simple_symbol) (bare_symbol)] @name @method)
    (_ receiver: (_ [(simple_symbol) (bare_symbol)] @name @method))])
  (call receiver: (constant) @_of method: (identifier) @_each
    block: (_ body: (_ (_ !receiver method: (identifier) @_define))))
  (#eq? @_list @_of) (#eq? @_each "each") (#any-of? @_define "define_method" "module_eval" "class_eval"))
(call !receiver method: (identifier) @_mixin arguments: (_ [(constant) (scope_resolution)] @base)
  (#any-of? @_mixin "include" "prepend"))
(call !receiver method: (identifier) @_mixin arguments: (_ [(constant) (scope_resolution)] @extended) (#eq? @_mixin "extend"))
(_ name: (identifier) @_hook body: (_ (_ receiver: (identifier)
  method: (identifier) @_mixin arguments: (_ [(constant) (scope_resolution)] @base)))
  (#any-of? @_hook "included" "extended" "prepended" "inherited" "append_features") (#any-of? @_mixin "include" "prepend" "send"))
(_ name: (identifier) @_hook body: (_ (_ receiver: (identifier)
  method: (identifier) @_mixin arguments: (_ [(constant) (scope_resolution)] @extended)))
  (#any-of? @_hook "included" "extended" "prepended" "inherited" "append_features") (#eq? @_mixin "extend"))
(comment) @comment
(call method: (_) @call)
[(if) (unless) (while) (until) (for) (when) (in_clause) (rescue) (conditional) (if_modifier) (unless_modifier)
 (while_modifier) (until_modifier) (rescue_modifier)] @branch
["&&" "||" "and" "or"] @branch
(call method: (identifier) @_require arguments: (_ . (string) @import)
  (#any-of? @_require "require" "require_relative" "load" "autoload"))
