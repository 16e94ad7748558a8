"""How solved questions guided a run: smart lookahead, and what survives pruning (EGP §5.3 and §5.4).

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from typing_extensions import TypedDict

from kgqa.evaluation.paper_analysis.trace import trace_entries
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.scores import ScoredQuestion
from kgqa.evaluation.scoring.statistics import Costs, Count, Share, mean_share, summarise_costs

LOOKAHEAD_NODES = ("smart_lookahead", "lookahead_by_path")


class Lookahead(TypedDict, total=False):
    """Smart lookahead in a run."""

    questions: Count  # questions that a lookahead was taken at
    fired: Share  # those with a relation of the exemplars at a topic (§5.4: 85.8 % on WebQSP)
    realised: Share  # those where a chain of the exemplars led to something with a name
    ended: Share  # those that it ended
    right: Share  # the scored ones among them all that it ended with a right first answer
    right_of_fired: Share  # the same among those where it fired (§5.4: 61.4 % on WebQSP)


class Pruning(TypedDict, total=False):
    """How many relations survive one pruning (§5.3, Figure 6), of any method that chooses relations."""

    prunings: Count
    chosen: Costs  # what the model chose of them
    kept: Costs  # that, and what exemplars added
    counts: dict[str, Count]  # prunings by the number of relations kept (Figure 6)


def measure_lookahead(scored: Sequence[ScoredQuestion], seed: int) -> Lookahead | None:
    """Measure smart lookahead; None where no result has one."""
    first = [
        (each, entry)
        for each in scored
        for entry in islice((one for node in LOOKAHEAD_NODES for one in trace_entries(each.result, node)), 1)
    ]
    if not first:
        return None
    entries = [entry for _, entry in first]
    right = [(each.right and _has_ended(entry), _has_fired(entry)) for each, entry in first if each.score]
    return {
        "questions": len(first),
        "fired": mean_share([_has_fired(entry) for entry in entries], seed),
        "realised": mean_share([_was_realised(entry) for entry in entries], seed),
        "ended": mean_share([_has_ended(entry) for entry in entries], seed),
        "right": mean_share([is_right for is_right, _ in right], seed),
        "right_of_fired": mean_share([is_right for is_right, fired in right if fired], seed),
    }


def _has_fired(entry: Mapping[str, Any]) -> bool:
    return entry.get("fired") is True


def _was_realised(entry: Mapping[str, Any]) -> bool:
    realised = entry.get("realised")
    return isinstance(realised, int) and realised > 0


def _has_ended(entry: Mapping[str, Any]) -> bool:
    return entry.get("decision") == "stop" and isinstance(entry.get("chain"), str)


def measure_pruning(scored: Sequence[ScoredQuestion]) -> Pruning | None:
    """Measure what survives prunings; None where no result has one."""
    counted = count_relations(each.result for each in scored)
    numbers = [kept for _, kept in counted]
    chosen, kept = summarise_costs([chosen for chosen, _ in counted]), summarise_costs(numbers)
    if not (chosen and kept):
        return None
    counts = {str(number): times for number, times in sorted(Counter(numbers).items())}
    return {"prunings": len(counted), "chosen": chosen, "kept": kept, "counts": counts}


def count_relations(results: Iterable[Result | None]) -> list[tuple[int, int]]:
    """Return of each pruning how many relations the model chose, and how many survived.

    A pruning is an entry of a trace; a search from a frontier makes one a round, of all its chains.
    """
    return [
        (len(chosen), len(chosen) + len(guided))
        for result in results
        for entry in trace_entries(result, "prune")
        for chosen, guided in [(entry.get("chosen"), entry.get("guided", []))]
        if isinstance(chosen, list) and isinstance(guided, list)
    ]
