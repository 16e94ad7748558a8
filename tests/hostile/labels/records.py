"""Makes records that may claim too much: every method, models that err, cuts, time-outs, budgets that end."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any, NamedTuple

import kgqa
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.scores import score_answers
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.graphs import METHODS, context_of
from kgqa.kg.errors import KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.tests.hostile.labels.bent import Bent

BENT = 0.9
"""The accuracy of a model some of whose replies are bent."""

ACCURACIES = (1.0, 0.6, 0.3, BENT)
SLOW = frozenset(
    {
        "visit_chains",
        "follow_chain",
        "extend_chain",
        "follow_relation",
        "prove",
        "trace_answers",
        "trace_chain",
    }
    | {"chain_attributes", "reached_ends", "select"}
)
"""What may take too long."""

TROUBLES: tuple[dict[str, Any], ...] = (
    {},
    {"cut": True},
    {"slow": 0.15},
    *({"budget": {"llm_calls": calls}} for calls in (1, 2, 3, 5)),
    *({"budget": {"kg_queries": queries}} for queries in (4, 6, 9, 14)),
    {"cut": True, "budget": {"llm_calls": 3}},
    {"slow": 0.1, "budget": {"kg_queries": 12}},
    {"budget": {"tokens": 1500}},
    {"budget": {"seconds": 0.05}},
    {"depth": 1},
)
"""What happens to a search; the first, nothing, to as many as all others together."""


class Slow:
    """A graph that takes too long for a share of what it is asked, the same each time."""

    def __init__(self, graph: KnowledgeGraph, share: float, key: str) -> None:
        self._graph, self._share, self._key, self._turn = graph, share, key, count()

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._graph, name)

        async def operation(*arguments: Any, **named: Any) -> Any:
            if drawn(f"{self._key} {name} {next(self._turn)}") < self._share:
                raise KGTimeout(f"no answer to {name} in time")
            return await real(*arguments, **named)

        return operation if name in SLOW else real


class Case(NamedTuple):
    """A question, who answers it, and what happens to the search."""

    question: Question
    method: str
    accuracy: float
    trouble: dict[str, Any]
    seed: int


def drawn(key: str) -> float:
    """Draw from 0 to 1 by a key."""
    return int.from_bytes(blake2b(key.encode(), digest_size=6).digest()) / 2**48


def cases(asked: Sequence[Question], every: int = 1) -> Iterator[Case]:
    """Yield each question by each method and accuracy, 0.6 twice, with a trouble that is drawn for it."""
    numbers = count()
    for question in asked:
        for method in METHODS:
            for seed, accuracy in enumerate((*ACCURACIES, 0.6)):
                draw = drawn(f"{question.id} {method} {seed}")
                trouble = TROUBLES[int((draw * 2 - 1) * len(TROUBLES))] if draw >= 0.5 else TROUBLES[0]
                if next(numbers) % every == 0:
                    yield Case(question, method, accuracy, trouble, seed)


async def make(case: Case, graph: KnowledgeGraph, cut: KnowledgeGraph) -> dict[str, Any]:
    """Return a record, how it was made, and whether its answers are the gold ones."""
    asked, method, accuracy, trouble, seed = case
    key = f"{asked.id} {method} {accuracy} {seed}"
    errors = ErrorRates(
        accuracy=accuracy,
        seed=seed,
        entity=0.0 if accuracy == 1 else 0.1,
        judge=0.0 if accuracy == 1 else 0.1,
        memory=accuracy / 2,
        format=0.1 if drawn(f"{key} format") < 0.2 else 0.0,
    )
    options = {name: value for name, value in trouble.items() if name not in {"cut", "slow"}}
    if "depth" in options and "depth" not in context_of(method).model_fields:
        del options["depth"]
    kg: Any = cut if "cut" in trouble else graph
    kg = Slow(kg, trouble["slow"], key) if "slow" in trouble else kg
    topics = [{"id": topic.id, "name": topic.name} for topic in asked.topics]
    model: Any = SimulatedModel(asked, graph, errors)
    if accuracy == BENT:
        model = Bent(model, key)
    record = await kgqa.aask(asked.text, topics=topics, kg=kg, model=model, method=method, **options)
    given = [EntityRef(answer["id"], answer["name"]) for answer in record["answers"]]
    score = score_answers(given, asked)
    return {
        **record,
        "made": {
            "seed": seed,
            "question": asked.id,
            "accuracy": accuracy,
            **trouble,
            "right": bool(score and score.f1 == 1),
        },
    }
