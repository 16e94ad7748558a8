"""Opens a knowledge graph by what it is called: files, a store folder, an endpoint by address or name."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

import pyoxigraph as ox

from kgqa.addresses import graph_url, is_web_address, redact_name
from kgqa.builds import remove_folder
from kgqa.data import SAMPLE_GRAPH, SAMPLE_NAME
from kgqa.kg.bolt import is_property_graph
from kgqa.kg.dialects import DIALECTS, PLAIN, Dialect, detect_dialect
from kgqa.kg.errors import KGError, KGRejected, KGSilent, KGTimeout, KGUnavailable
from kgqa.kg.graph import Executor, GraphFacts
from kgqa.kg.languages import names_shown_in
from kgqa.kg.linking.name_index import Encode, NameIndex
from kgqa.kg.linking.name_sources import IndexLookup, NameLookup, QueryLookup, StoreNames, list_all_names
from kgqa.kg.linking.name_table import NameTable
from kgqa.kg.linking.search import TextSearch, find_text_search
from kgqa.kg.naming import Naming
from kgqa.kg.profile.building import MAX_MEMBERS_READ_NOW, LenientAsk, build_profile
from kgqa.kg.profile.described import read_description
from kgqa.kg.profile.profile import Profile, kept_profile
from kgqa.kg.property_graph import PropertyGraphReader
from kgqa.kg.public_endpoints import PublicEndpoint, known_endpoint, named_endpoint
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.decoding import item_at, read_integer, single_value
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.store import directory
from kgqa.kg.store.embedded import EmbeddedStore
from kgqa.kg.store.file_cache import store_of_files, store_of_property_graph
from kgqa.kg.store.loading import file_versions, parts_of
from kgqa.kg.terms import Entity
from kgqa.kg.triples import Triples, is_triples, write_triples

if TYPE_CHECKING:
    import rdflib

Source = str | os.PathLike[str]

PAGE_ROWS = 9_999  # of a page; with the one more that tells whether it is cut, as many as Virtuoso sorts
QUERY_SECONDS = 30.0  # that a query may take, if nothing else is said

MAX_COUNTED_TRIPLES = 2_000_000
"""Triples up to which an endpoint is asked to list its relations and count what has them."""


MAX_LISTED_NAMES = 100_000  # names of a graph at an endpoint up to which all are listed, once in a process


MAX_GRAPHS_NAMED = 5  # of an endpoint that keeps its triples in named graphs


def source_version(source: str) -> tuple[int, ...] | None:
    """Return what tells files or a folder from what takes their place later (blocking); None for others."""
    try:
        path = Path(_named_source(source))
        return file_versions([path / directory.FACTS_FILE] if path.is_dir() else parts_of(path))
    except (OSError, ValueError, KGError):
        return None


@names_shown_in(None)  # what is kept of a graph depends on no question
def open_graph(
    sources: "Source | Sequence[Source] | rdflib.Graph | Triples",
    *,
    rows: int = PAGE_ROWS,
    deadline: float = QUERY_SECONDS,
    encode: Encode | None = None,
) -> SparqlGraph:
    """Open a graph for reading; blocks meanwhile.

    Args:
        sources: "sample"; or one file, or several that make one graph, read into memory or, if they are
            large, into a folder once (`file_cache`); or one folder that `directory.build_store` made; or
            the address of one SPARQL 1.1 endpoint, or the name of a public one; or that of a property
            graph, which is read if it is new or has changed;
            or triples of rdflib or networkx, in a data frame or a list (`write_triples`).
        rows: Entities, relations or rows that a page holds at most.
        deadline: Seconds that a query may take; at an endpoint twice as long, if it is asked again.
        encode: Gives one L2-normalised row per text, for finding names by meaning.

    Raises:
        KGUnavailable: if there is nothing to open.
        KGMalformed: if a file is not what its suffix promises.
    """
    if is_triples(sources):
        sources = [write_triples(sources)]
    given = [sources] if isinstance(sources, str | os.PathLike) else cast("Sequence[Source]", sources)
    if not given:
        raise KGUnavailable("no graph given")
    names = [_named_source(os.fspath(source)) for source in given]
    whole = (each for each in names if is_address(each) or directory.is_store(Path(each)))
    alone = next(whole, "")
    if alone and len(names) > 1:
        raise KGUnavailable(f"{redact_name(alone)} is a whole graph and goes alone")
    if is_property_graph(alone):
        return _open_property_graph(alone, rows, deadline, encode)
    if is_web_address(alone):
        return open_endpoint(alone, rows=rows, deadline=deadline)
    return _open_files([Path(name) for name in names], rows, deadline, encode)


def _named_source(name: str) -> str:
    """Return the file or address that the name of a graph of ours, or of a public one, stands for."""
    if name == SAMPLE_NAME:
        return str(SAMPLE_GRAPH)
    return known.url if (known := named_endpoint(name)) else name


def is_address(name: str) -> bool:
    """Return whether a graph is at an address: an endpoint's, or a property graph's.

    Raises:
        KGUnavailable: for an address of any other kind.
    """
    known = is_web_address(name) or is_property_graph(name)
    if "://" in name and not known:
        raise KGUnavailable(
            f"{redact_name(name)}: an address begins with http:// or https://, or with neo4j:// or bolt://"
        )
    return known


def _open_property_graph(address: str, rows: int, deadline: float, encode: Encode | None) -> SparqlGraph:
    with closing(PropertyGraphReader(address, deadline=deadline)) as reader:
        if stored := _open_kept(store_of_property_graph(reader)):
            return _open_stored(stored, rows, deadline, encode)
        return _open_loaded(*directory.load_graph(reader), rows, deadline, encode)


def _open_files(paths: Sequence[Path], rows: int, deadline: float, encode: Encode | None) -> SparqlGraph:
    if directory.is_store(paths[0]):
        return _open_stored(directory.open_store(paths[0]), rows, deadline, encode)
    if (stored := _open_kept(store_of_files(paths))) is None:
        return _open_loaded(*directory.load_files(paths), rows, deadline, encode)
    stored = replace(stored, facts=replace(stored.facts, source=", ".join(map(str, paths))))
    return _open_stored(stored, rows, deadline, encode)


def _open_kept(folder: Path | None) -> directory.StoredGraph | None:
    """Open a folder of kgqa's own; None where there is none, or it was damaged and is removed."""
    if folder is None:
        return None
    try:
        return directory.open_store(folder)
    except KGError:
        remove_folder(folder)
        return None


