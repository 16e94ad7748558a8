"""All that is measured of a run: the content of ``metrics.json``, and what its numbers are called."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from kgqa.evaluation.paper_analysis.lookahead import Lookahead, Pruning, measure_lookahead, measure_pruning
from kgqa.evaluation.paper_analysis.refinement import (
    BlueprintSourceMetrics,
    Refinement,
    measure_blueprints,
    measure_refinement,
)
from kgqa.evaluation.paper_analysis.revision import Revision, measure_revision
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import result_key
from kgqa.evaluation.scoring.own import OwnMean, OwnMetric, measure_own
from kgqa.evaluation.scoring.scores import (
    Accuracy,
    Breakdowns,
    GroupMetrics,
    Reliability,
    ScoredQuestion,
    measure_accuracy,
    measure_breakdowns,
    measure_group,
    measure_reliability,
    score_results,
)
from kgqa.evaluation.scoring.statistics import (
    BOOTSTRAP_RESAMPLES,
    Count,
    Share,
    TotalCosts,
    UsageCosts,
    mean_share,
    summarise_usage,
)
from kgqa.evaluation.scoring.tables import TableMetrics, measure_tables
from kgqa.kg.proof.query import AnswerQuery
from kgqa.runtime.record import FROM_GRAPH


class Metrics(Accuracy, UsageCosts, total=False):
    """All that is measured of a run.

    Accuracy is over the scored questions; what failed or is missing is wrong. Costs are
    over the results that tell them, failed ones included, and null where none does. So is the
    grounded rate; the strict one is null where no graph was given, its value where no grounded
    record has a path.
    """

    protocol: Literal["strict"]
    n: Count  # questions that were to be answered
    errors: Count  # questions that failed: an exception, or an outage of graph or model
    missing: Count  # questions without a result
    unscored: Count  # questions without gold, which accuracy leaves out
    outcomes: dict[str, Count]  # results by their outcome
    kg_grounded_rate: Share  # of all questions, those answered from the graph (CoR's KGR)
    kg_grounded_rate_strict: Share | None  # those whose every answer was found there again
    conditions_by_graph: Share | None  # of questions with conditions, those where the graph decided every one
    declined: Share | None  # of the questions without gold, those that got no answer; null without any
    tables: TableMetrics | None  # agreement with gold tables; null where no question has one
    reliability: Reliability | None  # confidence against right answers; null where no record has any
    unknown_calls: Count  # calls, of all questions, whose tokens the model's server did not report
    cached_calls: Count  # calls, of all questions, that the cache answered
    cost: TotalCosts | None  # in US dollars, filled in by the run, which knows the prices
    answered: GroupMetrics  # accuracy over the scored questions that have a result and did not fail
    breakdowns: Breakdowns
    refinement: Refinement | None  # how refinement went; null where the method has none
    blueprints: dict[str, BlueprintSourceMetrics] | None  # by where it is from; null where there is none
    revision: Revision | None  # how plans were verified and revised; null where the method has none in steps
    lookahead: Lookahead | None  # how smart lookahead went; null where there was none
    pruning: Pruning | None  # how many relations survived prunings; null where results do not tell
    own: dict[str, OwnMean]  # metrics of the user's own, by their names
    seed: Count  # what the intervals are drawn by
    resamples: Count  # bootstrap resamples behind every interval


def measure_results(
    results: Sequence[Result],
    questions: Sequence[Question],
    *,
    grounded: Mapping[str, bool | None] | None,
    seed: int = 0,
    own: Sequence[OwnMetric] = (),
) -> Metrics:
    """Measure results against questions, strictly; every question counts.

    Of several results for one question the last counts. ``grounded`` is what `check_grounding`
    found; None where no graph was given. ``own`` are metrics of the user's.
    """
    scored = score_results(results, questions)
    given = [each.result for each in scored if each.result]
    loose, strict = _measure_grounded_rates([each.result for each in scored], grounded, seed)
    return {
        "protocol": "strict",
        "n": len(scored),
        "errors": sum(result.failed for result in given),
        "missing": len(scored) - len(given),
        "unscored": sum(each.score is None for each in scored),
        "outcomes": dict(sorted(Counter(result.outcome for result in given if result.outcome).items())),
        **measure_accuracy(scored, seed),
        "kg_grounded_rate": loose,
        "kg_grounded_rate_strict": strict,
        "conditions_by_graph": _measure_conditions(scored, seed),
        "declined": _measure_declined(scored, seed),
        "tables": measure_tables(results, questions, seed),
        "reliability": measure_reliability(scored, seed),
        **summarise_usage([result.usage for result in given]),
        "unknown_calls": round(sum(result.usage.get("unknown_calls") or 0 for result in given)),
        "cached_calls": round(sum(result.usage.get("cached_calls") or 0 for result in given)),
        "cost": None,
        "answered": measure_group([each for each in scored if each.answered], seed),
        "breakdowns": measure_breakdowns(scored, seed),
        "refinement": measure_refinement(scored, seed),
        "blueprints": measure_blueprints(scored, seed),
        "revision": measure_revision(scored, seed),
        "lookahead": measure_lookahead(scored, seed),
        "pruning": measure_pruning(scored),
        "own": measure_own(own, scored, seed),
        "seed": seed,
        "resamples": BOOTSTRAP_RESAMPLES,
    }


def _measure_grounded_rates(
    results: Sequence[Result | None], grounded: Mapping[str, bool | None] | None, seed: int
) -> tuple[Share, Share | None]:
    """Return both rates over all questions; nothing where no result says how it was answered.

    The strict one is over those alone that can be checked, and nothing where no grounded one can.
    """
    given = [result for result in results if result]
    if given and not any(result.outcome for result in given):
        results = []
    claiming = [
        result for result in given if result.outcome in FROM_GRAPH and result.answers and not result.failed
    ]
    others = [False] * (len(results) - len(claiming))
    loose = mean_share([True] * len(claiming) + others, seed)
    if grounded is None:
        return loose, None
    verdicts = [grounded.get(result_key(result), False) for result in claiming]
    known = [verdict for verdict in verdicts if verdict is not None]
    return loose, mean_share([] if verdicts and not known else known + others, seed)


def _measure_conditions(scored: Sequence[ScoredQuestion], seed: int) -> Share | None:
    """Return the share of the questions with conditions where the graph decided every one; None without any.

    They are those of which the file, by an answer query, or the record says so.
    """
    decided = []
    for each in scored:
        stated = (each.result.record.get("conditions") if each.result else None) or []
        if stated or _is_conditional(each.question.query):
            decided.append(bool(stated) and isinstance(stated, list) and all(map(_is_decided, stated)))
    return mean_share(decided, seed) if decided else None


def _measure_declined(scored: Sequence[ScoredQuestion], seed: int) -> Share | None:
    """Return the share of the questions without gold that were asked and got no answer; None without any."""
    asked = [each.result for each in scored if each.score is None and each.answered]
    return mean_share([not result.answers for result in asked if result], seed) if asked else None


def _is_conditional(query: AnswerQuery | None) -> bool:
    computed = query.aggregate if query else None
    return query is not None and bool(query.conditions or (computed and computed.function != "count"))


def _is_decided(condition: Any) -> bool:
    return isinstance(condition, dict) and condition.get("by") == "graph"


_LABELS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("labels.toml").read_text(encoding="utf-8")
)
SHARE_LABELS, COST_LABELS = _LABELS["shares"], _LABELS["costs"]


def labelled_shares(metrics: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float | None]]]:
    """Yield what shares are called, and these, as far as the metrics have them; null over nothing."""
    for name, label in SHARE_LABELS.items():
        share: Any = metrics
        for key in name.split("."):
            share = (share or {}).get(key)
        if share:
            yield label, share
