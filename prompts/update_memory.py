"""What is known of the subgoals now? (PoG: memory update; EGP §4.4; CoG §3.2.2, A.2.3)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.prompts.base import QuestionPrompt, Reply
from kgqa.prompts.candidates import ChainFindings, draw_triples
from kgqa.prompts.progress import draw_subgoals


class Memory(Reply):
    """The status of the subgoals, in place of what was known before."""

    known: list[str] = Field(description="what is known now: one short sentence a subgoal")


class UpdateMemory(QuestionPrompt[Memory]):
    """Write down what the last round has ``found``, beside what was ``known`` before it."""

    found: tuple[ChainFindings, ...]
    subgoals: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    instructions = """\
You keep the notes of a search in a knowledge graph. You are given a question, its subgoals, what was \
known of them, and the facts that the last round has found. Say what is known of each subgoal now, old \
and new, in one short sentence that names the entities; leave out those of which nothing is known.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A".

Reply with one JSON object: {"known": ["...", "..."]}.

Example
Question: "Which river flows through the home town of Clara Schumann?"
Subgoals:
- "Find her home town."
- "Find the river there."
Known so far: nothing
Found:
- "Clara Schumann" -born_in-> "Leipzig"
Reply: {"known": ["She comes from Leipzig."]}
"""

    def _lines(self) -> Iterable[str]:
        return *draw_subgoals(self.subgoals, self.known), *draw_triples(self.found)
