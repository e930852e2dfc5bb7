; What Csharp declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(class_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_)? @body) @interface
(struct_declaration name: (_) @name body: (_)? @body) @struct
(enum_declaration name: (_) @name body: (_)? @body) @enum
(record_declaration name: (_) @name body: (_)? @body) @record
(delegate_declaration name: (_) @name) @alias
(method_declaration name: (_) @name body: (_)? @body) @method
(local_function_statement name: (_) @name body: (_)? @body) @function
(constructor_declaration name: (_) @name body: (_)? @body) @constructor
(destructor_declaration name: (_) @name body: (_)? @body) @method
(operator_declaration operator: _ @name body: (_)? @body) @method
(conversion_operator_declaration type: (_) @name body: (_)? @body) @method
(indexer_declaration "this" @name) @method
(property_declaration name: (_) @name) @property
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(event_declaration name: (_) @name) @field
(enum_member_declaration name: (_) @name) @field
(base_list (_) @base)
(attribute) @decorator
(comment) @comment
(invocation_expression function: [(identifier) @call (member_access_expression name: [(identifier) @call (generic_name . (identifier) @call)])
  (generic_name . (identifier) @call) (conditional_access_expression (member_binding_expression name: (_) @call))])
(object_creation_expression type: [(identifier) @call (generic_name . (identifier) @call) (qualified_name name: (_) @call)])
[(if_statement) (for_statement) (foreach_statement) (while_statement) (do_statement) (switch_section)
 (switch_expression_arm) (catch_clause) (conditional_expression)] @branch
["&&" "||" "??"] @branch
(using_directive [(identifier) (qualified_name)] @import)
