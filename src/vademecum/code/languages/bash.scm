; What Bash declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_definition name: (_) @name body: (_) @body) @function
(program (variable_assignment name: (variable_name) @name) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @constant)
(comment) @comment
(command name: (command_name (word) @call))
[(if_statement) (elif_clause) (for_statement) (c_style_for_statement) (while_statement) (case_item)] @branch
(list ["&&" "||"] @branch)
(command name: (command_name (word) @_source) . argument: (_) @import (#any-of? @_source "source" "." "load"))
