"""Which of the entities that one relation has led to? (PoG: entity exploration; EGP §4.3)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, draw_candidates
from kgqa.prompts.chain import draw_chain
from kgqa.prompts.target import Target


class ChosenEntities(Reply):
    """What the search goes on from, and answers by."""

    rationale: str = Field(default="", description="one short sentence: why these")
    chosen: list[int] = Field(description="numbers of the candidates; empty if none can help")


class ChooseEntities(QuestionPrompt[ChosenEntities]):
    """Choose among at most `MAX_CANDIDATES_SHOWN` ends of one ``chain``."""

    chain: Chain
    candidates: tuple[Candidate, ...]

    instructions = """\
You steer a search in a knowledge graph. You are given a question, a chain of relations that was \
followed from an entity of it, and the candidates that its last relation has led to. Choose those \
that can be the answer or lead to it.

- As few as possible, and as many as the question needs: to compare or to count, take all that are compared.
- Hold them to what the question says of them. What nothing at hand tells apart may all be right: a \
later relation may tell.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for the nodes reached at that step.

Reply with one JSON object: {"rationale": "one short sentence", "chosen": [numbers]}.

Example
Question: "When was the university opened that Lise Meitner studied at?"
Chain: "Lise Meitner" -educated_at-> ?1
Candidates (2):
1. "Akademisches Gymnasium"
2. "University of Vienna"
Reply: {"rationale": "One of them is a university.", "chosen": [2]}
"""

    def _lines(self) -> Iterable[str]:
        return f"Chain: {draw_chain(self.chain)}", draw_candidates(self.candidates)

    def check(self, reply: ChosenEntities) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.chosen, min(MAX_CANDIDATES_SHOWN, len(self.candidates)), "candidate")

    async def answer(self, target: Target) -> ChosenEntities:
        """Choose what leads to answers."""
        ends = [each.term for each in self.candidates[:MAX_CANDIDATES_SHOWN]]
        worth = await target.worth(self.chain, ends)
        right = [number for number, end in enumerate(ends, 1) if worth.get(end)]
        return ChosenEntities(chosen=target.choose(right, len(ends)))
