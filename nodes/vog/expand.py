"""Expand: where do the chosen relations lead? (VoG §3.2, entity retrieval)."""

from collections.abc import Iterable

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Path, Term
from kgqa.nodes.vog.state import (
    VoGState,
    VoGUpdate,
    current_frontier,
    extended_chains,
    next_without_candidates,
)
from kgqa.prompts.facts import RelationCandidate
from kgqa.runtime.node import NodeRuntime, node
from kgqa.tools.arguments import relation_arguments

MAX_CROSSINGS = 2
"""How often one step goes on from nodes without a name."""

MAX_FRONTIER_PATHS = 500
"""Paths that a search goes on from at most."""

MAX_REACHED_PATHS = 2_000
"""Paths that one step reaches at most."""


@node("expand")
async def expand(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Follow all relations from where they were offered, in one query.

    Nodes without a name, such as Freebase's mediators, are crossed in the same step. Where the
    relations time out together each is followed alone, and what could be followed stays; with
    nothing at all the step is passed over.
    """
    found, cut = await _follow_relations(state["offers"], current_frontier(state), runtime)
    named = [path for path in found if path.end.name]
    unnamed = limit_frontier(path for path in found if not path.end.name)
    crosses = bool(unnamed) and state["crossed"] < MAX_CROSSINGS
    every = dict.fromkeys([*state["reached"], *(named if crosses else found)])
    reached, cut = list(every)[:MAX_REACHED_PATHS], cut or len(every) > MAX_REACHED_PATHS
    ends = {path.end for path in found}
    runtime.trace |= {
        "step": state["step_index"],
        "ends": len(ends),
        "unnamed": len(unnamed),
        "truncated": cut,
    }
    update: VoGUpdate = {"reached": reached, "truncated": state["truncated"] or cut}
    if runtime.context.retry_search:
        update["tried"] = [*state["tried"], *extended_chains(state["offers"], current_frontier(state))]
    if crosses:
        return {**update, "crossing": unnamed, "crossed": state["crossed"] + 1, "decision": "forward"}
    if reached:
        return {**update, "decision": "filter"}
    failed = "failure" in runtime.trace
    return {**update, "decision": "backtrack" if failed else next_without_candidates(state, runtime.context)}


async def _follow_relations(
    offers: list[RelationCandidate], frontier: list[Path], runtime: NodeRuntime
) -> tuple[list[Path], bool]:
    """Return the paths that the relations lead on to, and whether there are more."""
    try:
        return await _follow_together(offers, frontier, runtime)
    except (KGTimeout, KGRejected) as error:
        if len(offers) == 1:
            runtime.record_failure(error)
            return [], False
        runtime.trace["alone"] = True
    found: list[Path] = []
    cut = False
    for offer in offers:
        paths, truncated = await _follow_relations([offer], frontier, runtime)
        found, cut = [*found, *paths], cut or truncated
    return found, cut


async def _follow_together(
    offers: list[RelationCandidate], frontier: list[Path], runtime: NodeRuntime
) -> tuple[list[Path], bool]:
    """Follow relations in one query.

    Raises:
        KGError: if the graph fails or refuses.
    """
    steps = [relation_arguments(_head_entities(offer, frontier), offer.hop) for offer in offers]
    parts: list[list[Page[Term]]] = await runtime.call_tool("follow_relations", steps=steps)
    found = [
        frontier[place].then(offer.hop, term)
        for offer, pages in zip(offers, parts, strict=True)
        for place, page in zip(offer.heads, pages, strict=True)
        for term in page
    ]
    return found, any(page.truncated for pages in parts for page in pages)


def _head_entities(offer: RelationCandidate, frontier: list[Path]) -> list[Entity]:
    return [end for place in offer.heads if isinstance(end := frontier[place].end, Entity)]


def limit_frontier(paths: Iterable[Path]) -> list[Path]:
    """Keep the first path from each topic to each end, at most `FRONTIER` of them."""
    return list({(path.topic, path.end): path for path in reversed(list(paths))}.values())[::-1][
        :MAX_FRONTIER_PATHS
    ]
