"""How failure-aware refinement and blueprints did in a run (CoG, Tables 7 and 8, Appendix G)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from typing_extensions import TypedDict

from kgqa.evaluation.paper_analysis.trace import (
    Diagnosis,
    has_refinement,
    read_blueprint_source,
    read_diagnoses,
)
from kgqa.evaluation.result import OUTAGE_OUTCOMES, Result
from kgqa.evaluation.scoring.scores import GroupMetrics, ScoredQuestion, Share, as_share, measure_group
from kgqa.evaluation.scoring.statistics import Costs, bootstrap_interval, bootstrap_intervals, summarise_costs

BLUEPRINT_SOURCES = ("copied", "adapted", "nearest", "none")
"""Where a blueprint may be from, in the order in which the metrics have them."""


class BlueprintSourceMetrics(GroupMetrics):
    """The questions whose blueprint is from one source, and the accuracy over the ``n`` scored ones."""

    questions: int
    share: Share
    """Of the questions for which a blueprint was looked for."""


def measure_blueprints(
    judged: Sequence[ScoredQuestion], seed: int
) -> dict[str, BlueprintSourceMetrics] | None:
    """Measure by the source of the blueprint; None where no result tells of any."""
    told = [
        (mark, source) for mark in judged if mark.result and (source := read_blueprint_source(mark.result))
    ]
    if not told:
        return None
    seen = {source for _, source in told}
    sources = [
        *(source for source in BLUEPRINT_SOURCES if source in seen),
        *sorted(seen.difference(BLUEPRINT_SOURCES)),
    ]
    rows = [[source == one for one in sources] for _, source in told]
    shares = bootstrap_intervals(rows, columns=len(sources), seed=seed)
    found: dict[str, BlueprintSourceMetrics] = {}
    for source, part in zip(sources, shares, strict=True):
        marks = [mark for mark, one in told if one == source]
        found[source] = {"questions": len(marks), "share": as_share(part), **measure_group(marks, seed)}
    return found


class HitCounts(TypedDict):
    """How many questions have a right first answer, how many have not, and how many have no gold."""

    right: int
    wrong: int
    unscored: int


class TriggeredMetrics(GroupMetrics):
    """Questions with a diagnosis: how many, and the accuracy over the ``n`` scored ones among them."""

    triggered: int
    outcomes: dict[str, HitCounts]
    """How they ended, by outcome; ``error`` is an exception."""


class Refinement(TriggeredMetrics):
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
    signals: dict[str, TriggeredMetrics]
    """The questions by the signal of their first diagnosis."""


class _DiagnosedQuestion(NamedTuple):
    mark: ScoredQuestion
    result: Result
    found: list[Diagnosis]


def measure_refinement(judged: Sequence[ScoredQuestion], seed: int) -> Refinement | None:
    """Measure refinement; None where the results tell of no such step."""
    given = [(mark, mark.result) for mark in judged if mark.result]
    cases = [
        _DiagnosedQuestion(mark, result, found) for mark, result in given if (found := read_diagnoses(result))
    ]
    if not cases and not any(has_refinement(result) for _, result in given):
        return None
    hit = {case.mark.question.id for case in cases}
    rerouted = [case for case in cases if any(one.rerouted for one in case.found)]
    signals = sorted({case.found[0].signal for case in cases})
    return {
        **_measure_triggered(cases, seed),
        "rate": _mean_share([mark.question.id in hit for mark in judged], seed),
        "diagnoses": summarise_costs([len(case.found) for case in cases]),
        "dropped": _mean_share([any(one.dropped for one in case.found) for case in cases], seed),
        "rerouted": len(rerouted),
        "recovered": _mean_share([_is_recovered(case) for case in rerouted if case.mark.score], seed),
        "signals": {
            signal: _measure_triggered([case for case in cases if case.found[0].signal == signal], seed)
            for signal in signals
        },
    }


def _measure_triggered(cases: Sequence[_DiagnosedQuestion], seed: int) -> TriggeredMetrics:
    outcomes = [_outcome_of(case.result) for case in cases]
    return {
        "triggered": len(cases),
        **measure_group([case.mark for case in cases], seed),
        "outcomes": {
            outcome: _count_hits(
                case.mark for case, one in zip(cases, outcomes, strict=True) if one == outcome
            )
            for outcome in sorted(set(outcomes))
        },
    }


def _count_hits(marks: Iterable[ScoredQuestion]) -> HitCounts:
    hits = [None if mark.score is None else mark.score.hit_at_1 > 0 for mark in marks]
    return {"right": hits.count(True), "wrong": hits.count(False), "unscored": hits.count(None)}


def _outcome_of(result: Result) -> str:
    if result.error is not None and result.outcome not in OUTAGE_OUTCOMES:
        return "error"
    return result.outcome or "unknown"


def _is_recovered(case: _DiagnosedQuestion) -> bool:
    right = case.mark.score is not None and case.mark.score.hit_at_1 > 0
    return right and case.result.outcome == "grounded"


def _mean_share(values: Sequence[float], seed: int) -> Share:
    return as_share(bootstrap_interval(values, seed))
