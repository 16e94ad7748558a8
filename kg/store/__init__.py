"""The embedded store: RDF files loaded, kept in a folder, and queried in threads or in a sandbox."""
