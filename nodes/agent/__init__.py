"""State and nodes of the tool-calling agent alone."""
