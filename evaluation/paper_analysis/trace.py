"""Reads the trace of a record: blueprints and diagnoses (CoG), plans, their revisions and tokens (VoG).

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeGuard, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.scores import ScoredQuestion

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

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

IsTrue = Annotated[bool, BeforeValidator(lambda value: value is True)]


class Diagnosis(NamedTuple):
    """A diagnosis of a failure signal (CoG §3.3)."""

    signal: str
    rerouted: bool
    """Whether it blames a step, before which the search goes on."""
    dropped: bool
    """Whether it finds the blueprint unreliable (App. K)."""


class TracedPlan(NamedTuple):
    """A plan as the trace tells of it."""

    answers: list[str]
    steps: int | None
    """How many searches it has; None where the trace does not say."""
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


class TracedRevision(BaseModel):
    """The reward of one revision (VoG equations 3 and 4), and what it was made of."""

    model_config = ConfigDict(strict=True, frozen=True)

    arm: str
    answers: list[str]
    before: list[str]
    """The answers of the plan that was in force."""
    reward: Fraction
    task: Fraction
    entropy: Fraction
    accepted: IsTrue = False
    empty: IsTrue = False
    """Whether the step had observed nothing: no threshold decides on such a plan."""


class PlanTrace(NamedTuple):
    """A question with a plan in steps, and all that its trace tells of it, in its order."""

    scored: ScoredQuestion
    first: TracedPlan
    """The plan that the search began with."""
    last: TracedPlan | None
    """The plan in force at the end; None where the search did not get there."""
    verifications: list[TracedVerification]
    revisions: list[TracedRevision]
    arms: Counter[str]
    """How often each arm was chosen, with what came to nothing too: N_c."""
    tokens: Counter[str]
    """Tokens by stage, input and output together."""


def trace_entries(result: Result | None, node: str | None = None) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a trace that are by one node; by any where None is named."""
    trace = result.record.get("trace") if result else None
    for entry in trace if isinstance(trace, list) else ():
        if isinstance(entry, Mapping) and node in (None, entry.get("node")):
            yield entry


def is_positive(value: object) -> bool:
    """Return whether a value is a whole number above 0."""
    return isinstance(value, int) and value > 0


def read_diagnoses(result: Result) -> list[Diagnosis]:
    """Return the diagnoses of a question in their order; with one at least, refinement was triggered."""
    return [
        Diagnosis(signal, is_positive(entry.get("step")), entry.get("blueprint") == "drop")
        for entry in trace_entries(result, "diagnose")
        if isinstance(signal := entry.get("signal"), str)
    ]


def has_refinement(result: Result) -> bool:
    """Return whether the method had failure-aware refinement, switched on."""
    config = result.record.get("config")
    return isinstance(config, Mapping) and config.get("refinement") is True


def read_blueprint_source(result: Result | None) -> str | None:
    """Return where the blueprint of a question is from; None where no step looked for one."""
    return next(iter(_texts(result, "blueprint", "source")), None)


def read_plan_trace(scored: ScoredQuestion) -> PlanTrace | None:
    """Read a question's trace; None where it tells of no plan in steps."""
    result = scored.result
    plans = (_parse_plan(entry, None) for entry in trace_entries(result, "plan"))
    first = next((plan for plan in plans if plan and plan.steps is not None), None)
    if result is None or first is None:
        return None
    ends = (entry.get("plan") for entry in trace_entries(result, "answer"))
    last = (_parse_plan(end, end.get("arm")) for end in ends if isinstance(end, Mapping))
    return PlanTrace(
        scored,
        first,
        next((plan for plan in last if plan), None),
        _read_verifications(result),
        read_revisions(result),
        Counter(_texts(result, "revise", "arm")),
        _count_tokens(result),
    )


def read_revisions(result: Result) -> list[TracedRevision]:
    """Return the revisions of a question that have a reward."""
    found = []
    for entry in trace_entries(result, "appraise"):
        try:
            found.append(TracedRevision.model_validate(entry))
        except ValidationError:
            continue
    return found


def _read_verifications(result: Result) -> list[TracedVerification]:
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


def _count_tokens(result: Result) -> Counter[str]:
    spent: Counter[str] = Counter()
    for entry in trace_entries(result):
        used, node = entry.get("tokens"), entry.get("node")
        if isinstance(used, list) and all(map(_is_count, used)):
            stage = next((stage for stage, nodes in STAGE_NODES.items() if node in nodes), "other")
            spent[stage] += sum(used)
    return spent


def _parse_plan(plan: Mapping[str, object], arm: object) -> TracedPlan | None:
    answers, steps = plan.get("answers"), plan.get("steps")
    if not isinstance(answers, list) or not isinstance(arm, str | None):
        return None
    if not all(isinstance(answer, str) for answer in answers):
        return None
    return TracedPlan(answers, steps if _is_count(steps) else None, arm)


def _signal_source(signals: Mapping[str, object]) -> SignalSource:
    model, nli = (signals.get(who) is True for who in ("model", "nli"))
    if model and nli:
        return "both"
    return "model" if model else "nli" if nli else "none"


def _texts(result: Result | None, node: str, key: str) -> list[str]:
    return [text for entry in trace_entries(result, node) if isinstance(text := entry.get(key), str)]


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
