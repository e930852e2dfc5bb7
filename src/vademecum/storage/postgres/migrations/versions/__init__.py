"""Each version of the database, in order; one that was released is never edited."""
