"""Which relations does the whole frontier need? (PoG: adaptive exploration; EGP §4.3)."""

from pydantic import Field

from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.base import Prompt, Reply, check_numbers, draw_case
from kgqa.prompts.chain import draw_grouped_chains
from kgqa.prompts.progress import draw_subgoals
from kgqa.prompts.solved_questions import SolvedQuestion, draw_solved_questions


class PickedRelations(Reply):
    """The relations that the search follows, as few as it needs."""

    rationale: str = Field(default="", description="one short sentence: why these")
    relations: list[int] = Field(description="numbers of the chosen relations; empty if none can help")


class PickRelations(Prompt[PickedRelations]):
    """Choose among ``offers``, one hop longer than chains of the frontier; those of one stand together."""

    question: str
    offers: tuple[Chain, ...]
    subgoals: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    exemplars: tuple[SolvedQuestion, ...] = ()
    topics: tuple[Entity, ...] = ()

    instructions = """\
You steer a search in a knowledge graph. You are given a question and a numbered list of relations \
that can be followed next, each under the chain that it extends. Choose those that lead to the answer.

- As few as possible: for one chain, one is often enough. Choose two that say the same, or of which \
you cannot tell which one it is.
- Where there are several topic entities, each has a chain of its own, and they are to meet at the \
answer: choose what each of them still needs, and nothing for a chain that says its part already.
- Choose for the subgoals that are still open, by what the relations mean; the solved questions are a hint.
- Relations that only describe the database (keys, types, provenance) seldom help.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step; they may have no names, and that says \
nothing against them.

Reply with one JSON object: {"rationale": "one short sentence", "relations": [numbers]}. \
An empty list says that none can help.

Example
Question: "Who of Beethoven's teachers was born in a town on the Danube?"
Topic entities: "Ludwig van Beethoven", "Danube"
From "Ludwig van Beethoven" -taught_by-> ?1:
1. -born_in-> ?2
2. -pupil-> ?2
From "Danube" <-lies_on- ?1:
3. -country-> ?2
4. <-born_in- ?2
Reply: {"rationale": "His teachers are reached; from the towns on the river, those born there.", \
"relations": [4]}
"""

    def case(self) -> str:
        """Show solved questions, the question, the plan and the relations under their chains."""
        lines = [*draw_subgoals(self.subgoals, self.known), *draw_grouped_chains(self.offers)]
        solved = draw_solved_questions(self.exemplars)
        return draw_case(self.question, *lines, topics=self.topics, before=solved)

    def check(self, reply: PickedRelations) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.relations, len(self.offers), "relation")