@names_shown_in(None)
def open_triples(text: bytes, source: str, encode: Encode | None = None) -> SparqlGraph:
    """Open a small graph of N-Triples, in memory; it may have no triples at all (blocking).

    Raises:
        KGMalformed: if the text is not N-Triples.
    """
    return _open_loaded(*directory.load_text(text, source), PAGE_ROWS, QUERY_SECONDS, encode)


def _open_stored(
    stored: directory.StoredGraph, rows: int, deadline: float, encode: Encode | None
) -> SparqlGraph:
    executor = EmbeddedStore(stored.store, deadline=deadline, folder=stored.folder, build=stored.build)
    return _open_embedded(
        executor,
        stored.facts,
        stored.read_profile,
        lambda *_: stored.names,
        lambda _: stored.values,
        rows,
        encode,
    )


def _open_loaded(
    store: ox.Store, facts: GraphFacts, rows: int, deadline: float, encode: Encode | None
) -> SparqlGraph:
    executor = EmbeddedStore(store, deadline=deadline)
    profile, facts = directory.profile_store(executor, facts)
    list_names = partial(directory.list_names, store, facts, profile)
    list_values = partial(directory.list_values, store, facts)
    return _open_embedded(executor, facts, lambda: profile, list_names, list_values, rows, encode)


def _open_embedded(
    executor: EmbeddedStore,
    facts: GraphFacts,
    read_profile: Callable[[], Profile],
    open_names: Callable[[Dialect, StoreNames], NameTable],
    open_values: Callable[[Dialect], NameTable],
    rows: int,
    encode: Encode | None,
) -> SparqlGraph:
    dialect = facts.dialect
    naming = Naming(dialect, facts.predicates)
    named = StoreNames(executor, dialect, naming, facts.predicates)
    lookup = IndexLookup(
        lambda: NameIndex(open_names(dialect, named), named, encode),
        lambda: NameIndex(open_values(dialect), named),
    )
    return SparqlGraph(executor, facts, dialect, naming, lookup, read_profile, rows=rows)


def open_endpoint(url: str, *, rows: int = PAGE_ROWS, deadline: float = QUERY_SECONDS) -> SparqlGraph:
    """Open an endpoint: it is asked which relations it has, and of those that dialects name, which.

    A public one that is known is asked nothing.

    Raises:
        KGError: if it does not answer.
    """
    from kgqa.kg.endpoint.client import Endpoint  # httpx with it

    if known := known_endpoint(url):
        return _open_public(known, Endpoint(url, deadline=deadline, requests=known.requests), rows)
    executor = Endpoint(url, deadline=deadline)
    listed = _count_predicates(executor)
    predicates = _present_predicates(executor) if listed is None else listed
    if listed == {}:
        raise KGUnavailable(f"{executor.url} holds no triples{_advise_graph(executor)}")
    fingerprint = _fingerprint(url, listed)
    kind = detect_dialect(predicates)
    if listed is None and kind is PLAIN:
        kind = detect_dialect(_wikibase_relations(executor))
    # by a client of its own: what is refused there says nothing of the queries of questions
    own = Endpoint(url, deadline=deadline)
    profile = kept_profile(fingerprint, lambda: _profile_endpoint(own, listed or {}, kind))
    dialect = profile.summary.apply(kind)
    naming = Naming(dialect, predicates)
    facts = GraphFacts(
        source=executor.url,
        fingerprint=fingerprint,
        triples=None if listed is None else sum(listed.values()),
        predicates=listed or {},
        summary=profile.summary,
    )
    lookup = _make_lookup(executor, dialect, naming, predicates, listed)
    return SparqlGraph(executor, facts, dialect, naming, lookup, lambda: profile, rows=rows)


