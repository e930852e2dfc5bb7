; What Javascript declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_declaration name: (identifier) @name body: (_) @body) @function
(generator_function_declaration name: (identifier) @name body: (_) @body) @function
(export_statement value: [(function_expression body: (_) @body) (arrow_function body: (_) @body)] @function)
(lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)])) @function
(variable_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)])) @function
(assignment_expression left: (member_expression) @name
  right: [(arrow_function body: (_) @body) (function_expression name: (_)? @name body: (_) @body) (generator_function body: (_) @body)]) @function

(class_declaration name: (_) @name body: (_) @body) @class
(export_statement value: (class body: (_) @body) @class)
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @class
(assignment_expression left: (_) @name right: (class name: (_)? @name body: (_) @body)) @class
(method_definition name: (_) @name body: (_) @body) @member

; object literals that hold functions
(lexical_declaration (variable_declarator name: (identifier) @name
  value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)) @object
(variable_declaration (variable_declarator name: (identifier) @name
  value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)) @object
(assignment_expression left: (_) @name
  right: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @object
(export_statement value: (object [(method_definition) (pair)]) @body @object)
(pair key: (_) @name value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @inner
(pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @member

(program (lexical_declaration (variable_declarator name: (identifier) @name)) @constant)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @constant)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name)) @constant))
(program (lexical_declaration (variable_declarator value: (object (pair key: (property_identifier) @name value: [(call_expression) (new_expression)]) @field))))
(program (lexical_declaration (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name))) @constant)
(program (expression_statement (assignment_expression left: (member_expression) @name) @constant))

(export_statement) @wrap
(decorator (_) @decorator)
(comment) @comment

(call_expression function: [(identifier) @call (member_expression property: (property_identifier) @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (property_identifier) @call)])

[(if_statement) (for_statement) (for_in_statement) (while_statement) (do_statement) (switch_case) (catch_clause)
 (ternary_expression)] @branch
["&&" "||" "??"] @branch

(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: (identifier) @_require arguments: (arguments . (string) @import) (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string) @import))
