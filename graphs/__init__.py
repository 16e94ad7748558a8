"""One file per method; each reads like the figure in its paper."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple, cast

from langgraph.graph.state import CompiledStateGraph

from kgqa.plugins import PluginError, load_plugin, names_plugin, plugin_names
from kgqa.runtime.context import Context
from kgqa.runtime.graph_builder import MethodGraph
from kgqa.runtime.server_limits import active_limits

METHODS = (
    *("compose", "draft", "cor", "cog", "vog", "pog", "pog_egp"),
    *("tog", "io", "cot", "sc"),
    *("agent", "sparql_qa"),
)
"""The names of our methods, the default first; each is a module of this package with a ``graph``."""


class OwnMethod(NamedTuple):
    """A method of a user's own: its graph, what named it, and a short hash of its file."""

    graph: MethodGraph
    named: str | None = None
    fingerprint: str | None = None


_own: dict[str, OwnMethod] = {}  # what `load_method` has loaded, by the methods' names


def graph_of(method: str) -> MethodGraph:
    """Return the graph of a method of ours, or of one that is loaded; raise ValueError if there is none."""
    if method in _own:
        return _own[method].graph
    if method not in METHODS:
        known = f"there are: {', '.join(all_methods())}"
        own = "; name your own as module:graph" if active_limits().plugins else ""
        raise ValueError(f"no method is called {method[:80]!r}; {known}{own}")
    return cast(MethodGraph, import_module(f"kgqa.graphs.{method}").graph)


def context_of(method: str) -> type[Context]:
    """Return the class of a method's context: its options. Raise ValueError if there is no such method."""
    return cast(type[Context], graph_of(method).builder.context_schema)


def headline_of(method: str) -> str:
    """Return the first line of a method's documentation; raise ValueError if there is no such method."""
    module = context_of(method).__module__ if method in _own else f"kgqa.graphs.{method}"
    graph_of(method)
    return (import_module(module).__doc__ or "").strip().partition("\n")[0]


def all_methods() -> Iterator[str]:
    """Yield the names of our methods, and of those of installed packages."""
    yield from METHODS
    yield from (name for name in plugin_names("methods") if name not in METHODS)


def load_method(method: str | MethodGraph) -> str:
    """Return the name of a method, by which `graph_of` knows it from now on.

    Args:
        method: a name of ours, of an installed package, as ``package.module:graph`` or
            ``path/to/file.py:graph``, or the graph itself.

    Raises:
        ValueError: if there is no such method, or what is named is none.
    """
    if not isinstance(method, str):
        return _register("the graph that is given", OwnMethod(method))
    if method in METHODS or method in _own or not names_plugin("methods", method):
        graph_of(method)
        return method
    if not active_limits().plugins:
        raise ValueError(f"{method!r} is not served here; name one of: {', '.join(METHODS)}")
    found = load_plugin("methods", method)
    return _register(method, OwnMethod(found.thing, method, found.fingerprint))


def own_method(method: str) -> OwnMethod | None:
    """Return a method of a user's own by its name; None for one of ours."""
    return _own.get(method)


def _register(said: str, own: OwnMethod) -> str:
    """Check that what a user brings is a method, and keep it under its name."""
    graph: Any = own.graph
    context = graph.builder.context_schema if isinstance(graph, CompiledStateGraph) else None
    if not (isinstance(context, type) and issubclass(context, Context)):
        kind = type(graph).__name__
        raise PluginError(f"{said} is no method of kgqa ({kind}): make its graph with build_graph(...)")
    name = getattr(context, "method", None)
    if not (isinstance(name, str) and re.fullmatch(r"[a-z]\w*", name)):
        raise PluginError(f"{said} has no name: give {context.__name__} one, as method: ClassVar[str]")
    if name in METHODS and graph is not graph_of(name):
        raise PluginError(f"{said} calls itself {name}, as one of kgqa's own does; give it another name")
    if name not in METHODS:
        _own[name] = own
    return name
