; What a template refers to.
(program (expression_statement [(identifier) (member_expression)] @load))
(program (expression_statement (parenthesized_expression [(identifier) (member_expression)] @load)))
