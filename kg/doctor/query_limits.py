"""What an endpoint can do: all queries of kgqa, up to which limits, and how fast."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from statistics import median, quantiles
from typing import cast

import httpx

from kgqa.kg.doctor.target import QUERY_FAILURES, CheckTarget, Finding, fatal, good, note, warning
from kgqa.kg.endpoint.client import MAX_CONCURRENT_REQUESTS, VIRTUOSO_ROW_CAPS, error_line
from kgqa.kg.errors import KGError, KGRejected, KGTimeout
from kgqa.kg.opening import PAGE_ROWS
from kgqa.kg.sparql import chain_queries, patterns, queries
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop, Triple

MAX_HOPS_FOLLOWED = 8  # of one entity, to see whether they lead somewhere
PAGE_SIZE = PAGE_ROWS + 1
MIN_ROW_LIMIT = 1_000  # below it even a list of relations would be cut
LONG_QUERY_CHARS = 100_000
SHORTER_QUERY_CHARS = 20_000  # tried where a long query is refused
HEAVY_QUERY_SECONDS = 2.0  # that the heaviest query takes: it ends by itself, whether or not it is stopped
MAX_HEAVY_QUERY_SECONDS = 5.0  # that it is waited for
MAX_ENTITIES_TIMED = 10
LATENCY_SECONDS = 4.0  # for all queries about them
MAX_MEDIAN_SECONDS = 1.0  # of a query; where it is more, questions take minutes
MAX_P95_SECONDS = 10.0  # of one query in twenty; a person would not wait for more

SQUARE_SIDE = 101  # of a square of rows that is larger than a page
CUBE_SIDES = 20, 400  # of the first cube of rows that is counted, which takes no time, and of the last
_SOME_TRIPLES = "{ SELECT ?s WHERE { ?s ?p ?o } LIMIT 2 }"

QUERY_KINDS = (
    *("list_relations", "extend_chain", "follow_relation", "follow_chain", "follow_chain over three hops"),
    *("visit_chains", "trace_chain", "names", "find_entities", "describe", "select"),
)
"""What methods ask: each is tried by the method of `_QueryProbe` that has its name."""

FEATURES = {
    "subselects": f"SELECT ?s WHERE {{ {_SOME_TRIPLES} }}",
    "GROUP BY with MIN": f"SELECT ?s (MIN(STR(?s)) AS ?m) WHERE {{ {_SOME_TRIPLES} }} GROUP BY ?s",
    "VALUES": f"SELECT ?x WHERE {{ {_SOME_TRIPLES} VALUES ?x {{ <urn:x> }} }}",
    "UNION with BIND": (
        f'SELECT ?x {{ {{ {_SOME_TRIPLES} BIND("1" AS ?x) }} UNION {{ {_SOME_TRIPLES} BIND("0" AS ?x) }} }}'
    ),
    "EXISTS": f"SELECT ?s WHERE {{ {_SOME_TRIPLES} FILTER(EXISTS {{ ?s ?q ?r }}) }}",
    "STRBEFORE": f'SELECT ?x WHERE {{ {_SOME_TRIPLES} BIND(STRBEFORE(STR(?s), "zz") AS ?x) }}',
    "IRI()": f'SELECT ?x WHERE {{ {_SOME_TRIPLES} BIND(IRI("urn:x") AS ?x) }}',
    "CONCAT and SUBSTR": f'SELECT ?x WHERE {{ {_SOME_TRIPLES} BIND(CONCAT("1", SUBSTR(STR(?s), 2)) AS ?x) }}',
    "COALESCE and IF": f"SELECT ?x WHERE {{ {_SOME_TRIPLES} BIND(COALESCE(IF(?s = ?s, ?s, ?s), ?s) AS ?x) }}",
}
"""What kgqa's queries are made of, each in a query that has rows on any graph."""

_LIMIT_ADVICE = "see that it has one ({}): when kgqa waits no longer, the query goes on"


async def check_query_kinds(target: CheckTarget) -> list[Finding]:
    """Ask each kind of query once about a triple of the sample, and some about two."""
    triples = _usable_triples(target)
    if not triples:
        return [warning("queries", "not tried: no triple between two nodes was found")]
    tried = ((kind, triples[place % len(triples)]) for place, kind in enumerate(QUERY_KINDS))
    found = await asyncio.gather(*(_try_kind(target.graph, kind, triple) for kind, triple in tried))
    failed = [each for each in found if each]
    if not failed:
        says = f"all {len(QUERY_KINDS)} kinds of queries are answered, and agree"
        return [good("queries", says, kinds=len(QUERY_KINDS))]
    missing = ", ".join(await _missing_features(target))
    advice = "report it with the server's name and version"
    if missing:
        advice = f"the server does not know {missing}: take a later version"
    slow_advice = "give the server more memory, or questions fewer hops"
    return [
        warning("queries", says, slow_advice) if is_slow else fatal("queries", says, advice)
        for says, is_slow in failed
    ]


