"""What Chain-of-Relations counts, called Hits@1, F1 and KGR: in its code, and in its paper; and RoG's code.

GNN-RAG and others took RoG's code over.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from kgqa.evaluation.protocols.shared import (
    LegacyCase,
    Scores,
    answer_texts,
    legacy_cases,
    score_exactly,
    scores,
    summarise_scored,
)
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.statistics import mean_share
from kgqa.runtime.record import FROM_GRAPH

NOTE = (
    "Hits@1 is the share of questions with any gold name inside of all answers joined to one string; "
    "precision counts gold names that were found, not answers that are right; "
    "KGR is the share of records that say they ended on the graph, unchecked."
)

PAPER_NOTE = (
    "Hits@1 is the share of questions with any right answer (hit_any of the strict protocol); answers are "
    "compared by id, else by name to the letter, without aliases; KGR is the share of records whose answers "
    "were released by Stop or Filter."
)

ROG_NOTE = (
    "Hits@1 is the share of questions with any gold name inside of all answers joined to one string; "
    "precision counts gold names that were found for each answer given, which may be more than 1."
)

GROUNDED_ACTIONS = frozenset({"stop", "constraint"})  # CoR section 4.3; ``Constraint`` is the paper's Filter
_BRACES = re.compile(r"\{([^}]+)\}")
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def measure_cor(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as CoR's code does.

    Questions without gold are left out of all means (``excluded``) and stay in the
    distribution of ``actions`` and in KGR. A record without an answer says "None", in
    which the gold "One" is found. Aliases do not count. A record whose question the
    dataset does not have is wrong.

    One of our records takes part with its list of answers; an answer from the graph is the
    action ``Stop``, any other stands for itself. A published reply in text is one
    string, as CoR's own ports of PoG and ToG give it.
    """
    cases = legacy_cases(results, questions)
    actions = [final_action(case.result) for case in cases]

    def score(case: LegacyCase) -> Scores:
        return score_names(predicted_names(case.result), _gold_names(case), most=1.0)

    found = summarise_scored("cor", NOTE, cases, score, attrgetter("f1"), seed)
    grounded = mean_share([action.casefold() in GROUNDED_ACTIONS for action in actions], seed)
    counts = dict(Counter(actions).most_common())
    return found | {"accuracy": found["recall"], "kgr": grounded, "actions": counts}


def measure_cor_paper(
    results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0
) -> dict[str, Any]:
    """Count as CoR's paper says (§4.3, §5.4, §5.5), which is not what its code does.

    As `measure_exact` does; any answer may be right, and KGR is over the questions without gold too.
    """
    cases = legacy_cases(results, questions)
    released = [
        bool(case.result.answers) and final_action(case.result).casefold() in GROUNDED_ACTIONS
        for case in cases
    ]
    found = summarise_scored("cor_paper", PAPER_NOTE, cases, score_exactly, attrgetter("hit_any"), seed)
    return found | {"kgr": mean_share(released, seed)}


def measure_rog(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as RoG's code does (``src/qa_prediction/evaluate_results.py``, with F1).

    Questions without gold, which its files do not have, are left out (``excluded``). Aliases do not count.
    ``accuracy`` is the recall.
    """

    def score(case: LegacyCase) -> Scores:
        return score_names(list(dict.fromkeys(answer_texts(case.result))), _gold_names(case))

    cases = legacy_cases(results, questions)
    found = summarise_scored("rog", ROG_NOTE, cases, score, attrgetter("recall"), seed)
    return found | {"accuracy": found["recall"]}


def _gold_names(case: LegacyCase) -> list[str]:
    """Return the names of the gold answers; two of one name count twice."""
    answers = case.question.gold if case.question else ()
    return [name for answer in answers if (name := answer.name or answer.id)]


def score_names(predicted: Sequence[str], gold: Sequence[str], most: float = math.inf) -> Scores:
    """Score one question by the gold in the predictions joined by spaces; precision is ``most`` at most.

    >>> score_names(["Canada, Mexico, Cuba, Peru"], ["Canada", "Mexico"], most=1.0).f1
    1.0
    >>> score_names(["Lima, Cusco"], ["Lima", "Cusco"]).precision
    2.0
    """
    said = normalise_text(" ".join(predicted))
    found = sum(normalise_text(name) in said for name in gold)
    return (
        scores(min(most, found / len(predicted)), found / len(gold)) if found and predicted else scores(0, 0)
    )


def normalise_text(text: str) -> str:
    """Return a text in small letters, without ASCII punctuation and articles: ``3.5`` becomes ``35``."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def predicted_names(result: Result) -> list[str]:
    """Return the predictions of a record: its names, each with braces replaced by what the last hold."""
    found = [piece for name in _answer_names(result) for piece in (_names_in_braces(name) or [name])]
    return found or ["None"]


def _answer_names(result: Result) -> list[str]:
    rows = result.record.get("results")
    if isinstance(rows, list):
        return [str(row["name"]) for row in rows if "name" in row]
    names = answer_texts(result)
    return [", ".join(names)] if result.text is not None and names else names


def _names_in_braces(name: str) -> list[str]:
    groups = _BRACES.findall(name)
    if not groups:
        return []
    last = str(groups[-1]).strip()
    if "," in last:
        return [part.strip() for part in last.split(",")]
    return _AND.split(last) if " and " in last.lower() else [last]


def final_action(result: Result) -> str:
    """Return how a record says it ended."""
    if "action" in result.record:
        return str(result.record["action"])
    return "Stop" if result.outcome in FROM_GRAPH else result.outcome or "unknown"
