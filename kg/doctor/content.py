"""What an endpoint holds: which kind of graph, which relations, and which names."""

import time
from collections import Counter
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from kgqa.kg.dialects import FREEBASE, PROP, WIKIDATA
from kgqa.kg.doctor import target
from kgqa.kg.doctor.target import (
    HTTP_FAILURES,
    CheckTarget,
    Finding,
    SampleTriple,
    fatal,
    good,
    note,
    warning,
)
from kgqa.kg.endpoint.transport import HttpTransport
from kgqa.kg.errors import KGError
from kgqa.kg.graph import Row
from kgqa.kg.naming import Naming
from kgqa.kg.opening import MAX_COUNTED_TRIPLES, PAGE_ROWS, open_endpoint
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.decoding import item_at, read_rows
from kgqa.kg.terms import Entity, Literal, local_name

VIRTUOSO_SCHEMAS = "http://www.openlinksw.com/schemas/"
"""Where the relations are that Virtuoso tells of itself with,"""

VIRTUOSO_GRAPHS = (
    VIRTUOSO_SCHEMAS,
    "http://www.w3.org/",
    "http://localuriqaserver/",
    "http://localhost:8890/",
    "urn:",
)
"""and the graphs of its own."""

MAX_RELATIONS_SAMPLED = 12
"""Relations of which triples are taken,"""

TRIPLES_PER_RELATION = 4
"""and how many of each."""

MAX_TRIPLES_READ = 20_000
"""Triples whose relations are taken where nobody lists all."""

MAX_GRAPHS_LISTED = 20
"""Named graphs that are looked at."""


def open_target(subject: CheckTarget) -> list[Finding]:
    """Open the graph as methods do; blocks."""
    start = time.monotonic()
    try:
        subject.graph = open_endpoint(subject.url, deadline=subject.deadline)
    except KGError as error:
        if "no triples" in str(error):
            return [fatal("graph", "it holds no triples", _graph_advice(subject))]
        return [fatal("graph", f"it cannot be opened: {error}", "look into the server's log")]
    seconds = time.monotonic() - start
    subject.naming = Naming(subject.dialect, _present_names(subject))
    return [_dialect_finding(subject), _relations_finding(subject, seconds), *_system_graph_findings(subject)]


def _present_names(subject: CheckTarget) -> list[str]:
    known = (*subject.dialect.labels, *subject.dialect.aliases)
    return [item_at(known, row[0]) for row in subject.endpoint.query_now(queries.present(known)).rows]


def _dialect_finding(subject: CheckTarget) -> Finding:
    dialect = subject.dialect
    if dialect.relations:
        begins = dialect.relations[0].iri
        return good("dialect", f"{dialect.name}: it has relations of {begins}", dialect=dialect.name)
    asked = " and ".join(each.relations[0].iri for each in (FREEBASE, WIKIDATA))
    return good("dialect", f"plain: no relation begins with {asked}", dialect=dialect.name)


def _relations_finding(subject: CheckTarget, seconds: float) -> Finding:
    if listed := len(subject.graph.relations):
        says = f"{listed:,} relations that a search may follow, listed within {seconds:.1f} s"
        return good("relations", says, relations=listed, seconds=seconds)
    return note(
        "relations",
        f"not all listed: there are more than {MAX_COUNTED_TRIPLES:,} triples, or the server cuts the list",
        "kgqa asks for those at hand; only the offline model and plans miss the list",
        seconds=seconds,
    )


def _system_graph_findings(subject: CheckTarget) -> list[Finding]:
    if not any(relation.startswith(VIRTUOSO_SCHEMAS) for relation in subject.graph.relations):
        return []
    return [warning("graph", "the server's own triples are searched as well", _graph_advice(subject))]


def _graph_advice(subject: CheckTarget) -> str:
    """Advise to name one of the server's graphs."""
    parts = urlsplit(subject.url)
    rest = [pair for pair in parse_qsl(parts.query) if "graph-uri" not in pair[0]]
    http = HttpTransport(parts._replace(query=urlencode(rest)).geturl())
    try:
        answer = http.send(target.graphs_query(MAX_GRAPHS_LISTED), subject.deadline, lambda: None)
    except (KGError, *HTTP_FAILURES):
        return "load it, or name the graph that holds the triples: ?default-graph-uri=IRI in the address"
    finally:
        http.close()
    ids = [row[0].id for row in read_rows(answer.body).rows if row[0] is not None]
    own = [id for id in ids if not (subject.is_virtuoso and id.startswith(VIRTUOSO_GRAPHS))]
    if not own:
        return "load the graph; the server has none"
    first = quote(own[0], safe="") if len(own) == 1 else "IRI"
    return f"name the graph in the address: ?default-graph-uri={first} (there is {', '.join(own)})"


def take_sample(subject: CheckTarget) -> list[Finding]:
    """Take some triples of several relations, spread over all of them; blocks."""
    executor = subject.endpoint
    picked = _pick_relations(list(subject.graph.relations) or _relations_seen(subject))
    if picked:
        for place, head, tail in executor.query_now(target.sample_query(picked, TRIPLES_PER_RELATION)).rows:
            if isinstance(head, Entity) and tail is not None:
                subject.sample.append(SampleTriple(head, item_at(picked, place), tail))
    if subject.sample:
        return []
    return [
        warning(
            "sample", "no triple of a relation that a search may follow was found", _graph_advice(subject)
        )
    ]