def _usable_triples(target: CheckTarget) -> list[Triple]:
    """Return triples between nodes that a query can name, of different relations first."""
    usable = [
        triple
        for triple in target.sample
        if isinstance(triple.tail, Entity)
        and triple.head != triple.tail
        and (target.is_virtuoso or not (triple.head.id.startswith("_:") or triple.tail.id.startswith("_:")))
    ]
    first = {triple.relation: triple for triple in reversed(usable)}
    return [*first.values(), *(triple for triple in usable if triple not in first.values())]


async def _try_kind(graph: SparqlGraph, kind: str, triple: Triple) -> tuple[str, bool] | None:
    """Return what is wrong with a kind of query, and whether it is only slow."""
    probe = _QueryProbe(graph, triple.head, Hop(triple.relation), cast(Entity, triple.tail))
    try:
        wrong = await getattr(probe, kind.replace(" ", "_"))()
    except KGError as error:
        return f"{kind}: {error}", isinstance(error, KGTimeout)
    return (f"{kind}: {wrong} (for {triple.head.id} {triple.relation})", False) if wrong else None


async def _missing_features(target: CheckTarget) -> list[str]:
    missing = []
    for name, text in FEATURES.items():
        try:
            if not (await target.send(text)).rows:
                missing.append(name)
        except QUERY_FAILURES:
            missing.append(name)
    return missing


@dataclass(frozen=True, slots=True)
class _QueryProbe:
    """Asks each kind of query about a triple of the graph; a method returns what is wrong with the answer."""

    graph: SparqlGraph
    head: Entity
    hop: Hop
    tail: Entity

    @property
    def chain(self) -> Chain:
        """The triple as a chain of one hop."""
        return Chain(self.head, (self.hop,))

    async def list_relations(self) -> str:
        pages = await self.graph.list_relations([self.head.id, self.tail.id])
        listed = self.hop in pages[self.head.id].items and self.hop.inverse in pages[self.tail.id].items
        return "" if listed else "a relation of the entity is not listed"

    async def extend_chain(self) -> str:
        page = await self.graph.extend_chain(Chain(self.head))
        if self.hop not in page.items:
            return "a relation of the entity is not listed"
        hops = page.items[:MAX_HOPS_FOLLOWED]
        ends = await self.graph.follow_relation([(self.head.id, hop) for hop in hops])
        empty = [hop.relation for hop, end in zip(hops, ends, strict=True) if not end.items]
        return f"{empty[0]} is listed, but leads nowhere" if empty else ""

    async def follow_relation(self) -> str:
        there, back = await self.graph.follow_relation(
            [(self.head.id, self.hop), (self.tail.id, self.hop.inverse)]
        )
        found = (there.truncated or self.tail in there.items) and (back.truncated or self.head in back.items)
        return "" if found else "an end is missing"

    async def follow_chain(self) -> str:
        return await self._missing_end(self.chain)

    async def follow_chain_over_three_hops(self) -> str:
        """Go there, back, and there again: three hops, and the end is known."""
        there = self.chain.constrained_to([Entity(self.tail.id)])
        return await self._missing_end(there.then(self.hop.inverse).then(self.hop))

    async def _missing_end(self, chain: Chain) -> str:
        page = await self.graph.follow_chain(chain)
        there = any(candidate.term == self.tail for candidate in page.items)
        return "" if there or page.truncated else "an end is missing"

    async def visit_chains(self) -> str:
        chains = [Chain(self.head), self.chain]
        results = await self.graph.visit_chains(chains)
        hops = [await self.graph.extend_chain(chain) for chain in chains]
        ends = await self.graph.follow_chain(chains[1])
        same = [result.hops for result in results] == hops and results[1].ends == ends
        return "" if same else "several chains at once have other ends and hops than each alone"

    async def trace_chain(self) -> str:
        paths = await self.graph.trace_chain(self.chain.then(self.hop.inverse), [self.head])
        return "" if paths[0] and paths[0][-1].head == self.head else "the way there and back is not found"

    async def names(self) -> str:
        names = await self.graph.names([self.head.id, self.tail.id])
        page = await self.graph.follow_relation([(self.head.id, self.hop)])
        same = all(term.name == names[term.id] for term in page[0].items if term.id in names)
        return "" if same else "a name differs from query to query"

    async def find_entities(self) -> str:
        found = self.head.id.startswith("_:") or await self.graph.find_entities(self.head.id)
        return "" if found else "the entity is not found by its id"

    async def describe(self) -> str:
        about = await self.graph.describe(self.head.id)
        return "" if about.facts.items else "there are no facts about the entity"

    async def select(self) -> str:
        if self.head.id.startswith("_:"):
            return ""
        head, relation = patterns.write_iri(self.head.id), patterns.write_iri(self.hop.relation)
        rows = (await self.graph.select(f"SELECT ?o WHERE {{ {head} {relation} ?o }} LIMIT 5")).rows
        return "" if rows else "there is no row"


