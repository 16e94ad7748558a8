"""What an endpoint holds: which kind of graph, which relations, and which names."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from kgqa.kg.dialects import FREEBASE, PROP, WIKIDATA
from kgqa.kg.doctor.target import QUERY_FAILURES, CheckTarget, Finding, fatal, good, note, warning
from kgqa.kg.endpoint.transport import HttpTransport
from kgqa.kg.errors import KGError
from kgqa.kg.graph import Row
from kgqa.kg.opening import MAX_COUNTED_TRIPLES, PAGE_ROWS, open_endpoint
from kgqa.kg.sparql import patterns, queries
from kgqa.kg.sparql.decoding import item_at
from kgqa.kg.store.embedded import DaemonThreads
from kgqa.kg.terms import Entity, Literal, Triple, local_name

VIRTUOSO_SCHEMAS = "http://www.openlinksw.com/schemas/"  # the relations that Virtuoso describes itself with
VIRTUOSO_GRAPHS = (  # how the names of its own graphs begin
    *(VIRTUOSO_SCHEMAS, "http://www.w3.org/", "urn:"),
    *("http://localuriqaserver/", "http://localhost:8890/"),
)

MAX_RELATIONS_SAMPLED = 12
TRIPLES_PER_RELATION = 4
MAX_TRIPLES_READ = 20_000  # whose relations are taken where nobody lists all
MAX_GRAPHS_LISTED = 20
MAX_NODES_NAMED = 60
MAX_NAMES_LOOKED_UP = 3
MIN_NAMED_SHARE = 0.1  # of nodes with a name, below which something is missing
MAX_NAMES_PER_NODE = 8  # more crowd nodes out of answers


async def open_target(target: CheckTarget) -> list[Finding]:
    """Open the graph as methods do, in a thread that nobody waits for at the end of the process."""
    start = time.monotonic()
    thread = DaemonThreads(1, "kgqa-check")
    opening = thread.submit(lambda: open_endpoint(target.url, deadline=target.deadline))
    try:
        target.graph = await asyncio.wrap_future(opening)
        seconds = time.monotonic() - start
        target.naming = target.graph.naming
    except KGError as error:
        if "no triples" in str(error):
            return [fatal("graph", "it holds no triples", await _advise_graph(target))]
        return [fatal("graph", f"it cannot be opened: {error}", "look into the server's log")]
    findings = [_dialect_finding(target), _relations_finding(target, seconds)]
    if any(relation.startswith(VIRTUOSO_SCHEMAS) for relation in target.graph.relations):
        says = "the server's own triples are searched as well"
        findings.append(warning("graph", says, await _advise_graph(target)))
    return findings


def _dialect_finding(target: CheckTarget) -> Finding:
    dialect = target.dialect
    says = f"it has relations of {dialect.relations[0].iri}" if dialect.relations else None
    others = " and ".join(each.relations[0].iri for each in (FREEBASE, WIKIDATA))
    says = f"{dialect.name}: {says or f'no relation begins with {others}'}"
    return good("dialect", says, dialect=dialect.name)


def _relations_finding(target: CheckTarget, seconds: float) -> Finding:
    if listed := len(target.graph.relations):
        says = f"{listed:,} relations that a search may follow, listed within {seconds:.1f} s"
        return good("relations", says, relations=listed, seconds=seconds)
    says = f"not all listed: there are more than {MAX_COUNTED_TRIPLES:,} triples, or the server cuts the list"
    advice = "kgqa asks for those at hand; only the offline model and plans miss the list"
    return note("relations", says, advice, seconds=seconds)


async def _advise_graph(target: CheckTarget) -> str:
    parts = urlsplit(target.url)
    rest = [pair for pair in parse_qsl(parts.query) if "graph-uri" not in pair[0]]
    transport = HttpTransport(parts._replace(query=urlencode(rest)).geturl())
    try:
        rows = (await transport.send(queries.named_graphs(MAX_GRAPHS_LISTED), target.deadline)).read().rows
    except QUERY_FAILURES:
        return "load it, or name the graph that holds the triples: ?default-graph-uri=IRI in the address"
    finally:
        await transport.close()
    ids = [row[0].id for row in rows if row[0] is not None]
    own = [id for id in ids if not (target.is_virtuoso and id.startswith(VIRTUOSO_GRAPHS))]
    if not own:
        return "load the graph; the server has none"
    first = quote(own[0], safe="") if len(own) == 1 else "IRI"
    return f"name the graph in the address: ?default-graph-uri={first} (there is {', '.join(own)})"


async def take_sample(target: CheckTarget) -> list[Finding]:
    """Take some triples of several relations, spread over all of them."""
    relations = list(target.graph.relations) or await _relations_seen(target)
    if relations:
        picked = relations[:: -(-len(relations) // MAX_RELATIONS_SAMPLED)]
        blocks = (
            f"{{ {{ SELECT ?s ?o WHERE {{ ?s {patterns.write_iri(relation)} ?o }} "
            f'LIMIT {TRIPLES_PER_RELATION} }} BIND("{place:d}" AS ?place) }}'
            for place, relation in enumerate(picked)
        )
        text = f"SELECT ?place ?s ?o WHERE {{ {' UNION '.join(blocks)} }}"
        for place, head, tail in (await target.endpoint.query(text)).rows:
            if isinstance(head, Entity) and tail is not None:
                target.sample.append(Triple(head, item_at(picked, place), tail))
    if target.sample:
        return []
    says = "no triple of a relation that a search may follow was found"
    return [warning("sample", says, await _advise_graph(target))]


async def _relations_seen(target: CheckTarget) -> list[str]:
    """Return the relations that tell the dialect, and those of triples that the server thinks of first."""
    dialect, marks = target.dialect, list(target.dialect.marks)
    present = (await target.endpoint.query(queries.present(marks))).rows if marks else []
    some = f"SELECT ?relation WHERE {{ ?s ?relation ?o }} LIMIT {MAX_TRIPLES_READ}"
    answer = await target.endpoint.query(f"SELECT DISTINCT ?relation WHERE {{ {{ {some} }} }}")
    seen = sorted(row[0].id for row in answer.rows if isinstance(row[0], Entity))
    relations = dict.fromkeys((*(item_at(marks, row[0]) for row in present), *seen))
    return [relation for relation in relations if not dialect.ignores(relation)]


async def check_names(target: CheckTarget) -> list[Finding]:
    """Ask for the names of some nodes, and for the nodes of some names."""
    naming, dialect = target.naming, target.dialect
    ids = target.entities()[:MAX_NODES_NAMED]
    if not naming.labels:
        listed = " or ".join(dialect.labels)
        if dialect.name == "plain":
            says = f"names are made of IRIs: no triple of {listed}"
            return [warning("names", says, "where there are names, load them as rdfs:label")]
        return [warning("names", f"nothing has a name: no triple of {listed}", "load the names as well")]
    if not ids:
        return []
    rows = (await target.endpoint.query(queries.names(ids, naming.labels))).rows
    named = naming.apply((end, label, rank) for end, label, rank in rows).values()
    names = {term.id: term.name for term in named if isinstance(term, Entity)}
    return [
        _named_share(target, names),
        *_language_findings(target, rows),
        *await _lookup_findings(target, names),
        _mediator_finding(target, names),
    ]


def _named_share(target: CheckTarget, names: dict[str, str | None]) -> Finding:
    named = sum(name is not None for name in names.values())
    labels = ", ".join(map(local_name, target.naming.labels))
    says = f"{named} of {len(names)} nodes have a name ({labels})"
    if named >= MIN_NAMED_SHARE * len(names):
        return good("names", says, named=named, nodes=len(names))
    advice = "load the names as well: the others look like mediators"
    return warning("names", says, advice, named=named, nodes=len(names))


def _language_findings(target: CheckTarget, rows: Sequence[Row]) -> list[Finding]:
    tags = Counter(label.language for _, label, _ in rows if isinstance(label, Literal))
    if not tags:
        return []
    dialect = target.dialect
    frequent = sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))[:6]
    shown = ", ".join(f"{tag or 'none'} ({n})" for tag, n in frequent)
    if not dialect.polyglot or any(dialect.reads(tag) for tag in tags):
        findings = [good("languages", shown, languages=len(tags))]
    else:
        wanted = ", ".join(tag or "none" for tag in dialect.languages)
        says = f"names are in {shown}; kgqa looks for {wanted}"
        findings = [warning("languages", says, "load names in these languages too")]
    each = sum(tags.values()) / len({row[0] for row in rows if row[1] is not None})
    if each > MAX_NAMES_PER_NODE:
        size, nodes = PAGE_ROWS + 1, int((PAGE_ROWS + 1) / each)
        says = f"a node has {each:.0f} names: an answer of {size:,} rows holds {nodes:,} nodes with theirs"
        advice = "load names in the languages you ask in alone: kgqa kg filter"
        findings.append(warning("languages", says, advice, each=each))
    return findings


async def _lookup_findings(target: CheckTarget, names: dict[str, str | None]) -> list[Finding]:
    tried = [(id, name) for id, name in names.items() if name][:MAX_NAMES_LOOKED_UP]
    for id, name in tried:
        matches = await target.graph.find_entities(name, limit=50)
        if any(match.entity.id == id for match in matches):
            return [good("look-up", f"{name!r} is found by its name")]
    if not tried:
        return []
    id, name = tried[0]
    says = f"{name!r} is the name of {id}, but is not found by it"
    return [warning("look-up", says, "give topics by their ids: --topic ID")]


def _mediator_finding(target: CheckTarget, names: dict[str, str | None]) -> Finding:
    unnamed = [id for id, name in names.items() if name is None]
    blank = [id for id in unnamed if id.startswith("_:")]
    if blank and not target.is_virtuoso:
        says = f"{len(blank)} of {len(names)} nodes are blank, and this server cannot be asked about those"
        return warning("mediators", says, "give blank nodes IRIs before you load them: kgqa kg filter")
    if unnamed:
        says = (
            f"{len(unnamed)} of {len(names)} nodes have no name and serve as mediators, such as {unnamed[0]}"
        )
        return good("mediators", says, unnamed=len(unnamed))
    statements = f"{PROP}statement/"
    if target.dialect.name == "wikidata" and not any(
        triple.relation.startswith(statements) for triple in target.sample
    ):
        says = "no statement nodes were seen: qualifiers such as dates of office cannot be asked for"
        return note("mediators", says, "load the full dump where questions ask for them, not the truthy one")
    return good("mediators", "none were seen: every node of the sample has a name")
