"""The state that travels from node to node, readable in Studio at every step.

The state is the record in the making, plus what a search works with. Between two nodes it is plain
JSON (`to_plain`), so that checkpoints need no allowlist of types and a state edited in Studio is as
good as one a node wrote; nodes read typed terms (`to_typed`). A method extends `State` and `Update`.
"""

import hashlib
import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from types import new_class
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Self,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
)

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.channels import EphemeralValue
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from kgqa.kg.pages import Candidate, ChainResult, Proof
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Condition
from kgqa.kg.terms import Chain, Entity, Hop, Term, one_line
from kgqa.prompts.base import MAX_QUESTION_CHARS
from kgqa.prompts.candidates import ChainFindings
from kgqa.prompts.chain import MAX_NAMES, Extension
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.runtime.record import (
    Fact,
    OtherReading,
    Outcome,
    PathStep,
    RecordedCondition,
    Ref,
    Spend,
    StoppedBy,
    Table,
    add_spend,
    zero_spend,
)
from kgqa.runtime.server_limits import active_limits

T = TypeVar("T")


OF_TOPICS = "of topics"
"""Marks the keys of a method's own state that are null again once somebody has corrected the topics."""


class StateError(ValueError):
    """An input or a state that was given or edited by hand and does not fit; the message is one line."""


def reducer(key: str, join: Callable[[Any, Any], T], empty: Any) -> Callable[[Any, Any], T]:
    """Return what joins a key of a state with an update; it raises `StateError` for one that does not fit.

    Where what is held does not fit, as after an edit, it counts as ``empty``: what is asked next
    is not to suffer from it.
    """

    def joined(held: Any, new: Any) -> T:
        for before in (held, empty):
            try:
                return join(before, new)
            except (AttributeError, LookupError, NotImplementedError, TypeError, ValueError):
                continue
        raise StateError(f"what is asked does not fit: {key}: {one_line(repr(new), 80)}")

    return joined


def _check_entry(entry: dict[str, Any]) -> dict[str, Any]:
    if not {"node", "decision"} <= entry.keys():
        raise ValueError("an entry of the trace has a node and a decision")
    return entry


TraceEntry = Annotated[dict[str, Any], AfterValidator(_check_entry)]  # what a node leaves in the trace

Decision = Literal["stop", "forward", "filter", "refine", "backtrack", "infer", "draft"]
"""The labels of conditional edges; every node decides on one of them."""


