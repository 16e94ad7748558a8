"""State and nodes of CoG alone."""
