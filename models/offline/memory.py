"""The offline model asked alone: without a graph there is nothing that it could go by."""

from typing import NoReturn

from kgqa.models.errors import ModelUnavailable
from kgqa.models.offline.parts import without
from kgqa.models.port import Answered
from kgqa.prompts.base import Prompt, R

NO_FACTS = "the offline model knows no facts"
"""Why it does not answer from memory."""


class NoMemory:
    """Answers no question of memory.

    Args:
        name: the spec, as `kgqa.models.offline.OfflineModel` takes it.

    Raises:
        UnknownModel: if the spec names a part that there is not.
    """

    def __init__(self, name: str) -> None:
        without(name)
        self.name = name

    async def ask(self, prompt: Prompt[R]) -> Answered[R]:
        """Answer nothing.

        Raises:
            ModelUnavailable: for every prompt.
        """
        refuse()


def refuse() -> NoReturn:
    """Say in one line that a language model has to be asked.

    Raises:
        ModelUnavailable: always.
    """
    raise ModelUnavailable(f"{NO_FACTS}; give a language model, as provider:name")
