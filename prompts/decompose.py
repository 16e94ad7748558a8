"""Which steps lead to the answer? (CoG §3.2.1 and appendix A.1: task decomposition)."""

from collections.abc import Sequence

from pydantic import Field

from kgqa.prompts.base import Prompt, Reply, draw_case
from kgqa.prompts.progress import MAX_SUBGOALS
from kgqa.prompts.solved_questions import SolvedQuestion, draw_solved_questions
from kgqa.prompts.target import Target


class Subgoals(Reply):
    """A plan: the subgoals in the order in which a search meets them."""

    rationale: str = Field(default="", description="one short sentence: how the question is built")
    subgoals: list[str] = Field(description="the subgoals, each one short sentence, first one first")


class Decompose(Prompt[Subgoals]):
    """Split a question into the subgoals of a search over the graph, ``exemplars`` of such shown first."""

    question: str
    exemplars: tuple[SolvedQuestion, ...] = ()

    instructions = """\
You plan a search in a knowledge graph. Split the question into subgoals, as few as possible, in \
the order in which a search meets them that starts from the entities the question names.

- A subgoal is one thing to find out, usually one relation: what to find, and of what.
- A condition (a time, a number, a superlative, a comparison) comes after what it is applied to.
- A question that one relation answers has one subgoal.
- Do not answer the question, and name nothing that it does not name.

Reply with one JSON object: {"rationale": "one short sentence", "subgoals": ["first ...", "then ..."]}. \
Give at most 8.

Example
Question: "In which town did the composer of Vltava go to school?"
Reply: {"rationale": "The school is the composer's.", "subgoals": ["Find who composed Vltava.", \
"Find the school this composer went to.", "Find the town of this school."]}

Example
Question: "Which is the deepest of the lakes that the Rhine flows through?"
Reply: {"rationale": "Lakes first, then one of them.", "subgoals": ["Find the lakes that the Rhine flows \
through.", "Find the deepest of these lakes."]}
"""

    def case(self) -> str:
        """Show the solved questions, where there are any, and the question."""
        return draw_case(self.question, before=draw_solved_questions(self.exemplars))

    def check(self, reply: Subgoals) -> None:
        """Refuse a plan without subgoals, with blank ones, or with too many."""
        check_subgoals(reply.subgoals)

    async def answer(self, target: Target) -> Subgoals:
        """Name the subgoals, or else the question as its own."""
        goals = await target.subgoals() if target.plans_well() else []
        return Subgoals(subgoals=goals or [self.question.strip() or "?"])


def check_subgoals(subgoals: Sequence[str]) -> None:
    """Raise ValueError for a plan without subgoals, with blank ones, or with too many."""
    if not 1 <= len(subgoals) <= MAX_SUBGOALS:
        raise ValueError(f"give 1 to {MAX_SUBGOALS} subgoals, not {len(subgoals)}")
    if not all(goal.strip() for goal in subgoals):
        raise ValueError("a subgoal is blank; leave it out or say what to find")


class DecomposeAlong(Decompose):
    """Split a question into subgoals along the relations that solved ``exemplars``, shown before it."""

    instructions = """\
You plan a search in a knowledge graph. You are given similar questions with the relations that solved \
them. Split the question into subgoals along such relations, in the order in which a search meets them \
that starts from the entities the question names.

- See first which of these relations are worth following for this question: a subgoal for each, in its \
words, says what to find, and of what.
- Where they do not fit, go by the question: subgoals as few as possible, usually one relation each.
- A condition (a time, a number, a superlative, a comparison) comes after what it is applied to.
- Do not answer the question, and name nothing that it does not name.

Reply with one JSON object: {"rationale": "one short sentence", "subgoals": ["first ...", "then ..."]}. \
Give at most 8.

Example
Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
- "Who taught the composer of [composition]?" by ["composed_by", "student_of"]
Question: "In which town did the composer of Vltava go to school?"
Reply: {"rationale": "As there the composer comes first.", "subgoals": ["Find who Vltava is composed_by.", \
"Find the school this composer went to.", "Find the town of this school."]}
"""
