"""What the evaluation code of Plan-on-Graph counts (PoG, also published as Hits@1 or exact match).

CoG's code and VoG's were made from it, each with an F1 of its own.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kgqa.evaluation.protocols.shared import (
    LegacyCase,
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

POG_NOTE = "Share of records whose answer text contains, or is part of, any gold name or alias."
COG_NOTE = (
    "Hits@1 is PoG's matching of substrings; recall compares single characters, "
    "so that nearly every gold counts as found, and F1 is close to 1 for any right answer."
)
VOG_NOTE = (
    "Share of records of which any comma-separated piece contains, or is part of, any gold name or alias; "
    "recall compares single characters, so that nearly every gold counts as found."
)

_QUOTED = re.compile(r"\"Answer\":\s*[\"']([^\"']+)[\"']")
_LISTED = re.compile(r'"Answer":\s*(\[[^\]]+\])')
_ITEM = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def reply_text(result: Result) -> str | None:
    """Return the reply of a record in PoG's form; None where it has no answer.

    A published record has it. One of ours becomes PoG's JSON: ``Answer`` is the name
    (else the id) of the one answer, or the list of all.
    """
    if result.text is not None:
        return result.text
    answers = answer_texts(result)
    if not answers:
        return None
    answer: Any = answers[0] if len(answers) == 1 else answers
    return json.dumps({"A": {"Sufficient": "Yes", "Answer": answer}}, ensure_ascii=False)


def candidate_answers(reply: str) -> list[str] | None:
    """Return the strings of a reply that are compared with the gold; any of them may be right.

    From the first brace on: the JSON's ``A.Answer`` or ``Answer``, where a list becomes
    one string as Python prints it; else the last quoted ``"Answer"`` that a pattern
    finds, up to the next quote of either kind; else the items of the first list. A
    reply without a brace is the answer as a whole. None where there is a brace and
    nothing is found: there PoG and CoG go on in different ways.
    """
    start = reply.find("{")
    if start < 0:
        return [reply]
    rest = reply[start:]
    try:
        stated = json.loads(rest)
        return [str(stated["A"]["Answer"] if "A" in stated else stated["Answer"])]
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    if quoted := _QUOTED.findall(rest):
        return [str(quoted[-1])]
    listed = _LISTED.search(rest)
    return _list_items(listed.group(1)) if listed else None


def _list_items(text: str) -> list[str]:
    """Return the items of a list in the text; the published code evaluates it as Python."""
    try:
        return [str(item) for item in json.loads(text)]
    except (ValueError, RecursionError):
        return [double or single for double, single in _ITEM.findall(text)]


def measure_pog(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as PoG's code does.

    ``n`` is the number of records, not of questions. An empty answer is part of every
    gold and counts as right; a list is compared as the one string that Python prints;
    a question without gold counts as wrong, and so does a record whose question the
    dataset does not have. Where a reply has a brace but no answer that can be found,
    the answer of the record before is compared once more.

    One of our records takes part as `reply_text` writes it; without an answer it
    is wrong.
    """
    cases = legacy_cases(results, questions)
    return summarise("pog", POG_NOTE, cases, list(_judge_in_order(cases)), seed)


def _judge_in_order(cases: Sequence[LegacyCase]) -> Iterator[bool]:
    before: list[str] = []
    for case in cases:
        reply = reply_text(case.result)
        found = None if reply is None else candidate_answers(reply)
        tried = [] if reply is None else before if found is None else found
        right = next((candidate for candidate in tried if matches_any_gold(candidate, case.gold)), None)
        if tried:
            before = [tried[-1] if right is None else right]
        yield right is not None


def measure_cog(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as CoG's code does.

    Hits@1 is that of `measure_pog`, but for a reply with a brace and
    no answer that can be found: here the whole reply is compared. Precision, recall and F1
    (`character_f1`) are means over the records whose answer is not empty,
    ``predicted`` in number. Records of ours take part as in PoG's protocol.
    """
    cases = legacy_cases(results, questions)
    compared = []
    for case in cases:
        reply = reply_text(case.result)
        found = None if reply is None else candidate_answers(reply)
        compared.append(([] if reply is None else [reply] if found is None else found, case.gold))
    right = [any(matches_any_gold(answer, gold) for answer in answers) for answers, gold in compared]
    joined = [(",".join(answers), gold) for answers, gold in compared]
    scores = [character_f1(answer, gold, matches_any_gold) for answer, gold in joined if answer]
    counted = {"predicted": len(scores), **mean_scores(scores, seed)}
    return summarise("cog", COG_NOTE, cases, right, seed) | counted


def measure_vog(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
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
        summarise("vog", VOG_NOTE, cases, right + [False] * (len(cases) - end), seed)
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
    spent = [result.usage.get(key) for key in ("llm_calls", "input_tokens", "output_tokens")]
    return result.text is not None and result.usage.get("seconds") is not None and 0 in spent
