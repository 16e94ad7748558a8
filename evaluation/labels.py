"""What metrics and costs are called on a terminal, by their names in ``metrics.json``."""

SHARES = {
    "hits_at_1": "Hits@1",
    "hit_any": "hit any",
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "kgr": "KGR",
    "kg_grounded_rate": "KG-grounded",
    "kg_grounded_rate_strict": "KG-grounded, checked",
}
"""Shares, those of the legacy protocols among them."""

COSTS = {
    "llm_calls": "LLM calls",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "total_tokens": "tokens",
    "kg_queries": "KG queries",
    "seconds": "seconds",
    "cost": "US dollars",
}
"""Costs of a question."""
