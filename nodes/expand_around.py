"""Expand: where do the chosen relations lead? (VoG §3.2, entity retrieval)."""

from collections.abc import Iterable

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Path, Term
from kgqa.prompts.facts import Offer
from kgqa.session.planned import Planned, PlannedUpdate, chains_of, standing, without_more
from kgqa.session.step import Run, step
from kgqa.tools.arguments import relation_arguments

CROSSINGS = 2
"""How often one step goes on from nodes without a name."""

FRONTIER = 500
"""Paths that a search goes on from at most."""

REACHED = 2_000
"""Paths that one step reaches at most."""


@step("expand")
async def expand_around(state: Planned, run: Run) -> PlannedUpdate:
    """Follow all relations from where they were offered, in one query.

    Nodes without a name, such as Freebase's mediators, are crossed in the same step. Where the
    relations time out together each is followed alone, and what could be followed stays; with
    nothing at all the step is passed over.
    """
    found, cut = await _followed(state["offers"], standing(state), run)
    named = [path for path in found if path.end.name]
    unnamed = frontier_of(path for path in found if not path.end.name)
    crosses = bool(unnamed) and state["crossed"] < CROSSINGS
    every = dict.fromkeys([*state["reached"], *(named if crosses else found)])
    reached, cut = list(every)[:REACHED], cut or len(every) > REACHED
    ends = {path.end for path in found}
    run.note |= {"step": state["at"], "ends": len(ends), "unnamed": len(unnamed), "truncated": cut}
    update: PlannedUpdate = {"reached": reached, "truncated": state["truncated"] or cut}
    if run.context.second_look:
        update["tried"] = [*state["tried"], *chains_of(state["offers"], standing(state))]
    if crosses:
        return {**update, "crossing": unnamed, "crossed": state["crossed"] + 1, "decision": "forward"}
    if reached:
        return {**update, "decision": "filter"}
    failed = "failure" in run.note
    return {**update, "decision": "backtrack" if failed else without_more(state, run.context)}


async def _followed(offers: list[Offer], frontier: list[Path], run: Run) -> tuple[list[Path], bool]:
    """Give the paths that the relations lead on to, and whether there are more."""
    try:
        return await _at_once(offers, frontier, run)
    except (KGTimeout, KGRejected) as error:
        if len(offers) == 1:
            run.failed(error)
            return [], False
        run.note["alone"] = True
    found: list[Path] = []
    cut = False
    for offer in offers:
        paths, truncated = await _followed([offer], frontier, run)
        found, cut = [*found, *paths], cut or truncated
    return found, cut


async def _at_once(offers: list[Offer], frontier: list[Path], run: Run) -> tuple[list[Path], bool]:
    """Follow relations in one query.

    Raises:
        KGError: if the graph fails or refuses.
    """
    steps = [relation_arguments(_ends(offer, frontier), offer.hop) for offer in offers]
    parts: list[list[Page[Term]]] = await run.use("follow_relations", steps=steps)
    found = [
        frontier[place].then(offer.hop, term)
        for offer, pages in zip(offers, parts, strict=True)
        for place, page in zip(offer.heads, pages, strict=True)
        for term in page
    ]
    return found, any(page.truncated for pages in parts for page in pages)


def _ends(offer: Offer, frontier: list[Path]) -> list[Entity]:
    return [end for place in offer.heads if isinstance(end := frontier[place].end, Entity)]


def frontier_of(paths: Iterable[Path]) -> list[Path]:
    """Keep the first path from each topic to each end, at most `FRONTIER` of them."""
    return list({(path.topic, path.end): path for path in reversed(list(paths))}.values())[::-1][:FRONTIER]
