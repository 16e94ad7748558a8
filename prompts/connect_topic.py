"""By which relation does the question mean a further topic? (beyond the papers)."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from pydantic import Field

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers, numbered, quoted
from kgqa.prompts.chain import draw_arrow, draw_chain
from kgqa.prompts.target import Target

NO_PART = -1  # in place of a number: the question does not speak of the topic
MAX_HOLDING_NAMES = 3


class Connection(Reply):
    """The relation that the question speaks of, if any."""

    rationale: str = Field(default="", description="one short sentence: why")
    relation: int = Field(
        description="number of the relation; 0 for none of them, -1 if the entity plays no part"
    )


class Share(NamedTuple):
    """Of how many candidates a connection holds, and of how many the graph has nothing by its relation.

    ``names`` are those of some of which it holds.
    """

    holding: int
    silent: int
    of: int
    names: tuple[str, ...] = ()

    def draw(self) -> str:
        """Draw it in brackets.

        >>> Share(1, 2, 4, ("Salieri",)).draw()
        ' (true of 1 of 4 candidates: "Salieri"; 2 have no such relation)'
        """
        names = f": {', '.join(map(quoted, self.names))}" if self.names else ""
        silent = f"; {self.silent} {'has' if self.silent == 1 else 'have'} no such relation"
        return f" (true of {self.holding} of {self.of} candidates{names}{silent * (self.silent > 0)})"


class ConnectTopic(QuestionPrompt[Connection]):
    """Choose by which of the relations that connect them a node of ``chain`` is held to ``topic``.

    ``offers`` are places on the chain, from 1, and the hop that leads from there to the topic; ``shares`` say
    of how many ends of the chain they hold.
    """

    chain: Chain
    topic: Entity
    offers: tuple[tuple[int, Hop], ...]
    shares: tuple[Share, ...] = ()

    instructions = """\
You finish a search in a knowledge graph. You are given a question, the chain of relations that leads to its \
kind of answer, and the relations that connect nodes of this chain directly with another entity of the \
question. Say which of them the question speaks of: only the candidates of which it is true are kept. Where \
many "have no such relation" at all, the graph may just lack these facts. If the question means another \
connection, or too much would be lost for a lack of facts, reply 0: it is searched from the entity itself. \
If nothing in the question speaks of the entity, reply -1: the search does without it.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for the nodes of the chain.

Reply with one JSON object: {"rationale": "one short sentence", "relation": number}.

Example
Question: "Which of Beethoven's teachers were born in Vienna?"
Topic entities: "Ludwig van Beethoven", "Vienna"
Chain: "Ludwig van Beethoven" -taught_by-> ?1
1. ?1 -died_in-> "Vienna" (true of 2 of 5 candidates: "Antonio Salieri", "Joseph Haydn")
2. ?1 -born_in-> "Vienna" (true of 1 of 5 candidates: "Johann Schenk"; 1 has no such relation)
Reply: {"rationale": "It asks for the place of birth.", "relation": 2}
"""

    def _lines(self) -> Iterable[str]:
        name = quoted(str(self.topic))
        yield f"Chain: {draw_chain(self.chain)}"
        drawn = (f"?{place} {draw_arrow(hop, name)}" for place, hop in self.offers)
        yield numbered(map("".join, zip_longest(drawn, map(Share.draw, self.shares), fillvalue="")))

    def check(self, reply: Connection) -> None:
        """Refuse a number that was not offered."""
        numbers = [] if reply.relation in {0, NO_PART} else [reply.relation]
        check_numbers(numbers, len(self.offers), "relation")

    async def answer(self, target: Target) -> Connection:
        """Choose the relation by which a chain from the topic itself would end at the answers."""
        right = 0
        for number, (place, hop) in enumerate(self.offers, 1):
            way = Chain(self.topic, (hop.inverse, *self.chain.hops[place:]))
            if not right and await target.is_end(way):
                right = number
        return Connection(relation=target.judge("wrong connection", range(len(self.offers) + 1), right))
