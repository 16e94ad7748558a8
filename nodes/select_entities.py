"""Filter: which of what was reached does the search go on from? (VoG §3.2 and appendix A.3.3)."""

from collections.abc import Sequence

from kgqa.kg.terms import Hop, Path, Term
from kgqa.models.errors import MalformedReply
from kgqa.nodes.around import likeliest, predicted
from kgqa.nodes.expand_around import frontier_of
from kgqa.prompts.facts import came_from, draw_chain_of
from kgqa.prompts.select_entities import SelectEntities
from kgqa.session.planned import Planned, PlannedUpdate, at_hand, most_asked, observed
from kgqa.session.step import Run, step


@step("filter")
async def select_entities(state: Planned, run: Run) -> PlannedUpdate:
    """Let the model choose, for each relation that led to several ends, which of them count.

    Ends that are not chosen stay in the feedback of the step as what the graph says, after
    the chosen. If none at all is chosen, the search goes on from all.
    """
    asked = state["asked"]
    chosen: list[Path] = []
    for paths in _groups(state["reached"]):
        ends = list(dict.fromkeys(path.end for path in paths))
        stay: Sequence[Term] = ends
        if len(ends) > 1 and asked < most_asked(state, run.context.width):
            stay, asked = await _chosen(state, paths, ends, run), asked + 1
        staying = set(stay)
        chosen += [path for path in paths if path.end in staying]
    chosen = chosen or state["reached"]
    taken = set(chosen)
    rest = [path for path in state["reached"] if path not in taken]
    run.note |= {"step": state["at"], "reached": len(state["reached"]), "chosen": len(chosen)}
    earlier = state["feedback"][: state["at"] - 1]
    padding: list[list[Path]] = [[] for _ in range(state["at"] - 1 - len(earlier))]
    return {
        "frontier": frontier_of(chosen),
        "feedback": [*earlier, *padding, [*chosen, *rest]],
        "repeated": _comes_back(state, chosen),
        "asked": asked,
        "decision": "forward",
    }


async def _chosen(state: Planned, paths: Sequence[Path], ends: list[Term], run: Run) -> Sequence[Term]:
    step = at_hand(state)
    names = [name for head, _, tail in step.observation for name in (head, tail)]
    shown = await likeliest(ends, [state["question"], *predicted(step), *names], run)
    prompt = SelectEntities(
        state["question"],
        step,
        draw_chain_of(paths),
        tuple(shown),
        len(ends),
        topics=tuple(state["topic_entities"]),
    )
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return shown
    return ends if reply.keep == "all" else [shown[number - 1] for number in reply.chosen]


def _groups(paths: Sequence[Path]) -> list[list[Path]]:
    """Group paths by topic and by the hops they came by, in the order of their first."""
    groups: dict[tuple[Term, tuple[Hop, ...]], list[Path]] = {}
    for path in paths:
        groups.setdefault((path.topic, path.chain.hops), []).append(path)
    return list(groups.values())


def _comes_back(state: Planned, chosen: Sequence[Path]) -> bool:
    """Tell whether an end was met before, apart from where this step began: E_rep (equation 10)."""
    met = {*state["topic_entities"], *(node for path in observed(state) for node in path.nodes)}
    return any(path.end in met and path.end != came_from(path) for path in chosen)
