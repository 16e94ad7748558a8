"""How many entities lie between the topics of a question and its answers (CoR, Figure 1b).

A search that goes by entities has to hold all of them at once, one that goes by relations none.
Counted are, of each place along a gold path, the nodes that lie on a way from the topic to a
gold answer; what counts is the place with the most, of all topics. It is the graph of a run
that tells, so a run keeps the counts in ``intermediates.json``, by question.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.scores import BEAM_ENTITIES
from kgqa.evaluation.simulation.gold_answers import GoldAnswers
from kgqa.evaluation.simulation.graph_cache import GraphCache, resolve_hops, resolve_iri
from kgqa.evaluation.simulation.oracle import GoldRelationFinder
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Entity, Hop, Term

INTERMEDIATES_FILE = "intermediates.json"
"""The file of a run folder."""

MAX_CONCURRENT_QUESTIONS = 8
"""Questions whose paths are looked up at a time."""


async def count_intermediates(questions: Sequence[Question], graph: KnowledgeGraph) -> dict[str, int]:
    """Count for each question, by its id, whose file names a path that the graph has.

    Left out is a question for which the graph cuts an answer short, or takes too long.

    Raises:
        KGError: if the graph cannot be reached.
    """
    gate = asyncio.Semaphore(MAX_CONCURRENT_QUESTIONS)

    async def one(question: Question) -> int | None:
        async with gate:
            try:
                return await _count_most(question, GraphCache(graph))
            except (KGTimeout, KGRejected):
                return None

    known = [question for question in questions if question.scored and (question.paths or question.sparql)]
    found = await asyncio.gather(*map(one, known))
    return {question.id: n for question, n in zip(known, found, strict=True) if n is not None}


def with_intermediates(questions: Sequence[Question], counts: Mapping[str, int]) -> tuple[Question, ...]:
    """Return the questions with what was counted."""
    return tuple(replace(question, intermediate=counts.get(question.id)) for question in questions)


async def _count_most(question: Question, terrain: GraphCache) -> int | None:
    """Return the most nodes at one place of any path; None where there is no path, or the graph cuts it."""
    gold = GoldAnswers(question)
    ways = GoldRelationFinder(question, terrain, gold)
    topics = filter(None, [await _find_topic(named, terrain) for named in question.topics])
    plans = [
        (topic, resolve_hops(way, terrain.graph) or ())
        for topic in topics
        for way in (await ways.of(topic))[:1]
    ]
    counts = [await _count_between(topic, hops, gold, terrain.graph) for topic, hops in plans]
    known = [n for n in counts if n is not None]
    return max(known) if counts and len(known) == len(counts) else None


async def _find_topic(named: EntityRef, terrain: GraphCache) -> Entity | None:
    """Return the entity of an id without looking for it; a name is looked for."""
    id = resolve_iri(named.id)
    return Entity(id) if id else await terrain.find(named.name or "")


async def _count_between(
    topic: Entity, hops: Sequence[Hop], gold: GoldAnswers, graph: KnowledgeGraph
) -> int | None:
    """Walk from the topic to the answers, then back from the gold ones; one query for each hop.

    What the graph cuts off can only add to the nodes.
    """
    edges: list[dict[Term, set[Term]]] = []
    reached: set[Term] = {topic}
    cut = False
    for hop in hops:
        there = sorted(node for node in reached if isinstance(node, Entity))
        pages = await graph.follow_relation([(node.id, hop) for node in there])
        edges.append(dict(zip(there, map(set, pages), strict=True)))
        reached = set().union(*pages)
        cut |= any(page.truncated for page in pages)
    counts = list(_count_leading(edges[1:], _gold_ends(reached, gold)))
    most = max(counts, default=0)
    return None if cut and most <= BEAM_ENTITIES else most


def _count_leading(edges: Sequence[Mapping[Term, set[Term]]], ends: set[Term]) -> Iterator[int]:
    """Count, from the last place to the first, the nodes from which any of the ends is reached."""
    for step in reversed(edges):
        ends = {node for node, after in step.items() if after & ends}
        yield len(ends)


def _gold_ends(ends: set[Term], gold: GoldAnswers) -> set[Term]:
    """Return the gold answers among the ends; all, where the answer is computed from them."""
    listed = list(ends)
    right = gold.mark(listed).right
    return {end for end, is_gold in zip(listed, right, strict=True) if is_gold} or ends
