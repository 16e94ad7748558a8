"""The offline model asked alone: without a graph there is nothing that it could go by."""

from kgqa.models.offline.parts import without
from kgqa.models.port import Answered
from kgqa.prompts.base import Prompt, R

_NOTHING = {"reasoning": "the offline model knows no facts", "answers": []}


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
        """Say that the answer is not known; the usage is empty."""
        return Answered(prompt.reply.model_validate(_NOTHING))  # type: ignore[arg-type]
