"""Is every query that kgqa asks answered, and do the answers agree with each other?"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kgqa.kg.checking import texts
from kgqa.kg.checking.finding import Finding, fatal, good, warning
from kgqa.kg.checking.subject import FAILURES, Step, Subject
from kgqa.kg.errors import KGError, KGTimeout
from kgqa.kg.sparql import serialise
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop

HOPS = 8
"""Hops of one entity that are followed to see whether they lead somewhere."""

Shape = Callable[[SparqlGraph, Step], Awaitable[str]]
"""Asks one kind of query about a triple; gives what is wrong with the answer."""


@dataclass(frozen=True)
class _Failed:
    shape: str
    why: str
    slow: bool


async def check_shapes(subject: Subject) -> list[Finding]:
    """Ask each kind of query once about a triple of the sample, and some about two."""
    steps = _usable(subject)
    if not steps:
        return [warning("queries", "not tried: no triple between two nodes was found")]
    tried = [(name, steps[place % len(steps)]) for place, name in enumerate(SHAPES)]
    found = await asyncio.gather(*(_failure(subject.graph, name, step) for name, step in tried))
    failed = [each for each in found if each is not None]
    if not failed:
        return [
            good("queries", f"all {len(SHAPES)} kinds of queries are answered, and agree", kinds=len(SHAPES))
        ]
    lacking = await subject.in_thread(lambda: _lacking(subject))
    return [_finding(each, lacking) for each in failed]


def _usable(subject: Subject) -> list[Step]:
    """Give steps between nodes that a query can name, of different relations first."""
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


async def _failure(graph: SparqlGraph, name: str, step: Step) -> _Failed | None:
    try:
        wrong = await SHAPES[name](graph, step)
    except KGError as error:
        return _Failed(name, str(error), isinstance(error, KGTimeout))
    return _Failed(name, f"{wrong} (for {step.head.id} {step.relation})", False) if wrong else None


def _finding(failed: _Failed, lacking: list[str]) -> Finding:
    says = f"{failed.shape}: {failed.why}"
    if failed.slow:
        return warning("queries", says, "give the server more memory, or questions fewer hops")
    if lacking:
        return fatal("queries", says, f"the server does not know {', '.join(lacking)}: take a later version")
    return fatal("queries", says, "report it with the server's name and version")


def _lacking(subject: Subject) -> list[str]:
    """Give what of SPARQL 1.1 the server does not answer."""
    lacking = []
    for name, text in texts.FEATURES.items():
        try:
            if not subject.send(text).rows:
                lacking.append(name)
        except (KGError, *FAILURES):
            lacking.append(name)
    return lacking


async def _list_relations(graph: SparqlGraph, step: Step) -> str:
    pages = await graph.list_relations([step.head.id, step.tail.id])
    there = Hop(step.relation) in _bare(pages[step.head.id].items)
    back = Hop(step.relation, forward=False) in _bare(pages[step.tail.id].items)
    return "" if there and back else "a relation of the entity is not listed"


async def _extend_chain(graph: SparqlGraph, step: Step) -> str:
    page = await graph.extend_chain(Chain(step.head))
    if Hop(step.relation) not in _bare(page.items):
        return "a relation of the entity is not listed"
    ends = await graph.follow_relation([(step.head.id, hop) for hop in page.items[:HOPS]])
    empty = [hop.relation for hop, end in zip(page.items, ends, strict=False) if not end.items]
    return f"{empty[0]} is listed, but leads nowhere" if empty else ""


async def _follow_relation(graph: SparqlGraph, step: Step) -> str:
    there, back = await graph.follow_relation(
        [(step.head.id, Hop(step.relation)), (step.tail.id, Hop(step.relation, forward=False))]
    )
    lost = (not there.truncated and step.tail not in there.items) or (
        not back.truncated and step.head not in back.items
    )
    return "an end is missing" if lost else ""


async def _follow_chain(graph: SparqlGraph, step: Step) -> str:
    page = await graph.follow_chain(_chain(step))
    there = any(candidate.term == step.tail for candidate in page.items)
    return "" if there or page.truncated else "an end is missing"


async def _follow_far(graph: SparqlGraph, step: Step) -> str:
    """Go there, back, and there again: three hops, and the end is known."""
    back = Hop(step.relation, forward=False)
    chain = _chain(step).holding([Entity(step.tail.id)]).then(back).then(Hop(step.relation))
    page = await graph.follow_chain(chain)
    there = any(candidate.term == step.tail for candidate in page.items)
    return "" if there or page.truncated else "an end is missing"


async def _visit_chains(graph: SparqlGraph, step: Step) -> str:
    chains = [Chain(step.head), _chain(step)]
    visits = await graph.visit_chains(chains)
    hops = [await graph.extend_chain(chain) for chain in chains]
    ends = await graph.follow_chain(chains[1])
    same = [visit.hops for visit in visits] == hops and visits[1].ends == ends
    return "" if same else "several chains at once have other ends and hops than each alone"


async def _trace_chain(graph: SparqlGraph, step: Step) -> str:
    chain = _chain(step).then(Hop(step.relation, forward=False))
    ways = await graph.trace_chain(chain, [step.head])
    return "" if ways[0] and ways[0][-1].head == step.head else "the way there and back is not found"


async def _names(graph: SparqlGraph, step: Step) -> str:
    names = await graph.names([step.head.id, step.tail.id])
    page = await graph.follow_relation([(step.head.id, Hop(step.relation))])
    same = all(term.name == names[term.id] for term in page[0].items if term.id in names)
    return "" if same else "a name differs from query to query"


async def _find(graph: SparqlGraph, step: Step) -> str:
    matches = await graph.find_entities(step.head.id)
    return "" if step.head.id.startswith("_:") or matches else "the entity is not found by its id"


async def _describe(graph: SparqlGraph, step: Step) -> str:
    about = await graph.describe(step.head.id)
    return "" if about.facts.items else "there are no facts about the entity"


async def _select(graph: SparqlGraph, step: Step) -> str:
    if step.head.id.startswith("_:"):
        return ""
    text = f"SELECT ?o WHERE {{ {serialise(step.head)} {serialise(Entity(step.relation))} ?o }} LIMIT 5"
    return "" if (await graph.select(text)).rows else "there is no row"


def _chain(step: Step) -> Chain:
    return Chain(step.head, (Hop(step.relation),))


def _bare(hops: tuple[Hop, ...]) -> set[Hop]:
    return {Hop(hop.relation, hop.forward) for hop in hops}


SHAPES: dict[str, Shape] = {
    "list_relations": _list_relations,
    "extend_chain": _extend_chain,
    "follow_relation": _follow_relation,
    "follow_chain": _follow_chain,
    "follow_chain over three hops": _follow_far,
    "visit_chains": _visit_chains,
    "trace_chain": _trace_chain,
    "names": _names,
    "find_entities": _find,
    "describe": _describe,
    "select": _select,
}