@dataclass(frozen=True, slots=True)
class VerifiedChain:
    """A verified chain in working memory and those of its ends that hold so far.

    Attributes:
        chain: The chain.
        ends: Its ends, as far as they were seen; the answers are what the graph gives for all of memory.
        verdict: "stop" when they are the answer as far as this chain goes, "filter" when a condition is
            left to apply, "infer" when they were inferred although not everything could be verified.
        fresh: Whether what only returns to the topic is left out.
        conditions: What the graph decides; ``place`` counts the hops to the node that has the attribute.
        picked: In which words a model chose ``ends`` among what is there; None where it did not.
        aggregate: What is computed of them; ``place`` as above.
        truncated: Whether the row limit cut the ends.
        others: Chains that say the same and are united with it.
        place: The node of the chain that the answers are, by the hops to it; None for its end.
        met_at: The node that the chains before it in memory lead to as well.
    """

    chain: Chain
    ends: tuple[Term, ...]
    verdict: Literal["stop", "filter", "infer"]
    fresh: bool = False
    conditions: tuple[Condition, ...] = ()
    picked: str | None = None
    aggregate: Aggregate | None = None
    truncated: bool = False
    others: tuple[Chain, ...] = ()
    place: int | None = None
    met_at: int | None = None

    @property
    def decision(self) -> Literal["stop", "filter"]:
        """What follows, where nothing else is to be met."""
        return "filter" if self.verdict == "filter" else "stop"

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chain and those that are united with it."""
        return (self.chain, *self.others)


@dataclass(frozen=True, slots=True)
class ComputedQuery:
    """An answer query that the graph was asked, and what it gives."""

    query: AnswerQuery
    proof: Proof


@dataclass(frozen=True, slots=True)
class KnownExtensions:
    """A chain whose end was visited, and the hops that lead on from there.

    ``node`` is what is there, if it is one entity; ``names`` are some names of what is.
    """

    chain: Chain
    hops: tuple[Hop, ...]
    truncated: bool = False
    node: Entity | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutrightChain:
    """A chain whose verdict was given when it was chosen, and those that were chosen beside it.

    ``counts``: the answer is how many it leads to.
    """

    chain: Chain
    decision: Literal["stop", "filter", "forward"]
    beside: tuple[Chain, ...] = ()
    counts: bool = False

    @classmethod
    def said(
        cls,
        chain: Chain,
        then: Literal["stop", "count", "filter", "forward"],
        beside: tuple[Chain, ...] = (),
    ) -> Self:
        """Return what comes after a chain, as a choice of relations says it."""
        return cls(chain, "stop" if then == "count" else then, beside, counts=then == "count")


def known_extensions(chain: Chain, visit: ChainResult) -> KnownExtensions:
    """Return what a visit says of where a chain leads."""
    only = visit.ends.items[0].term if len(visit.ends) == 1 else None
    node = only if isinstance(only, Entity) else None
    some = islice((end.term.name for end in visit.ends.items if end.term.name), MAX_NAMES + 1)
    names = tuple(one_line(name) for name in some) if chain.hops else ()
    return KnownExtensions(chain, visit.hops.items, visit.hops.truncated, node, names)


@with_config(ConfigDict(use_attribute_docstrings=True))
class Input(TypedDict):
    """What goes in: a question and, where known, the entities it is about.

    Topics and id hold for one run: another run on the same thread has its own.
    """

    question: Required[Annotated[str, Field(examples=["What is the capital of Mongolia?"])]]
    """The question, in natural language."""
    topics: Annotated[NotRequired[list[str | Ref]], Field(examples=[["Mongolia"]]), EphemeralValue]
    """Ids or names of topic entities; linked from the question where absent."""
    id: Annotated[NotRequired[str], EphemeralValue]
    """What the record is filed under; made from the question where absent."""


class Exchange(TypedDict):
    """What a node has asked the model, and what came back: a reply as JSON, null where there was none.

    ``prompt`` is its name, ``instructions`` its constant part, ``case`` the part that differs.
    """

    prompt: str
    instructions: str
    case: str
    reply: str | None


class Update(TypedDict, total=False):
    """What a node may change; the step around it adds trace, usage, exchanges, decision, node and failure."""

    decision: Decision
    """What the last node decided: the label of the edge that is taken next."""
    last_node: str
    """The last node that had anything to do."""
    last_failure: str | None
    """The kind of error that it met, whether or not it went on; None where there was none."""
    record_id: str
    """What the record is filed under."""
    translated: str | None
    """The question in the language of the graph's names, where it is asked in another: what nodes read."""
    topic_entities: list[Entity]
    """The entities that the question is about, in the order they are taken up."""
    searched_topics: list[Entity]
    """Those that the search has set out from: where the topics were edited since, it begins anew."""
    linked: bool
    """Whether they were found in the question, and nobody has given them."""
    unlinked: list[str]
    """Words for topics that answers may not be about: not in the graph, only like a name in it, left out."""
    alternative_entities: dict[str, list[Entity]]
    """What else the mention of a topic entity may mean, by its id, the likeliest first."""
    classes: dict[str, list[Hop]]
    """The classes that the question names, by their ids, with the hops that lead to their members alone."""
    mentioned_as: dict[str, str]
    """What the question calls each thing that was found in it, by its id."""
    chain: Chain
    """The relation chain at hand."""
    stack: list[Chain]
    """The relation-chain stack: alternatives, the next one last."""
    extensions: list[Extension]
    """How the chain at hand can go on."""
    hidden: list[Extension]
    """How else: what is shown only where the model says that a relation is missing."""
    outright: OutrightChain | None
    """The chain of which the model has said, when it chose it, what comes next."""
    candidates: list[Candidate]
    """The ends of the chain at hand, as far as they meet the branches in memory."""
    truncated: bool
    """Whether the row limit cut the candidates."""
    siblings: list[ChainFindings]
    """What the chains that were chosen beside the one at hand lead to, as far as they meet the branches."""
    memory: list[VerifiedChain]
    """Working memory: the verified branches, one for each topic entity."""
    computed: ComputedQuery | None
    """The query that the search has asked of the graph last: it is not asked again."""
    leads: list[KnownExtensions]
    """What leads on from the topic entities, and from what was visited on the way to the last ends."""
    tried: list[Chain]
    """The chains that were taken up; a search that chooses again leaves them out."""
    resume_points: list[Chain]
    """The chains that the search went on from, the most promising last: where a second look begins."""
    second_looks: int
    """How many second looks have found something to go on with; absent before the first."""
    exemplars: list[SolvedQuestion]
    """Solved questions that are like this one (EGP)."""
    exchanges: Annotated[list[Exchange], EphemeralValue]
    """What the last node has asked the model, and its replies; the step after it no longer has them."""

    method: str
    answers: list[Ref]
    sentence: str | None
    table: Table | None
    outcome: Outcome | None
    confidence: float | None
    stopped_by: StoppedBy | None
    paths: list[list[PathStep]]
    evidence: list[Fact]
    query: str | None
    reading: str | None
    conditions: list[RecordedCondition]
    alternatives: list[OtherReading]
    trace: Annotated[list[TraceEntry], reducer("trace", operator.add, [])]
    usage: Annotated[Spend, reducer("usage", add_spend, zero_spend())]
    config: dict[str, Any]


