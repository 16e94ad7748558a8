"""Measures a SPARQL endpoint and says in plain words what is wrong with it, and what to do."""
