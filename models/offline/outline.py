"""A plan in steps out of a belief: a step for each move from names to names, for all topics at once."""

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise, zip_longest

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Term
from kgqa.models.offline.attributes import entities, follow
from kgqa.models.offline.belief import Belief
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.words import spoken
from kgqa.prompts.plans import STATEMENTS, PlanStep, Statement

HEADS = 3
"""Nodes of which a prediction is made, of those that a move begins at."""

UNTOLD = "?"
"""What stands for the head where a move begins at several: of each only some is foreseen."""

Move = tuple[Hop, ...]
"""What leads from nodes with names to the next such: a hop, or some that meet at nodes without names."""


async def searches(belief: Belief, believer: Believer) -> list[str]:
    """Say for each step what it looks for; only the first names the topics, where the others begin is known.

    Raises:
        KGError: if the graph cannot be reached.
    """
    ways = [(chain.topic, await believer.between.moves(chain)) for chain in belief.chains.values()]
    columns = zip_longest(*(_said(topic, moves) for topic, moves in ways))
    return ["; ".join(dict.fromkeys(filter(None, column))) for column in columns]


async def outline(belief: Belief, believer: Believer) -> list[PlanStep]:
    """Give the steps of a plan along the believed chains, with what the graph says at each.

    Raises:
        KGError: if the graph cannot be reached.
    """
    predicted = [await _predicted(chain, believer) for chain in belief.chains.values()]
    texts = await searches(belief, believer)
    rows = zip_longest(*predicted, fillvalue=())
    return [
        PlanStep(f"Look for the {text}.", text, _shared(row)) for text, row in zip(texts, rows, strict=True)
    ]


def answers(belief: Belief) -> list[Term]:
    """Give what the believed chains lead to, as far as it answers the question, in order of appearance."""
    fresh = [[end for end in page if not end.returning] or list(page) for page in belief.ends.values()]
    terms = dict.fromkeys(end.term for page in fresh for end in page)
    kept = [term for term in terms if belief.answers is None or term in belief.answers]
    return kept


def _said(topic: Entity, moves: Sequence[Move]) -> list[str]:
    """Say moves: ``mayor of Ulm``, then ``spouse of the mayor``."""
    words = [" ".join(dict.fromkeys(spoken(hop.words) for hop in move)) for move in moves]
    later = [f"{two} of the {one}" for one, two in pairwise(words)]
    return [f"{words[0]} of {topic}", *later]


async def _predicted(chain: Chain, believer: Believer) -> list[list[Statement]]:
    """Give for each move of a chain some of what the graph says; nothing where that takes too long."""
    rows: list[list[Statement]] = []
    heads = [chain.topic]
    for move in await believer.between.moves(chain):
        led = await _led(heads, move, believer.graph)
        alone = len(heads) == 1
        rows.append(
            [
                _statement(str(head) if alone else UNTOLD, move, str(end))
                for head, ends in led.items()
                for end in ends
                if end.name
            ]
        )
        heads = list(islice(dict.fromkeys(entities(end for ends in led.values() for end in ends)), HEADS))
    return rows


async def _led(heads: Sequence[Entity], move: Move, graph: KnowledgeGraph) -> Mapping[Entity, list[Term]]:
    """Give the ends of a move from each node, by their names; what leads back to it comes last."""
    try:
        led = await follow(heads, tuple((hop,) for hop in move), graph)
    except (KGTimeout, KGRejected):
        return {}
    return {
        head: sorted({end for _, end in pairs}, key=lambda end: (end == head, end.name or "", end.id))
        for head, pairs in led.items()
    }


def _statement(head: str, move: Move, end: str) -> Statement:
    words = " ".join(hop.words for hop in move)
    return (head, words, end) if move[-1].forward else (end, words, head)


def _shared(rows: Sequence[Sequence[Statement]]) -> tuple[Statement, ...]:
    """Take turns between the topics until there are as many statements as a step shows."""
    turns = (statement for column in zip_longest(*rows) for statement in column if statement)
    return tuple(islice(dict.fromkeys(turns), STATEMENTS))
