"""What is known of the subgoals now? (PoG: memory update; EGP §4.4; CoG §3.2.2, A.2.3)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.prompts.assess_found import ALONE
from kgqa.prompts.base import Reply
from kgqa.prompts.candidates import ChainFindings, draw_triples
from kgqa.prompts.progress import MAX_SUBGOALS, PlannedPrompt

OWN_KNOWLEDGE = "(own knowledge)"  # what a note ends with that the graph does not show

BESIDE = f'Where nothing was found, you may say what you know yourself, with "{OWN_KNOWLEDGE}" after it.'


class Memory(Reply):
    """The status of the subgoals, in place of what was known before."""

    known: list[str] = Field(description="what is known now of each subgoal, in their order")


class UpdateMemory(PlannedPrompt[Memory]):
    """Write down what the last round has ``found``, beside what was ``known`` before it.

    With ``own_knowledge`` also what the model knows.
    """

    found: tuple[ChainFindings, ...]
    own_knowledge: bool = False

    instructions = """\
You keep the notes of a search in a knowledge graph. You are given a question, its subgoals, what was \
known of them, and the facts that the last round has found. Say what is known of each subgoal now, old \
and new: one short sentence that names the entities for each subgoal, in their order, and no more; "" for \
one of which nothing is known.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for nodes on the way.

Reply with one JSON object: {"known": ["...", "..."]}.

Example
Question: "Which river flows through the home town of Clara Schumann?"
Subgoals:
- "Find her home town."
- "Find the river there."
Known so far: nothing
Found:
- "Clara Schumann" -born_in-> "Leipzig"
Go by what was found alone.
Reply: {"known": ["Clara Schumann comes from Leipzig.", ""]}
"""

    def _lines(self) -> Iterable[str]:
        return *draw_triples(self.found), BESIDE if self.own_knowledge else ALONE

    def check(self, reply: Memory) -> None:
        """Refuse more or fewer sentences than there are subgoals."""
        given, wanted = len(reply.known), len(self.subgoals[:MAX_SUBGOALS])
        if wanted and given != wanted:
            raise ValueError(f'give one sentence for each subgoal, or "": {wanted} in all, not {given}')