def _list_values(name: str, rows: int) -> str:
    values = " ".join(f'"{row}"' for row in range(rows))
    return f"VALUES ?{name} {{ {values} }}"


async def check_rows(target: CheckTarget) -> list[Finding]:
    """Ask for more rows than a page has."""
    asked = SQUARE_SIDE**2
    square = f"SELECT ?a ?b WHERE {{ {_list_values('a', SQUARE_SIDE)} {_list_values('b', SQUARE_SIDE)} }}"
    answer = await target.transport.send(square, target.deadline)
    rows = len(answer.read().rows)
    if rows >= asked:
        return [good("row limit", f"an answer may have {asked:,} rows and more", rows=asked)]
    is_told = rows >= answer.max_rows or rows in VIRTUOSO_ROW_CAPS
    lost = "is told to be one" if is_told else "passes for the whole, and nobody notices"
    says = f"answers are cut to {rows:,} rows: of what has more neighbours a part is seen, and {lost}"
    limit = (
        "ResultSetMaxRows = 100000 in [SPARQL] of virtuoso.ini" if target.is_virtuoso else "a higher limit"
    )
    target.names_advice = f"set {limit}: with answers of {rows:,} rows, names are listed part by part"
    level = fatal if rows < MIN_ROW_LIMIT else warning
    return [level("row limit", says, f"set {limit}", rows=rows)]


async def check_order(target: CheckTarget) -> list[Finding]:
    """Ask for a page in order."""
    reason, rows = "", _list_values("a", SQUARE_SIDE)
    for limit in (10 * PAGE_SIZE, PAGE_SIZE, 1_000, 100):
        try:
            await target.send(f"SELECT ?a WHERE {{ {rows} }} ORDER BY STR(?a) LIMIT {limit:d}")
        except KGRejected as error:
            reason = f"rows are not put in order: {error}"
            continue
        if limit >= PAGE_SIZE:
            more = " and more" if limit > PAGE_SIZE else ", and no more; kgqa needs no more"
            return [good("sorting", f"{limit:,} rows are put in order{more}", rows=limit)]
        reason = f"only {limit:,} rows are put in order, and kgqa asks for {PAGE_SIZE:,}"
        break
    return [fatal("sorting", reason, "set MaxSortedTopRows = 10000 or more in [Parameters] of virtuoso.ini")]


async def check_length(target: CheckTarget) -> list[Finding]:
    """Post a long query, and a shorter one where it is refused."""
    reason = ""
    for length in (LONG_QUERY_CHARS, SHORTER_QUERY_CHARS):
        ids = (f"urn:kgqa:nowhere:{place:032d}" for place in range(length // 52))
        start = time.monotonic()
        try:
            await target.send(queries.names(ids, target.naming.labels))
        except QUERY_FAILURES as error:
            reason = error_line(error)
            continue
        if not reason:
            seconds = time.monotonic() - start
            says = f"a query of {length // 1000} kB is answered within {seconds:.1f} s"
            return [good("long queries", says, seconds=seconds)]
        refused = f"a query of {LONG_QUERY_CHARS // 1000} kB is refused ({reason})"
        says = f"{refused}, one of {length // 1000} kB is not"
        return [
            warning("long queries", says, "ask fewer entities at once: smaller width and beam of the method")
        ]
    says = f"a query of {SHORTER_QUERY_CHARS // 1000} kB is refused: {reason}"
    advice = "let the server, and proxies before it, take POST: so kgqa sends what is longer than 2 kB"
    return [fatal("long queries", says, advice)]


async def check_time(target: CheckTarget) -> list[Finding]:
    """Count larger and larger cubes of rows, until one takes some seconds.

    Of Virtuoso nothing is asked: its time-outs are estimates, and it gives a part where it is told to stop.
    """
    if target.is_virtuoso:
        return [note("time limit", "not tried", _LIMIT_ADVICE.format("MaxQueryExecutionTime = 25"))]
    advice = _LIMIT_ADVICE.format("Oxigraph: --timeout-s 25; QLever: --default-query-timeout 25s")
    side = CUBE_SIDES[0]
    while True:
        start = time.monotonic()
        try:
            await target.send(_count_cube(side), MAX_HEAVY_QUERY_SECONDS)
        except KGTimeout:
            return [good("time limit", "it stops a query that takes too long, and says so")]
        except KGRejected as error:
            return [good("time limit", f"it refuses a query that would take too long: {error}")]
        except httpx.TimeoutException:
            says = f"it has not stopped a query after {MAX_HEAVY_QUERY_SECONDS:g} s, and may be busy with it"
            return [warning("time limit", says, advice)]
        seconds = time.monotonic() - start
        if seconds >= HEAVY_QUERY_SECONDS / 2 or side >= CUBE_SIDES[1]:
            return [
                note("time limit", f"if it has one, it is above {seconds:.1f} s", advice, seconds=seconds)
            ]
        # twice the side is eight times the work
        side = min(int(side * min(2.0, (HEAVY_QUERY_SECONDS / seconds) ** (1 / 3))) + 1, CUBE_SIDES[1])


def _count_cube(side: int) -> str:
    """Write a query that takes a server as long as there are rows in a cube, and has one row."""
    cube = " ".join(_list_values(name, side) for name in "abc")
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {cube} }}"


