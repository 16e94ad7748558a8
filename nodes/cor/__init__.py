"""Nodes of CoR alone."""
