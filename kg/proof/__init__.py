"""Answer queries: one typed query that an answer comes down to, and its SPARQL."""
