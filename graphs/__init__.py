"""One file per method; each reads like the figure in its paper."""

from importlib import import_module
from typing import cast

from kgqa.runtime.context import Context
from kgqa.runtime.graph_builder import MethodGraph

METHODS = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog", "io", "cot", "sc", "agent", "sparql_qa")
"""The names of the methods, the default first; each is a module of this package with a ``graph``."""


def graph_of(method: str) -> MethodGraph:
    """Return the graph of a method; raise ValueError if there is no such method."""
    if method not in METHODS:
        raise ValueError(f"no method is called {method!r}; there are: {', '.join(METHODS)}")
    return cast(MethodGraph, import_module(f"kgqa.graphs.{method}").graph)


def context_of(method: str) -> type[Context]:
    """Return the class of a method's context: its options. Raise ValueError if there is no such method."""
    return cast(type[Context], graph_of(method).builder.context_schema)


def headline_of(method: str) -> str:
    """Return the first line of a method's documentation; raise ValueError if there is no such method."""
    graph_of(method)
    return (import_module(f"kgqa.graphs.{method}").__doc__ or "").splitlines()[0]
