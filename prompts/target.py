"""What a model goes by that knows, or believes, what a question asks for; and what replies to which prompt.

``async def answer(self, target)`` of a prompt asks a `Target` for what is right, and has it choose. The
offline model's target is its interpretation of the question, that of a simulated model the gold answers, and
its choices may be wrong. Where a model has its own way, a function of its room replies.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isfunction
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, get_args, get_type_hints

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Term
from kgqa.prompts.base import Prompt, Reply

T = TypeVar("T")
Replies: TypeAlias = dict[type[Prompt[Any]], Callable[[Any, Any], Awaitable[Reply]]]
"""What replies to each kind of prompt: given the prompt, and what a model knows."""


class Target(ABC):
    """What a question asks for; choices are right unless a target errs."""

    @abstractmethod
    async def plans(self) -> Sequence[tuple[Entity, Sequence[Hop]]]:
        """Return topics with the hops that lead from each to the answers."""

    @abstractmethod
    async def is_end(self, chain: Chain) -> bool:
        """Return whether nothing is left to go after a chain that leads to the answers."""

    @abstractmethod
    async def leads_on(self, chain: Chain) -> bool:
        """Return whether something is left to go after a chain that leads towards the answers."""

    async def going_on(self, chains: Sequence[Chain]) -> list[int]:
        """Number, from 1, the chains to go on from."""
        return [number for number, chain in enumerate(chains, 1) if await self.leads_on(chain)]

    @abstractmethod
    async def worth(self, chain: Chain, ends: Sequence[Term]) -> Mapping[Term, float]:
        """Return how well ends of a chain lead to the answers, from 0 to 1; 0 or none where they do not."""

    @abstractmethod
    async def answers_among(self, chain: Chain, ends: Sequence[Candidate]) -> list[int]:
        """Number, from 1, the ends of a chain that are answers, or that the answer counts."""

    @abstractmethod
    async def counts(self, ends: Sequence[Candidate]) -> bool:
        """Return whether the answer is how many of the ends there are."""

    @abstractmethod
    async def unfinished(self, chains: Sequence[Chain]) -> list[int]:
        """Number, from 1, the chains furthest towards the answers after which something is left to go."""

    async def subgoals(self) -> list[str]:
        """Return what is found one after the other; nothing where that is not known."""
        return []

    def choose(self, right: Sequence[int], offered: int) -> list[int]:
        """Choose some of so many numbered entities."""
        return list(right)

    async def narrow(self, chain: Chain, ends: Mapping[int, Term]) -> list[int]:
        """Choose the numbered ends of a chain to go on from; none to go on from all."""
        return []

    def come_back(self, right: Sequence[int], offered: int) -> list[int]:
        """Choose some of so many numbered chains to come back to."""
        return list(right)

    def judge(self, kind: str, options: Sequence[T], right: T) -> T:
        """Choose one of some options in a verdict of one ``kind``."""
        return right

    def plans_well(self) -> bool:
        """Return whether what is planned goes by `plans`."""
        return True


def replies_in(*modules: ModuleType) -> Replies:
    """Return the public functions of modules that reply to prompts, by the kinds in their annotations."""
    found: dict[type[Prompt[Any]], Any] = {}
    for module in modules:
        for name, reply_to in vars(module).items():
            if isfunction(reply_to) and reply_to.__module__ == module.__name__ and not name.startswith("_"):
                prompt = get_type_hints(reply_to).get("prompt")
                found |= dict.fromkeys(get_args(prompt) or (prompt,) if prompt else (), reply_to)
    return found


def find_reply(prompt: Prompt[Any], own: Replies) -> Callable[[Any, Any], Awaitable[Any]] | None:
    """Return what replies to the nearest kind that a prompt is or extends: a model's own way, or `answer`."""
    ways = (own.get(kind) or vars(kind).get("answer") for kind in type(prompt).__mro__)
    return next(filter(isfunction, ways), None)
