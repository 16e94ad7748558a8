"""How failure-aware refinement and blueprints did in a run (CoG, Tables 7 and 8, Appendix G)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from typing_extensions import TypedDict

from kgqa.evaluation.paper_analysis.trace import in_order, trace_entries
from kgqa.evaluation.result import OUTAGE_OUTCOMES, Result
from kgqa.evaluation.scoring.scores import GroupMetrics, ScoredQuestion, measure_group
from kgqa.evaluation.scoring.statistics import (
    Costs,
    Count,
    Share,
    mean_share,
    mean_shares,
    summarise_costs,
)
from kgqa.runtime.record import FROM_GRAPH

BLUEPRINT_SOURCES = ("copied", "adapted", "nearest", "none")
"""Where a blueprint may be from, in the order in which the metrics have them."""


class BlueprintSourceMetrics(GroupMetrics, total=False):
    """The questions whose blueprint is from one source, and the accuracy over the ``n`` scored ones."""

    questions: Count
    share: Share  # of the questions for which a blueprint was looked for
    dropped: Count  # relations that the model named in their blueprints and the graph does not have


class HitCounts(TypedDict, total=False):
    """How many questions have a right first answer, how many have not, and how many have no gold."""

    right: Count
    wrong: Count
    unscored: Count


class TriggeredMetrics(GroupMetrics, total=False):
    """Questions with a diagnosis: how many, and the accuracy over the ``n`` scored ones among them."""

    triggered: Count
    outcomes: dict[str, HitCounts]  # how they ended, by outcome; ``error`` is an exception


class Refinement(TriggeredMetrics, total=False):
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
    rerouted: Count
    """Questions with a diagnosis that blames a step, so that the search went on before it."""
    recovered: Share
    """Of the scored ones among those, the share that ended grounded and right."""
    signals: dict[str, TriggeredMetrics]
    """The questions by the signal of their first diagnosis."""


class _DiagnosedQuestion(NamedTuple):
    scored: ScoredQuestion
    diagnoses: list[Mapping[str, Any]]
    """The entries of its diagnoses, each with the signal that it is of (CoG §3.3)."""
    outcome: str


def measure_blueprints(
    scored: Sequence[ScoredQuestion], seed: int
) -> dict[str, BlueprintSourceMetrics] | None:
    """Measure by the source of the blueprint; None where no result names any."""
    sourced = [(each, source) for each in scored if (source := _blueprint_source(each.result))]
    if not sourced:
        return None
    sources = in_order((source for _, source in sourced), BLUEPRINT_SOURCES)
    rows = [[source == one for one in sources] for _, source in sourced]
    shares = mean_shares(rows, columns=len(sources), seed=seed)
    found: dict[str, BlueprintSourceMetrics] = {}
    for source, share in zip(sources, shares, strict=True):
        own = [each for each, one in sourced if one == source]
        dropped = sum(_dropped_relations(each.result) for each in own)
        group = measure_group(own, seed)
        found[source] = {"questions": len(own), "share": share, "dropped": dropped, **group}
    return found


def measure_refinement(scored: Sequence[ScoredQuestion], seed: int) -> Refinement | None:
    """Measure refinement; None where the results have no such step."""
    results = [(each, each.result) for each in scored if each.result]
    read = ((each, list(_diagnoses(result)), _outcome(result)) for each, result in results)
    cases = [_DiagnosedQuestion(*case) for case in read if case[1]]
    if not cases and not any(_has_refinement(result) for _, result in results):
        return None
    hit = {case.scored.question.id for case in cases}
    dropped = [any(one.get("blueprint") == "drop" for one in case.diagnoses) for case in cases]
    rerouted = [case for case in cases if any(_blames_step(one) for one in case.diagnoses)]
    recovered = [case.scored.right and case.outcome in FROM_GRAPH for case in rerouted if case.scored.score]
    by_signal: dict[str, list[_DiagnosedQuestion]] = {}
    for case in cases:
        by_signal.setdefault(case.diagnoses[0]["signal"], []).append(case)
    return {
        **_measure_triggered(cases, seed),
        "rate": mean_share([each.question.id in hit for each in scored], seed),
        "diagnoses": summarise_costs([len(case.diagnoses) for case in cases]),
        "dropped": mean_share(dropped, seed),
        "rerouted": len(rerouted),
        "recovered": mean_share(recovered, seed),
        "signals": {signal: _measure_triggered(by_signal[signal], seed) for signal in sorted(by_signal)},
    }


def _diagnoses(result: Result) -> Iterator[Mapping[str, Any]]:
    return (one for one in trace_entries(result, "diagnose") if isinstance(one.get("signal"), str))


def _blames_step(diagnosis: Mapping[str, Any]) -> bool:
    step = diagnosis.get("step")
    return isinstance(step, int) and step > 0


def _has_refinement(result: Result) -> bool:
    config = result.record.get("config")
    return isinstance(config, Mapping) and config.get("refinement") is True


def _blueprint_source(result: Result | None) -> str | None:
    """Return where the blueprint comes from at last: an outline adapts what was the nearest before."""
    sources = [entry.get("source") for entry in _planning_entries(result)]
    return next((source for source in reversed(sources) if isinstance(source, str)), None)


def _dropped_relations(result: Result | None) -> int:
    dropped = (entry.get("dropped") for entry in _planning_entries(result))
    return sum(len(names) for names in dropped if isinstance(names, list))


def _planning_entries(result: Result | None) -> list[Mapping[str, Any]]:
    return [*trace_entries(result, "blueprint"), *trace_entries(result, "outline")]


def _outcome(result: Result) -> str:
    if result.error is not None and result.outcome not in OUTAGE_OUTCOMES:
        return "error"
    return result.outcome or "unknown"


def _measure_triggered(cases: Sequence[_DiagnosedQuestion], seed: int) -> TriggeredMetrics:
    return {
        "triggered": len(cases),
        **measure_group([case.scored for case in cases], seed),
        "outcomes": {
            outcome: _count_hits(case.scored for case in cases if case.outcome == outcome)
            for outcome in sorted({case.outcome for case in cases})
        },
    }


def _count_hits(scored: Iterable[ScoredQuestion]) -> HitCounts:
    hits = [each.right if each.score else None for each in scored]
    return {"right": hits.count(True), "wrong": hits.count(False), "unscored": hits.count(None)}
