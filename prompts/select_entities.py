"""Which of the entities found does this step need? (VoG §3.2: entity selection)."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from kgqa.kg.terms import Term
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers, numbered
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN
from kgqa.prompts.facts import draw_node
from kgqa.prompts.plans import PlanStep, draw_current_step


class SelectedEntities(Reply):
    """What the search goes on from."""

    rationale: str = Field(default="", description="one short sentence: why these")
    keep: Literal["all", "some"] = Field(description="all, or some of those that are shown")
    chosen: list[int] = Field(default=[], description="for keep=some: their numbers, best first")


class SelectEntities(QuestionPrompt[SelectedEntities]):
    """Choose from the ``candidates``, which are shown of a ``total`` that a drawn ``relation`` has led to."""

    step: PlanStep
    relation: str
    candidates: tuple[Term, ...]
    total: int

    instructions = """\
You carry out one step of a search in a knowledge graph. You are given a question, the step at hand, \
the relation that was followed, and a numbered list of what it led to, only the likeliest where there are \
many. Say from which of them the search goes on or, if this was the last step, which of them are the answers.

- "all": the relation says all that the step asks, so that every one of them fits. It takes in \
all that are counted, shown or not. Choose it as well where nothing at hand tells them apart: a later step \
may.
- "some": the question or the step names or describes those that are meant. Give their numbers in \
"chosen", best first, as few as possible.
- The predicted observation is a guess: what it does not name may be right as well.
- A node may have no name, and that says nothing against it.

Reply with one JSON object: {"rationale": "one short sentence", "keep": "all", "chosen": [numbers]}.

Example
Question: "In which museums can pictures by Franz Marc be seen?"
Thought: "Find his pictures."
Search: "Franz Marc pictures"
Predicted observation: ("Franz Marc", "painted", "The Tower of Blue Horses")
Relation: "Franz Marc" <-painting.painter- ?
Found (12, the first 3 shown):
1. "Blue Horse I"
2. "The Yellow Cow"
3. "Tyrol"
Reply: {"rationale": "Any of his pictures may hang in a museum.", "keep": "all", "chosen": []}

Example
Question: "Which of the towns on the Neckar is the seat of an old university in Swabia?"
Thought: "Choose the university town."
Search: "towns on the Neckar"
Relation: "Neckar" <-lies_on- ?
Found (3):
1. "Heilbronn"
2. "Tübingen"
3. "Rottweil"
Reply: {"rationale": "Of these, Tübingen has the old university.", "keep": "some", "chosen": [2]}
"""

    @property
    def offered(self) -> tuple[Term, ...]:
        """The candidates that are shown, in the order of their numbers."""
        return self.candidates[:MAX_CANDIDATES_SHOWN]

    def _lines(self) -> Iterable[str]:
        shown = len(self.offered)
        note = f"{self.total}, the first {shown} shown" if self.total > shown else str(self.total)
        step, offered = draw_current_step(self.step), numbered(map(draw_node, self.offered))
        return *step, f"Relation: {self.relation}", f"Found ({note}):", offered

    def check(self, reply: SelectedEntities) -> None:
        """Refuse numbers that were not offered, come twice, or do not go with what is kept."""
        check_numbers(reply.chosen, len(self.offered), "entity")
        if reply.chosen and reply.keep == "all":
            raise ValueError('"chosen" goes with keep "some", not with "all"')
        if reply.keep == "some" and not reply.chosen:
            raise ValueError('with keep "some", name at least one number in "chosen"; else keep "all"')
