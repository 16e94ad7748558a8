"""What is known of the subgoals now? (CoG §3.2.2, A.2.3: memory update)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.prompts.base import QuestionPrompt, Reply
from kgqa.prompts.candidates import ChainFindings, draw_chain_findings
from kgqa.prompts.progress import draw_subgoals


class UpdatedMemory(Reply):
    """What is known, old and new; it replaces what was known before."""

    known: list[str] = Field(description="one short sentence for each subgoal that something is known of")


class UpdateMemory(QuestionPrompt[UpdatedMemory]):
    """Write down what was ``found`` for the ``subgoals``."""

    found: tuple[ChainFindings, ...]
    subgoals: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    instructions = """\
You keep the memory of a search in a knowledge graph. You are given a question, its subgoals, what is \
known of them so far, and what was found now: groups, each a chain of relations with the candidates at \
its end. Write down what is known now, old and new: at most one short sentence for each subgoal, and \
nothing for a subgoal that nothing is known of. Correct what turned out wrong.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not. Do not doubt the data.

Reply with one JSON object: {"known": ["..."]}.

Example
Question: "Which river flows through the home town of Clara Schumann?"
Subgoals:
- "Find her home town."
- "Find the river there."
Known so far: nothing
Group 1: "Clara Schumann" -born_in-> ?1 (1)
1. "Leipzig"
Reply: {"known": ["She comes from Leipzig."]}
"""

    def _lines(self) -> Iterable[str]:
        return *draw_subgoals(self.subgoals, self.known), *draw_chain_findings(self.found)