@with_config(ConfigDict(use_attribute_docstrings=True))
class State(Input, Update):
    """The record in the making and what a search over relation chains has in hand."""


class FinalUpdate(Update, total=False):
    """What the last node changes: the record's own topics and id as well."""

    topics: list[Ref]
    id: str


def question_id(question: str) -> str:
    """Return what the record of a question is filed under where it is not said."""
    return hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:12]


def initial_state(given: Input) -> Update:
    """Return the state in which a run begins, whatever ran on its thread before."""
    return {
        "record_id": given.get("id") or question_id(given["question"]),
        "translated": None,
        "topic_entities": [],
        "linked": False,
        "unlinked": [],
        "alternative_entities": {},
        "classes": {},
        "mentioned_as": {},
        "stack": [],
        "extensions": [],
        "hidden": [],
        "outright": None,
        "candidates": [],
        "truncated": False,
        "siblings": [],
        "memory": [],
        "computed": None,
        "leads": [],
        "tried": [],
        "resume_points": [],
        "exemplars": [],
        "outcome": None,
        "stopped_by": None,
    }


def empty_record() -> Update:
    """Return what a record leaves in the state of its thread, as it is before there is any."""
    return {
        "answers": [],
        "sentence": None,
        "table": None,
        "confidence": None,
        "paths": [],
        "evidence": [],
        "query": None,
        "reading": None,
        "conditions": [],
        "alternatives": [],
        "config": {},
    }


def state_of_topics(topics: list[Entity]) -> Update:
    """Return what of a state hangs on its topic entities, as it is before anything is known of them."""
    return {
        **initial_state({"question": ""}),
        "topic_entities": topics,
        "searched_topics": topics,
        **({"chain": Chain(topics[0])} if topics else {}),
        "resume_points": [Chain(topic) for topic in reversed(topics)],
    }


@cache
def keys_of_topics(schema: Any) -> frozenset[str]:
    """Return the keys of a state that are null again with other topics."""
    hints = get_type_hints(schema, include_extras=True)
    return frozenset(key for key, hint in hints.items() if OF_TOPICS in getattr(hint, "__metadata__", ()))


def topics_corrected(state: State) -> bool:
    """Return whether somebody has changed the topic entities, as in Studio, since a node has set them."""
    return state.get("searched_topics", state["topic_entities"]) != state["topic_entities"]


