"""Graphs, encoders and models: opened once per process, by name, here only."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.tools import BaseTool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.interface import Model
from kgqa.models.registry import is_offline, open_model
from kgqa.priors.blueprints import BlueprintLibrary
from kgqa.priors.candidate_ranking import relation_words
from kgqa.priors.encoder import CachedEncoder, Vectors
from kgqa.priors.exemplars import ExemplarLibrary, SolutionIndex
from kgqa.priors.nli import ContradictionDetector, open_contradiction_detector
from kgqa.runtime.bundled_sample import sample_blueprints, sample_exemplars, sample_graph
from kgqa.runtime.context import Context
from kgqa.tools import make_tools

T = TypeVar("T")

SAMPLE_NAME = "sample"
"""The name of the graph that comes with kgqa."""


@dataclass(frozen=True)
class Resources:
    """What a run reaches through its context's names."""

    tools: dict[str, BaseTool]
    model: Model
    library: BlueprintLibrary | None
    """The blueprints; None where none are named, unless the graph is the sample."""
    exemplars: ExemplarLibrary | None
    """What the offline model learns from; None for any other model, and where there are none."""
    index: SolutionIndex | None
    """What the method recalls solved questions from; None where it does not, and where there are none."""
    judge: ContradictionDetector
    """Who tells contradiction: the model that is named, or rules."""


_opened: dict[tuple[object, ...], Any] = {}
_locks: dict[tuple[object, ...], threading.Lock] = {}
_guard = threading.Lock()
_tools_lock = threading.Lock()
_handed_over: dict[str, Any] = {}
_numbers = count(1)

os.register_at_fork(after_in_child=_opened.clear)  # a child has none of the threads that a store needs


@contextmanager
def provide_object(thing: KnowledgeGraph | Model) -> Iterator[str]:
    """Make a graph or model that is already open known by a name.

    Contexts hold names only; this is how Python callers and tests hand over an
    object. The name holds inside the ``with`` block.
    """
    label = getattr(thing, "fingerprint", None) or getattr(thing, "name", "")
    name = f"object:{next(_numbers)}:{label}"
    _handed_over[name] = thing
    try:
        yield name
    finally:
        del _handed_over[name]
        for key in [key for key in list(_locks) if name in key]:
            _opened.pop(key, None)
            del _locks[key]


def is_provided(*names: str) -> bool:
    """Return whether any of the names stands for an object of this process."""
    return any(name in _handed_over for name in names)


async def open_resources(context: Context) -> Resources:
    """Return all that a context names; what is not open yet is opened in a thread.

    Raises:
        KGError: if the graph cannot be opened.
        UnknownModel: if the model cannot.
        BlueprintError: if the library of blueprints cannot.
        ExemplarError: if the exemplars cannot.
        NLIError: if the model of inference cannot.
    """
    key = _key(context)
    if key in _opened:
        found: Resources = _opened[key]
        return found
    return await asyncio.to_thread(_once, key, lambda: _open_all(context))


async def encode(context: Context, texts: Sequence[str]) -> Vectors:
    """Encode texts with the encoder that a context names: one row of length 1 each.

    Raises:
        EncoderError: if it cannot be opened.
    """
    return await asyncio.to_thread(_memo(context.encoder).encode, texts)


def open_graph(context: Context) -> KnowledgeGraph:
    """Open the graph a context names (blocking; once per process).

    Raises:
        KGUnavailable: if there is no such file or folder, or it holds nothing.
        KGMalformed: if it is not RDF.
    """
    from kgqa.kg.opening import open_graph as open_embedded

    if context.kg[0] in _handed_over:
        handed_over: KnowledgeGraph = _handed_over[context.kg[0]]
        return handed_over
    encode = _memo(context.encoder).encode
    return _once(("kg", *context.kg), lambda: open_embedded(graph_sources(context.kg), encode=encode))


def graph_sources(names: Sequence[str]) -> list[str]:
    """Return the files or the folder that a graph's names stand for (blocking)."""
    return [str(sample_graph()) if name == SAMPLE_NAME else name for name in names]


