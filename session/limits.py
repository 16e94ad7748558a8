"""What a server holds its callers to: how much a question may spend, and which names it may give.

Nothing is held until a server calls `hold`: whoever runs kgqa for themselves names what
they like. It is `Context` that asks here, so that the limits hold by whatever way options come.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kgqa.addresses import is_address, shown_name, without_user

PRIORS = ("exemplars", "encoder", "blueprints", "overlay", "nli")
"""The options, of any method, that name files or folders beside graph and model."""


class NotServed(RuntimeError):
    """A context names what this server does not open, or a question is longer than it takes.

    No `ValueError`, which pydantic would wrap in lines of its own; LangGraph's server
    passes the text of a `RuntimeError` on to the caller.
    """


@dataclass(frozen=True)
class Bounds:
    """How much one run may be asked: characters of the question, topics, characters of each and of the id."""

    question: int
    topics: int
    name: int


@dataclass(frozen=True)
class Limits:
    """Caps of a budget by its field, names that may be given, bounds of what is asked; None allows any."""

    caps: Mapping[str, float] = field(default_factory=dict)
    kg: tuple[str, ...] | None = None
    model: tuple[str, ...] | None = None
    priors: tuple[str, ...] | None = None
    asked: Bounds | None = None

    def capped(self, budget: Mapping[str, float | None]) -> dict[str, float | None]:
        """Give a budget with each field at its cap, where it asks for more or for no limit."""
        return {name: self._least(asked, self.caps.get(name)) for name, asked in budget.items()}

    def in_full(self, kg: tuple[str, ...]) -> tuple[str, ...]:
        """Give the names of a graph, an address that is allowed with its user, password and key.

        A caller names it without them, as it is shown; who knows them may give them.
        """
        allowed = self.kg or ()
        full = {without_user(name): name for name in reversed(allowed) if is_address(name)}
        return tuple(name if name in allowed else full.get(name, name) for name in kg)

    def check_asked(self, given: Mapping[str, Any]) -> None:
        """Refuse a question, topics or an id that are too long, in an input or in a state.

        Raises:
            NotServed: in one line.
        """
        if (most := self.asked) is None:
            return
        topics = given.get("topics")
        topics = topics if isinstance(topics, list) else []
        if len(str(given.get("question", ""))) > most.question:
            raise NotServed(f"the question is longer than {most.question} characters; shorten it")
        if len(topics) > most.topics:
            why = f"there are more than {most.topics} topics; give those that the question is about"
            raise NotServed(why)
        if any(len(str(name)) > most.name for name in (*topics, given.get("id"))):
            raise NotServed(f"a topic or the id is longer than {most.name} characters; shorten it")

    def check(self, context: Any) -> None:
        """Refuse the names of a context that are not allowed.

        Raises:
            NotServed: in one line, with the names that are.
        """
        if self.kg is not None and context.kg not in [(name,) for name in self.kg]:
            raise _not_served("kg", ", ".join(map(shown_name, context.kg)), self.kg)
        if self.model is not None and context.model not in self.model:
            raise _not_served("model", context.model, self.model)
        for option in PRIORS if self.priors is not None else ():
            named = getattr(context, option, None)
            if named is not None and named not in (self.priors or ()):
                raise _not_served(option, named, self.priors or ())

    @staticmethod
    def _least(asked: float | None, cap: float | None) -> float | None:
        return min((limit for limit in (asked, cap) if limit is not None), default=None)


_held = Limits()


def hold(limits: Limits) -> None:
    """Hold every context that is made in this process from now on to these limits."""
    global _held
    _held = limits


def held() -> Limits:
    """Give the limits that hold."""
    return _held


def _not_served(option: str, named: str, allowed: tuple[str, ...]) -> NotServed:
    named = shown_name(named)
    shown = named if len(named) <= 100 else f"{named[:100]}..."
    shown_names = ", ".join(map(shown_name, allowed))
    way_out = f"name one of: {shown_names}" if allowed else "leave it out"
    return NotServed(f"option {option}: {shown!r} is not served here; {way_out}")
