"""How often a run looked back upon a failure signal, and how these questions ended (CoG, App. G)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from typing_extensions import TypedDict

from kgqa.evaluation.accuracy import Group, Share, group, share
from kgqa.evaluation.costs import Costs, costs
from kgqa.evaluation.judging import Judged
from kgqa.evaluation.result import OUTAGES, Result
from kgqa.evaluation.statistics import interval
from kgqa.evaluation.steps import Diagnosis, diagnoses, refines


class Fates(TypedDict):
    """How many questions have a right first answer, how many have not, and how many have no gold."""

    right: int
    wrong: int
    unscored: int


class Triggered(Group):
    """Questions with a diagnosis: how many, and the accuracy over the ``n`` scored ones among them."""

    triggered: int
    outcomes: dict[str, Fates]
    """How they ended, by outcome; ``error`` is an exception."""


class Refinement(Triggered):
    """Failure-aware refinement in a run (Table 8, Figure 5).

    ``triggered`` counts the questions with at least one diagnosis; all but ``rate`` is
    over these.
    """

    rate: Share
    """Their share of all questions."""
    diagnoses: Costs | None
    """Diagnoses of such a question; null where there is none."""
    dropped: Share
    """Questions whose blueprint was found unreliable and dropped (App. K)."""
    rerouted: int
    """Questions with a diagnosis that blames a step, so that the search went on before it."""
    recovered: Share
    """Of the scored ones among those, the share that ended grounded and right."""
    signals: dict[str, Triggered]
    """The questions by the signal of their first diagnosis."""


class _Case(NamedTuple):
    mark: Judged
    result: Result
    found: list[Diagnosis]


def refinement(judged: Sequence[Judged], seed: int) -> Refinement | None:
    """Measure refinement; None where the results tell of no such step."""
    given = [(mark, mark.result) for mark in judged if mark.result]
    cases = [_Case(mark, result, found) for mark, result in given if (found := diagnoses(result))]
    if not cases and not any(refines(result) for _, result in given):
        return None
    hit = {case.mark.question.id for case in cases}
    rerouted = [case for case in cases if any(one.rerouted for one in case.found)]
    signals = sorted({case.found[0].signal for case in cases})
    return {
        **_triggered(cases, seed),
        "rate": _share([mark.question.id in hit for mark in judged], seed),
        "diagnoses": costs([len(case.found) for case in cases]),
        "dropped": _share([any(one.dropped for one in case.found) for case in cases], seed),
        "rerouted": len(rerouted),
        "recovered": _share([_recovered(case) for case in rerouted if case.mark.score], seed),
        "signals": {
            signal: _triggered([case for case in cases if case.found[0].signal == signal], seed)
            for signal in signals
        },
    }


def _triggered(cases: Sequence[_Case], seed: int) -> Triggered:
    outcomes = [_outcome(case.result) for case in cases]
    return {
        "triggered": len(cases),
        **group([case.mark for case in cases], seed),
        "outcomes": {
            outcome: _fates(case.mark for case, one in zip(cases, outcomes, strict=True) if one == outcome)
            for outcome in sorted(set(outcomes))
        },
    }


def _fates(marks: Iterable[Judged]) -> Fates:
    hits = [None if mark.score is None else mark.score.hit_at_1 > 0 for mark in marks]
    return {"right": hits.count(True), "wrong": hits.count(False), "unscored": hits.count(None)}


def _outcome(result: Result) -> str:
    if result.error is not None and result.outcome not in OUTAGES:
        return "error"
    return result.outcome or "unknown"


def _recovered(case: _Case) -> bool:
    right = case.mark.score is not None and case.mark.score.hit_at_1 > 0
    return right and case.result.outcome == "grounded"


def _share(values: Sequence[float], seed: int) -> Share:
    return share(interval(values, seed))
