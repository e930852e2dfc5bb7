"""The search library of code, memory and tools.

`tokenize`, `stem` and `stopwords` cut text into terms; `counting` counts them. `segment`, `postings`, `arrays` and
`stored_fields` hold documents, and `merging` keeps segments few. `bm25` scores documents by the fields of a schema, and
`vectors` by meaning; `fusion` and `spans` make results of scores. `query` reads questions about code.
"""
