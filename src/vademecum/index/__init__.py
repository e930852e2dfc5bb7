"""The search library of code, memory and tools.

`tokenize`, `stem` and `stopwords` cut text into terms; `counting` counts them. A `schema` names the fields of a document and
how they weigh. `segment`, `postings`, `arrays` and `stored_fields` hold documents, and `merging` keeps segments few. `bm25` and
`vectors` score them; `fusion` and `spans` make results of scores. `query` reads questions about code.
"""
