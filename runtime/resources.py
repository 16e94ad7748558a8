"""Graphs, encoders and models: opened once per process, by name, here only."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.tools import BaseTool

from kgqa.data import SAMPLE_NAME
from kgqa.kg.graph import KnowledgeGraph
from kgqa.locks import ProcessLock
from kgqa.models.interface import AdjustableModel, Model
from kgqa.models.registry import is_offline, open_model
from kgqa.priors.blueprints import BlueprintLibrary
from kgqa.priors.candidate_ranking import relation_words
from kgqa.priors.encoder import CachedEncoder, Vectors
from kgqa.priors.exemplars import ExemplarLibrary
from kgqa.priors.nli import ContradictionDetector, open_contradiction_detector
from kgqa.priors.solutions import SolutionIndex
from kgqa.runtime.bundled_sample import sample_blueprints, sample_exemplars
from kgqa.runtime.context import Context
from kgqa.runtime.open_once import OpenOnce
from kgqa.runtime.wordings import read_wordings
from kgqa.tools import make_tools
from kgqa.tools.drafts import draft_tools
from kgqa.tools.entities import list_languages
from kgqa.tools.proof import PROOF_TOOLS

_process = OpenOnce()  # what this process has opened by name

_tools_lock = ProcessLock()


class SourceVersion(NamedTuple):
    """The names of files or folders, and what tells them from those that take their place."""

    names: tuple[str, ...]
    files: tuple[tuple[int, ...] | None, ...]

    def replaces(self, other: "SourceVersion") -> bool:
        """Return whether another is of the same names, and its files are not the same any more."""
        return self.names == other.names and self.files != other.files


@dataclass(frozen=True)
class Resources:
    """What the options of a run stand for."""

    tools: dict[str, BaseTool]
    model: Model
    contradiction_detector: ContradictionDetector
    library: BlueprintLibrary | None = None
    """The blueprints; None where none are named, unless the graph is the sample."""
    exemplars: ExemplarLibrary | None = None
    """What the offline model and retrieval learn from; None where neither does, and where there are none."""
    index: SolutionIndex | None = None
    """What the method recalls solved questions from; None where it does not, and where there are none."""
    inferred: Mapping[str, str] = field(default_factory=dict)
    """Which relations of the graph are not stated as such, and why they were inferred."""


async def open_resources(context: Context) -> Resources:
    """Return all that a context names, opened in a thread where it is not yet; raise why it cannot be.

    A context keeps what it has opened: a file that changes meanwhile is read anew for another context.
    """
    own = context.given.opened
    if "all" in own.things:
        found: Resources = own.things["all"]
        return found
    return await asyncio.to_thread(own.get, "all", lambda: _open_all(context))


def adjust_model(model: Model, context: Context) -> Model:
    """Return a model, asked as a context says where it can be; one that came open keeps its own way."""
    if isinstance(model, AdjustableModel) and context.given.model is None:
        return model.with_settings(context.model_settings)
    return model


async def encode(context: Context, texts: Sequence[str], encoder: str | None = None) -> Vectors:
    """Encode texts with an encoder, else that of a context, one row of length 1 each.

    Raise EncoderError without it.
    """
    opened = _named_encoder(encoder) if encoder else _encoder(context)
    if opened.knows(texts):
        return opened.encode(texts)
    return await asyncio.to_thread(opened.encode, texts)


async def understands(context: Context, language: str) -> bool:
    """Return whether the encoder of a context, by its card, understands a language beside English."""
    if context.encoder is None:  # the bundled one
        return False
    from kgqa.priors.hub_models import card_languages

    known = await asyncio.to_thread(card_languages, context.encoder)
    return language in known - {"en"} or "multilingual" in known


class OpenGraph(NamedTuple):
    """A graph, and what was made of it and goes with it."""

    graph: KnowledgeGraph
    made: OpenOnce


def open_graph(context: Context) -> KnowledgeGraph:
    """Return the graph of a context, opened once per process (blocking); raise KGError if it cannot be."""
    return _open_graph(context).graph


def _open_graph(context: Context) -> OpenGraph:
    """Return the graph of a context, which keeps it: another that takes its place is for other contexts."""
    from kgqa.kg.opening import open_graph as open_named

    own = context.given.opened
    if context.given.graph is not None:
        return OpenGraph(context.given.graph, own)
    encode, version = _encoder(context).encode, _version(context, *context.kg)

    def open_() -> OpenGraph:
        return OpenGraph(open_named(context.kg, encode=encode), OpenOnce())

    return own.get("graph", lambda: _process.get(("kg", version), open_))


def _version(context: Context, *names: str) -> SourceVersion:
    """Return sources as they were when a context first asked for them (blocking); forget older ones."""
    from kgqa.kg.opening import source_version

    def look() -> SourceVersion:
        version = SourceVersion(names, tuple(map(source_version, names)))
        _process.forget(lambda part: isinstance(part, SourceVersion) and version.replaces(part))
        return version

    return context.given.opened.get(("version", names), look)


def open_triples(context: Context, text: bytes, source: str) -> KnowledgeGraph:
    """Return a graph of N-Triples, opened for one question (blocking); raise KGError if it cannot be."""
    from kgqa.kg.opening import open_triples as open_text

    return open_text(text, source, encode=_encoder(context).encode)


def open_tools(context: Context) -> dict[str, BaseTool]:
    """Return the tools of a context's graph by name, made once (blocking); raise KGError as `open_graph`."""
    graph, made = _open_graph(context)
    return made.get("tools", lambda: _name_tools(make_tools, graph))


