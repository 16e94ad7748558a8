"""The port: the one way a node speaks to whoever answers prompts."""

from dataclasses import dataclass, field
from typing import Generic, Protocol

from kgqa.models.usage import Usage
from kgqa.prompts.base import Prompt, R


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
