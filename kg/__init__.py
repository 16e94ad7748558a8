"""The graph behind the tools: terms, stores, dialects, all SPARQL text, entity linking.

`opening.open_graph` opens one; `graph.KnowledgeGraph` says what it can do.
"""
