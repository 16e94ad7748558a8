"""Runs: a dataset asked question by question into a folder that survives whatever happens."""
