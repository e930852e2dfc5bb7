"""How much the engine helps in a repository of one's own, measured on questions that the repository itself holds."""
