"""State and nodes of a query that a language model drafts, and that is checked before it runs."""
