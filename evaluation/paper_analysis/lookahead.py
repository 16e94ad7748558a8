"""How solved questions guided a run: smart lookahead, and what survives pruning (EGP §5.3 and §5.4).

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from typing_extensions import TypedDict

from kgqa.evaluation.paper_analysis.trace import trace_entries
from kgqa.evaluation.scoring.scores import ScoredQuestion, Share, as_share
from kgqa.evaluation.scoring.statistics import Costs, bootstrap_interval, summarise_costs


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


def measure_lookahead(judged: Sequence[ScoredQuestion], seed: int) -> Lookahead | None:
    """Measure smart lookahead; None where no result tells of one."""
    looks = [
        _lookahead_outcome(mark, entry) for mark in judged for entry in _first_entry(mark, "smart_lookahead")
    ]
    if not looks:
        return None
    scored = [look for look in looks if look.right is not None]
    return {
        "questions": len(looks),
        "fired": as_share(bootstrap_interval([look.fired for look in looks], seed)),
        "realised": as_share(bootstrap_interval([look.realised for look in looks], seed)),
        "ended": as_share(bootstrap_interval([look.ended for look in looks], seed)),
        "right": as_share(bootstrap_interval([bool(look.right) for look in scored], seed)),
        "right_of_fired": as_share(
            bootstrap_interval([bool(look.right) for look in scored if look.fired], seed)
        ),
    }


def measure_pruning(judged: Sequence[ScoredQuestion]) -> Pruning | None:
    """Measure what survives prunings; None where no result tells of one."""
    cases = [
        (len(entry["chosen"]), len(entry.get("guided") or ()))
        for mark in judged
        if mark.result
        for entry in trace_entries(mark.result, "prune")
        if isinstance(entry.get("chosen"), list) and isinstance(entry.get("guided", []), list)
    ]
    chosen, kept = (
        summarise_costs([one for one, _ in cases]),
        summarise_costs([one + more for one, more in cases]),
    )
    if not (chosen and kept):
        return None
    counts = sorted(Counter(one + more for one, more in cases).items())
    return {
        "prunings": len(cases),
        "chosen": chosen,
        "kept": kept,
        "counts": {str(number): times for number, times in counts},
    }


def _first_entry(mark: ScoredQuestion, node: str) -> list[Mapping[str, Any]]:
    return list(trace_entries(mark.result, node))[:1] if mark.result else []


def _lookahead_outcome(mark: ScoredQuestion, entry: Mapping[str, Any]) -> _LookaheadOutcome:
    ended = entry.get("decision") == "stop" and isinstance(entry.get("chain"), str)
    right = ended and mark.score.hit_at_1 > 0 if mark.score else None
    return _LookaheadOutcome(entry.get("fired") is True, _is_positive(entry.get("realised")), ended, right)


def _is_positive(count: object) -> bool:
    return isinstance(count, int) and count > 0
