"""The files of a checkout: walking, git, classes of files, locks."""
