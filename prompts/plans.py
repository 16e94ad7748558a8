"""A plan in steps: how prompts show it and how a reply writes it (VoG, definition 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from pydantic import Field

from kgqa.kg.terms import one_line
from kgqa.prompts.base import Reply, quoted
from kgqa.prompts.progress import MAX_SENTENCE_CHARS

MAX_PLAN_STEPS = 10
MAX_ANSWERS_SHOWN = 100
MAX_OBSERVED_TRIPLES = 50  # of one step: an encoder reads them all
MAX_PLAN_TEXT_CHARS = 1_000  # an encoder reads no more
STEP_FORM = """\
Each of the steps: {"thought": "one sentence", "search": "what to look up", "observation": \
[["head", "relation", "tail"]]}.
"""
"""The form of one step, as instructions give it."""

Statement: TypeAlias = tuple[str, str, str]  # a predicted triple as the model words it: head, relation, tail


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step of a plan: a thought, an action ``Search[search]``, and what it is predicted to observe."""

    thought: str
    search: str
    observation: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The steps of a search, then ``thought`` and ``Finish[answers]``; ``whether`` it asks for yes or no."""

    steps: tuple[PlanStep, ...]
    answers: tuple[str, ...] = ()
    thought: str = ""
    whether: bool = False


def draw_statements(statements: Sequence[Statement]) -> str:
    """Write predicted triples on one line, all of them: what is cut could be taken for not predicted.

    >>> draw_statements([("Ulm", "river", "Danube")])
    '("Ulm", "river", "Danube")'
    """
    rows = (", ".join(quoted(part) for part in statement) for statement in statements)
    return " ".join(f"({row})" for row in rows)


def plan_outline(plan: SearchPlan) -> list[dict[str, str]]:
    """Return what each step searches and predicts: for a trace.

    >>> plan_outline(SearchPlan((PlanStep("", "Ulm river", (("Ulm", "river", "Danube"),)),)))
    [{'search': 'Ulm river', 'predicted': '("Ulm", "river", "Danube")'}]
    """
    return [
        {"search": one_line(step.search, MAX_SENTENCE_CHARS), "predicted": draw_statements(step.observation)}
        for step in plan.steps
    ]


def draw_step(step: PlanStep, number: int) -> str:
    """Draw one step, in three lines at most."""
    thought, search, *predicted = _draw_parts(step)
    lines = [f"Thought {number}: {thought}", f"Action {number}: Search[{search}]"]
    return "\n".join([*lines, *(f"Predicted observation {number}: {each}" for each in predicted)])


def draw_current_step(step: PlanStep) -> list[str]:
    """Draw the current step, without its number.

    >>> draw_current_step(PlanStep("Find its river.", "Ulm river"))
    ['Thought: "Find its river."', 'Search: "Ulm river"']
    """
    names = ("Thought", "Search", "Predicted observation")
    return [f"{name}: {part}" for name, part in zip(names, _draw_parts(step), strict=False)]


def _draw_parts(step: PlanStep) -> list[str]:
    parts = [quoted(text, MAX_SENTENCE_CHARS) for text in (step.thought, step.search)]
    return [*parts, draw_statements(step.observation)] if step.observation else parts


def draw_plan(plan: SearchPlan, done: int = 0) -> str:
    """Draw a plan; a line marks the end of the first ``done`` steps, which were carried out."""
    drawn = [draw_step(step, number) for number, step in enumerate(plan.steps, 1)]
    if done:
        drawn.insert(min(done, len(drawn)), "--- carried out up to here ---")
    last = len(plan.steps) + 1
    if plan.thought:
        drawn.append(f"Thought {last}: {quoted(plan.thought, MAX_SENTENCE_CHARS)}")
    drawn.append(f"Action {last}: Finish[{', '.join(map(quoted, plan.answers[:MAX_ANSWERS_SHOWN]))}]")
    return "\n".join(drawn)


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


class ExplainedReply(Reply):
    """A reply that begins with its reason."""

    rationale: str = Field(default="", description="one short sentence: why")


def parse_plan(reply: PlanReply) -> SearchPlan:
    """Return the plan that a reply writes, without blank answers and those that come twice.

    Where it does not say whether the question asks for yes or no, an answer of one of these does.
    """
    answers = dict.fromkeys(filter(None, map(str.strip, reply.answers)))
    steps = (
        PlanStep(_clean_text(step.thought), _clean_text(step.search), parse_statements(step.observation))
        for step in reply.steps
    )
    whether = reply.whether
    if "whether" not in reply.model_fields_set:
        whether = [answer.casefold() for answer in answers] in (["yes"], ["no"])
    return SearchPlan(tuple(steps), tuple(answers), _clean_text(reply.thought), whether)


def parse_statements(rows: Sequence[Sequence[str]]) -> tuple[Statement, ...]:
    """Return the first triples that a reply writes as lists, each once; `check_observation` passes them."""
    triples = ((_clean_text(head), _clean_text(relation), _clean_text(tail)) for head, relation, tail in rows)
    return tuple(islice(dict.fromkeys(triples), MAX_OBSERVED_TRIPLES))


def _clean_text(text: str) -> str:
    return text.strip()[:MAX_PLAN_TEXT_CHARS]


def check_observation(rows: Sequence[Sequence[str]]) -> None:
    """Raise ValueError for the first row of an observation that is no triple."""
    for row in rows:
        if len(row) != 3:
            raise ValueError(
                f"each row of an observation has three strings: head, relation, tail; one has {len(row)}"
            )


def check_steps(steps: Sequence[StepReply]) -> None:
    """Raise ValueError for a step that searches for nothing, or whose observation is not made of triples."""
    for number, step in enumerate(steps, 1):
        if not step.search.strip():
            raise ValueError(f'number {number} of the steps has an empty "search"; say what to look up')
        check_observation(step.observation)
