"""Is something missing, and what does the search come back to? (PoG: reflection; EGP §4.4)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.kg.terms import Chain
from kgqa.prompts.base import Reply, check_numbers, numbered, quoted
from kgqa.prompts.candidates import ChainFindings, draw_earlier_chains
from kgqa.prompts.chain import draw_entity
from kgqa.prompts.progress import MAX_SENTENCE_CHARS, PlannedPrompt
from kgqa.prompts.target import Target

MAX_NEXT_SHOWN = 100
MAX_PATHS_SHOWN = 40
MAX_RECALLABLE = 500


class Direction(Reply):
    """Whether the search has to come back to something, and why."""

    rationale: str = Field(default="", description="one short sentence: why")
    add: bool = Field(description="true if entities have to be added to those that are explored next")


class JudgeDirection(PlannedPrompt[Direction]):
    """Judge ``following``, the paths that are explored next, by what is known and what was reached."""

    following: tuple[Chain, ...]
    reached: tuple[ChainFindings, ...]

    instructions = """\
You steer a search in a knowledge graph that has not reached the answer yet. You are given a question, \
what is known, the entities that are explored next, each after the step that led to it, and the chains \
that were reached so far, with some of the entities at their ends. Say whether the search has to come back \
to entities of these chains: because it has gone astray, or because what is explored next leaves out what \
the question is about.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for the nodes reached at that step.

Reply with one JSON object: {"rationale": "one short sentence", "add": true or false}.

Example
Question: "Who was the mother of the author of Effi Briest?"
Explored next:
- "Theodor Fontane" -spouse-> "Emilie Rouanet"
Reached earlier:
Chain 1: "Effi Briest" -author-> ?1 (1): "Theodor Fontane"
Reply: {"rationale": "His wife has nothing to do with his mother.", "add": true}
"""

    def _lines(self) -> Iterable[str]:
        shown = [f"- {draw_entity(chain)}" for chain in self.following[:MAX_NEXT_SHOWN]]
        yield from ("Explored next:", *shown) if shown else ("Explored next: nothing",)
        yield from draw_earlier_chains(self.reached[:MAX_PATHS_SHOWN])

    async def answer(self, target: Target) -> Direction:
        """Come back where nothing that is explored next leads on."""
        leads_on = any([await target.leads_on(chain) for chain in self.following])
        return Direction(add=target.judge("wrong direction", (True, False), not leads_on))


class Recall(Reply):
    """The entities that are explored again."""

    rationale: str = Field(default="", description="one short sentence: why these")
    recall: list[int] = Field(description="numbers of the entities, as few as needed; empty for none")


class RecallEntities(PlannedPrompt[Recall]):
    """Choose among ``entities``, all that were ever reached, each a path held to it; ``reason`` says why."""

    entities: tuple[Chain, ...]
    reason: str

    instructions = """\
You steer a search in a knowledge graph that has to come back to something. You are given a question, \
what is known, the reason, and the entities that were reached so far, each after the step that led to \
it. Choose the fewest that have to be explored again.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for nodes on the way.

Reply with one JSON object: {"rationale": "one short sentence", "recall": [numbers]}.

Example
Question: "Who was the mother of the author of Effi Briest?"
Reason: "His wife has nothing to do with his mother."
Entities:
1. "Effi Briest"
2. "Effi Briest" -author-> "Theodor Fontane"
Reply: {"rationale": "Fontane is the author.", "recall": [2]}
"""

    @property
    def offered(self) -> tuple[Chain, ...]:
        """The entities that are shown, in the order of their numbers."""
        return self.entities[:MAX_RECALLABLE]

    def _lines(self) -> Iterable[str]:
        yield f"Reason: {quoted(self.reason, MAX_SENTENCE_CHARS)}"
        yield from ("Entities:", numbered(map(draw_entity, self.offered)))

    def check(self, reply: Recall) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.recall, len(self.offered), "entity")

    async def answer(self, target: Target) -> Recall:
        """Come back to what is furthest towards the answers."""
        right = await target.unfinished(self.offered)
        return Recall(recall=target.come_back(right, len(self.offered)))
