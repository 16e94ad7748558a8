"""Which relations lead on from here? (CoR §4.1, step 2: relation prune)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.kg.terms import Chain
from kgqa.prompts.base import QuestionPrompt, check_numbers, numbered
from kgqa.prompts.chain import (
    EACH_TOPIC,
    UNITED,
    ChoiceOrMissing,
    Extension,
    draw_chain,
    draw_extensions,
    draw_missing,
    draw_reached,
    draw_then,
)
from kgqa.prompts.progress import Progress

UNMET = "The other topics lead to none of these: another relation has to follow, or the chain is a wrong one."


class PrunedRelations(ChoiceOrMissing):
    """The relations worth following, most relevant first."""

    relations: list[int] = Field(description="numbers of the chosen relations, most relevant first")


class PruneRelations(QuestionPrompt[PrunedRelations]):
    """Choose at most ``width`` of the ``offers`` that extend ``chain``, each with its direction.

    ``reached`` are some names of what the chain has led to, ``unmet`` if other topics' chains lead to none of
    it. The reply may say what comes after the first (``outright``), which without ``filtering`` is no filter,
    and with which the others may be united (``unites``), or what is ``missing``, which is then
    ``looked_for``.
    """

    chain: Chain
    offers: tuple[Extension, ...]
    width: int = 3
    progress: Progress | None = None
    outright: bool = False
    filtering: bool = True
    unites: bool = False
    missing: bool = False
    looked_for: str = ""
    reached: tuple[str, ...] = ()
    unmet: bool = False

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
            if self.unites:
                yield UNITED
            if len(self.topics) > 1:
                yield EACH_TOPIC
        yield from draw_missing(self.missing, self.looked_for)
        names = draw_reached(self.reached)
        yield f"Chain: {draw_chain(self.chain)}{names and f' ({names})'}"
        if self.unmet:
            yield UNMET
        yield f"Relations, choose at most {self.width}:"
        yield numbered(draw_extensions(self.offers))

    def check(self, reply: PrunedRelations) -> None:
        """Refuse numbers that were not offered, repeated numbers, too many, and what is not available."""
        check_numbers(reply.relations, len(self.offers), "relation")
        if len(reply.relations) > self.width:
            raise ValueError(f"at most {self.width} relations may be chosen")
        if self.outright and reply.then == "filter" and not self.filtering:
            raise ValueError('"filter" is not available')
