"""Terms of a query's algebra, as rdflib makes it, which is imported only when a query is read."""

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, TypeAlias

from kgqa.kg.terms import XSD_STRING, Entity, Literal, Term

Node: TypeAlias = Any  # a term or a part of the algebra of rdflib


def is_variable(node: Node) -> bool:
    """Return whether a node is a variable with a name."""
    from rdflib import Variable

    return isinstance(node, Variable)


def is_open(node: Node) -> bool:
    """Return whether a node stands for whatever the graph has there."""
    from rdflib import BNode, Variable

    return isinstance(node, Variable | BNode)


def is_value(node: Node) -> bool:
    """Return whether a node is a literal."""
    from rdflib import Literal as Value

    return isinstance(node, Value)


def is_iri_node(node: Node) -> bool:
    """Return whether a node is an IRI."""
    from rdflib import URIRef

    return isinstance(node, URIRef)


def is_constant(node: Node) -> bool:
    """Return whether a part of the algebra is an IRI or a literal."""
    return is_iri_node(node) or is_value(node)


def to_term(node: Node) -> Term:
    """Return a constant as a term.

    Raises:
        ValueError: if it can be none.
    """
    if is_value(node):
        return Literal(str(node), str(node.datatype or XSD_STRING), str(node.language or ""))
    return Entity(str(node))


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a copy of a part of the algebra, with each of its terms as ``change`` returns it."""
    from rdflib.paths import Path
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.term import Identifier

    again = partial(rebuild, change=change)
    if isinstance(node, Identifier):
        return change(node)
    if isinstance(node, CompValue):
        return CompValue(node.name, **{key: again(value) for key, value in node.items()})
    if isinstance(node, Mapping):
        return {again(key): again(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return type(node)(map(again, node))
    if isinstance(node, Path):
        filled = copy(node)
        vars(filled).update({key: again(value) for key, value in vars(node).items()})
        return filled
    return node
