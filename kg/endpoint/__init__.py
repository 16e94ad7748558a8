"""SPARQL endpoints: a client with retries and a cache, its transport over HTTP, and what responses mean."""
