"""Filter: which of what was reached does the search go on from? (VoG §3.2 and appendix A.3.3)."""

from collections.abc import Sequence

from kgqa.kg.terms import Hop, Path, Term
from kgqa.nodes.vog.rerank import likeliest_terms, predicted_texts
from kgqa.nodes.vog.state import (
    VoGState,
    VoGUpdate,
    asks_at_end,
    current_step,
    limit_paths,
    max_selections,
    observations,
)
from kgqa.prompts.facts import draw_shared_chain, last_named_node
from kgqa.prompts.select_entities import SelectEntities
from kgqa.runtime.node import NodeRuntime, node


@node("filter")
async def filter_entities(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model choose, for each relation that led to several ends, which of them count.

    Ends that are not chosen stay in the feedback of the step as what the graph says, after
    the chosen, unless ``feedback`` says otherwise. If none at all is chosen, the search goes on from all.
    Where none has a name there is nothing to choose by, and no call; nor where the end of the plan asks who
    the answer is (``conclude``): what tells them apart is for the graph to decide there, not for a name.
    """
    context, index, reached, asked = runtime.context, state["step_index"], state["reached"], state["asked"]
    groups: dict[tuple[Term, tuple[Hop, ...]], list[Path]] = {}
    for path in reached:
        groups.setdefault((path.topic, path.chain.hops), []).append(path)
    chosen: list[Path] = []
    for paths in groups.values():
        ends = list(dict.fromkeys(path.end for path in paths))
        may_ask = asked < max_selections(state, context) and not asks_at_end(state, context)
        if len(ends) > 1 and (may_ask or context.suggestions == "plan"):
            shown, ends = await _narrow_ends(state, ends, runtime)
            if may_ask and any(term.name for term in shown):
                ends, asked = await _choose_ends(state, paths, shown, ends, runtime), asked + 1
        staying = set(ends)
        chosen += [path for path in paths if path.end in staying]
    chosen = chosen or reached
    taken = set(chosen)
    left_out = [path for path in reached if path not in taken]
    rest = left_out if context.feedback == "reached" else []
    runtime.trace |= {"step": index, "reached": len(reached), "chosen": len(chosen)}
    earlier = state["feedback"][: index - 1]
    padding: list[list[Path]] = [[] for _ in range(index - 1 - len(earlier))]
    return {
        "frontier": limit_paths(chosen),
        "feedback": [*earlier, *padding, [*chosen, *rest]],
        "repeated": _is_repeated(state, chosen, by_hop=context.frontier == "previous"),
        "left_out": [*state["left_out"], *left_out],
        "tried_arms": [],
        "asked": asked,
        "decision": "forward",
    }


async def _narrow_ends(
    state: VoGState, ends: list[Term], runtime: NodeRuntime
) -> tuple[list[Term], list[Term]]:
    """Return the ends that the model is shown, and those that it may keep."""
    step = current_step(state)
    suggested = predicted_texts(step)
    if runtime.context.suggestions == "plan":
        shown = await likeliest_terms(ends, suggested, runtime)
        return shown, shown
    names = [name for head, _, tail in step.observation for name in (head, tail)]
    return await likeliest_terms(ends, [state["question"], *suggested, *names], runtime), ends


async def _choose_ends(
    state: VoGState, paths: Sequence[Path], shown: list[Term], ends: list[Term], runtime: NodeRuntime
) -> list[Term]:
    question, step, topics = state["question"], current_step(state), tuple(state["topic_entities"])
    chain = draw_shared_chain(paths)
    prompt = SelectEntities(question, step, chain, tuple(shown), len(ends), topics=topics)
    reply = await runtime.ask(prompt)
    if reply is None:
        return shown
    return ends if reply.keep == "all" else [shown[number - 1] for number in reply.chosen]


def _is_repeated(state: VoGState, chosen: Sequence[Path], *, by_hop: bool) -> bool:
    """Return whether an end was met before, apart from where this step began: E_rep (equation 10).

    A step begins at the last named node before its end; where each hop is a step, at the node before.
    """
    met = {*state["topic_entities"], *(each for path in observations(state) for each in path.nodes)}
    began = [path.nodes[-2] if by_hop else last_named_node(path) for path in chosen]
    return any(path.end in met and path.end != start for path, start in zip(chosen, began, strict=True))
