"""SPARQL: the queries that kgqa asks, the answers it decodes, and the queries of others that it reads."""
