; What Ruby declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(method name: (_) @name body: (_)? @body) @method
(singleton_method name: (_) @name body: (_)? @body) @method
(class name: (_) @name body: (_)? @body) @class
(module name: (_) @name body: (_)? @body) @module
(singleton_class body: (_)? @body) @impl
(superclass (_) @base)
(assignment left: (constant) @name) @constant
(call !receiver method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_attr "attr_accessor" "attr_reader" "attr_writer" "mattr_accessor" "cattr_accessor" "class_attribute")) @field
(call !receiver method: (identifier) @_mixin arguments: (argument_list [(constant) (scope_resolution)] @base)
  (#any-of? @_mixin "include" "extend" "prepend"))
(comment) @comment
(call method: (_) @call)
[(if) (unless) (while) (until) (for) (when) (in_clause) (rescue) (conditional) (if_modifier) (unless_modifier)
 (while_modifier) (until_modifier) (rescue_modifier)] @branch
(binary operator: ["&&" "||" "and" "or"] @branch)
(call method: (identifier) @_require arguments: (argument_list . (string) @import)
  (#any-of? @_require "require" "require_relative" "load" "autoload"))
