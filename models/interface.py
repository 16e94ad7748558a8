"""The interface of what answers prompts: a model, its replies, and what they cost."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from operator import add
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, runtime_checkable

from kgqa.kg.terms import ANY, Chain, Entity
from kgqa.prompts.base import Prompt, R

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.tools import BaseTool


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens, and queries of the graph; a sum of usages is a usage.

    ``llm_calls`` reached a model and were paid for; ``cached_calls`` were
    answered from the cache and cost nothing; ``unknown_calls`` are the calls
    among ``llm_calls`` whose tokens the server did not report, so that the token
    counts are lower bounds. ``model_queries`` are those that the model itself makes, as the offline one does.
    """

    llm_calls: int = 0
    cached_calls: int = 0
    unknown_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_queries: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Add field by field."""
        return Usage(*map(add, astuple(self), astuple(other)))


budget_allows: ContextVar[Callable[[Usage], bool]] = ContextVar("budget_allows", default=lambda spent: True)
"""Tells whether the question may pay for one more call, after what the ask at hand has cost so far.

The caller checks the budget before; a model that would call again, to have a reply repaired or
after a call that ran out of time, checks here.
"""


model_queries_spent: ContextVar[int] = ContextVar("model_queries_spent", default=0)
"""How many queries of the graph the model has made for the question before this ask."""


@dataclass(frozen=True, slots=True)
class Completion(Generic[R]):
    """A reply that fits the prompt's schema and passed its check, and its cost."""

    reply: R
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """What answers prompts: a chat model, the offline model, a script."""

    @property
    def name(self) -> str:
        """The spec this model was opened by, for instance ``openai:gpt-4.1-mini``."""

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer one prompt.

        Raises:
            ModelUnavailable: the model cannot be reached or keeps failing.
            MalformedReply: it replied, but not with what was asked, twice.
        """


class ModelSettings(NamedTuple):
    """How a language model is asked: its sampling, how long a reply may be, how long one may take."""

    temperature: float | None = 0.0  # None leaves it to the server, as does None for the next
    max_tokens: int | None = None
    timeout: float = 60.0  # seconds that a single call may take
    arguments: Mapping[str, Any] = {}  # further ones of the provider's API, such as ``top_p``


class RankedReading(NamedTuple):
    """A reading of a question: lists of chains that meet, those of one list united; and how likely it is.

    ``ends`` are the ids of what was seen where they meet. With ``counts`` it asks how many there are;
    ``fresh`` leaves out what only returns to a topic.
    """

    chains: tuple[tuple[Chain, ...], ...]
    confidence: float
    ends: frozenset[str]
    counts: bool = False
    fresh: bool = False

    def gives(self, answers: Collection[str]) -> bool:
        """Return whether answers, by their ids, are what it is known to give, or some of it."""
        return {*answers} == {str(len(self.ends))} if self.counts else self.ends.issuperset(answers)

    @property
    def topics(self) -> tuple[Entity, ...]:
        """The entities that its chains set out from."""
        topics = (chain.topic for chains in self.chains for chain in chains)
        return tuple(dict.fromkeys(topic for topic in topics if topic != ANY))

    @property
    def depth(self) -> int:
        """The hops of its longest chain."""
        return max(chain.depth for chains in self.chains for chain in chains)


class Assessment(NamedTuple):
    """How likely an answer is right, what of the question nothing says, and what it cost to tell."""

    confidence: float | None
    """From 0 to 1; None where it cannot be told."""
    missing: str | None
    usage: Usage
    sure: bool = True
    """Whether it is likely enough to be called proved."""
    doubt: str | None = None
    """Why the question may mean something else, however likely the answer is."""
    readings: Sequence[RankedReading] = ()
    """Its own, then those that come next, with other ends."""

    @property
    def proves(self) -> bool:
        """Whether it is likely enough to be called proved, and nothing is in doubt."""
        return self.sure and not self.doubt


@runtime_checkable
class ConfidentModel(Protocol):
    """A model that can tell how likely its answers are right."""

    async def assess(self, question: str, topics: tuple[Entity, ...]) -> Assessment:
        """Return how likely the answer that it leads to is right.

        Raises:
            KGError: if the graph cannot be reached.
        """


@runtime_checkable
class QueryWriter(Protocol):
    """A model that can write a query language, as language models can."""

    writes_sparql: bool


@runtime_checkable
class AdjustableModel(Protocol):
    """A model that can be asked in another way than it was opened for."""

    def with_settings(self, settings: ModelSettings) -> Model:
        """Return the same model, asked by these settings."""


class Turn(NamedTuple):
    """A message of a model, and its cost."""

    message: "AIMessage"
    usage: Usage


@runtime_checkable
class ConversationModel(Protocol):
    """A model that can be spoken to in messages, too: for agents and chains that bring their own prompts."""

    async def turn(
        self, messages: "Sequence[BaseMessage]", tools: "Sequence[BaseTool]" = (), **options: Any
    ) -> Turn:
        """Return the next message of a conversation; ``options`` are those of LangChain's ``bind_tools``.

        Raises:
            ModelUnavailable: the model cannot be reached, keeps failing, or cannot call tools.
        """
