"""Sources of documents: wikis, libraries and folders, one file for each."""
