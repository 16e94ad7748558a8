"""Filter: which of what was reached does the search go on from? (VoG §3.2 and appendix A.3.3)."""

from collections.abc import Sequence

from kgqa.kg.terms import Hop, Path, Term
from kgqa.models.errors import MalformedReply
from kgqa.nodes.vog.entropy_filter import likeliest_terms, predicted_texts
from kgqa.nodes.vog.expand import limit_frontier
from kgqa.nodes.vog.state import VoGState, VoGUpdate, all_observations, current_step, max_selections
from kgqa.prompts.facts import draw_shared_chain, last_named_node
from kgqa.prompts.select_entities import SelectEntities
from kgqa.runtime.node import NodeRuntime, node


@node("filter")
async def filter_entities(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model choose, for each relation that led to several ends, which of them count.

    Ends that are not chosen stay in the feedback of the step as what the graph says, after
    the chosen. If none at all is chosen, the search goes on from all.
    """
    asked = state["asked"]
    chosen: list[Path] = []
    for paths in _group_paths(state["reached"]):
        ends = list(dict.fromkeys(path.end for path in paths))
        stay: Sequence[Term] = ends
        if len(ends) > 1 and asked < max_selections(state, runtime.context.width):
            stay, asked = await _choose_ends(state, paths, ends, runtime), asked + 1
        staying = set(stay)
        chosen += [path for path in paths if path.end in staying]
    chosen = chosen or state["reached"]
    taken = set(chosen)
    rest = [path for path in state["reached"] if path not in taken]
    runtime.trace |= {"step": state["step_index"], "reached": len(state["reached"]), "chosen": len(chosen)}
    earlier = state["feedback"][: state["step_index"] - 1]
    padding: list[list[Path]] = [[] for _ in range(state["step_index"] - 1 - len(earlier))]
    return {
        "frontier": limit_frontier(chosen),
        "feedback": [*earlier, *padding, [*chosen, *rest]],
        "repeated": _is_repeated(state, chosen),
        "asked": asked,
        "decision": "forward",
    }


async def _choose_ends(
    state: VoGState, paths: Sequence[Path], ends: list[Term], runtime: NodeRuntime
) -> Sequence[Term]:
    step = current_step(state)
    names = [name for head, _, tail in step.observation for name in (head, tail)]
    shown = await likeliest_terms(ends, [state["question"], *predicted_texts(step), *names], runtime)
    prompt = SelectEntities(
        state["question"],
        step,
        draw_shared_chain(paths),
        tuple(shown),
        len(ends),
        topics=tuple(state["topic_entities"]),
    )
    try:
        reply = await runtime.prompt(prompt)
    except MalformedReply as error:
        runtime.record_failure(error)
        return shown
    return ends if reply.keep == "all" else [shown[number - 1] for number in reply.chosen]


def _group_paths(paths: Sequence[Path]) -> list[list[Path]]:
    """Group paths by topic and by the hops they came by, in the order of their first."""
    groups: dict[tuple[Term, tuple[Hop, ...]], list[Path]] = {}
    for path in paths:
        groups.setdefault((path.topic, path.chain.hops), []).append(path)
    return list(groups.values())


def _is_repeated(state: VoGState, chosen: Sequence[Path]) -> bool:
    """Return whether an end was met before, apart from where this step began: E_rep (equation 10)."""
    met = {*state["topic_entities"], *(node for path in all_observations(state) for node in path.nodes)}
    return any(path.end in met and path.end != last_named_node(path) for path in chosen)
