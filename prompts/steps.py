"""How a reply writes the steps of a plan, and how they are read (VoG, definition 2)."""

from collections.abc import Sequence
from itertools import islice

from pydantic import Field

from kgqa.prompts.base import Reply, quoted
from kgqa.prompts.plans import PlanStep, SearchPlan, Statement, stated
from kgqa.prompts.progress import SENTENCE_LIMIT

OBSERVED = 50
"""Triples that one step predicts at most: an encoder reads them all."""

TOLD = 1_000
"""Characters of one text of a plan that are kept: an encoder reads no more."""

STEP = """\
Each of the steps: {"thought": "one sentence", "search": "what to look up", "observation": \
[["head", "relation", "tail"]]}.
"""
"""The form of one step, as instructions give it."""


class StepReply(Reply):
    """One step as a reply writes it."""

    thought: str = Field(default="", description="one sentence: what this step is for")
    search: str = Field(description="what to look up: an entity and a relation, in a few words")
    observation: list[list[str]] = Field(
        default=[], description="the facts that are expected: triples of head, relation, tail"
    )


class PlanReply(Reply):
    """Steps of a plan and its end."""

    steps: list[StepReply] = Field(description="the search steps, in their order")
    thought: str = Field(default="", description="one sentence: how the answers follow")
    answers: list[str] = Field(description="the answers, one string each")
    whether: bool = Field(default=False, description="true if the question asks for yes or no")


class Explained(Reply):
    """A reply that begins with its reason."""

    rationale: str = Field(default="", description="one short sentence: why")


def plan_of(reply: PlanReply) -> SearchPlan:
    """Give the plan that a reply writes, without blank answers and those that come twice.

    Where it does not say whether the question asks for yes or no, an answer of one of these does.
    """
    answers = dict.fromkeys(filter(None, map(str.strip, reply.answers)))
    steps = (
        PlanStep(_told(step.thought), _told(step.search), statements(step.observation))
        for step in reply.steps
    )
    told = "whether" in reply.model_fields_set
    whether = reply.whether if told else [answer.casefold() for answer in answers] in (["yes"], ["no"])
    return SearchPlan(tuple(steps), tuple(answers), _told(reply.thought), whether)


def statements(rows: Sequence[Sequence[str]]) -> tuple[Statement, ...]:
    """Give the first triples that a reply writes as lists, each once; `check_rows` has let them pass."""
    told = ((_told(head), _told(relation), _told(tail)) for head, relation, tail in rows)
    return tuple(islice(dict.fromkeys(told), OBSERVED))


def _told(text: str) -> str:
    return text.strip()[:TOLD]


def check_rows(rows: Sequence[Sequence[str]]) -> None:
    """Refuse an observation that is not made of triples.

    Raises:
        ValueError: naming the first row that is none.
    """
    for row in rows:
        if len(row) != 3:
            raise ValueError(
                f"each row of an observation has three strings: head, relation, tail; one has {len(row)}"
            )


def check_steps(steps: Sequence[StepReply]) -> None:
    """Refuse a step that searches for nothing or whose observation is not made of triples.

    Raises:
        ValueError: naming what is wrong.
    """
    for number, step in enumerate(steps, 1):
        if not step.search.strip():
            raise ValueError(f'number {number} of the steps has an empty "search"; say what to look up')
        check_rows(step.observation)


def draw_current(step: PlanStep) -> list[str]:
    """Draw the step at hand, without its number.

    >>> draw_current(PlanStep("Find its river.", "Ulm river"))
    ['Thought: "Find its river."', 'Search: "Ulm river"']
    """
    lines = [
        f"Thought: {quoted(step.thought, SENTENCE_LIMIT)}",
        f"Search: {quoted(step.search, SENTENCE_LIMIT)}",
    ]
    return [*lines, f"Predicted observation: {stated(step.observation)}"] if step.observation else lines
