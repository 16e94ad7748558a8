"""Drafted queries: what the SPARQL of a model says, and whether the graph can be as it says."""
