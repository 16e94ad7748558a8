"""What a chain that writes SPARQL has in hand, beside the state of any search."""

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Term
from kgqa.session.state import State, Update


class AskingUpdate(Update, total=False):
    """What a node may change."""

    rows: list[Term]
    """The terms in the rows of the query that the model is shown, in order."""
    proved: list[Term]
    """Those of them that the graph holds, or that the query has counted in it."""
    said: str | None
    """The chain's answer, in its own words; None where it came to none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class Asking(State, AskingUpdate):
    """The record in the making, what the query gave, and what the chain says of it."""
