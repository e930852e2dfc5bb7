; What Php declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_)? @body) @method
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @trait
(enum_declaration name: (_) @name body: (_) @body) @enum
(program (const_declaration (const_element (name) @name)) @constant)
(declaration_list (const_declaration (const_element (name) @name)) @field)
(enum_declaration_list (const_declaration (const_element (name) @name)) @field)
(property_declaration (property_element name: (variable_name (name) @name))) @field
(enum_case name: (_) @name) @field
(base_clause (_) @base)
(class_interface_clause (_) @base)
(use_declaration [(name) (qualified_name)] @base)
(attribute) @decorator
(comment) @comment
(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression [(name) (qualified_name)] @call)
[(if_statement) (else_if_clause) (for_statement) (foreach_statement) (while_statement) (do_statement) (case_statement)
 (match_conditional_expression) (catch_clause) (conditional_expression)] @branch
["&&" "||" "??" "and" "or"] @branch
(namespace_use_clause [(qualified_name) (name)] @import)
(namespace_use_declaration (namespace_name) @import)
(require_once_expression (string) @import)
(require_expression (string) @import)
(include_expression (string) @import)
(include_once_expression (string) @import)
