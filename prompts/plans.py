"""A plan in steps, and how prompts show it (VoG, definition 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kgqa.kg.terms import one_line
from kgqa.prompts.base import quoted
from kgqa.prompts.progress import SENTENCE_LIMIT

STEPS = 10
"""Search steps that a plan has at most."""

STATEMENTS = 8
"""Statements that the predicted observation of one step has at most."""

ANSWERS = 100
"""Answers of a plan that a prompt shows at most."""

Statement: TypeAlias = tuple[str, str, str]
"""A predicted triple as the model words it: head, relation, tail."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step of a plan: a thought, an action ``Search[search]``, and what it is predicted to observe."""

    thought: str
    search: str
    observation: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The steps of a search, and ``Finish[answers]``.

    ``thought`` goes before the Finish; ``whether`` says that the question asks for yes or no.
    """

    steps: tuple[PlanStep, ...]
    answers: tuple[str, ...] = ()
    thought: str = ""
    whether: bool = False


def stated(statements: Sequence[Statement]) -> str:
    """Write predicted triples on one line.

    >>> stated([("Ulm", "river", "Danube")])
    '("Ulm", "river", "Danube")'
    """
    rows = (", ".join(quoted(part) for part in statement) for statement in statements[:STATEMENTS])
    return " ".join(f"({row})" for row in rows)


def outlined(plan: SearchPlan) -> list[dict[str, str]]:
    """Give what each step searches and predicts: for a trace.

    >>> outlined(SearchPlan((PlanStep("", "Ulm river", (("Ulm", "river", "Danube"),)),)))
    [{'search': 'Ulm river', 'predicted': '("Ulm", "river", "Danube")'}]
    """
    return [
        {"search": one_line(step.search, SENTENCE_LIMIT), "predicted": stated(step.observation)}
        for step in plan.steps
    ]


def draw_step(step: PlanStep, number: int) -> str:
    """Draw one step, in three lines at most."""
    lines = [
        f"Thought {number}: {quoted(step.thought, SENTENCE_LIMIT)}",
        f"Action {number}: Search[{quoted(step.search, SENTENCE_LIMIT)}]",
    ]
    if step.observation:
        lines.append(f"Predicted observation {number}: {stated(step.observation)}")
    return "\n".join(lines)


def draw_plan(plan: SearchPlan, done: int = 0) -> str:
    """Draw a plan; a line marks the end of the first ``done`` steps, which were carried out."""
    drawn = [draw_step(step, number) for number, step in enumerate(plan.steps, 1)]
    if done:
        drawn.insert(min(done, len(drawn)), "--- carried out up to here ---")
    last = len(plan.steps) + 1
    if plan.thought:
        drawn.append(f"Thought {last}: {quoted(plan.thought, SENTENCE_LIMIT)}")
    drawn.append(f"Action {last}: Finish[{', '.join(map(quoted, plan.answers[:ANSWERS]))}]")
    return "\n".join(drawn)
