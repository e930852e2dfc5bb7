; What Go declares, calls and imports. The vocabulary of captures is explained in declarations.py.
(function_declaration name: (identifier) @name body: (_)? @body) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @scope)) name: (_) @name body: (_)? @body) @method
(type_declaration . (_) .) @wrap
(type_spec name: (_) @name type: (struct_type (_) @body)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @alias
(struct_type (field_declaration_list (field_declaration name: (_) @name) @field))
(interface_type (method_elem name: (_) @name) @method)
(source_file (const_declaration (const_spec name: (_) @name)) @constant)
(source_file (var_declaration (var_spec name: (_) @name)) @constant)
(source_file (var_declaration (var_spec_list (var_spec name: (_) @name))) @constant)
(comment) @comment
(call_expression function: [(identifier) @call (selector_expression field: (_) @call)])
[(if_statement) (for_statement) (expression_case) (type_case) (communication_case)] @branch
["&&" "||"] @branch
(import_spec path: (_) @import)
