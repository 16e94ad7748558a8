"""What a run is worth: the content of ``metrics.json``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from kgqa.evaluation.accuracy import Accuracy, Breakdowns, Group, Share, accuracy, breakdowns, group, share
from kgqa.evaluation.blueprints import Source, blueprints
from kgqa.evaluation.costs import Costs, costs
from kgqa.evaluation.grounding import filed_under
from kgqa.evaluation.judging import judge
from kgqa.evaluation.lookahead import Lookahead, Pruning, lookahead, pruning
from kgqa.evaluation.question import Question
from kgqa.evaluation.refinement import Refinement, refinement
from kgqa.evaluation.results import Result
from kgqa.evaluation.revision import Revision, revision
from kgqa.evaluation.statistics import RESAMPLES, interval


class Price(Costs):
    """What a question has cost in US dollars, and all of them together."""

    total: float


class Metrics(Accuracy):
    """All that is measured of a run.

    Accuracy is over the scored questions; what failed or is missing is wrong. Costs are
    over the results that tell them, failed ones included, and null where none does.
    """

    protocol: Literal["strict"]
    n: int
    """Questions that were to be answered."""
    errors: int
    """Questions that failed: an exception, or an outage of graph or model."""
    missing: int
    """Questions without a result."""
    unscored: int
    """Questions without gold, which accuracy leaves out."""
    outcomes: dict[str, int]
    """Results by their outcome."""
    kg_grounded_rate: Share
    """Of all questions, those answered from the graph (CoR's KGR); null where results do not tell."""
    kg_grounded_rate_strict: Share | None
    """Those whose every answer was found there again; null where no graph was at hand.

    Grounded records without a path are left out; its value is null where all of them are.
    """
    llm_calls: Costs | None
    input_tokens: Costs | None
    output_tokens: Costs | None
    kg_queries: Costs | None
    seconds: Costs | None
    unknown_calls: int
    """Calls, of all questions, whose tokens the model's server did not report."""
    cached_calls: int
    """Calls, of all questions, that the cache answered."""
    cost: Price | None
    """Left to whoever knows the prices."""
    answered: Group
    """Accuracy over the scored questions that have a result and did not fail."""
    breakdowns: Breakdowns
    refinement: Refinement | None
    """How refinement went; null where the method has none."""
    blueprints: dict[str, Source] | None
    """By where the blueprint is from; null where the method has none."""
    revision: Revision | None
    """How plans were verified and revised; null where the method has none in steps."""
    lookahead: Lookahead | None
    """How smart lookahead went; null where there was none."""
    pruning: Pruning | None
    """How many relations survived prunings; null where results do not tell."""
    seed: int
    """What the intervals are drawn by."""
    resamples: int
    """Bootstrap resamples behind every interval."""


def measure(
    results: Sequence[Result],
    questions: Sequence[Question],
    *,
    grounded: Mapping[str, bool | None] | None,
    seed: int = 0,
) -> Metrics:
    """Measure results against questions, strictly; every question counts.

    Args:
        results: In any order; of several for one question the last counts.
        questions: All questions that were to be answered.
        grounded: What `grounding.check` found; None where no graph was at hand.
        seed: What the intervals are drawn by.
    """
    judged = judge(results, questions)
    by_question = [mark.result for mark in judged]
    given = [result for result in by_question if result]
    loose, strict = _grounded_rates(by_question, grounded, seed)
    return {
        "protocol": "strict",
        "n": len(judged),
        "errors": sum(result.failed for result in given),
        "missing": len(judged) - len(given),
        "unscored": sum(mark.score is None for mark in judged),
        "outcomes": dict(sorted(Counter(r.outcome for r in given if r.outcome).items())),
        **accuracy(judged, seed),
        "kg_grounded_rate": loose,
        "kg_grounded_rate_strict": strict,
        "llm_calls": costs(_amounts(given, "llm_calls")),
        "input_tokens": costs(_amounts(given, "input_tokens")),
        "output_tokens": costs(_amounts(given, "output_tokens")),
        "kg_queries": costs(_amounts(given, "kg_queries")),
        "seconds": costs(_amounts(given, "seconds")),
        "unknown_calls": round(sum(_amounts(given, "unknown_calls"))),
        "cached_calls": round(sum(_amounts(given, "cached_calls"))),
        "cost": None,
        "answered": group([mark for mark in judged if mark.answered], seed),
        "breakdowns": breakdowns(judged, seed),
        "refinement": refinement(judged, seed),
        "blueprints": blueprints(judged, seed),
        "revision": revision(judged, seed),
        "lookahead": lookahead(judged, seed),
        "pruning": pruning(judged),
        "seed": seed,
        "resamples": RESAMPLES,
    }


def _amounts(results: Sequence[Result], key: str) -> list[float]:
    return [amount for result in results if (amount := result.usage.get(key)) is not None]


def _grounded_rates(
    results: Sequence[Result | None], grounded: Mapping[str, bool | None] | None, seed: int
) -> tuple[Share, Share | None]:
    """Give both rates over all questions; nothing where no result says how it was answered.

    The strict one is over those alone that can be checked, and nothing where no grounded one can.
    """
    given = [result for result in results if result]
    told = not given or any(result.outcome for result in given)
    rows = [_grounded(result, grounded or {}) for result in results] if told else []
    loose = share(interval([says for says, _ in rows], seed))
    if grounded is None:
        return loose, None
    none_can = any(says for says, _ in rows) and all(found is None for says, found in rows if says)
    checked = [] if none_can else [found for _, found in rows if found is not None]
    return loose, share(interval(checked, seed))


def _grounded(result: Result | None, grounded: Mapping[str, bool | None]) -> tuple[bool, bool | None]:
    """Tell whether a result says that it is grounded, and whether it is; None where that cannot be told."""
    if result is None or result.failed or result.outcome != "grounded" or not result.answers:
        return False, False
    return True, grounded.get(filed_under(result), False)
