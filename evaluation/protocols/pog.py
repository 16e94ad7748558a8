"""What the evaluation code of Plan-on-Graph counts (PoG, also published as Hits@1 or exact match)."""

from collections.abc import Iterator, Sequence
from typing import Any

from kgqa.evaluation.protocols.legacy import Case, cases, contained
from kgqa.evaluation.protocols.replies import candidates, reply_of
from kgqa.evaluation.protocols.summary import summary
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result

NOTE = "Share of records whose answer text contains, or is part of, any gold name or alias."


def measure(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as PoG's code does.

    ``n`` is the number of records, not of questions. An empty answer is part of every
    gold and counts as right; a list is compared as the one string that Python prints;
    a question without gold counts as wrong, and so does a record whose question the
    dataset does not have. Where a reply has a brace but no answer that can be found,
    the answer of the record before is compared once more.

    One of our records takes part as `replies.reply_of` writes it; without an answer it
    is wrong.
    """
    judged = cases(results, questions)
    return summary("pog", NOTE, judged, list(_verdicts(judged)), seed)


def _verdicts(judged: Sequence[Case]) -> Iterator[bool]:
    before: list[str] = []
    for case in judged:
        reply = reply_of(case.result)
        found = None if reply is None else candidates(reply)
        tried = [] if reply is None else before if found is None else found
        right = next((candidate for candidate in tried if contained(candidate, case.gold)), None)
        if tried:
            before = [tried[-1] if right is None else right]
        yield right is not None
