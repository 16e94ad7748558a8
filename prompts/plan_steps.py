"""How would this be searched for, step by step? (VoG §3.1: plan with predicted observations)."""

from typing import Any

from kgqa.kg.terms import Entity
from kgqa.prompts.base import MAX_TOPICS_SHOWN, Prompt, draw_case, quoted
from kgqa.prompts.plans import MAX_PLAN_STEPS, STEP_FORM, ExplainedReply, PlanReply, check_steps
from kgqa.prompts.react_plan import read_steps
from kgqa.prompts.solved_questions import SolvedQuestion, draw_solved_questions

LEFT_TO_THE_END = (
    "What only tells the answers from others of their kind (a date, a number, a kind, the largest by some "
    "value) needs no step: it is looked up and checked at the end. Plan a step for it only if the question "
    "asks for this value, or for yes or no. Unless you are sure of a name, later steps call what was "
    'found by its kind ("these films").'
)


class StepsReply(PlanReply, ExplainedReply):
    """A plan: its reason, its steps, and what it ends with."""


class PlanSteps(Prompt[StepsReply]):
    """Write a plan of at most ``depth`` search steps that begins at the ``topics``.

    With ``attributes`` conditions on the answers are for the end of the search.
    """

    question: str
    topics: tuple[Entity, ...]
    depth: int = MAX_PLAN_STEPS
    exemplars: tuple[SolvedQuestion, ...] = ()
    attributes: bool = False

    instructions = (
        """\
You plan a search in a knowledge graph, which will then be carried out and checked. You are given a \
question, the entities of the graph that it names, and how many steps the plan may have.

- The first step begins at the topic entities; each later one begins at what the step before it found.
- One search a step: one relation to follow, from all entities that the step is about. What has to be \
looked up for several topic entities in the same way is one step.
- As few steps as the question needs; count no step for putting results together.
- For each search predict what the graph will say, as triples of head, relation and tail in plain words. \
Where you do not know a name, put what kind of thing it is.
- End with the answers that your predictions lead to, one string each. If the question asks for a number \
of things, the answer is that number.
- If the question asks for yes or no, "whether" is true and "answers" is ["yes"] or ["no"].
- Do not judge the question and do not refuse it: where you are not sure, guess. The graph will correct you.

Reply with one JSON object: {"rationale": "one short sentence", "steps": [steps], "thought": \
"one sentence: how the answers follow", "answers": ["answer"], "whether": false}.
"""
        + STEP_FORM
        + """
Example
Question: "Which river runs through the town that the painter of The Garden Terrace was born in?"
Topic entities: "The Garden Terrace"
Steps, at most: 10
Reply: {"rationale": "From the picture to its painter, to the town, to the river.", "steps": \
[{"thought": "Begin with who painted it.", "search": "The Garden Terrace painter", "observation": \
[["The Garden Terrace", "painted by", "Caspar David Friedrich"]]}, {"thought": "Then where this painter was \
born.", "search": "Caspar David Friedrich place of birth", "observation": [["Caspar David Friedrich", \
"born in", "Greifswald"]]}, {"thought": "Then the river of this town.", "search": "Greifswald river", \
"observation": [["Greifswald", "lies on", "Ryck"]]}], "thought": "The river is the Ryck.", "answers": \
["Ryck"], "whether": false}

Example
Question: "Do lichens and corals both live in symbiosis with algae?"
Topic entities: "lichen", "coral"
Steps, at most: 4
Reply: {"rationale": "The same relation from both.", "steps": [{"thought": "Find what each lives in \
symbiosis with.", "search": "lichen and coral symbiosis", "observation": [["lichen", "symbiosis with", \
"algae"], ["coral", "symbiosis with", "algae"]]}], "thought": "Both do.", "answers": ["yes"], "whether": true}
"""
    )

    def case(self) -> str:
        """Show solved questions, the question, the topic entities and the number of steps."""
        names = ", ".join(quoted(str(topic)) for topic in self.topics[:MAX_TOPICS_SHOWN])
        lines = [f"Topic entities: {names or 'none'}", f"Steps, at most: {self.depth}"]
        lines += [LEFT_TO_THE_END] * self.attributes
        return draw_case(self.question, *lines, before=draw_solved_questions(self.exemplars))

    def check(self, reply: StepsReply) -> None:
        """Refuse a plan that has no steps, too many, or one that searches for nothing."""
        check_steps(reply.steps)
        if not 1 <= len(reply.steps) <= self.depth:
            raise ValueError(f"the plan has {len(reply.steps)} steps; give 1 to {self.depth}")

    def read(self, text: str) -> dict[str, Any] | None:
        """Read a plan that is written out as thoughts, actions and observations."""
        return read_steps(text)
