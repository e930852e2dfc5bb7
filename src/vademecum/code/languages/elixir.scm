; What Elixir declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(call target: (identifier) @_def (arguments . [(identifier) @name (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)])]) (do_block)? @body
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp")) @function
(call target: (identifier) @_def (arguments (_) (keywords) @body)
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop" "defn" "defnp"))
(call target: (identifier) @_module (arguments . (alias) @name) (do_block) @body (#eq? @_module "defmodule")) @module
(call target: (identifier) @_module (arguments . (alias) @name) (do_block) @body (#eq? @_module "defprotocol")) @protocol
(call target: (identifier) @_module (arguments . (alias) @name (keywords (pair value: (alias) @base))?) (do_block) @body
  (#eq? @_module "defimpl")) @impl
(call target: (identifier) @name (#any-of? @name "defstruct" "defexception")) @field
(call target: (identifier) @_test (arguments . (string) @name) (do_block) @body (#any-of? @_test "test" "describe")) @function
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments (_)))
  (#not-match? @name "^(doc|moduledoc|typedoc|spec|type|typep|opaque|callback|macrocallback|impl|deprecated|dialyzer|since|behaviour|tag|describetag|moduletag|derive|enforce_keys|compile|external_resource|before_compile|after_compile|on_load|optional_callbacks)$")) @constant
(unary_operator operator: "@" operand: (call target: (identifier) @_type (arguments (binary_operator left: [(call target: (_) @name) (identifier) @name])))
  (#any-of? @_type "type" "typep" "opaque" "callback" "macrocallback")) @alias
(unary_operator operator: "@" operand: (call target: (identifier) @_doc (arguments [(string) (sigil)]))
  (#any-of? @_doc "doc" "typedoc")) @doc
(unary_operator operator: "@" operand: (call target: (identifier) @_lead)
  (#any-of? @_lead "spec" "impl" "deprecated" "dialyzer" "since" "doc" "tag")) @lead
(unary_operator operator: "@" operand: (call target: (identifier) @_moduledoc (arguments [(string) (sigil)] @docstring))
  (#eq? @_moduledoc "moduledoc"))
(comment) @comment
(call target: (identifier) @call (#not-match? @call
  "^(def.*|alias|use|import|require|doc|moduledoc|typedoc|spec|type|typep|opaque|callback|impl|if|unless|case|cond|with|for|test|describe|quote|unquote)$"))
(call target: (dot right: (identifier) @call))
(stab_clause) @branch
(call target: (identifier) @_if (do_block) @branch (#any-of? @_if "if" "unless" "for"))
(binary_operator operator: ["&&" "||" "and" "or"] @branch)
(call target: (identifier) @_import (arguments . [(alias) (dot)] @import) (#any-of? @_import "import" "alias" "use" "require"))
