"""What metrics and costs are called on a terminal, by their names in ``metrics.json``."""

from collections.abc import Iterator, Mapping
from typing import Any

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
    "blueprints.copied.share": "blueprint copied",
    "blueprints.adapted.share": "blueprint adapted",
    "refinement.rate": "refined",
    "refinement.hits_at_1": "refined, Hits@1",
    "refinement.recovered": "re-routed, recovered",
    "revision.rate": "to be revised",
    "revision.success": "wrong plans revised, right",
}
"""Shares, those of the legacy protocols among them; a dot leads into a group."""

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


def shares(metrics: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float | None]]]:
    """Give what shares are called, and these, as far as the metrics have them; null over nothing."""
    for name, label in SHARES.items():
        share: Any = metrics
        for key in name.split("."):
            share = (share or {}).get(key)
        if share:
            yield label, share
