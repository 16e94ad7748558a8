"""The parts of the offline model that a spec can leave out, and the model without a graph."""

from typing import NoReturn

from kgqa.models.errors import ModelUnavailable, UnknownModel
from kgqa.models.interface import Completion
from kgqa.prompts.base import Prompt, R

PARTS = {
    "nearest": "the nearest training questions",
    "hops": "the hop model that is learned from training questions",
    "words": "the likeness of the words of a chain and the question",
    "kinds": "the kind of the ends, and where the graph leads",
    "asking": "counts, superlatives and comparisons",
    "conditions": "what else the question says of the answer",
}
"""Each part that a spec may leave out, and what it is."""

_PREFIX = "offline:without="


def parse_ablation(spec: str) -> frozenset[str]:
    """Read which parts a spec leaves out: ``offline``, or ``offline:without=nearest+hops``.

    Raises:
        UnknownModel: in one line, for any other spec.
    """
    if spec == "offline":
        return frozenset()
    named = spec.removeprefix(_PREFIX).split("+")
    if not spec.startswith(_PREFIX) or not set(named) <= PARTS.keys():
        raise UnknownModel(
            f"{spec!r} names no model; write offline, or offline:without= and parts joined by +: "
            + ", ".join(PARTS)
        )
    return frozenset(named)


NO_FACTS = "the offline model knows no facts"
"""Why it does not answer from memory."""


class OfflineModelWithoutGraph:
    """Answers no question of memory.

    Args:
        name: the spec, as `kgqa.models.offline.OfflineModel` takes it.

    Raises:
        UnknownModel: if the spec names a part that there is not.
    """

    def __init__(self, name: str) -> None:
        parse_ablation(name)
        self.name = name

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer nothing.

        Raises:
            ModelUnavailable: for every prompt.
        """
        refuse_memory()


def refuse_memory() -> NoReturn:
    """Say in one line that a language model has to be asked.

    Raises:
        ModelUnavailable: always.
    """
    raise ModelUnavailable(f"{NO_FACTS}; give a language model, as provider:name")
