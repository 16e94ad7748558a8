"""State and nodes of SPARQL by a language model alone."""
