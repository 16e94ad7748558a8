"""What the evaluation code of Chain-of-Relations counts, called Hit, accuracy, F1 and KGR."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from kgqa.evaluation.protocols.legacy import Case, cases, names, shown
from kgqa.evaluation.protocols.summary import costs, means, share, summary
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result

NOTE = (
    "Hits@1 is the share of questions with any gold name inside of all answers joined to one string; "
    "precision counts gold names that were found, not answers that are right; "
    "KGR is the share of records that say they ended on the graph, unchecked."
)

WALKED = frozenset({"stop", "constraint"})
"""Actions that KGR counts (CoR section 4.3; ``Constraint`` is the paper's Filter)."""

_BRACES = re.compile(r"\{([^}]+)\}")
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class Scores(NamedTuple):
    """What one question gets."""

    hit: float
    accuracy: float
    precision: float
    recall: float
    f1: float


def measure(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as CoR's code does.

    Questions without gold are left out of all means (``excluded``) and stay in the
    distribution of ``actions`` and in KGR. A record without an answer says "None", in
    which the gold "One" is found. Aliases do not count. A record whose question the
    dataset does not have is wrong.

    One of our records takes part with its list of answers; a grounded outcome is the
    action ``Stop``, any other stands for itself. A published reply in text is one
    string, as CoR's own ports of PoG and ToG give it.
    """
    judged = cases(results, questions)
    scored = [case for case in judged if case.question is None or case.gold]
    scores = [score(predictions(case.result), gold_names(case)) for case in scored]
    right = [bool(one.hit) for one in scores]
    actions = [action_of(case.result) for case in judged]
    return (
        summary("cor", NOTE, scored, right, seed)
        | costs(judged)
        | {"n": len(judged), "excluded": len(judged) - len(scored)}
        | {"accuracy": share([one.accuracy for one in scores], seed)}
        | means([(one.precision, one.recall, one.f1) for one in scores], seed)
        | {"kgr": share([action.casefold() in WALKED for action in actions], seed)}
        | {"actions": dict(Counter(actions).most_common())}
    )


def score(predicted: Sequence[str], gold: Sequence[str]) -> Scores:
    """Score one question by the gold that is found in the predictions joined by spaces.

    >>> score(["Canada, Mexico, Cuba, Peru"], ["Canada", "Mexico"]).f1
    1.0
    """
    said = normalised(" ".join(predicted))
    found = sum(normalised(name) in said for name in gold)
    if not found:
        return Scores(0.0, 0.0, 0.0, 0.0, 0.0)
    precision, recall = min(1.0, found / len(predicted)), found / len(gold)
    return Scores(1.0, recall, precision, recall, 2 * precision * recall / (precision + recall))


def normalised(text: str) -> str:
    """Give a text in small letters, without ASCII punctuation and articles: ``3.5`` becomes ``35``."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def predictions(result: Result) -> list[str]:
    """Give the predictions of a record: its names, each with braces replaced by what the last hold."""
    found = [piece for name in _names(result) for piece in (_braced(name) or [name])]
    return found or ["None"]


def _names(result: Result) -> list[str]:
    rows = result.record.get("results")
    if isinstance(rows, list):
        return [str(row["name"]) for row in rows if "name" in row]
    return [", ".join(names(result))] if result.text is not None and names(result) else names(result)


def _braced(name: str) -> list[str]:
    groups = _BRACES.findall(name)
    if not groups:
        return []
    last = str(groups[-1]).strip()
    if "," in last:
        return [part.strip() for part in last.split(",")]
    return _AND.split(last) if " and " in last.lower() else [last]


def gold_names(case: Case) -> list[str]:
    """Give the name (else the id) of each gold answer; two answers of one name count twice."""
    answers = case.question.gold if case.question else ()
    return [name for name in map(shown, answers) if name]


def action_of(result: Result) -> str:
    """Give how a record says it ended."""
    if "action" in result.record:
        return str(result.record["action"])
    return "Stop" if result.outcome == "grounded" else result.outcome or "unknown"
