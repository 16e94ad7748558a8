"""What the evaluation code of VoG counts, called exact match and F1."""

from collections.abc import Iterable, Sequence
from typing import Any

from kgqa.evaluation.protocols.shared import (
    COST_KEYS,
    answer_texts,
    character_f1,
    legacy_cases,
    matches_any_gold,
    mean_scores,
    measure_breakdowns,
    measure_costs,
    summarise,
)
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result

NOTE = (
    "Share of records of which any comma-separated piece contains, or is part of, any gold name or alias; "
    "recall compares single characters, so that nearly every gold counts as found."
)


def measure(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as VoG's code does.

    Any piece between commas may be right; an empty piece, as after a comma at the end,
    is part of every gold. A record without an answer is wrong and is left out of the
    F1 and of the breakdowns. A published record with zero calls or zero tokens ends
    the count: it and all that follow are wrong (``cut`` tells how many). ``n`` is the number of
    records. Precision, recall and F1 (`character_f1`) are means over the
    ``predicted`` records that have an answer.

    One of our records takes part as the names of its answers, joined by commas, and
    never ends the count; so does a reply in PoG's JSON.
    """
    cases = legacy_cases(results, questions)
    end = next((place for place, case in enumerate(cases) if _states_no_cost(case.result)), len(cases))
    counted = [(case, joined_answer(case.result)) for case in cases[:end]]
    right = [bool(text) and _any_piece_matches(text, case.gold) for case, text in counted]
    answered = [(case, text, verdict) for (case, text), verdict in zip(counted, right, strict=True) if text]
    scores = [character_f1(text, case.gold, _any_piece_matches) for case, text, _ in answered]
    groups = measure_breakdowns(
        [case for case, _, _ in answered], [verdict for *_, verdict in answered], seed
    )
    return (
        summarise("vog", NOTE, cases, right + [False] * (len(cases) - end), seed)
        | measure_costs(cases[: end + 1])
        | {"breakdowns": groups, "predicted": len(answered), "cut": len(cases) - end}
        | mean_scores(scores, seed)
    )


def _any_piece_matches(response: str, gold: Iterable[str]) -> bool:
    return any(matches_any_gold(piece, gold) for piece in response.split(","))


def joined_answer(result: Result) -> str:
    """Return the answer of a record as VoG has it: one string."""
    text = result.text
    if text is None or ("{" in text and '"Answer"' in text):
        return ", ".join(answer_texts(result))
    return text


def _states_no_cost(result: Result) -> bool:
    """Return whether a published record states a time, and no calls or no tokens."""
    spent = [result.usage.get(key) for key in COST_KEYS]
    return result.text is not None and result.usage.get("seconds") is not None and 0 in spent[:-1]
