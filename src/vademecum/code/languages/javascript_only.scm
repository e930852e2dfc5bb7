; What only JavaScript has, on top of what it shares with TypeScript (javascript.scm).
(class_heritage (_) @base)
(field_definition property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @member
(field_definition property: (_) @name) @field