async def check_latency(target: CheckTarget) -> list[Finding]:
    """Ask what methods ask, about some entities, one after another."""
    end = time.monotonic() + LATENCY_SECONDS
    taken: dict[str, list[float]] = {}
    for triple in target.sample[:: max(1, len(target.sample) // MAX_ENTITIES_TIMED)]:
        for kind, text in _timed_queries(target, triple):
            if (start := time.monotonic()) < end:
                with suppress(KGError):  # `check_query_kinds` tells of it; its time counts
                    await target.endpoint.query(text, foreign=True)
                taken.setdefault(kind, []).append(time.monotonic() - start)
    if not taken:
        return []
    every = [seconds for each in taken.values() for seconds in each]
    kinds = ", ".join(f"{kind} {_format_seconds(median(seconds))}" for kind, seconds in taken.items())
    middle = median(every)
    high = quantiles(every, n=20, method="inclusive")[-1] if len(every) > 1 else every[0]
    spread = f"median {_format_seconds(middle)}, 95 % below {_format_seconds(high)}"
    says, figures = f"{spread} ({len(every)} queries; {kinds})", {"median": middle, "p95": high}
    if middle > MAX_MEDIAN_SECONDS or high > MAX_P95_SECONDS:
        advice = "a question asks 5 to 30 queries: give the server more memory (Virtuoso: NumberOfBuffers), "
        advice += "or ask a copy near you"
        return [warning("latency", says, advice, **figures, queries=len(every))]
    return [good("latency", says, "", **figures, queries=len(every))]


def _timed_queries(target: CheckTarget, triple: Triple) -> Iterable[tuple[str, str]]:
    labels, start = target.naming.labels, Chain(triple.head)
    chain = start.then(Hop(triple.relation))
    limits = chain_queries.Limits.of(PAGE_ROWS)
    yield "extend_chain", chain_queries.visit_chains([start], labels, limits, ends=False, hops=True)
    yield "visit_chains", chain_queries.visit_chains([start, chain], labels, limits, ends=True, hops=True)
    yield "trace_chain", chain_queries.trace_chain(chain, [triple.tail], labels)


async def check_parallel(target: CheckTarget) -> list[Finding]:
    """Ask as many queries at a time as kgqa does."""
    ids = target.entities()
    if not ids:
        return []
    asked = [
        chain_queries.list_relations([ids[place % len(ids)]]) for place in range(MAX_CONCURRENT_REQUESTS)
    ]
    start = time.monotonic()
    for text in asked:
        await target.endpoint.query(text, foreign=True)
    turns = time.monotonic() - start
    start = time.monotonic()
    asking = (target.endpoint.query(text, foreign=True) for text in asked)
    answers = await asyncio.gather(*asking, return_exceptions=True)
    together = time.monotonic() - start
    failures = [each for each in answers if isinstance(each, BaseException)]
    advice = "let fewer questions run at a time"
    if failures:
        says = f"{len(failures)} of {len(asked)} queries at a time fail: {failures[0]}"
        return [warning("parallel", says, f"{advice} (--concurrency 1), or raise the server's limit")]
    says = f"{len(asked)} queries take {_format_seconds(together)} at a time"
    says = f"{says}, {_format_seconds(turns)} one after another"
    if together > 1.5 * turns and together > turns + 0.5:
        return [warning("parallel", says, f"{advice}: --concurrency 1", together=together, turns=turns)]
    return [good("parallel", says, together=together, turns=turns)]


def _format_seconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