def _pick_relations(relations: list[str]) -> list[str]:
    return relations[:: -(-len(relations) // MAX_RELATIONS_SAMPLED)] if relations else []


def _relations_seen(subject: CheckTarget) -> list[str]:
    """Return relations of the triples that the server thinks of first, and those that tell the dialect."""
    dialect, executor = subject.dialect, subject.endpoint
    marks = list(dialect.marks)
    there = (
        [item_at(marks, row[0]) for row in executor.query_now(queries.present(marks)).rows] if marks else []
    )
    answer = executor.query_now(target.relations_query(MAX_TRIPLES_READ))
    seen = [row[0].id for row in answer.rows if isinstance(row[0], Entity)]
    return [relation for relation in dict.fromkeys((*there, *sorted(seen))) if not dialect.ignores(relation)]


MAX_NODES_NAMED = 60
"""Nodes whose names are asked for."""

MAX_NAMES_LOOKED_UP = 3
"""Names that are looked up."""

MIN_NAMED_SHARE = 0.1
"""Share of named nodes below which something is missing."""

MAX_NAMES_PER_NODE = 8
"""Names of a node above which they crowd nodes out of answers."""


async def check_names(subject: CheckTarget) -> list[Finding]:
    """Ask for the names of some nodes, and for the nodes of some names."""
    naming, dialect = subject.naming, subject.dialect
    ids = subject.entities()[:MAX_NODES_NAMED]
    if not naming.labels:
        listed = " or ".join(dialect.labels)
        says, advice = f"nothing has a name: no triple of {listed}", "load the names as well"
        if dialect.name == "plain":
            says, advice = (
                f"names are made of IRIs: no triple of {listed}",
                "where there are names, load them as rdfs:label",
            )
        return [warning("names", says, advice)]
    if not ids:
        return []
    rows = (await subject.endpoint.query(queries.names(ids, naming.labels))).rows
    names = {
        term.id: term.name
        for term in naming.apply((a, b, c) for a, b, c in rows).values()
        if isinstance(term, Entity)
    }
    return [
        _named_share(subject, names, rows),
        *_language_findings(subject, rows),
        *await _lookup_findings(subject, names),
        *_mediator_findings(subject, names),
    ]


def _named_share(subject: CheckTarget, names: dict[str, str | None], rows: Sequence[Row]) -> Finding:
    named = sum(name is not None for name in names.values())
    labels = ", ".join(map(local_name, subject.naming.labels))
    says = f"{named} of {len(names)} nodes have a name ({labels})"
    if named < MIN_NAMED_SHARE * len(names):
        return warning(
            "names",
            says,
            "load the names as well: the others look like mediators",
            named=named,
            nodes=len(names),
        )
    return good("names", says, named=named, nodes=len(names))


def _language_findings(subject: CheckTarget, rows: Sequence[Row]) -> list[Finding]:
    tags = Counter(label.language for _, label, _ in rows if isinstance(label, Literal))
    if not tags:
        return []
    wanted, dialect = subject.dialect.languages, subject.dialect
    shown = ", ".join(
        f"{tag or 'none'} ({n})" for tag, n in sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))[:6]
    )
    found = []
    if not any(dialect.language_rank(tag)[0] < 2 * len(wanted) for tag in tags):
        asked = ", ".join(tag or "none" for tag in wanted)
        found.append(
            warning(
                "languages",
                f"names are in {shown}; kgqa looks for {asked}",
                "load names in these languages too",
            )
        )
    else:
        found.append(good("languages", shown, languages=len(tags)))
    each = sum(tags.values()) / len({row[0] for row in rows if row[1] is not None})
    if each > MAX_NAMES_PER_NODE:
        left = int((PAGE_ROWS + 1) / each)
        says = f"a node has {each:.0f} names: an answer of {PAGE_ROWS + 1:,} rows holds {left:,} nodes with theirs"
        found.append(
            warning(
                "languages", says, "load names in the languages you ask in alone: kgqa kg filter", each=each
            )
        )
    return found


async def _lookup_findings(subject: CheckTarget, names: dict[str, str | None]) -> list[Finding]:
    tried = [(id, name) for id, name in names.items() if name][:MAX_NAMES_LOOKED_UP]
    for id, name in tried:
        matches = await subject.graph.find_entities(name, limit=50)
        if any(match.entity.id == id for match in matches):
            return [good("look-up", f"{name!r} is found by its name")]
    if not tried:
        return []
    id, name = tried[0]
    says = f"{name!r} is the name of {id}, but is not found by it"
    return [warning("look-up", says, "give topics by their ids: --topic ID")]


def _mediator_findings(subject: CheckTarget, names: dict[str, str | None]) -> list[Finding]:
    unnamed = [id for id, name in names.items() if name is None]
    blank = [id for id in unnamed if id.startswith("_:")]
    if blank and not subject.is_virtuoso:
        says = f"{len(blank)} of {len(names)} nodes are blank, and this server cannot be asked about those"
        return [warning("mediators", says, "give blank nodes IRIs before you load them: kgqa kg filter")]
    if not unnamed:
        return [_no_mediator_finding(subject)]
    says = f"{len(unnamed)} of {len(names)} nodes have no name and serve as mediators, such as {unnamed[0]}"
    return [good("mediators", says, unnamed=len(unnamed))]


def _no_mediator_finding(subject: CheckTarget) -> Finding:
    if subject.dialect.name == "wikidata" and not any(
        step.relation.startswith(f"{PROP}statement/") for step in subject.sample
    ):
        says = "no statement nodes were seen: qualifiers such as dates of office cannot be asked for"
        return note("mediators", says, "load the full dump where questions ask for them, not the truthy one")
    return good("mediators", "none were seen: every node of the sample has a name")