def _open_library(context: Any, graph: KnowledgeGraph) -> BlueprintLibrary | None:
    """Open the library; on the sample graph, where none is named, that of its train questions."""
    folder, overlay = (getattr(context, name, None) for name in ("blueprints", "overlay"))
    if not getattr(context, "guidance", False):
        return None
    from kgqa.priors.blueprints import BlueprintError, open_library

    memo = _memo(context.encoder)
    if not folder and context.kg == (SAMPLE_NAME,):
        folder = sample_blueprints(memo)
    if not folder:
        if overlay:
            raise BlueprintError("an overlay grows a library; name one with the option blueprints")
        return None
    memo.preload([relation_words(graph.relation_label(relation)) for relation in graph.relations])
    names = (Path(folder), Path(overlay) if overlay else None)
    return _once(
        ("blueprints", *names, context.encoder),
        lambda: open_library(names[0], memo.encode, memo.name, names[1]),
    )


def _open_all(context: Context) -> Resources:
    if not context.asks_graph:
        return Resources(
            {}, _open_model(context, None, None), None, None, None, open_contradiction_detector()
        )
    graph = open_graph(context)
    tools = _once(("tools", *context.kg), lambda: _tools(graph))
    exemplars, index = _open_exemplars(context, graph)
    library, judge = _open_library(context, graph), _open_judge(getattr(context, "nli", None))
    return Resources(tools, _open_model(context, graph, exemplars), library, exemplars, index, judge)


def _open_judge(name: str | None) -> ContradictionDetector:
    return (
        _once(("judge", name), lambda: open_contradiction_detector(name))
        if name
        else open_contradiction_detector()
    )


def _open_exemplars(
    context: Context, graph: KnowledgeGraph
) -> tuple[ExemplarLibrary | None, SolutionIndex | None]:
    """Open what the offline model learns from, and what the method recalls, each where it is wanted.

    On the sample graph, where no folder is named, it is that of its train questions.
    """
    from kgqa.priors.exemplars import open_exemplars, open_solution_index

    learns = context.model not in _handed_over and is_offline(context.model)
    recalls = getattr(context, "recalls", False)
    memo = _memo(context.encoder)
    folder = context.exemplars
    if not folder and context.kg == (SAMPLE_NAME,) and (learns or recalls):
        folder = str(sample_exemplars(memo, graph))
    if not folder:
        return None, None
    path, key = Path(folder), (folder, context.encoder)
    return (
        _once(("exemplars", *key), lambda: open_exemplars(path, memo.encode, memo.name)) if learns else None,
        _once(("solutions", *key), lambda: open_solution_index(path, memo.encode, memo.name))
        if recalls
        else None,
    )


def _tools(graph: KnowledgeGraph) -> dict[str, BaseTool]:
    with _tools_lock:  # LangChain holds warnings back meanwhile, which no two threads can do at once
        return {tool.name: tool for tool in make_tools(graph)}


def _open_model(context: Context, graph: KnowledgeGraph | None, exemplars: ExemplarLibrary | None) -> Model:
    """Open the model; without a graph to look into, the offline model knows nothing."""
    if context.model in _handed_over:
        handed_over: Model = _handed_over[context.model]
        return handed_over

    def offline(spec: str) -> Model:
        from kgqa.models.offline import OfflineModel, OfflineModelWithoutGraph, relation_texts

        if graph is None:
            return OfflineModelWithoutGraph(spec)
        memo = _memo(context.encoder)
        memo.preload(
            [text for each in graph.relations for text in relation_texts(graph.relation_label(each))]
        )
        known = exemplars.exemplars if exemplars else ()
        memo.preload(
            [text for each in known for slot in each.chain for text in relation_texts(slot.relation)]
        )
        return OfflineModel(graph, memo.encode, exemplars, spec)

    own = (
        (*context.kg, context.exemplars, context.encoder)
        if graph is not None and is_offline(context.model)
        else ()
    )
    return _once(("model", context.model, *own), lambda: open_model(context.model, offline=offline))


def _memo(name: str | None) -> CachedEncoder:
    from kgqa.priors.encoder import open_encoder

    return _once(("encoder", name), lambda: CachedEncoder(lambda: open_encoder(name)))


def _key(context: Context) -> tuple[object, ...]:
    own = (getattr(context, name, None) for name in ("guidance", "blueprints", "overlay", "nli", "recalls"))
    return ("all", context.method, *own, context.exemplars, context.model, context.encoder, *context.kg)


def _once(key: tuple[object, ...], open_: Callable[[], T]) -> T:
    """Open a thing under a lock of its own, or give the one that is open."""
    with _guard:
        lock = _locks.setdefault(key, threading.Lock())
    with lock:
        if key not in _opened:
            _opened[key] = open_()
        thing: T = _opened[key]
        return thing
