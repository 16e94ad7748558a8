"""The state of SPARQL by a model: the rows of its query, and what it says of them."""

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Term
from kgqa.runtime.state import State, Update
from kgqa.tools.select import QueryConstants


class SparqlQAUpdate(Update, total=False):
    """What a node may change."""

    rows: list[Term]
    """The terms in the rows of the query that the model is shown, in order."""
    proved: list[Term]
    """Those of them that the graph holds, or that the query has counted in it."""
    constants: QueryConstants | None
    """What the query says itself, where it can be read."""
    said: str | None
    """The chain's answer, in its own words; None where it came to none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class SparqlQAState(State, SparqlQAUpdate):
    """The record in the making, what the query gave, and what the chain says of it."""
