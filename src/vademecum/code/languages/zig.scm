; What Zig declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_declaration name: (_) @name body: (_)? @body) @function
(variable_declaration . (identifier) @name (struct_declaration) @body) @struct
(variable_declaration . (identifier) @name (opaque_declaration) @body) @struct
(variable_declaration . (identifier) @name (union_declaration) @body) @union
(variable_declaration . (identifier) @name [(enum_declaration) (error_set_declaration)] @body) @enum
(source_file (variable_declaration . (identifier) @name) @constant (#not-match? @constant "@import\\(|@This\\("))
(source_file (variable_declaration . (identifier) @name (builtin_function (builtin_identifier) @_this)) @alias
  (#eq? @_this "@This") (#not-eq? @name "Self"))
(struct_declaration (variable_declaration . (identifier) @name) @constant (#not-match? @constant "@import\\(|@This\\("))
(union_declaration (variable_declaration . (identifier) @name) @constant (#not-match? @constant "@import\\(|@This\\("))
(enum_declaration (variable_declaration . (identifier) @name) @constant (#not-match? @constant "@import\\(|@This\\("))
(container_field name: (identifier) @name) @field
(comment) @comment
(call_expression function: [(identifier) @call (field_expression member: (_) @call)])
[(if_statement) (if_expression) (for_statement) (for_expression) (while_statement) (while_expression) (switch_case)
 (catch_expression)] @branch
(binary_expression operator: ["and" "or" "orelse"] @branch)
(builtin_function (builtin_identifier) @_import (arguments (string) @import) (#eq? @_import "@import"))
