"""Reads the trace of a record: its entries, and plans in steps with their revisions and tokens (VoG).

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.scores import ScoredQuestion
from kgqa.evaluation.scoring.statistics import Count, Fraction
from kgqa.priors.rewards import RevisionMetrics

SignalSource = Literal["none", "model", "nli", "both"]  # who gave a signal to revise

SIGNAL_SOURCES: tuple[SignalSource, ...] = get_args(SignalSource)

STAGE_NODES = {
    "planning": ("plan",),
    "retrieval": ("prune", "filter"),
    "verification": ("verify", "conclude"),
    "revision": ("revise",),
    "other": (),
}
"""The stages of Figure 6 and the nodes that ask the model in each; ``other`` is any other node."""

TextOrNone = Annotated[str | None, BeforeValidator(lambda value: value if isinstance(value, str) else None)]

IsTrue = Annotated[bool, BeforeValidator(lambda value: value is True)]

_METRICS = TypeAdapter(RevisionMetrics)


def _read_metrics(value: object) -> RevisionMetrics | None:
    with suppress(ValidationError):
        return _METRICS.validate_python(value)
    return None


MetricsOrNone = Annotated[RevisionMetrics | None, BeforeValidator(_read_metrics)]


class TraceEntry(BaseModel):
    """What we read of an entry, or of a part of one."""

    model_config = ConfigDict(strict=True, frozen=True)


Entry = TypeVar("Entry", bound=TraceEntry)


class TracedPlan(TraceEntry):
    """A plan as the trace tells of it."""

    answers: list[str]
    steps: Annotated[int | None, BeforeValidator(lambda value: value if is_count(value) else None)] = None
    """How many searches it has; None where the trace does not say."""
    arm: str | None = None
    """What it was revised by; None for the first plan."""


class TracedVerification(TraceEntry):
    """The verification of one step."""

    step: Count
    signals: dict[str, Any]
    decision: Any = None
    verifier: TextOrNone = None
    """What stood for the NLI verifier: ``rules``, or the name of a model; None where none was asked."""

    @property
    def source(self) -> SignalSource:
        """Who gave a signal, whether or not it was acted on."""
        model, nli = (self.signals.get(who) is True for who in ("model", "nli"))
        if model and nli:
            return "both"
        return "model" if model else "nli" if nli else "none"


class TracedRevision(TraceEntry):
    """The reward of one revision (VoG equations 3 and 4), and what it was made of."""

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
    metrics: MetricsOrNone = None
    """What the task reward was made of; None where the trace does not say."""


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
    without_first: bool
    """Whether the first plan is none of the candidates whose answers are compared (Algorithm 2)."""


def trace_entries(result: Result | None, node: str | None = None) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a trace that are by one node; by any where None is named."""
    trace = result.record.get("trace") if result else None
    for entry in trace if isinstance(trace, list) else ():
        if isinstance(entry, Mapping) and node in (None, entry.get("node")):
            yield entry


def in_order(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return names once each: those that have a place in an order, then any others."""
    found = set(names)
    return [*(name for name in order if name in found), *sorted(found.difference(order))]


def is_count(value: object) -> bool:
    """Return whether a value is a whole number of at least 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_plan_trace(scored: ScoredQuestion) -> PlanTrace | None:
    """Read a question's trace; None where it tells of no plan in steps."""
    result = scored.result
    plans = _of_shape(TracedPlan, ({**entry, "arm": None} for entry in trace_entries(result, "plan")))
    first = next((plan for plan in plans if plan.steps is not None), None)
    if result is None or first is None:
        return None
    config = result.record.get("config")
    return PlanTrace(
        scored,
        first,
        next(_of_shape(TracedPlan, (entry.get("plan") for entry in trace_entries(result, "answer"))), None),
        list(_of_shape(TracedVerification, trace_entries(result, "verify"))),
        read_revisions(result),
        Counter(arm for entry in trace_entries(result, "revise") if isinstance(arm := entry.get("arm"), str)),
        _count_tokens(result),
        isinstance(config, Mapping) and config.get("candidate_plans") == "revised",
    )


def read_revisions(result: Result) -> list[TracedRevision]:
    """Return the revisions of a question that have a reward."""
    return list(_of_shape(TracedRevision, trace_entries(result, "appraise")))


def _of_shape(shape: type[Entry], entries: Iterable[object]) -> Iterator[Entry]:
    for entry in entries:
        with suppress(ValidationError):
            yield shape.model_validate(entry)


def _count_tokens(result: Result) -> Counter[str]:
    spent: Counter[str] = Counter()
    for entry in trace_entries(result):
        used, node = entry.get("tokens"), entry.get("node")
        if isinstance(used, list) and all(map(is_count, used)):
            stage = next((stage for stage, nodes in STAGE_NODES.items() if node in nodes), "other")
            spent[stage] += sum(used)
    return spent