INITIAL_KEYS = (*initial_state({"question": ""}), "trace")  # what a state has once a run has begun


def check_run_started(state: State) -> None:
    """Raise `StateError` where no run has begun: a command may send anything to any node."""
    if any(key not in state for key in INITIAL_KEYS):
        raise StateError('no run has begun here; begin one with an input, such as {"question": "..."}')


def node_has_run(state: State, node: str) -> bool:
    """Return whether a node has run in this run; what it keeps may be of an earlier one on the thread."""
    return node_count(state, node) > 0


def node_count(state: State, node: str) -> int:
    """Return how often a node has run in this run."""
    return sum(entry["node"] == node for entry in state["trace"])


def next_topic(state: State) -> Entity | None:
    """Return the topic entity that comes after that of the chain at hand."""
    topics, topic = state["topic_entities"], state["chain"].topic
    after = topics[topics.index(topic) + 1 :] if topic in topics else ()  # a chain may be edited in Studio
    return after[0] if after else None


def to_typed(state: State, schema: type[State] = State) -> State:
    """Return a plain state with its terms and chains as objects; ``schema`` is its type.

    No node reads more of a question than a prompt shows, nor what was translated; the record keeps it as it
    was asked.

    Raises:
        NotServed: if it is longer than a server takes, by whatever way it came.
        StateError: if it was given or edited by hand and does not fit ``schema``.
    """
    active_limits().check_input(state)
    spent = state.get("usage") or zero_spend()  # LangGraph begins a reduced key with an empty value
    nullable = _nullable_keys(cast(Hashable, schema))
    held = {key: value for key, value in state.items() if value is not None or key in nullable}
    try:
        read = _state_adapter(cast(Hashable, schema)).validate_python({**held, "usage": spent})
    except ValidationError as error:
        raise misfit(error) from None
    read["question"] = (read.get("translated") or read["question"])[:MAX_QUESTION_CHARS]
    return cast(State, TypedState(read))


class TypedState(dict[str, Any]):
    """A state as a node reads it; what it lacks, since a command may name any node, is told in one line."""

    def __missing__(self, key: str) -> Any:
        raise StateError(f"the state has no {key} here; go to a node that comes before")


def misfit(error: ValidationError) -> StateError:
    """Return what is wrong with a state, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = one_line(".".join(map(str, first["loc"])), 80)
    given = "" if first["type"] == "missing" else f", not {one_line(repr(first['input']), 80)}"
    return StateError(f"what is asked does not fit: {place}: {one_line(first['msg'])}{given}")


def to_plain(update: Update, schema: type[State] = State) -> Update:
    """Return an update of a state of type ``schema`` with its terms and chains as plain JSON."""
    return cast(Update, _update_adapter(cast(Hashable, schema)).dump_python(update))


@cache
def _state_adapter(schema: Any) -> TypeAdapter[State]:
    """Read a state, without what its fields are described by, which takes reading their sources."""
    return TypeAdapter(with_config(ConfigDict())(new_class(schema.__name__, (schema,))))


@cache
def _nullable_keys(schema: Any) -> frozenset[str]:
    """Return the keys of a state that may be null; what is null of the others is not there."""
    hints = get_type_hints(schema)
    return frozenset(key for key, hint in hints.items() if type(None) in get_args(hint))


@cache
def _update_adapter(schema: Any) -> TypeAdapter[Any]:
    """Write any part of a state: none of its keys is required."""
    part = TypedDict("part", get_type_hints(schema), total=False)  # type: ignore[misc]
    return TypeAdapter(part)


class _DecisionRouter(Runnable[State, Decision]):
    """Reads the decision out of the state.

    A function would do; LangGraph makes an account of each call of one for tracers,
    which takes longer than many a node, and says no more than the state does.
    """

    name = "decision"

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Decision:
        return input["decision"]

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> Decision:
        return input["decision"]


decision_router = _DecisionRouter()  # routes by what the last node decided; the one router of every method
