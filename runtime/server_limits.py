"""Limits that a server sets for its callers: budget caps, allowed names, length of the input.

None apply until a server calls `activate_limits`: a user of one's own machine names what
they like. `Context` and `to_typed` ask for them, so they apply however options or state arrive.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kgqa.addresses import graph_url, redact_name

PRIOR_OPTIONS = ("exemplars", "encoder", "entity_encoder", "blueprints", "overlay", "nli", "prompts")
"""The options, of any method, that name files or folders beside graph and model."""


class NotServed(RuntimeError):
    """A context names what this server does not open, or a question is longer than it takes.

    No `ValueError`, which pydantic would wrap in lines of its own; LangGraph's server
    passes the text of a `RuntimeError` on to the caller.
    """


@dataclass(frozen=True)
class InputLimits:
    """Most characters of a question, most topics, most characters of a topic or an id."""

    question: int
    topics: int
    name: int


@dataclass(frozen=True)
class Limits:
    """Caps of a budget and of a reply, names that may be given, limits of the input; None allows any."""

    caps: Mapping[str, float] = field(default_factory=dict)
    kg: tuple[tuple[str, ...], ...] | None = None  # each the names of one graph
    model: tuple[str, ...] | None = None
    priors: tuple[str, ...] | None = None
    asked: InputLimits | None = None
    plugins: bool = True
    """Whether methods may be named that are loaded by their names; a server has what it lists."""

    def cap(self, asked: Mapping[str, float | None]) -> dict[str, float | None]:
        """Return limits with each at its cap, where more is asked for or no limit."""
        caps = {name: self.caps.get(name) for name in asked}
        return {
            name: min((limit for limit in (value, caps[name]) if limit is not None), default=None)
            for name, value in asked.items()
        }

    def with_credentials(self, kg: tuple[str, ...]) -> tuple[str, ...]:
        """Return a graph's names, an allowed address with the user, password and key it is shown without."""
        allowed = [name for graph in self.kg or () for name in graph]
        full = {graph_url(name): name for name in reversed(allowed) if "://" in name}
        return tuple(name if name in allowed else full.get(name, name) for name in kg)

    def check_input(self, given: Mapping[str, Any]) -> None:
        """Raise `NotServed` for a question, topics or an id that are too long, in an input or in a state."""
        if (most := self.asked) is None:
            return
        topics = given.get("topics")
        topics = topics if isinstance(topics, list) else []
        if len(str(given.get("question", ""))) > most.question:
            raise NotServed(f"the question is longer than {most.question} characters; shorten it")
        if len(topics) > most.topics:
            raise NotServed(
                f"there are more than {most.topics} topics; give those that the question is about"
            )
        if any(len(str(name)) > most.name for name in (*topics, given.get("id"))):
            raise NotServed(f"a topic or the id is longer than {most.name} characters; shorten it")

    def check(self, context: Any) -> None:
        """Raise `NotServed` for names of a context that are not allowed, with those that are."""
        if self.kg is not None and context.kg not in self.kg:
            graphs = tuple(" and ".join(map(redact_name, graph)) for graph in self.kg)
            raise _not_served("kg", ", ".join(map(redact_name, context.kg)), graphs)
        if self.model is not None:
            if context.model not in self.model:
                raise _not_served("model", context.model, self.model)
            own = type(context).model_fields["model_arguments"].get_default(call_default_factory=True)
            if context.model_arguments != own:
                raise NotServed("option model_arguments: these are the server's own here; leave it out")
        for option in PRIOR_OPTIONS if self.priors is not None else ():
            named, allowed = getattr(context, option, None), self.priors or ()
            if named is not None and named not in allowed:
                raise _not_served(option, named, allowed)


_active = Limits()


def activate_limits(limits: Limits) -> None:
    """Apply limits to every context that is made in this process from now on."""
    global _active
    _active = limits


def active_limits() -> Limits:
    """Return the limits that apply."""
    return _active


def _not_served(option: str, named: str, allowed: tuple[str, ...]) -> NotServed:
    named = redact_name(named)
    shown = named if len(named) <= 100 else f"{named[:100]}..."
    way_out = f"name one of: {', '.join(map(redact_name, allowed))}" if allowed else "leave it out"
    return NotServed(f"option {option}: {shown!r} is not served here; {way_out}")
