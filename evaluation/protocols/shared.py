"""What the legacy protocols share: gold as strings, the comparison by substring, and the summary."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result, pair_results
from kgqa.evaluation.scoring.statistics import Share, UsageCosts, mean_share, summarise_usage


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


def gold_strings(question: Question | None) -> tuple[str, ...]:
    """Return the names (ids where there is none) and aliases of all readings, each once.

    GrailQA's file writes "null" for an entity without a name, and published code takes
    that for its name.
    """
    if question is None:
        return ()
    # GrailQA's questions have a level or, in files without it, ids of 13 digits.
    is_grailqa = question.level is not None or re.fullmatch("[0-9]{13}", question.id)
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


def character_f1(
    prediction: str, gold: Sequence[str], match: Callable[[str, Iterable[str]], bool]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 as the code of CoG and of VoG computes them.

    Precision is the share of comma-separated pieces of the prediction that match any
    gold. Recall compares the prediction with the single characters of each gold
    string, since a string is handed over where a list is meant: one common letter, or
    a space in the gold, and that gold is found.
    """
    pieces = [piece.strip() for piece in prediction.split(",") if piece.strip()]
    if not pieces:
        return 0.0, 0.0, 0.0
    spread = " ".join(prediction)
    precision = sum(match(piece, gold) for piece in pieces) / len(pieces)
    recall = sum(match(spread, characters) for characters in gold) / len(gold) if gold else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


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


def mean_scores(scores: Sequence[tuple[float, float, float]], seed: int) -> dict[str, Share]:
    """Return the means of precision, recall and F1 over questions."""
    names = ("precision", "recall", "f1")
    return {name: mean_share([score[place] for score in scores], seed) for place, name in enumerate(names)}


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
