"""What the legacy protocols share: gold as strings, the comparison by substring, and the summary."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result, Usage, pair_results
from kgqa.evaluation.scoring.statistics import bootstrap_interval, summarise_spread


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
    nameless = "null" if _is_grailqa(question) else None
    strings = [
        string
        for answer in question.gold
        for string in (answer.name or nameless or answer.id, *answer.aliases)
    ]
    return tuple(dict.fromkeys(string for string in strings if string))


def _is_grailqa(question: Question) -> bool:
    """Tell GrailQA's questions by their level or, in files without it, by their ids of 13 digits."""
    return question.level is not None or re.fullmatch("[0-9]{13}", question.id) is not None


def answer_text(answer: EntityRef) -> str | None:
    """Return an answer as the published code sees it: its name, else its id."""
    return answer.name or answer.id


def answer_texts(result: Result) -> list[str]:
    """Return the answers of a record as strings, those with neither name nor id left out.

    A record that says "unknown" for it found nothing has no answer: "no" is a part of that word.
    """
    if result.outcome == "none":
        return []
    return [name for name in map(answer_text, result.answers) if name]


def matches_any_gold(response: str, gold: Iterable[str]) -> bool:
    """Return whether any gold is the response, is inside of it, or holds it; spaces and case aside.

    An empty response is inside of every gold.
    """
    said = remove_spaces(response)
    return any(said in right or right in said for right in map(remove_spaces, gold))


def remove_spaces(text: str) -> str:
    """Return a text in small letters without spaces (other white space stays inside)."""
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


COST_KEYS = ("llm_calls", "input_tokens", "output_tokens", "seconds")
"""What published records say of their cost, by the names of our usage."""


def summarise(
    protocol: str, note: str, judged: Sequence[LegacyCase], right: Sequence[bool], seed: int
) -> dict[str, Any]:
    """Return what the legacy protocols have in common; ``right`` has one verdict a record.

    The breakdowns are those of the published code: by kind and by level, where the
    dataset has them. Costs are means over the records that state a time.
    """
    return {
        "protocol": protocol,
        "legacy": True,
        "note": f"{note} For comparison with published numbers only.",
        "n": len(judged),
        "correct": sum(right),
        "unmatched": sum(case.question is None for case in judged),
        "hits_at_1": mean_with_interval(right, seed),
        **measure_costs(judged),
        "breakdowns": measure_breakdowns(judged, right, seed),
        "seed": seed,
    }


def mean_with_interval(values: Sequence[float], seed: int) -> dict[str, float | None]:
    """Return the mean of a value per record, with its 95% bootstrap interval; nulls for none."""
    return bootstrap_interval(values, seed)._asdict()


def mean_scores(scores: Sequence[tuple[float, float, float]], seed: int) -> dict[str, Any]:
    """Return the means of precision, recall and F1 over questions."""
    return {
        name: mean_with_interval([score[at] for score in scores], seed)
        for at, name in enumerate(("precision", "recall", "f1"))
    }


def measure_breakdowns(judged: Sequence[LegacyCase], right: Sequence[bool], seed: int) -> dict[str, Any]:
    """Return count and share of right records for each compositionality type and each level."""
    return {name: _measure_breakdown(name, judged, right, seed) for name in ("kind", "level")}


def _measure_breakdown(
    name: str, judged: Sequence[LegacyCase], right: Sequence[bool], seed: int
) -> dict[str, Any]:
    groups: dict[str, list[bool]] = {}
    for case, verdict in zip(judged, right, strict=True):
        value = getattr(case.question, name, None)
        if value is not None:
            groups.setdefault(value, []).append(verdict)
    return {
        value: {"n": len(group), "correct": sum(group), "hits_at_1": mean_with_interval(group, seed)}
        for value, group in sorted(groups.items())
    }


def measure_costs(judged: Sequence[LegacyCase]) -> dict[str, Any]:
    """Return calls, tokens and seconds over the records that state a time; None where unknown."""
    timed = [case.result.usage for case in judged if case.result.usage.get("seconds") is not None]
    spent = {key: [usage.get(key) for usage in timed] for key in COST_KEYS}
    spent["total_tokens"] = [_total_tokens(usage) for usage in timed]
    return {key: _summarise(values) for key, values in spent.items()}


def _total_tokens(usage: Usage) -> float | None:
    given, written = usage.get("input_tokens"), usage.get("output_tokens")
    return None if given is None or written is None else given + written


def _summarise(values: Sequence[float | None]) -> dict[str, float] | None:
    found = summarise_spread([value for value in values if value is not None])
    return found and found._asdict()
