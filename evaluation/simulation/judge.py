"""Judges chains by where they lead, rightly and wrongly."""

from typing import NamedTuple, get_args

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.evaluation.simulation.gold import Gold, Marks
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.prompts.candidates import SHOWN, Take, aggregate, taken
from kgqa.prompts.verify_chain import Decision

COMPUTED: tuple[Take, ...] = ("count", "smallest", "largest")
"""What answers are computed by."""


class Seen(NamedTuple):
    """What a prompt shows of a chain that is to be judged."""

    chain: Chain
    candidates: tuple[Candidate, ...]
    truncated: bool = False
    filtering: bool = True


class Judgement(NamedTuple):
    """What to do with a chain and, for ``stop``, which of its ends are the answer."""

    decision: Decision
    take: Take = "all"
    chosen: tuple[int, ...] = ()


_BACKTRACK = Judgement("backtrack")


async def judge(seen: Seen, case: Case) -> Judgement:
    """Stop at the end of a way, go on along one, turn back from anywhere else.

    A chain that is no way but has led to the gold answers, and to nothing else, stops too. What
    meets a condition is named with the verdict where all candidates are shown, and no other topic
    is still to come that says which.
    """
    marks = _marks(seen, case)
    rests = await case.oracle.rests(seen.chain)
    if () in rests:
        found = _complete(seen, marks, case.oracle.gold, others=await case.oracle.awaits_others(seen.chain))
        if found is not _BACKTRACK:
            return found
    if any(rests):
        return Judgement("forward")
    take = exact(seen, marks, case.oracle.gold)
    return Judgement("stop", take) if take else _BACKTRACK


def misjudge(right: Judgement, seen: Seen, case: Case) -> Judgement:
    """Err where a draw says so: another decision of those offered, or a stop that takes others."""
    if case.happens("judge"):
        offered: list[Decision] = [d for d in get_args(Decision) if d != "filter" or seen.filtering]
        return Judgement(
            next(case.draws.shuffled("wrong verdict", [d for d in offered if d != right.decision]))
        )
    takes = right.decision == "stop" or right.chosen
    if takes and case.happens("entity"):
        wrong = wrong_choice(_numbers(_marks(seen, case)), min(SHOWN, len(seen.candidates)), case.draws)
        take: Take = "some" if right.decision == "stop" else "all"
        return Judgement(right.decision, take, tuple(wrong)) if wrong else right
    return right


def _marks(seen: Seen, case: Case) -> Marks:
    return case.oracle.gold.mark([candidate.term for candidate in seen.candidates])


def _complete(seen: Seen, marks: Marks, gold: Gold, *, others: bool) -> Judgement:
    """Say what is the answer at the end of a way, or that the gold answers are not there.

    A number that is computed from what several topics lead to is computed at the last of them;
    the ``others`` await it.
    """
    awaits = others and gold.is_number
    if take := exact(seen, marks, gold):
        return Judgement("stop", take)
    if not awaits and (take := computed(seen, gold)):
        return Judgement("stop", take)
    if any(marks.right):
        return _among(seen, marks, others=others)
    return Judgement("stop") if awaits else _BACKTRACK


def exact(seen: Seen, marks: Marks, gold: Gold) -> Take | None:
    """Find what to take so that the gold answers are taken and nothing else."""
    if marks.exact:
        return "all"
    others = taken("others", (), seen.candidates)
    return "others" if len(others) < len(marks.right) and gold.mark(others).exact else None


def computed(seen: Seen, gold: Gold) -> Take | None:
    """Find what to compute from the candidates so that it is the gold answer."""
    for take in COMPUTED if gold.is_single and not seen.truncated else ():
        value = aggregate(take, taken(take, (), seen.candidates))
        if value is not None and gold.mark([value]).exact:
            return take
    return None


def _among(seen: Seen, marks: Marks, *, others: bool) -> Judgement:
    """Apply what is left of the question where gold answers are among other candidates.

    A model that may not filter answers with all candidates, as the paper's ablation does
    (CoR, Table 3). Filtering keeps nothing that returns to the topic if anything else is there.
    """
    returning = [candidate.returning for candidate in seen.candidates]
    wanted = any(right and back for right, back in zip(marks.right, returning, strict=True))
    take: Take = "others" if any(returning) and not (wanted or all(returning)) else "all"
    left = [right for right, back in zip(marks.right, returning, strict=True) if take == "all" or not back]
    if all(left) or not seen.filtering:
        return Judgement("stop", take)
    if wanted and not all(returning) and (numbers := _numbers(marks)):
        return Judgement("stop", "some", tuple(numbers))
    named = not (others or seen.truncated or len(seen.candidates) > SHOWN)
    return Judgement("filter", chosen=tuple(_numbers(marks)) if named else ())


def _numbers(marks: Marks) -> list[int]:
    """Number the gold answers among the candidates that a prompt shows."""
    return [number for number, right in enumerate(marks.right[:SHOWN], 1) if right]
