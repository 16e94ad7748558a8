"""State and nodes of the methods that search from a frontier of chains: PoG, PoG-EGP, ToG."""
