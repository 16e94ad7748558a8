"""Expand, filter: where do the chosen relations lead, what is kept? (VoG §3.2, entity retrieval)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Path, Term
from kgqa.nodes.vog.rerank import likeliest_terms, predicted_texts
from kgqa.nodes.vog.state import (
    MAX_FRONTIER_PATHS,
    VoGState,
    VoGUpdate,
    asks_at_end,
    current_step,
    extended_chains,
    limit_paths,
    max_selections,
    next_decision,
    observations,
    open_paths,
)
from kgqa.prompts.facts import RelationCandidate, draw_shared_chain, last_named_node
from kgqa.prompts.select_relations import SelectEntities
from kgqa.runtime.node import NodeRuntime, node
from kgqa.tools.arguments import relation_arguments

MAX_CROSSINGS = 2  # how often one step goes on from nodes without a name
MAX_REACHED_PATHS = 2_000  # paths that one step reaches at most


@node("expand")
async def expand(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Follow all relations from where they were offered, in one query, and in another one what comes after.

    Nodes without a name that no offer has crossed are crossed in the same step. By
    ``frontier="previous"`` they are not, and each relation is followed from all, in both directions. Where
    the relations time out together each is followed alone, and what could be followed stays; with
    nothing at all the step is passed over.
    """
    offers, frontier, crossed = state["offers"], open_paths(state), state["crossed"]
    if runtime.context.frontier == "previous":  # (e, r, ?) and (?, r, e) for each e
        heads = tuple(place for place, path in enumerate(frontier) if isinstance(path.end, Entity))
        hops = dict.fromkeys(hop for offer in offers for hop in (offer.hop, offer.hop.inverse))
        offers = [RelationCandidate(hop, heads) for hop in hops]
    found, cut = await _follow_offers(offers, frontier, runtime)
    unnamed = limit_paths(path for path in found if not path.end.name)
    crosses = bool(unnamed) and crossed < MAX_CROSSINGS and runtime.context.frontier == "wide"
    every = dict.fromkeys([*state["reached"], *(path for path in found if path.end.name or not crosses)])
    reached = list(every)[:MAX_REACHED_PATHS]
    cut = cut or len(every) > MAX_REACHED_PATHS or len(unnamed) == MAX_FRONTIER_PATHS
    ends = len({path.end for path in found})
    runtime.trace |= {"step": state["step_index"], "ends": ends, "unnamed": len(unnamed), "truncated": cut}
    update: VoGUpdate = {"reached": reached}
    if runtime.context.retry_search:
        update["tried"] = [*state["tried"], *extended_chains(offers, frontier)]
    if crosses:
        return {**update, "crossing": unnamed, "crossed": crossed + 1, "decision": "forward"}
    if reached:
        return {**update, "decision": "filter"}
    failed = "failure" in runtime.trace
    return {**update, "decision": "backtrack" if failed else next_decision((), state, runtime.context)}


async def _follow_offers(
    offers: Sequence[RelationCandidate], frontier: Sequence[Path], runtime: NodeRuntime
) -> tuple[list[Path], bool]:
    """Return the paths that offers lead on to, past nodes without a name, and whether there are more."""
    heads: dict[Hop, set[int]] = {}
    after: dict[Hop, set[Hop]] = {}
    for offer in offers:
        heads.setdefault(offer.hop, set()).update(offer.heads)
        if offer.after:
            after.setdefault(offer.after, set()).add(offer.hop)
    first = [RelationCandidate(hop, tuple(sorted(places))) for hop, places in heads.items()]
    found, cut = await _follow_relations(first, frontier, runtime)
    ways = {hop for before in after.values() for hop in before}
    between = [path for path in found if path.steps[-1][0] in ways and isinstance(path.end, Entity)]
    middle = between[:MAX_FRONTIER_PATHS]
    further = []
    for hop, before in after.items():
        places = tuple(at for at, path in enumerate(middle) if path.steps[-1][0] in before)
        further += [RelationCandidate(hop, places)] if places else []
    past, more = await _follow_relations(further, middle, runtime) if further else ([], False)
    direct = [path for path in found if path.steps[-1][0] not in ways]
    return [*direct, *past], cut or more or len(between) > len(middle)


async def _follow_relations(
    offers: Sequence[RelationCandidate], frontier: Sequence[Path], runtime: NodeRuntime
) -> tuple[list[Path], bool]:
    """Return the paths that the relations lead on to, and whether there are more."""
    steps = []
    for offer in offers:
        ends = (frontier[place].end for place in offer.heads)
        steps.append(relation_arguments([end for end in ends if isinstance(end, Entity)], offer.hop))
    try:
        parts: list[list[Page[Term]]] = await runtime.call_tool("follow_relations", steps=steps)
    except (KGTimeout, KGRejected) as error:
        if len(offers) == 1:
            runtime.record_failure(error)
            return [], True
        runtime.trace["alone"] = True
        alone = [await _follow_relations([offer], frontier, runtime) for offer in offers]
        return [path for paths, _ in alone for path in paths], any(cut for _, cut in alone)
    found = [
        frontier[place].then(offer.hop, term)
        for offer, pages in zip(offers, parts, strict=True)
        for place, page in zip(offer.heads, pages, strict=True)
        for term in page
    ]
    return found, any(page.truncated for pages in parts for page in pages)


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
