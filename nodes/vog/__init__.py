"""State and nodes of VoG alone."""
