"""Expand: where do the chosen relations lead? (VoG §3.2, entity retrieval)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Path, Term
from kgqa.nodes.vog.state import (
    MAX_FRONTIER_PATHS,
    VoGState,
    VoGUpdate,
    extended_chains,
    limit_paths,
    next_decision,
    open_paths,
)
from kgqa.prompts.facts import RelationCandidate
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
    update: VoGUpdate = {"reached": reached, "cut": state["cut"] or cut}
    update["step_failed"] = state["step_failed"] or runtime.failure is not None
    if runtime.context.retry_search:
        update["tried"] = [*state["tried"], *extended_chains(offers, frontier)]
    if crosses:
        return {**update, "crossing": unnamed, "crossed": crossed + 1, "decision": "forward"}
    if reached:
        return {**update, "decision": "filter"}
    return {
        **update,
        "decision": "backtrack" if runtime.failure else next_decision((), state, runtime.context),
    }


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
