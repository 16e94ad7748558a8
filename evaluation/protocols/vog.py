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
    records. Precision, recall and F1 (`legacy.character_f1`) are means over the
    ``predicted`` records that have an answer.

    One of our records takes part as the names of its answers, joined by commas, and
    never ends the count; so does a reply in PoG's JSON.
    """
    judged = legacy_cases(results, questions)
    end = next((at for at, case in enumerate(judged) if _states_no_cost(case.result)), len(judged))
    said = [joined_answer(case.result) if at < end else "" for at, case in enumerate(judged)]
    right = [
        bool(text) and any_piece_matches(text, case.gold) for text, case in zip(said, judged, strict=True)
    ]
    answered = [at for at, text in enumerate(said) if text]
    grouped = measure_breakdowns([judged[at] for at in answered], [right[at] for at in answered], seed)
    scores = [character_f1(said[at], judged[at].gold, any_piece_matches) for at in answered]
    counted = {"predicted": len(answered), "cut": len(judged) - end, **mean_scores(scores, seed)}
    return (
        summarise("vog", NOTE, judged, right, seed)
        | measure_costs(judged[: end + 1])
        | {"breakdowns": grouped}
        | counted
    )


def any_piece_matches(response: str, gold: Iterable[str]) -> bool:
    """Return whether any comma-separated piece of a response matches any gold."""
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
