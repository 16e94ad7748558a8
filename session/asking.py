"""What a chain that writes SPARQL has in hand, beside the state of any search."""

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Term
from kgqa.session.state import State, Update


class AskingUpdate(Update, total=False):
    """What a node may change."""

    rows: list[Term]
    """The terms in the rows of the query, in order."""
    said: str | None
    """The chain's answer, in its own words; None where it came to none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class Asking(State, AskingUpdate):
    """The record in the making, what the query gave, and what the chain says of it."""


def has_asked(state: Asking) -> bool:
    """Tell whether this run has rows of its own: on a thread they may be those of an earlier run."""
    return any(entry["node"] == "write_sparql" for entry in state["trace"])
