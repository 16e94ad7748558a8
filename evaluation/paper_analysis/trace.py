"""Reads the trace of a record: blueprints and diagnoses (CoG), plans, their revisions and tokens (VoG).

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.scores import ScoredQuestion


class Diagnosis(NamedTuple):
    """A diagnosis of a failure signal (CoG §3.3)."""

    signal: str
    rerouted: bool
    """Whether it blames a step, before which the search goes on."""
    dropped: bool
    """Whether it finds the blueprint unreliable (App. K)."""


def read_diagnoses(result: Result) -> list[Diagnosis]:
    """Return the diagnoses of a question in their order; with one at least, refinement was triggered."""
    return [
        Diagnosis(signal, _is_positive(entry.get("step")), entry.get("blueprint") == "drop")
        for entry in trace_entries(result, "diagnose")
        if isinstance(signal := entry.get("signal"), str)
    ]


def has_refinement(result: Result) -> bool:
    """Return whether the method had failure-aware refinement, switched on."""
    config = result.record.get("config")
    return isinstance(config, Mapping) and config.get("refinement") is True


def read_blueprint_source(result: Result) -> str | None:
    """Return where the blueprint of a question is from; None where no step looked for one."""
    sources = (entry.get("source") for entry in trace_entries(result, "blueprint"))
    return next((source for source in sources if isinstance(source, str)), None)


def trace_entries(result: Result, node: str | None = None) -> Iterator[Mapping[str, Any]]:
    """Return the entries of a trace that are by one node; by any where None is named."""
    trace = result.record.get("trace")
    for entry in trace if isinstance(trace, list) else ():
        if isinstance(entry, Mapping) and node in (None, entry.get("node")):
            yield entry


def _is_positive(step: object) -> bool:
    return isinstance(step, int) and step > 0


SignalSource = Literal["none", "model", "nli", "both"]
"""Who gave a signal to revise."""

SIGNAL_SOURCES: tuple[SignalSource, ...] = get_args(SignalSource)

STAGE_NODES = {
    "planning": ("plan",),
    "retrieval": ("prune", "filter"),
    "verification": ("verify",),
    "revision": ("revise",),
    "other": (),
}
"""The stages of Figure 6 and the nodes that ask the model in each; ``other`` is any other node."""


class TracedPlan(NamedTuple):
    """A plan as the trace tells of it."""

    answers: tuple[str, ...]
    steps: int | None
    """How many searches it has; None where it is not told."""
    arm: str | None
    """What it was revised by; None for the first plan."""


class TracedVerification(NamedTuple):
    """The verification of one step."""

    step: int
    source: SignalSource
    """Who gave a signal, whether or not it was heeded."""
    revises: bool
    """Whether the plan was to be revised: the decision."""
    verifier: str | None
    """What stood for the NLI verifier: ``rules``, or the name of a model; None where none was asked."""


class TracedRevision(NamedTuple):
    """The reward of one revision (VoG equations 3 and 4), and what it was made of."""

    arm: str
    answers: tuple[str, ...]
    before: tuple[str, ...]
    """The answers of the plan that was in force."""
    reward: float
    task: float
    entropy: float
    accepted: bool
    empty: bool
    """Whether the step had observed nothing: no threshold decides on such a plan."""


class PlanTrace(NamedTuple):
    """A question with a plan in steps, and all that its trace tells of it, in its order."""

    mark: ScoredQuestion
    first: TracedPlan
    """The plan that the search began with."""
    last: TracedPlan | None
    """The plan in force at the end; None where the search did not get there."""
    verified: list[TracedVerification]
    revised: list[TracedRevision]
    chosen: Counter[str]
    """How often each arm was chosen, with what came to nothing too: N_c."""
    tokens: Counter[str]
    """Tokens by stage, input and output together."""


def read_plan_trace(mark: ScoredQuestion) -> PlanTrace | None:
    """Read a question's trace; None where it tells of no plan in steps."""
    result = mark.result
    first = _first_plan(result) if result else None
    if not (result and first):
        return None
    return PlanTrace(
        mark,
        first,
        _last_plan(result),
        _verifications(result),
        read_revisions(result),
        _count_arms(result),
        _count_tokens(result),
    )


def read_revisions(result: Result) -> list[TracedRevision]:
    """Return the revisions of a question that have a reward."""
    found = (_parse_revision(entry) for entry in trace_entries(result, "appraise"))
    return [one for one in found if one]


def _first_plan(result: Result) -> TracedPlan | None:
    found = (_parse_plan(entry, None) for entry in trace_entries(result, "plan"))
    return next((plan for plan in found if plan and plan.steps is not None), None)


def _last_plan(result: Result) -> TracedPlan | None:
    ends = (entry.get("plan") for entry in trace_entries(result, "answer"))
    found = (_parse_plan(end, end.get("arm")) for end in ends if isinstance(end, Mapping))
    return next((plan for plan in found if plan), None)


def _verifications(result: Result) -> list[TracedVerification]:
    return [
        TracedVerification(
            step,
            _signal_source(signals),
            entry.get("decision") == "refine",
            name if isinstance(name := entry.get("verifier"), str) else None,
        )
        for entry in trace_entries(result, "verify")
        if isinstance(signals := entry.get("signals"), Mapping) and _is_count(step := entry.get("step"))
    ]


def _count_arms(result: Result) -> Counter[str]:
    arms = (entry.get("arm") for entry in trace_entries(result, "revise"))
    return Counter(arm for arm in arms if isinstance(arm, str))


def _count_tokens(result: Result) -> Counter[str]:
    spent: Counter[str] = Counter()
    for entry in trace_entries(result):
        used = entry.get("tokens")
        if isinstance(used, list) and all(map(_is_count, used)):
            spent[_stage_of_node(entry.get("node"))] += sum(used)
    return spent


def _stage_of_node(node: object) -> str:
    return next((stage for stage, nodes in STAGE_NODES.items() if node in nodes), "other")


def _parse_plan(told: Mapping[str, object], arm: object) -> TracedPlan | None:
    answers, steps = _parse_texts(told.get("answers")), told.get("steps")
    if answers is None or not isinstance(arm, str | None):
        return None
    return TracedPlan(answers, steps if _is_count(steps) else None, arm)


def _signal_source(signals: Mapping[str, object]) -> SignalSource:
    model, nli = (signals.get(who) is True for who in ("model", "nli"))
    if model and nli:
        return "both"
    return "model" if model else "nli" if nli else "none"


def _parse_revision(entry: Mapping[str, object]) -> TracedRevision | None:
    arm, answers, before = (
        entry.get("arm"),
        _parse_texts(entry.get("answers")),
        _parse_texts(entry.get("before")),
    )
    reward, task, entropy = (entry.get(key) for key in ("reward", "task", "entropy"))
    if not isinstance(arm, str) or answers is None or before is None:
        return None
    if not (_is_fraction(reward) and _is_fraction(task) and _is_fraction(entropy)):
        return None
    accepted, empty = (entry.get(key) is True for key in ("accepted", "empty"))
    return TracedRevision(arm, answers, before, reward, task, entropy, accepted, empty)


def _parse_texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    texts = tuple(each for each in value if isinstance(each, str))
    return texts if len(texts) == len(value) else None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_fraction(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
