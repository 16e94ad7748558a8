"""Which relations lead on from here, or to a further topic? (CoR §4.1, step 2: relation prune)."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from pydantic import Field

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers, numbered, quoted
from kgqa.prompts.chain import (
    EACH_TOPIC,
    MISSING,
    UNITED,
    ChoiceOrMissing,
    Extension,
    draw_arrow,
    draw_chain,
    draw_extensions,
    draw_reached,
    draw_then,
)
from kgqa.prompts.progress import Progress


class PrunedRelations(ChoiceOrMissing):
    """The relations worth following, most relevant first."""

    relations: list[int] = Field(description="numbers of the chosen relations, most relevant first")


class PruneRelations(QuestionPrompt[PrunedRelations]):
    """Choose at most ``width`` of the ``offers`` that extend ``chain``, each with its direction.

    ``reached`` are some names of what the chain has led to. The reply may say what comes after the first
    (``outright``), which without ``filtering`` is no filter, and with which the others may be united
    (``unites``), or what is ``missing``.
    """

    chain: Chain
    offers: tuple[Extension, ...]
    width: int = 3
    progress: Progress | None = None
    outright: bool = False
    filtering: bool = True
    unites: bool = False
    missing: bool = False
    reached: tuple[str, ...] = ()

    instructions = """\
You steer a search in a knowledge graph. You are given a question, the chain of relations \
followed so far, and a numbered list of relations that can follow next. Choose the relations \
that lead towards the answer.

Rank them by three things:
- meaning: the relation says what the question asks for or goes by;
- logic: it continues the chain sensibly, in the direction of its arrow;
- nearness: the fewer further steps to the answer, the better.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached by the chain, some of which may be named in brackets; they may \
have no names, and that says nothing against them. Relations that only describe the database (keys, types, \
provenance) seldom help. \
Where there are several topic entities, each has a chain of its own, of which this is one.

Reply with one JSON object: {"rationale": "one short sentence", "relations": [numbers, best first]}. \
Choose no more than allowed, and only numbers from the list; an empty list says that none can help.

Example
Question: "In which town did the composer of Vltava go to school?"
Chain: "Vltava"
Relations, choose at most 2:
1. "Vltava" -composed_by-> ?1
2. "Vltava" -musical_key-> ?1
3. "Vltava" <-recorded_work- ?1
Reply: {"rationale": "The school is the composer's, so the composer comes first.", "relations": [1]}

Example
Question: "Which of Beethoven's teachers was born in a town on the Danube?"
Topic entities: "Ludwig van Beethoven", "Danube"
Chain: "Danube" <-lies_on- ?1 ("Ulm", "Passau")
Relations, choose at most 3:
1. ?1 -country-> ?2
2. ?1 -mayor-> ?2
Reply: {"rationale": "Neither leads to those who were born there.", "relations": []}
"""

    def _lines(self) -> Iterable[str]:
        if self.progress:
            yield self.progress.draw()
        if self.outright:
            yield draw_then("the first that you choose leads", filtering=self.filtering)
            yield from [UNITED] * self.unites
            yield from [EACH_TOPIC] * (len(self.topics) > 1)
        yield from [MISSING] * self.missing
        names = draw_reached(self.reached)
        yield f"Chain: {draw_chain(self.chain)}{names and f' ({names})'}"
        yield f"Relations, choose at most {self.width}:"
        yield numbered(draw_extensions(self.offers))

    def check(self, reply: PrunedRelations) -> None:
        """Refuse numbers that were not offered, repeated numbers, too many, and what is not available."""
        check_numbers(reply.relations, len(self.offers), "relation")
        if len(reply.relations) > self.width:
            raise ValueError(f"at most {self.width} relations may be chosen")
        if self.outright and reply.then == "filter" and not self.filtering:
            raise ValueError('"filter" is not available')


class Connection(Reply):
    """The relation that the question speaks of, if any."""

    rationale: str = Field(default="", description="one short sentence: why")
    relation: int = Field(description="number of the relation; 0 if the question means none of them")


class Share(NamedTuple):
    """Of how many candidates a connection holds, and of how many the graph has nothing by its relation."""

    holding: int
    silent: int
    of: int

    def draw(self) -> str:
        """Draw it in brackets.

        >>> Share(1, 2, 4).draw()
        ' (true of 1 of 4 candidates; 2 have no such relation)'
        """
        silent = f"; {self.silent} {'has' if self.silent == 1 else 'have'} no such relation"
        return f" (true of {self.holding} of {self.of} candidates{silent * (self.silent > 0)})"


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
connection, or too much would be lost for a lack of facts, reply 0.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for the nodes of the chain.

Reply with one JSON object: {"rationale": "one short sentence", "relation": number}.

Example
Question: "Which of Beethoven's teachers were born in Vienna?"
Topic entities: "Ludwig van Beethoven", "Vienna"
Chain: "Ludwig van Beethoven" -taught_by-> ?1
1. ?1 -died_in-> "Vienna" (true of 3 of 5 candidates)
2. ?1 -born_in-> "Vienna" (true of 1 of 5 candidates; 1 has no such relation)
Reply: {"rationale": "It asks for the place of birth.", "relation": 2}
"""

    def _lines(self) -> Iterable[str]:
        name = quoted(str(self.topic))
        yield f"Chain: {draw_chain(self.chain)}"
        drawn = (f"?{place} {draw_arrow(hop, name)}" for place, hop in self.offers)
        yield numbered(map("".join, zip_longest(drawn, map(Share.draw, self.shares), fillvalue="")))

    def check(self, reply: Connection) -> None:
        """Refuse a number that was not offered."""
        check_numbers([reply.relation] if reply.relation else [], len(self.offers), "relation")
