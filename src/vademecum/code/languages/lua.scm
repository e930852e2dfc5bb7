; What Lua declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_declaration name: (_) @name body: (_)? @body) @function
(assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (function_definition body: (_)? @body))) @function
(assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (table_constructor (field value: (function_definition))) @body)) @object
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @member
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name)) @constant))
(chunk (assignment_statement (variable_list name: (_) @name)) @constant)
(chunk (variable_declaration) @wrap)
(comment) @comment
(function_call name: [(identifier) @call (dot_index_expression field: (_) @call) (method_index_expression method: (_) @call)])
[(if_statement) (elseif_statement) (for_statement) (while_statement) (repeat_statement)] @branch
(binary_expression ["and" "or"] @branch)
(function_call name: (identifier) @_require arguments: (arguments (string) @import) (#any-of? @_require "require" "dofile"))
