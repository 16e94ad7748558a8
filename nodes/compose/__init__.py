"""The nodes of compose: chains retrieved, a query composed of them, the graph asked."""
