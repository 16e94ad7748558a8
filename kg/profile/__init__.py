"""The profile of a graph: its classes, what their members have, how things are named, what only describes."""
