"""Plans that go wrong: other relations than lead to the answers, other answers."""

from collections.abc import Sequence

from kgqa.evaluation.simulation.case import Case
from kgqa.kg.terms import Chain
from kgqa.priors.guidance import spaced
from kgqa.prompts.plans import PlanStep

TRIED = 5
"""Relations of a topic that are followed for a wrong answer at most."""

WRONG = 3
"""Wrong answers that a plan gives at most."""

_OTHER = {"yes": ("no",), "no": ("yes",), "unknown": ("yes",)}
_NOBODY = ("somebody else",)


async def misled(steps: Sequence[PlanStep], case: Case, begin: int = 0) -> list[PlanStep]:
    """Predict of each step another relation, and names that are no answers.

    ``begin`` is the place of the first of them in its plan.
    """
    names = await wrong_answers(case)
    topics = await case.oracle.topics()
    drawn = case.draws.shuffled("wrong words", await _relations(case))
    wrong = []
    for place, step in enumerate(steps, begin):
        words = spaced(next(drawn, "thing"))
        heads = list(dict.fromkeys(head for head, _, _ in step.observation)) or list(map(str, topics))
        said = tuple((head, words, name) for head in heads[:WRONG] for name in names[:1])
        sought = f"the {words} of {' and '.join(heads[:2]) or 'it'}"
        wrong.append(PlanStep(f"Find {sought}{', next' if place else ''}.", sought, said))
    return wrong


async def wrong_answers(case: Case) -> tuple[str, ...]:
    """Draw names around a topic that are no answers; the opposite of a yes or no."""
    gold = case.oracle.gold
    if gold.verdict:
        return _OTHER[gold.verdict]
    for topic in await case.oracle.topics():
        hops = await case.oracle.terrain.hops(Chain(topic))
        for _, hop in zip(range(TRIED), case.draws.shuffled("wrong answers", hops), strict=False):
            ends = await case.oracle.terrain.ends(Chain(topic, (hop,)))
            marked = zip(ends, gold.mark(ends).right, strict=True)
            names = dict.fromkeys(end.name for end, right in marked if end.name and not right)
            if names:
                return tuple(filter(None, names))[: min(WRONG, max(1, len(gold.names)))]
    return _NOBODY


async def _relations(case: Case) -> list[str]:
    """Give the words of all relations but those on the ways."""
    graph = case.oracle.terrain.graph
    right = {hop.relation for plan in await case.oracle.plans() for hop in plan.hops}
    return [graph.relation_label(relation) for relation in graph.relations if relation not in right]
