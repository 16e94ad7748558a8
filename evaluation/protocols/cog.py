"""What the evaluation code of CoG counts: PoG's matching, and an F1 of its own."""

from collections.abc import Sequence
from typing import Any

from kgqa.evaluation.protocols.pog import candidate_answers, reply_text
from kgqa.evaluation.protocols.shared import (
    character_f1,
    legacy_cases,
    matches_any_gold,
    mean_scores,
    summarise,
)
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result

NOTE = (
    "Hits@1 is PoG's matching of substrings; recall compares single characters, "
    "so that nearly every gold counts as found, and F1 is close to 1 for any right answer."
)


def measure(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as CoG's code does.

    Hits@1 is that of `kgqa.evaluation.protocols.pog`, but for a reply with a brace and
    no answer that can be found: here the whole reply is compared. Precision, recall and F1
    (`character_f1`) are means over the records whose answer is not empty,
    ``predicted`` in number. Records of ours take part as in PoG's protocol.
    """
    cases = legacy_cases(results, questions)
    compared = [(_compared_strings(case.result), case.gold) for case in cases]
    right = [any(matches_any_gold(answer, gold) for answer in answers) for answers, gold in compared]
    joined = [(",".join(answers), gold) for answers, gold in compared]
    scores = [character_f1(answer, gold, matches_any_gold) for answer, gold in joined if answer]
    counted = {"predicted": len(scores), **mean_scores(scores, seed)}
    return summarise("cog", NOTE, cases, right, seed) | counted


def _compared_strings(result: Result) -> list[str]:
    reply = reply_text(result)
    if reply is None:
        return []
    found = candidate_answers(reply)
    return [reply] if found is None else found