def _advise_graph(executor: Executor) -> str:
    """Say in which graphs an endpoint without triples of its own keeps them, if it tells."""
    try:
        rows = executor.query_now(queries.named_graphs(MAX_GRAPHS_NAMED + 1)).rows
    except KGError:
        rows = []
    names = [graph.id for (graph,) in rows if isinstance(graph, Entity)]
    if not names:
        return "; is the graph named that it keeps them in?"
    more = ", …" if len(names) > MAX_GRAPHS_NAMED else ""
    return (
        f" outside of named graphs; name one in the address: ?default-graph-uri={quote(names[0], safe='')} "
        f"(there is {', '.join(names[:MAX_GRAPHS_NAMED])}{more})"
    )


def _profile_endpoint(executor: Executor, listed: Mapping[str, int], kind: Dialect) -> tuple[Profile, bool]:
    """Return the profile that a graph publishes, else one by what is read; of a large graph only the former.

    What takes the endpoint too long, or is refused, is not known: the second says whether all is.
    """
    ask = LenientAsk(executor)
    if listed:
        return build_profile(ask, listed, kind, MAX_MEMBERS_READ_NOW), not ask.failed
    return read_description(ask), not ask.failed


def _open_public(known: PublicEndpoint, executor: Executor, rows: int) -> SparqlGraph:
    dialect = known.dialect
    predicates = dict.fromkeys((*dialect.labels, *dialect.aliases, *dialect.types, *dialect.marks), 0)
    naming = Naming(dialect, predicates)
    search = TextSearch(known.search, executor, dialect, naming)
    lookup = QueryLookup(executor, dialect, naming, predicates, search)
    source = graph_url(known.url)
    facts = GraphFacts(source, _fingerprint(known.url, None), triples=None, predicates={})
    return SparqlGraph(executor, facts, dialect, naming, lookup, Profile, rows=rows)


def _make_lookup(
    executor: Executor,
    dialect: Dialect,
    naming: Naming,
    predicates: Mapping[str, int],
    listed: Mapping[str, int] | None,
) -> NameLookup:
    """List names that are few; of many those at hand are asked for, and searched for in an index."""
    names = sum((listed or {}).get(predicate, 0) for predicate in (*naming.labels, *naming.aliases))
    if 0 < names <= MAX_LISTED_NAMES:
        return IndexLookup(lambda: list_all_names(executor, dialect, naming, predicates), lambda: None)
    search = find_text_search(executor, dialect, naming)
    return QueryLookup(executor, dialect, naming, predicates, search)


def _count_predicates(executor: Executor) -> dict[str, int] | None:
    """Return the triples per predicate; None for a graph that is too large to count while someone waits."""
    try:
        if (
            read_integer(single_value(executor.query_now(queries.count_upto(MAX_COUNTED_TRIPLES + 1))))
            > MAX_COUNTED_TRIPLES
        ):
            return None
        answer = executor.query_now(queries.predicates())
    except (KGTimeout, KGSilent, KGRejected):
        return None
    counts = {each.id: read_integer(n) for each, n in answer.rows if isinstance(each, Entity)}
    return None if answer.cut else counts


def _present_predicates(executor: Executor) -> dict[str, int]:
    """Return those predicates of a graph by which dialects name things, and are told from one another."""
    kinds = ((each.labels, each.aliases, each.types, each.marks) for each in DIALECTS.values())
    wanted = sorted({predicate for kind in kinds for some in kind for predicate in some})
    present = executor.query_now(queries.present(wanted)).rows
    return dict.fromkeys((item_at(wanted, row[0]) for row in present), 0)


def _wikibase_relations(executor: Executor) -> list[str]:
    """Return a relation of a graph that nobody counts, by which a Wikibase states something, if it tells."""
    try:
        rows = executor.query_now(queries.wikibase_relation()).rows
    except (KGTimeout, KGSilent, KGRejected):
        return []
    return [relation.id for (relation,) in rows if isinstance(relation, Entity)]


def _fingerprint(url: str, listed: Mapping[str, int] | None) -> str:
    """Hash an address without what lets someone in, and what is known of the graph there."""
    known = "not listed" if listed is None else " ".join(f"{each} {n}" for each, n in sorted(listed.items()))
    return hashlib.sha256(f"{graph_url(url)} {known}".encode()).hexdigest()[:16]
