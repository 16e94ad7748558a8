"""What each arm of a revision did in a run, and how the plans that it made ended (VoG, appendix E.3, E.6)."""

from collections.abc import Callable, Sequence

from typing_extensions import TypedDict

from kgqa.evaluation.accuracy import Group, Share, group, share
from kgqa.evaluation.costs import Costs, costs
from kgqa.evaluation.planned import Case, Revised
from kgqa.evaluation.rightness import right
from kgqa.evaluation.statistics import interval
from kgqa.priors.agreement import answer_key
from kgqa.priors.rewards import confidence

FIRST = "first"
"""What stands for the plan that a search began with, where others go by their arm."""

ORIGINS = (FIRST, "local", "lookahead", "global")
"""Where a plan may be from, in the order in which the metrics have them."""


class Strategy(TypedDict):
    """What one arm did (Tables 6 and 9)."""

    chosen: Costs | None
    """How often a question with a plan chose it: N_c."""
    revisions: int
    """Revisions by it that have a reward."""
    accepted: int
    reward: float | None
    """Their mean reward; null where there are none."""
    wrong_before: int
    """Revisions of a plan whose answer was wrong, on scored questions."""
    success: Share
    """The share of those that are right; the interval is over revisions (Table 6)."""


class Final(Group):
    """The questions that ended with a plan of one origin, and the accuracy over the ``n`` scored ones."""

    questions: int
    attributed: Share
    """Its share of all right answers (Figure 7)."""


def strategies(cases: Sequence[Case], seed: int) -> dict[str, Strategy]:
    """Measure each arm that was chosen."""
    seen = {arm for case in cases for arm in (*case.chosen, *(one.arm for one in case.revised))}
    return {arm: _strategy(cases, arm, seed) for arm in sorted(seen, key=_rank)}


def plans(cases: Sequence[Case], seed: int) -> dict[str, Final]:
    """Measure the questions by what the plan in force at their end is from."""
    ended = [(case.mark, case.last.arm or FIRST) for case in cases if case.last]
    origins = sorted({origin for _, origin in ended}, key=_rank)
    hits = [origin for mark, origin in ended if mark.score and mark.score.hit_at_1 > 0]
    found: dict[str, Final] = {}
    for origin in origins:
        marks, part = [mark for mark, one in ended if one == origin], [hit == origin for hit in hits]
        attributed = share(interval(part, seed))
        found[origin] = {"questions": len(marks), "attributed": attributed, **group(marks, seed)}
    return found


def success(cases: Sequence[Case], seed: int) -> Share:
    """Give the share of the revisions of a wrong plan that are right."""
    return share(interval(_of_wrong(cases), seed))


def best_by_task(cases: Sequence[Case], seed: int) -> Share:
    """Tell how often the revision of the highest task reward is right; of equals the first counts."""
    return _best(cases, lambda case: [one.task for one in case.revised], seed)


def best_by_confidence(cases: Sequence[Case], seed: int) -> Share:
    """Tell how often the revision that most plans agree with is right; of equals the first counts."""
    return _best(cases, _confidences, seed)


def _strategy(cases: Sequence[Case], arm: str, seed: int) -> Strategy:
    own = [case._replace(revised=[one for one in case.revised if one.arm == arm]) for case in cases]
    tried = [one for case in own for one in case.revised]
    return {
        "chosen": costs([case.chosen[arm] for case in cases]),
        "revisions": len(tried),
        "accepted": sum(one.accepted for one in tried),
        "reward": sum(one.reward for one in tried) / len(tried) if tried else None,
        "wrong_before": len(_of_wrong(own)),
        "success": success(own, seed),
    }


def _of_wrong(cases: Sequence[Case]) -> list[bool]:
    """Tell of each revision of a wrong plan whether it is right; questions without gold are left out."""
    return [
        right(one.answers, case.mark.question)
        for case in cases
        if case.mark.score
        for one in case.revised
        if not right(one.before, case.mark.question)
    ]


def _best(cases: Sequence[Case], worth: Callable[[Case], Sequence[float]], seed: int) -> Share:
    hits = []
    for case in cases:
        if case.mark.score and case.revised:
            worths = worth(case)
            best: Revised = case.revised[worths.index(max(worths))]
            hits.append(right(best.answers, case.mark.question))
    return share(interval(hits, seed))


def _confidences(case: Case) -> list[float]:
    """Give equation 3 over all plans of the question, the first one among them, for each revision."""
    pool = [answer_key(answers) for answers in (case.first.answers, *(one.answers for one in case.revised))]
    return [confidence(pool, key) for key in pool[1:]]


def _rank(origin: str) -> tuple[int, str]:
    return ORIGINS.index(origin) if origin in ORIGINS else len(ORIGINS), origin
