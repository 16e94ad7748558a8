"""The port: the one way a node speaks to whoever answers prompts."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, runtime_checkable

from kgqa.models.usage import Usage
from kgqa.prompts.base import Prompt, R

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.tools import BaseTool


has_room: ContextVar[Callable[[Usage], bool]] = ContextVar("has_room", default=lambda spent: True)
"""Tells whether the question may pay for one more call, after what the ask at hand has cost so far.

Whoever asks checks the budget before; a model that would call again, to have a reply repaired or
after a call that ran out of time, checks here.
"""


@dataclass(frozen=True, slots=True)
class Answered(Generic[R]):
    """A reply that fits the prompt's schema and passed its check, and its cost."""

    reply: R
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """Whoever answers prompts: a chat model, the offline model, a script."""

    @property
    def name(self) -> str:
        """The spec this model was opened by, for instance ``openai:gpt-4.1-mini``."""

    async def ask(self, prompt: Prompt[R]) -> Answered[R]:
        """Answer one prompt.

        Raises:
            ModelUnavailable: the model cannot be reached or keeps failing.
            MalformedReply: it replied, but not with what was asked, twice.
        """


class Turn(NamedTuple):
    """A message of a model, and its cost."""

    message: "AIMessage"
    usage: Usage


@runtime_checkable
class Conversing(Protocol):
    """A model that can be spoken to in messages, too: for agents and chains that bring their own prompts."""

    async def turn(
        self, messages: "Sequence[BaseMessage]", tools: "Sequence[BaseTool]" = (), **options: Any
    ) -> Turn:
        """Give the next message of a conversation; ``options`` are those of LangChain's ``bind_tools``.

        Raises:
            ModelUnavailable: the model cannot be reached, keeps failing, or cannot call tools.
        """
