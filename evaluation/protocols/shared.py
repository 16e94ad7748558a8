"""What the legacy protocols share: gold as strings, comparison by substring or to the letter, the summary."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result, pair_results
from kgqa.evaluation.scoring.scores import ZERO_SCORE, Score, score_answers
from kgqa.evaluation.scoring.statistics import Share, UsageCosts, mean_share, summarise_usage

EXACT_NOTE = (
    "Hits@1 is the share of questions whose first answer is right; answers are compared by id, else by name "
    "to the letter, without aliases."
)


class Scores(NamedTuple):
    """What one question gets; CoR and RoG call the recall accuracy as well."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class LegacyCase:
    """A record with its question (None where the dataset does not have it) and gold strings."""

    result: Result
    question: Question | None
    gold: tuple[str, ...]


def legacy_cases(results: Sequence[Result], questions: Sequence[Question]) -> list[LegacyCase]:
    """Return the records that a legacy protocol counts, in the order of their file.

    A later record of a question takes the place of the first, as when published code
    reads its outputs into a dictionary.
    """
    matched = pair_results(results, questions).matched
    return [LegacyCase(result, question, gold_strings(question)) for result, question in matched]


GRAILQA_LEVELS = {"i.i.d.", "compositional", "zero-shot"}


def gold_strings(question: Question | None) -> tuple[str, ...]:
    """Return the names (ids where there is none) and aliases of all readings, each once.

    GrailQA's file writes "null" for an entity without a name, and published code takes
    that for its name.
    """
    if question is None:
        return ()
    # GrailQA's questions have a level or, in files without it, ids of 13 digits.
    is_grailqa = question.level in GRAILQA_LEVELS or re.fullmatch("[0-9]{13}", question.id)
    nameless = "null" if is_grailqa else None
    strings = dict.fromkeys(
        string
        for answer in question.gold
        for string in (answer.name or nameless or answer.id, *answer.aliases)
    )
    return tuple(string for string in strings if string)


def answer_texts(result: Result) -> list[str]:
    """Return the names (ids where there is none) of the answers of a record, as the published code sees them.

    A record that says "unknown" for it found nothing has no answer: "no" is a part of that word.
    """
    if result.outcome == "none":
        return []
    return [text for answer in result.answers if (text := answer.name or answer.id)]


def matches_any_gold(response: str, gold: Iterable[str]) -> bool:
    """Return whether any gold is the response, is inside of it, or holds it; spaces and case aside.

    An empty response is inside of every gold.
    """
    given = _remove_spaces(response)
    return any(given in right or right in given for right in map(_remove_spaces, gold))


def _remove_spaces(text: str) -> str:
    return text.strip().replace(" ", "").lower()


def scores(precision: float, recall: float) -> Scores:
    """Return precision and recall with their harmonic mean."""
    both = precision + recall
    return Scores(precision, recall, 2 * precision * recall / both if both else 0.0)


def character_f1(prediction: str, gold: Sequence[str], match: Callable[[str, Iterable[str]], bool]) -> Scores:
    """Return precision, recall and F1 as the code of CoG and of VoG computes them.

    Precision is the share of comma-separated pieces of the prediction that match any
    gold. Recall compares the prediction with the single characters of each gold
    string, since a string is handed over where a list is meant: one common letter, or
    a space in the gold, and that gold is found.
    """
    pieces = [piece.strip() for piece in prediction.split(",") if piece.strip()]
    if not pieces:
        return scores(0.0, 0.0)
    spread = " ".join(prediction)
    precision = sum(match(piece, gold) for piece in pieces) / len(pieces)
    recall = sum(match(spread, characters) for characters in gold) / len(gold) if gold else 0.0
    return scores(precision, recall)


def summarise(
    protocol: str, note: str, cases: Sequence[LegacyCase], right: Sequence[bool], seed: int
) -> dict[str, Any]:
    """Return what the legacy protocols have in common; ``right`` has one verdict a record.

    The breakdowns are those of the published code: by kind and by level, where the
    dataset has them. Costs are means over the records that state a time.
    """
    return {
        "protocol": protocol,
        "legacy": True,
        "note": f"{note} For comparison with published numbers only.",
        "n": len(cases),
        "correct": sum(right),
        "unmatched": sum(case.question is None for case in cases),
        "hits_at_1": mean_share(right, seed),
        **measure_costs(cases),
        "breakdowns": measure_breakdowns(cases, right, seed),
        "seed": seed,
    }


def mean_scores(scored: Sequence[Scores | Score], seed: int) -> dict[str, Share]:
    """Return the means of precision, recall and F1 over questions."""
    return {name: mean_share([getattr(one, name) for one in scored], seed) for name in Scores._fields}


def summarise_scored(
    protocol: str,
    note: str,
    cases: Sequence[LegacyCase],
    score: Callable[[LegacyCase], Scores | Score],
    hit: Callable[[Any], float],
    seed: int,
) -> dict[str, Any]:
    """Summarise a protocol that leaves questions without gold out of all means (``excluded``), by a ``hit``.

    A record whose question the dataset does not have is wrong.
    """
    counted = [case for case in cases if case.question is None or case.gold]
    scored = [score(case) for case in counted]
    return (
        summarise(protocol, note, counted, [hit(one) > 0 for one in scored], seed)
        | measure_costs(cases)
        | {"n": len(cases), "excluded": len(cases) - len(counted)}
        | mean_scores(scored, seed)
    )


def measure_exact(
    results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0
) -> dict[str, Any]:
    """Count questions whose first answer is right to the letter, as the papers of PoG, CoG, VoG and PoG-EGP.

    They call it Hits@1; their code counts otherwise.
    """
    cases = legacy_cases(results, questions)
    return summarise_scored("exact", EXACT_NOTE, cases, score_exactly, attrgetter("hit_at_1"), seed)


def score_exactly(case: LegacyCase) -> Score:
    """Score a record by id, else by name to the letter, without aliases."""
    return (case.question and score_answers(case.result.answers, case.question, exact=True)) or ZERO_SCORE


def measure_breakdowns(cases: Sequence[LegacyCase], right: Sequence[bool], seed: int) -> dict[str, Any]:
    """Return count and share of right records for each compositionality type and each level."""
    found = {}
    for name in ("kind", "level"):
        groups: dict[str, list[bool]] = {}
        for case, verdict in zip(cases, right, strict=True):
            if (value := getattr(case.question, name, None)) is not None:
                groups.setdefault(value, []).append(verdict)
        found[name] = {
            value: {"n": len(group), "correct": sum(group), "hits_at_1": mean_share(group, seed)}
            for value, group in sorted(groups.items())
        }
    return found


def measure_costs(cases: Sequence[LegacyCase]) -> UsageCosts:
    """Return what was used over the records that state a time."""
    usages = (case.result.usage for case in cases)
    return summarise_usage([usage for usage in usages if usage.get("seconds") is not None])
