"""Entity linking: an index of names, how names are looked up, and the mentions of a question."""
