"""Prompts of VoG about the family, and what the graph says as paths."""

from collections.abc import Sequence

from kgqa.kg.terms import Entity, Hop, Path
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.plans import PlanReply, PlanStep, SearchPlan, parse_plan
from kgqa.tests.unit.evaluation.simulation.family import chain


def step(*rows: str) -> PlanStep:
    """A step that predicts rows of three words."""
    return PlanStep("Find it.", "it", tuple(tuple(row.split()) for row in rows))  # type: ignore[misc]


def plan(*rows: str, answers: Sequence[str] = ()) -> SearchPlan:
    """A plan of steps that predict one row each."""
    return SearchPlan(tuple(map(step, rows)), tuple(answers))


def hop(name: str) -> Hop:
    return chain("ann", name).hops[0]


def walk(topic: str, moves: str = "") -> Path:
    """A path by words: relation, node, relation, node; a node that begins with ``_`` has no name."""
    words = moves.split()
    path = Path(chain(topic).topic)
    for relation, node in zip(words[::2], words[1::2], strict=True):
        named = chain(node).topic
        path = path.then(hop(relation), Entity(named.id) if node.startswith("_") else named)
    return path


def offers(*names: str, heads: tuple[int, ...] = (0,)) -> tuple[RelationCandidate, ...]:
    return tuple(RelationCandidate(hop(name), heads) for name in names)


def rows(reply: PlanReply) -> list[str]:
    """The predictions of a reply, one text for each step."""
    return [" & ".join(map(" ".join, step.observation)) for step in parse_plan(reply).steps]
