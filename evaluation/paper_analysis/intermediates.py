"""How many entities lie between the topics of a question and its answers (CoR, Figure 1b).

A search that goes by entities has to hold all of them at once, one that goes by relations none.
For each node position along a gold path, the nodes on a way from the topic to a gold answer are
counted; the largest count of all topics is kept. The counts need the graph of a run, so a run keeps
them in ``intermediates.json``, by question.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.event_loop import for_each
from kgqa.evaluation.scoring.scores import BEAM_ENTITIES
from kgqa.evaluation.simulation.gold_answers import GoldAnswers
from kgqa.evaluation.simulation.graph_cache import GraphCache, resolve_hops, resolve_iri
from kgqa.evaluation.simulation.oracle import GoldRelationFinder
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Entity, Hop, Term

INTERMEDIATES_FILE = "intermediates.json"  # the file of a run folder
MAX_CONCURRENT_QUESTIONS = 8  # questions whose paths are looked up at a time


async def count_intermediates(questions: Sequence[Question], graph: KnowledgeGraph) -> dict[str, int]:
    """Count for each question, by its id, whose file names a path that the graph has.

    Left out is a question for which the graph cuts an answer short, or takes too long.

    Raises:
        KGError: if the graph cannot be reached.
    """
    found: dict[str, int | None] = {}

    async def count(question: Question) -> None:
        with suppress(KGTimeout, KGRejected):
            found[question.id] = await _count_most(question, GraphCache(graph))

    known = [question for question in questions if question.scored and (question.paths or question.sparql)]
    await for_each(known, count, MAX_CONCURRENT_QUESTIONS)
    return {question.id: n for question in known if (n := found.get(question.id)) is not None}


def with_intermediates(questions: Sequence[Question], counts: Mapping[str, int]) -> tuple[Question, ...]:
    """Return the questions with what was counted."""
    return tuple(replace(question, intermediate=counts.get(question.id)) for question in questions)


async def _count_most(question: Question, cache: GraphCache) -> int | None:
    """Return the most nodes at one place of any path; None where there is no path, or the graph cuts it."""
    gold = GoldAnswers(question)
    finder = GoldRelationFinder(question, cache, gold)
    counts = []
    for named in question.topics:
        id = resolve_iri(named.id)
        topic = Entity(id) if id else await cache.find(named.name or "")
        if topic and (found := await finder.of(topic)):
            hops = resolve_hops(found[0], cache.graph) or ()
            counts.append(await _count_between(topic, hops, gold, cache.graph))
    known = [number for number in counts if number is not None]
    return max(known) if counts and len(known) == len(counts) else None


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
    listed = list(reached)
    right = gold.mark(listed).right
    # All ends count where the answer is computed from them.
    leading = {end for end, is_gold in zip(listed, right, strict=True) if is_gold} or reached
    most = 0
    for following in reversed(edges[1:]):
        leading = {node for node, after in following.items() if after & leading}
        most = max(most, len(leading))
    # a count above the beam stays: what the page cut could only add to it
    return None if cut and most <= BEAM_ENTITIES else most
