"""How good results are: metrics, their intervals, comparisons, and answers checked on the graph."""
