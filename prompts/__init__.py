"""Everything ever said to a model: one file per question put to it."""
