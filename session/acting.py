"""What a tool-calling agent has in hand, beside the state of any search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Term
from kgqa.prompts.act import Named
from kgqa.session.state import State, Update


@dataclass(frozen=True, slots=True)
class Way:
    """A chain that a tool has followed, in the words that the tools read, and what it led to."""

    topic: str
    hops: tuple[str, ...]
    ends: tuple[Term, ...]
    held: Mapping[int, Sequence[str]] = field(default_factory=dict)
    truncated: bool = False


class ActingUpdate(Update, total=False):
    """What a node may change."""

    ways: list[Way]
    """The chains that the agent has followed, in order."""
    said: list[Named] | None
    """The agent's answers; None where it came to none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class Acting(State, ActingUpdate):
    """The record in the making, what the agent has seen, and what it says."""
