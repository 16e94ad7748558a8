"""What does it hold: which kind of graph, which relations, under which name?"""

import time
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from kgqa.kg import sparql
from kgqa.kg.checking import texts
from kgqa.kg.checking.finding import Finding, fatal, good, note, warning
from kgqa.kg.checking.subject import FAILURES, Step, Subject
from kgqa.kg.dialect import FREEBASE, WIKIDATA
from kgqa.kg.errors import KGError
from kgqa.kg.http import Http
from kgqa.kg.naming import Naming
from kgqa.kg.opening import SMALL, open_endpoint
from kgqa.kg.reading import at
from kgqa.kg.results import read_rows
from kgqa.kg.terms import Entity

SCHEMAS = "http://www.openlinksw.com/schemas/"
"""Where the relations are that Virtuoso tells of itself with,"""

SYSTEM = (SCHEMAS, "http://www.w3.org/", "http://localuriqaserver/", "http://localhost:8890/", "urn:")
"""and the graphs of its own."""

PICKED = 12
"""Relations of which triples are taken,"""

EACH = 4
"""and how many of each."""

LOOKED_AT = 20_000
"""Triples whose relations are taken where nobody lists all."""

GRAPHS = 20
"""Named graphs that are looked at."""


def open_graph(subject: Subject) -> list[Finding]:
    """Open the graph as methods do; blocks."""
    start = time.monotonic()
    try:
        subject.graph = open_endpoint(subject.url, deadline=subject.deadline)
    except KGError as error:
        if "no triples" in str(error):
            return [fatal("graph", "it holds no triples", _which_graph(subject))]
        return [fatal("graph", f"it cannot be opened: {error}", "look into the server's log")]
    seconds = time.monotonic() - start
    subject.naming = Naming(subject.dialect, _names_of(subject))
    return [_dialect(subject), _relations(subject, seconds), *_system(subject)]


def _names_of(subject: Subject) -> list[str]:
    known = (*subject.dialect.labels, *subject.dialect.aliases)
    return [at(known, row[0]) for row in subject.endpoint.query_now(sparql.present(known)).rows]


def _dialect(subject: Subject) -> Finding:
    dialect = subject.dialect
    if dialect.relations:
        begins = dialect.relations[0].iri
        return good("dialect", f"{dialect.name}: it has relations of {begins}", dialect=dialect.name)
    asked = " and ".join(each.relations[0].iri for each in (FREEBASE, WIKIDATA))
    return good("dialect", f"plain: no relation begins with {asked}", dialect=dialect.name)


def _relations(subject: Subject, seconds: float) -> Finding:
    if listed := len(subject.graph.relations):
        says = f"{listed:,} relations that a search may follow, listed within {seconds:.1f} s"
        return good("relations", says, relations=listed, seconds=seconds)
    return note(
        "relations",
        f"not all listed: there are more than {SMALL:,} triples, or the server cuts the list",
        "kgqa asks for those at hand; only the offline model and plans miss the list",
        seconds=seconds,
    )


def _system(subject: Subject) -> list[Finding]:
    if not any(relation.startswith(SCHEMAS) for relation in subject.graph.relations):
        return []
    return [warning("graph", "the server's own triples are searched as well", _which_graph(subject))]


def _which_graph(subject: Subject) -> str:
    """Advise to name one of the server's graphs."""
    parts = urlsplit(subject.url)
    rest = [pair for pair in parse_qsl(parts.query) if "graph-uri" not in pair[0]]
    http = Http(parts._replace(query=urlencode(rest)).geturl())
    try:
        answer = http.send(texts.graphs(GRAPHS), subject.deadline, lambda: None)
    except (KGError, *FAILURES):
        return "load it, or name the graph that holds the triples: ?default-graph-uri=IRI in the address"
    finally:
        http.close()
    ids = [row[0].id for row in read_rows(answer.body).rows if row[0] is not None]
    own = [id for id in ids if not (subject.is_virtuoso and id.startswith(SYSTEM))]
    if not own:
        return "load the graph; the server has none"
    first = quote(own[0], safe="") if len(own) == 1 else "IRI"
    return f"name the graph in the address: ?default-graph-uri={first} (there is {', '.join(own)})"


def take_sample(subject: Subject) -> list[Finding]:
    """Take some triples of several relations, spread over all of them; blocks."""
    executor = subject.endpoint
    picked = _picked(list(subject.graph.relations) or _seen(subject))
    if picked:
        for place, head, tail in executor.query_now(texts.steps(picked, EACH)).rows:
            if isinstance(head, Entity) and tail is not None:
                subject.sample.append(Step(head, at(picked, place), tail))
    if subject.sample:
        return []
    return [
        warning("sample", "no triple of a relation that a search may follow was found", _which_graph(subject))
    ]


def _picked(relations: list[str]) -> list[str]:
    return relations[:: -(-len(relations) // PICKED)] if relations else []


def _seen(subject: Subject) -> list[str]:
    """Give relations of the triples that the server thinks of first, and those that tell the dialect."""
    dialect, executor = subject.dialect, subject.endpoint
    marks = list(dialect.marks)
    there = [at(marks, row[0]) for row in executor.query_now(sparql.present(marks)).rows] if marks else []
    answer = executor.query_now(texts.some_relations(LOOKED_AT))
    seen = [row[0].id for row in answer.rows if isinstance(row[0], Entity)]
    return [relation for relation in dict.fromkeys((*there, *sorted(seen))) if not dialect.ignores(relation)]
