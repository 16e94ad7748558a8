"""Exact match: what the papers of PoG, CoG, VoG and PoG-EGP call Hits@1; their code counts otherwise."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from kgqa.evaluation.protocols.shared import (
    LegacyCase,
    legacy_cases,
    mean_scores,
    measure_costs,
    summarise,
)
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.scores import ZERO_SCORE, Score, score_answers

NOTE = (
    "Hits@1 is the share of questions whose first answer is right; answers are compared by id, else by name "
    "to the letter, without aliases."
)


def measure_exact(
    results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0
) -> dict[str, Any]:
    """Count questions whose first answer is right to the letter.

    Questions without gold are left out of all means (``excluded``). A record whose question the
    dataset does not have is wrong.
    """
    return measure_exactly("exact", NOTE, legacy_cases(results, questions), attrgetter("hit_at_1"), seed)


def measure_exactly(
    protocol: str, note: str, cases: Sequence[LegacyCase], hit: Callable[[Score], float], seed: int
) -> dict[str, Any]:
    """Count, by a ``hit`` of one's own, as `measure_exact` does."""
    scored = [case for case in cases if case.question is None or case.gold]
    scores = [
        (case.question and score_answers(case.result.answers, case.question, exact=True)) or ZERO_SCORE
        for case in scored
    ]
    return (
        summarise(protocol, note, scored, [hit(one) > 0 for one in scores], seed)
        | measure_costs(cases)
        | {"n": len(cases), "excluded": len(cases) - len(scored)}
        | mean_scores([(one.precision, one.recall, one.f1) for one in scores], seed)
    )
