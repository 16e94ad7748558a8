"""How solved questions guided a run: smart lookahead, and what survives pruning (EGP §5.3 and §5.4).

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from typing_extensions import TypedDict

from kgqa.evaluation.paper_analysis.trace import is_positive, trace_entries
from kgqa.evaluation.scoring.scores import ScoredQuestion
from kgqa.evaluation.scoring.statistics import Costs, Share, mean_share, summarise_costs


class Lookahead(TypedDict):
    """Smart lookahead in a run."""

    questions: int
    """Questions that a lookahead was taken at."""
    fired: Share
    """Those with a relation of the exemplars at a topic (§5.4: 85.8 % on WebQSP)."""
    realised: Share
    """Those where a chain of the exemplars led to something with a name."""
    ended: Share
    """Those that it ended."""
    right: Share
    """The scored ones among them all that it ended with a right first answer."""
    right_of_fired: Share
    """The same among those where it fired (§5.4: 61.4 % on WebQSP)."""


class Pruning(TypedDict):
    """How many relations survive one pruning (§5.3, Figure 6)."""

    prunings: int
    chosen: Costs
    """What the model chose of them."""
    kept: Costs
    """That, and what exemplars added."""
    counts: dict[str, int]
    """Prunings by the number of relations kept (Figure 6)."""


class _LookaheadOutcome(NamedTuple):
    fired: bool
    realised: bool
    ended: bool
    right: bool | None
    """Whether it ended the question rightly; None where there is no gold."""


def measure_lookahead(scored: Sequence[ScoredQuestion], seed: int) -> Lookahead | None:
    """Measure smart lookahead; None where no result has one."""
    outcomes = [
        _lookahead_outcome(each, entry)
        for each in scored
        for entry in islice(trace_entries(each.result, "smart_lookahead"), 1)
    ]
    if not outcomes:
        return None
    judged = [outcome for outcome in outcomes if outcome.right is not None]
    return {
        "questions": len(outcomes),
        "fired": mean_share([outcome.fired for outcome in outcomes], seed),
        "realised": mean_share([outcome.realised for outcome in outcomes], seed),
        "ended": mean_share([outcome.ended for outcome in outcomes], seed),
        "right": mean_share([bool(outcome.right) for outcome in judged], seed),
        "right_of_fired": mean_share([bool(outcome.right) for outcome in judged if outcome.fired], seed),
    }


def _lookahead_outcome(scored: ScoredQuestion, entry: Mapping[str, Any]) -> _LookaheadOutcome:
    ended = entry.get("decision") == "stop" and isinstance(entry.get("chain"), str)
    right = ended and scored.right if scored.score else None
    return _LookaheadOutcome(entry.get("fired") is True, is_positive(entry.get("realised")), ended, right)


def measure_pruning(scored: Sequence[ScoredQuestion]) -> Pruning | None:
    """Measure what survives prunings; None where no result has one."""
    entries = [
        entry
        for each in scored
        for entry in trace_entries(each.result, "prune")
        if isinstance(entry.get("chosen"), list) and isinstance(entry.get("guided", []), list)
    ]
    numbers = [len(entry["chosen"]) + len(entry.get("guided", ())) for entry in entries]
    chosen, kept = summarise_costs([len(entry["chosen"]) for entry in entries]), summarise_costs(numbers)
    if not (chosen and kept):
        return None
    counts = {str(number): times for number, times in sorted(Counter(numbers).items())}
    return {"prunings": len(entries), "chosen": chosen, "kept": kept, "counts": counts}
