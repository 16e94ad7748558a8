"""What RoG counts, called Hits@1 and F1; GNN-RAG and others took its code over."""

from collections.abc import Sequence
from typing import Any

from kgqa.evaluation.protocols.cor import CorScores, normalise_text
from kgqa.evaluation.protocols.shared import (
    answer_texts,
    legacy_cases,
    mean_scores,
    measure_costs,
    summarise,
)
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.statistics import mean_share

NOTE = (
    "Hits@1 is the share of questions with any gold name inside of all answers joined to one string; "
    "precision counts gold names that were found for each answer given, which may be more than 1."
)


def measure_rog(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as RoG's code does (``src/qa_prediction/evaluate_results.py``, with F1).

    Questions without gold, which its files do not have, are left out (``excluded``). Aliases do not count.
    A record whose question the dataset does not have is wrong. ``accuracy`` is the recall.
    """
    cases = legacy_cases(results, questions)
    scored = [case for case in cases if case.question is None or case.gold]
    scores = []
    for case in scored:
        gold = [name for one in case.question.gold if (name := one.name or one.id)] if case.question else []
        scores.append(score_names(list(dict.fromkeys(answer_texts(case.result))), gold))
    return (
        summarise("rog", NOTE, scored, [one.recall > 0 for one in scores], seed)
        | measure_costs(cases)
        | {"n": len(cases), "excluded": len(cases) - len(scored)}
        | {"accuracy": mean_share([one.recall for one in scores], seed)}
        | mean_scores(scores, seed)
    )


def score_names(predicted: Sequence[str], gold: Sequence[str]) -> CorScores:
    """Score one question by the gold that is found in the predictions joined by spaces.

    >>> score_names(["Lima, Cusco"], ["Lima", "Cusco"]).precision
    2.0
    """
    said = normalise_text(" ".join(predicted))
    found = sum(normalise_text(name) in said for name in gold)
    if not (found and predicted):
        return CorScores(0.0, 0.0, 0.0)
    precision, recall = found / len(predicted), found / len(gold)
    return CorScores(precision, recall, 2 * precision * recall / (precision + recall))
