"""State and nodes of the methods that use no graph: IO, CoT, SC."""