def _open_all(context: Context) -> Resources:
    read_wordings(context.prompts)  # what is wrong with them is told before anything is asked
    from kgqa.kg.sparql_graph import SparqlGraph

    if not context.asks_graph:
        return Resources({}, _open_model(context, None, None), open_contradiction_detector())
    graph, made = opened = _open_graph(context)
    tools = {**open_tools(context), **made.get("proof", lambda: _name_tools(_node_tools, graph))}
    exemplars, index = _open_exemplars(context, graph)
    if context.retrieves:
        tools = {**tools, "retrieve_chains": _open_retrieval(context, opened, exemplars)}
    library = _open_library(context, graph)
    nli = getattr(context, "nli", None) or None
    detector = _process.get(("nli", nli), lambda: open_contradiction_detector(nli))
    inferred = graph.inferred if isinstance(graph, SparqlGraph) else {}
    model = _open_model(context, opened, exemplars)
    return Resources(tools, model, detector, library, exemplars, index, inferred)


def _node_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make the tools that are for nodes alone."""
    return [*draft_tools(graph), *(make(graph) for make in (*PROOF_TOOLS, list_languages))]


def _open_retrieval(context: Context, opened: OpenGraph, exemplars: ExemplarLibrary | None) -> BaseTool:
    """Open the tool that finds chains, with what solved questions teach."""
    from kgqa.retrieval.retriever import Retriever
    from kgqa.tools.retrieval import retrieve_chains

    graph, made = opened
    learned = exemplars if getattr(context, "solved_questions", False) else None
    key = ("retrieval", learned, context.encoder)

    def make() -> BaseTool:
        encoder = _encoder(context)
        _preload_relations(encoder, graph, learned)
        with _tools_lock:
            return retrieve_chains(Retriever(graph, encoder.encode, learned))

    return made.get(key, make)


def _preload_relations(
    encoder: CachedEncoder, graph: KnowledgeGraph, exemplars: ExemplarLibrary | None
) -> None:
    """Teach an encoder what relations are compared by, those of a graph and of solved questions."""
    from kgqa.retrieval.wording import relation_texts

    solved = exemplars.exemplars if exemplars else ()
    learned = [slot.relation for exemplar in solved for slot in exemplar.chain]
    for relations in (map(graph.relation_label, graph.relations), learned):
        encoder.preload([text for relation in relations for text in relation_texts(relation)])


def _name_tools(
    make: Callable[[KnowledgeGraph], list[BaseTool]], graph: KnowledgeGraph
) -> dict[str, BaseTool]:
    with _tools_lock:  # LangChain silences warnings meanwhile, which no two threads can do at once
        return {tool.name: tool for tool in make(graph)}


def _open_library(context: Any, graph: KnowledgeGraph) -> BlueprintLibrary | None:
    """Open the library; on the sample graph, where none is named, that of its train questions."""
    if not getattr(context, "guidance", False):
        return None
    from kgqa.priors.blueprints import LIBRARY_STORE, open_library
    from kgqa.priors.errors import BlueprintError

    folder, overlay = (getattr(context, name, None) for name in ("blueprints", "overlay"))
    encoder = _encoder(context)
    if not folder and _asks_sample(context):
        folder = sample_blueprints(encoder)
    if not folder:
        if overlay:
            raise BlueprintError("an overlay grows a library; name one with the option blueprints")
        return None
    encoder.preload([relation_words(graph.relation_label(relation)) for relation in graph.relations])
    base, added = Path(folder), Path(overlay) if overlay else None
    return _process.get(
        ("blueprints", _version(context, str(base / LIBRARY_STORE.header_file)), added, context.encoder),
        lambda: open_library(base, encoder.encode, encoder.name, added),
    )


def _open_exemplars(
    context: Context, graph: KnowledgeGraph
) -> tuple[ExemplarLibrary | None, SolutionIndex | None]:
    """Open what is learned from and what the method recalls; the sample has exemplars of its own."""
    from kgqa.priors.exemplars import EXEMPLAR_STORE, read_exemplars, read_solution_index

    offline = context.given.model is None and is_offline(context.model)
    learns = offline or getattr(context, "solved_questions", False)
    recalls = getattr(context, "recalls", False)
    encoder = _encoder(context)
    folder = context.exemplars
    if not folder and _asks_sample(context) and (learns or recalls):
        folder = str(sample_exemplars(encoder, graph))
    if not folder:
        return None, None
    key = _version(context, str(Path(folder) / EXEMPLAR_STORE.header_file)), context.encoder
    opened = _process.get(("exemplar folder", *key), lambda: EXEMPLAR_STORE.open(Path(folder), encoder.name))
    source = opened, encoder.encode
    return (
        _process.get(("exemplars", *key), lambda: read_exemplars(*source)) if learns else None,
        _process.get(("solutions", *key), lambda: read_solution_index(*source)) if recalls else None,
    )


def _open_model(context: Context, opened: OpenGraph | None, exemplars: ExemplarLibrary | None) -> Model:
    """Open the model; without a graph to look into, the offline model knows nothing."""
    if context.given.model is not None:
        return context.given.model
    if not is_offline(context.model):
        return _process.get(("model", context.model), lambda: open_model(context.model))

    def open_offline(spec: str) -> Model:
        from kgqa.models.offline import OfflineModel

        encoder = _encoder(context)
        if opened is None:
            return OfflineModel(None, encoder.encode, name=spec)
        _preload_relations(encoder, opened.graph, exemplars)
        return OfflineModel(opened.graph, encoder.encode, exemplars, spec)

    kept, key = opened.made if opened else _process, ("model", context.model, exemplars, context.encoder)
    return kept.get(key, lambda: open_model(context.model, offline=open_offline))


def _encoder(context: Context) -> CachedEncoder:
    return _named_encoder(context.encoder)


def _named_encoder(name: str | None) -> CachedEncoder:
    from kgqa.priors.encoder import open_encoder

    return _process.get(("encoder", name), lambda: CachedEncoder(lambda: open_encoder(name)))


def _asks_sample(context: Context) -> bool:
    return context.given.graph is None and context.kg == (SAMPLE_NAME,)
