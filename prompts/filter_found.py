"""Which of the entities found can help to answer? (CoG §3.2.2, A.2.2: entity filter over a frontier)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.prompts.base import Reply, check_numbers
from kgqa.prompts.candidates import ChainFindings, draw_chain_findings, numbered_candidates
from kgqa.prompts.progress import PlannedPrompt
from kgqa.prompts.score_entities import worth_of_shown
from kgqa.prompts.target import Target


class KeptCandidates(Reply):
    """The candidates that the search keeps."""

    rationale: str = Field(default="", description="one short sentence: why these")
    keep: list[int] = Field(description="numbers of the candidates to keep; empty if none can help")


class FilterFound(PlannedPrompt[KeptCandidates]):
    """Choose among the candidates that are shown of what was ``found``."""

    found: tuple[ChainFindings, ...]

    instructions = """\
You filter what a search in a knowledge graph has found. You are given a question, its subgoals and \
what is known of them, and groups, each a chain of relations with the candidates at its end. Name the \
candidates that the answer can be reached from, or that are answers: no more than the question's \
conditions let through, and all of those that they do not tell apart.

- Leave out a whole group whose chain leads astray. If no group helps, the list is empty.
- Where there are several topic entities, each has a chain of its own: what the question says of \
another one need not be true of this chain alone.
- Candidates marked with * are reached only by coming back to the start. Do not doubt the data.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

Reply with one JSON object: {"rationale": "one short sentence", "keep": [numbers]}.

Example
Question: "When was the university opened that Lise Meitner studied at?"
Subgoals:
- "Find the university."
- "Find when it was opened."
Known so far: nothing
Group 1: "Lise Meitner" -educated_at-> ?1 (2)
1. "Akademisches Gymnasium"
2. "University of Vienna"
Group 2: "Lise Meitner" -award-> ?1 (1)
3. "Leibniz Medal"
Reply: {"rationale": "One is a university; a medal leads nowhere.", "keep": [2]}
"""

    def _lines(self) -> Iterable[str]:
        return draw_chain_findings(self.found)

    def check(self, reply: KeptCandidates) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.keep, len(numbered_candidates(self.found)), "candidate")

    async def answer(self, target: Target) -> KeptCandidates:
        """Keep what leads to answers."""
        worth = await worth_of_shown(self.found, target)
        return KeptCandidates(keep=target.choose([n for n, each in worth.items() if each], len(worth)))
