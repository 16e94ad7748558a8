"""What an endpoint can do: all queries of kgqa, up to which limits, and how fast."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from statistics import median, quantiles

import httpx

from kgqa.kg.doctor import target
from kgqa.kg.doctor.target import (
    HTTP_FAILURES,
    CheckTarget,
    Finding,
    SampleTriple,
    fatal,
    good,
    measure_seconds,
    note,
    warning,
)
from kgqa.kg.endpoint.client import MAX_CONCURRENT_REQUESTS, VIRTUOSO_ROW_CAPS, Endpoint
from kgqa.kg.errors import KGError, KGRejected, KGTimeout
from kgqa.kg.opening import PAGE_ROWS
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.decoding import read_rows
from kgqa.kg.sparql.queries import serialise
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop

MAX_HOPS_FOLLOWED = 8
"""Hops of one entity that are followed to see whether they lead somewhere."""

QueryKind = Callable[[SparqlGraph, SampleTriple], Awaitable[str]]
"""Asks one kind of query about a triple; gives what is wrong with the answer."""


@dataclass(frozen=True)
class _FailedKind:
    shape: str
    why: str
    slow: bool


async def check_query_kinds(subject: CheckTarget) -> list[Finding]:
    """Ask each kind of query once about a triple of the sample, and some about two."""
    steps = _usable_triples(subject)
    if not steps:
        return [warning("queries", "not tried: no triple between two nodes was found")]
    tried = [(name, steps[place % len(steps)]) for place, name in enumerate(QUERY_KINDS)]
    found = await asyncio.gather(*(_try_kind(subject.graph, name, step) for name, step in tried))
    failed = [each for each in found if each is not None]
    if not failed:
        return [
            good(
                "queries",
                f"all {len(QUERY_KINDS)} kinds of queries are answered, and agree",
                kinds=len(QUERY_KINDS),
            )
        ]
    lacking = await subject.in_thread(lambda: _missing_features(subject))
    return [_failure_finding(each, lacking) for each in failed]


def _usable_triples(subject: CheckTarget) -> list[SampleTriple]:
    """Return steps between nodes that a query can name, of different relations first."""
    named = subject.is_virtuoso
    fit = [
        step
        for step in subject.sample
        if isinstance(step.tail, Entity)
        and step.head != step.tail
        and (named or not (step.head.id.startswith("_:") or step.tail.id.startswith("_:")))
    ]
    first = {step.relation: step for step in reversed(fit)}
    return [*first.values(), *(step for step in fit if step not in first.values())]


async def _try_kind(graph: SparqlGraph, name: str, step: SampleTriple) -> _FailedKind | None:
    try:
        wrong = await QUERY_KINDS[name](graph, step)
    except KGError as error:
        return _FailedKind(name, str(error), isinstance(error, KGTimeout))
    return _FailedKind(name, f"{wrong} (for {step.head.id} {step.relation})", False) if wrong else None


def _failure_finding(failed: _FailedKind, lacking: list[str]) -> Finding:
    says = f"{failed.shape}: {failed.why}"
    if failed.slow:
        return warning("queries", says, "give the server more memory, or questions fewer hops")
    if lacking:
        return fatal("queries", says, f"the server does not know {', '.join(lacking)}: take a later version")
    return fatal("queries", says, "report it with the server's name and version")


def _missing_features(subject: CheckTarget) -> list[str]:
    """Return what of SPARQL 1.1 the server does not answer."""
    lacking = []
    for name, text in target.FEATURES.items():
        try:
            if not subject.send(text).rows:
                lacking.append(name)
        except (KGError, *HTTP_FAILURES):
            lacking.append(name)
    return lacking


async def _list_relations(graph: SparqlGraph, step: SampleTriple) -> str:
    pages = await graph.list_relations([step.head.id, step.tail.id])
    there = Hop(step.relation) in _unnamed_hops(pages[step.head.id].items)
    back = Hop(step.relation, forward=False) in _unnamed_hops(pages[step.tail.id].items)
    return "" if there and back else "a relation of the entity is not listed"


async def _extend_chain(graph: SparqlGraph, step: SampleTriple) -> str:
    page = await graph.extend_chain(Chain(step.head))
    if Hop(step.relation) not in _unnamed_hops(page.items):
        return "a relation of the entity is not listed"
    ends = await graph.follow_relation([(step.head.id, hop) for hop in page.items[:MAX_HOPS_FOLLOWED]])
    empty = [hop.relation for hop, end in zip(page.items, ends, strict=False) if not end.items]
    return f"{empty[0]} is listed, but leads nowhere" if empty else ""


async def _follow_relation(graph: SparqlGraph, step: SampleTriple) -> str:
    there, back = await graph.follow_relation(
        [(step.head.id, Hop(step.relation)), (step.tail.id, Hop(step.relation, forward=False))]
    )
    lost = (not there.truncated and step.tail not in there.items) or (
        not back.truncated and step.head not in back.items
    )
    return "an end is missing" if lost else ""


async def _follow_chain(graph: SparqlGraph, step: SampleTriple) -> str:
    page = await graph.follow_chain(_one_hop_chain(step))
    there = any(candidate.term == step.tail for candidate in page.items)
    return "" if there or page.truncated else "an end is missing"


async def _follow_far(graph: SparqlGraph, step: SampleTriple) -> str:
    """Go there, back, and there again: three hops, and the end is known."""
    back = Hop(step.relation, forward=False)
    chain = _one_hop_chain(step).constrained_to([Entity(step.tail.id)]).then(back).then(Hop(step.relation))
    page = await graph.follow_chain(chain)
    there = any(candidate.term == step.tail for candidate in page.items)
    return "" if there or page.truncated else "an end is missing"


async def _visit_chains(graph: SparqlGraph, step: SampleTriple) -> str:
    chains = [Chain(step.head), _one_hop_chain(step)]
    visits = await graph.visit_chains(chains)
    hops = [await graph.extend_chain(chain) for chain in chains]
    ends = await graph.follow_chain(chains[1])
    same = [visit.hops for visit in visits] == hops and visits[1].ends == ends
    return "" if same else "several chains at once have other ends and hops than each alone"


async def _trace_chain(graph: SparqlGraph, step: SampleTriple) -> str:
    chain = _one_hop_chain(step).then(Hop(step.relation, forward=False))
    ways = await graph.trace_chain(chain, [step.head])
    return "" if ways[0] and ways[0][-1].head == step.head else "the way there and back is not found"


async def _check_names_agree(graph: SparqlGraph, step: SampleTriple) -> str:
    names = await graph.names([step.head.id, step.tail.id])
    page = await graph.follow_relation([(step.head.id, Hop(step.relation))])
    same = all(term.name == names[term.id] for term in page[0].items if term.id in names)
    return "" if same else "a name differs from query to query"


async def _find_entities(graph: SparqlGraph, step: SampleTriple) -> str:
    matches = await graph.find_entities(step.head.id)
    return "" if step.head.id.startswith("_:") or matches else "the entity is not found by its id"


async def _describe(graph: SparqlGraph, step: SampleTriple) -> str:
    about = await graph.describe(step.head.id)
    return "" if about.facts.items else "there are no facts about the entity"


async def _select(graph: SparqlGraph, step: SampleTriple) -> str:
    if step.head.id.startswith("_:"):
        return ""
    text = f"SELECT ?o WHERE {{ {serialise(step.head)} {serialise(Entity(step.relation))} ?o }} LIMIT 5"
    return "" if (await graph.select(text)).rows else "there is no row"


def _one_hop_chain(step: SampleTriple) -> Chain:
    return Chain(step.head, (Hop(step.relation),))


def _unnamed_hops(hops: tuple[Hop, ...]) -> set[Hop]:
    return {Hop(hop.relation, hop.forward) for hop in hops}


QUERY_KINDS: dict[str, QueryKind] = {
    "list_relations": _list_relations,
    "extend_chain": _extend_chain,
    "follow_relation": _follow_relation,
    "follow_chain": _follow_chain,
    "follow_chain over three hops": _follow_far,
    "visit_chains": _visit_chains,
    "trace_chain": _trace_chain,
    "names": _check_names_agree,
    "find_entities": _find_entities,
    "describe": _describe,
    "select": _select,
}


PAGE_SIZE = PAGE_ROWS + 1
"""Rows that kgqa asks for at most."""

MIN_ROW_LIMIT = 1_000
"""Rows below which even a list of relations would be cut."""

LONG_QUERY_CHARS = 100_000
"""Characters of the longest query that is tried,"""

SHORTER_QUERY_CHARS = 20_000
"""and of the one that is tried where that is refused."""

HEAVY_QUERY_SECONDS = 4.0
"""Seconds that a heavy query is waited for."""


def check_rows(subject: CheckTarget) -> list[Finding]:
    """Ask for more rows than a page has; blocks."""
    asked = target.SQUARE_SIDE**2
    answer = subject.http.send(target.square_query(target.SQUARE_SIDE), subject.deadline, lambda: None)
    rows = len(read_rows(answer.body).rows)
    if rows >= asked:
        return [good("row limit", f"an answer may have {asked:,} rows and more", rows=asked)]
    told = rows >= answer.rows or rows in VIRTUOSO_ROW_CAPS
    lost = "is told to be one" if told else "passes for the whole, and nobody notices"
    says = f"answers are cut to {rows:,} rows: of what has more neighbours a part is seen, and {lost}"
    advice = "set ResultSetMaxRows = 100000 in [SPARQL] of virtuoso.ini"
    found = fatal if rows < MIN_ROW_LIMIT else warning
    return [found("row limit", says, advice if subject.is_virtuoso else "raise its limit", rows=rows)]


def check_order(subject: CheckTarget) -> list[Finding]:
    """Ask for a page in order; blocks."""
    for limit in (10 * PAGE_SIZE, PAGE_SIZE, 1_000, 100):
        try:
            subject.send(target.ordered_query(limit))
        except KGRejected as error:
            why = str(error)
            continue
        if limit >= PAGE_SIZE:
            more = " and more" if limit > PAGE_SIZE else ", and no more; kgqa needs no more"
            return [good("sorting", f"{limit:,} rows are put in order{more}", rows=limit)]
        return [_sorting_finding(f"only {limit:,} rows are put in order, and kgqa asks for {PAGE_SIZE:,}")]
    return [_sorting_finding(f"rows are not put in order: {why}")]


def _sorting_finding(says: str) -> Finding:
    return fatal("sorting", says, "set MaxSortedTopRows = 10000 or more in [Parameters] of virtuoso.ini")


def check_length(subject: CheckTarget) -> list[Finding]:
    """Post a long query; blocks."""
    for length in (LONG_QUERY_CHARS, SHORTER_QUERY_CHARS):
        ids = (f"urn:kgqa:nowhere:{place:032d}" for place in range(length // 52))
        text = queries.names(ids, subject.naming.labels)
        try:
            seconds = measure_seconds(partial(subject.send, text))
        except (KGError, *HTTP_FAILURES) as error:
            why = " ".join(str(error).split())
            continue
        if length == LONG_QUERY_CHARS:
            says = f"a query of {length // 1000} kB is answered within {seconds:.1f} s"
            return [good("long queries", says, seconds=seconds)]
        says = (
            f"a query of {LONG_QUERY_CHARS // 1000} kB is refused ({why}), one of {length // 1000} kB is not"
        )
        advice = "ask fewer entities at once: smaller width and beam of the method"
        return [warning("long queries", says, advice)]
    says = f"a query of {SHORTER_QUERY_CHARS // 1000} kB is refused: {why}"
    advice = "let the server, and proxies before it, take POST: so kgqa sends what is longer than 2 kB"
    return [fatal("long queries", says, advice)]


def check_time(subject: CheckTarget) -> list[Finding]:
    """Ask for what takes some seconds, and tell the server to stop before; blocks.

    Of Virtuoso nothing is asked: it would go on, or, told to stop, give a part.
    """
    if subject.is_virtuoso:
        return [note("time limit", "not tried", _LIMIT_ADVICE.format("MaxQueryExecutionTime = 25"))]
    advice = _LIMIT_ADVICE.format("Oxigraph: --timeout-s 25; QLever: --default-query-timeout 25s")
    try:
        seconds = measure_seconds(
            lambda: subject.send(target.cube_query(target.CUBE_SIDE), HEAVY_QUERY_SECONDS)
        )
    except KGTimeout:
        return [good("time limit", "it stops a query that takes too long, and says so")]
    except KGRejected as error:
        return [good("time limit", f"it refuses a query that would take too long: {error}")]
    except httpx.TimeoutException:
        return [note("time limit", f"if it has one, it is above {HEAVY_QUERY_SECONDS:g} s", advice)]
    return [note("time limit", f"a heavy query took {seconds:.1f} s: nothing to tell", advice)]


_LIMIT_ADVICE = "see that it has one ({}): when kgqa waits no longer, the query goes on"


MAX_ENTITIES_TIMED = 10
"""Entities about which each kind of query is asked."""

LATENCY_SECONDS = 4.0
"""Seconds for all of them."""

MAX_MEDIAN_SECONDS = 1.0
"""Seconds of a query at the median from which on questions take minutes."""

MAX_P95_SECONDS = 10.0
"""Seconds of one query in twenty that a person would not wait for."""


async def check_latency(subject: CheckTarget) -> list[Finding]:
    """Ask what methods ask, about some entities, one after another."""
    executor, start = subject.endpoint, time.monotonic()
    taken: dict[str, list[float]] = {}
    for step in subject.sample[:: max(1, len(subject.sample) // MAX_ENTITIES_TIMED)]:
        for kind, text in _timed_queries(subject, step):
            if time.monotonic() - start < LATENCY_SECONDS:
                taken.setdefault(kind, []).append(await _time_query(executor, text))
    if not taken:
        return []
    every = [seconds for each in taken.values() for seconds in each]
    each = ", ".join(f"{kind} {_format_seconds(median(seconds))}" for kind, seconds in taken.items())
    middle, high = median(every), _percentile_95(every)
    says = (
        f"median {_format_seconds(middle)}, 95 % below {_format_seconds(high)} ({len(every)} queries; {each})"
    )
    figures = {"median": middle, "p95": high, "queries": len(every)}
    if middle > MAX_MEDIAN_SECONDS or high > MAX_P95_SECONDS:
        advice = "a question asks 5 to 30 queries: give the server more memory (Virtuoso: NumberOfBuffers), "
        advice += "or ask a copy near you"
        return [warning("latency", says, advice, **figures)]
    return [good("latency", says, **figures)]


def _timed_queries(subject: CheckTarget, step: SampleTriple) -> Iterable[tuple[str, str]]:
    labels, chain = subject.naming.labels, Chain(step.head, (Hop(step.relation),))
    yield "extend_chain", queries.extend_chain(Chain(step.head))
    yield (
        "visit_chains",
        queries.visit_chains([Chain(step.head), chain], labels, PAGE_ROWS + 1, ends=True, hops=True),
    )
    yield "trace_chain", queries.trace_chain(chain, [step.tail], labels)


async def _time_query(executor: Endpoint, text: str) -> float:
    start = time.monotonic()
    with suppress(KGError):  # `shapes` tells of it; its time counts
        await executor.query(text, foreign=True)
    return time.monotonic() - start


async def check_parallel(subject: CheckTarget) -> list[Finding]:
    """Ask as many queries at a time as kgqa does."""
    ids = subject.entities()
    if not ids:
        return []
    executor = subject.endpoint
    texts = [queries.list_relations([ids[place % len(ids)]]) for place in range(MAX_CONCURRENT_REQUESTS)]
    start = time.monotonic()
    for text in texts:
        await executor.query(text, foreign=True)
    turns = time.monotonic() - start
    start = time.monotonic()
    answers = await asyncio.gather(
        *(executor.query(text, foreign=True) for text in texts), return_exceptions=True
    )
    return [
        _parallel_finding(
            turns, time.monotonic() - start, [each for each in answers if isinstance(each, BaseException)]
        )
    ]


def _parallel_finding(turns: float, together: float, failures: list[BaseException]) -> Finding:
    if failures:
        says = f"{len(failures)} of {MAX_CONCURRENT_REQUESTS} queries at a time fail: {failures[0]}"
        return warning(
            "parallel",
            says,
            "let fewer questions run at a time (--concurrency 1), or raise the server's limit",
        )
    says = f"{MAX_CONCURRENT_REQUESTS} queries take {_format_seconds(together)} at a time, {_format_seconds(turns)} one after another"
    if together > 1.5 * turns and together > turns + 0.5:
        return warning(
            "parallel",
            says,
            "let fewer questions run at a time: --concurrency 1",
            together=together,
            turns=turns,
        )
    return good("parallel", says, together=together, turns=turns)


def _percentile_95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]


def _format_seconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
