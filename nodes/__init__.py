"""One step per file, named by a verb, shared by the methods."""
