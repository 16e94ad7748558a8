"""What the client of the TEXT2SPARQL challenge counts (``text2sparql-client`` 2.1, ``evaluate``)."""

from collections.abc import Sequence
from typing import Any

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.statistics import summarise_usage
from kgqa.evaluation.scoring.tables import measure_tables

NOTE = (
    "Precision, recall and F1 are over all values of all rows. Where gold says yes, any answer of yes or no "
    "is right. NDCG, of questions that ask for an order, ranks values by their bytes. A question without "
    "gold is wrong. For comparison with published numbers only."
)


def measure_text2sparql(
    results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0
) -> dict[str, Any]:
    """Count as the client does, in which the mean of NDCG is one more number under the mean of both.

    Results and questions need their tables (`with_gold`, `with_given`).

    Raises:
        ValueError: if they have none.
    """
    found = measure_tables(results, questions, seed, empty=True)
    if found is None:
        raise ValueError("what the queries give is not known; name the graph by --kg")
    both, ndcg, n = found["f1_ndcg"], found["ndcg"], found["n"]
    if both and ndcg:
        both = {**both, "value": (n * (both["value"] or 0) + (ndcg["value"] or 0)) / (n + 1)}
    return {
        "protocol": "text2sparql",
        "legacy": True,
        "note": NOTE,
        "n": len(questions),
        "excluded": len(questions) - n,
        **{name: found[name] for name in ("precision", "recall", "f1", "ndcg")},
        "f1_ndcg": both,
        **summarise_usage([result.usage for result in results]),
        "breakdowns": {},
        "seed": seed,
    }
