"""Blueprint: which relations answered questions like this one? (CoG §3.2.1, copy or adapt)."""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from kgqa.kg.pages import Page
from kgqa.kg.terms import Hop
from kgqa.models.errors import MalformedReply
from kgqa.nodes.schema import relations_by_name
from kgqa.priors.blueprints import Blueprint, Library, Match, Slot, mask
from kgqa.priors.guidance import spaced
from kgqa.prompts.adapt_blueprint import AdaptBlueprint
from kgqa.prompts.solved import Solved
from kgqa.session.guided import Guided, GuidedUpdate
from kgqa.session.step import Run, step

EXEMPLARS = 2
"""Blueprints that the model adapts from (§3.2.1: Top-2)."""

OFFERED = 40
"""Relations of the graph, the nearest to the question, that the model is shown."""


@step("blueprint")
async def blueprint(state: Guided, run: Run) -> GuidedUpdate:
    """Copy the nearest blueprint, or let the model adapt the nearest two.

    It is copied where its likeness is above the threshold, or where the model is not to
    adapt; a malformed reply leaves it as it is. An adapted blueprint keeps only relations
    that the graph has, and counts only if there are any. Without a library the search goes
    on without a blueprint.
    """
    begun: GuidedUpdate = {"ranking": [], "findings": [], "pruned": []}
    return {**begun, "blueprint": await _found(state, run)}


async def _found(state: Guided, run: Run) -> Blueprint | None:
    if not run.context.guidance:
        run.note["reason"] = "guidance is off"
        return None
    library = await run.library()
    nearest = await _nearest(state, library, run) if library else []
    if library is None or not nearest:
        run.note |= {"source": "none", "similarity": None, "anchor": None, "blueprint": None}
        return None
    best = nearest[0]
    schema: Page[Hop] = await run.use("list_schema")
    names = {name: hop.words for name, hop in relations_by_name(schema).items()}
    found = _spoken(best.blueprint, names)
    tau = library.tau if run.context.tau is None else run.context.tau
    source = "copied" if best.similarity > tau else "nearest"
    if source == "nearest" and run.context.adaptation:
        adapted = await _adapted(state, nearest[:EXEMPLARS], schema.items, run)
        known = _known(adapted, names, run) if adapted else None
        source, found = ("adapted", known) if known else (source, found)
    run.note |= {
        "source": source,
        "similarity": round(best.similarity, 4),
        "anchor": best.anchor,
        "blueprint": str(found),
    }
    return found


async def _nearest(state: Guided, library: Library, run: Run) -> list[Match]:
    masked = mask(state["question"], [topic.name for topic in state["topic_entities"] if topic.name])
    return await run.in_time(asyncio.to_thread(library.nearest, masked, run.context.top_k))


async def _adapted(
    state: Guided, nearest: Sequence[Match], schema: Sequence[Hop], run: Run
) -> list[list[str]] | None:
    """Ask the model; None for a malformed reply."""
    exemplars = (
        Solved(match.anchor, tuple(tuple(map(str, branch)) for branch in match.blueprint))
        for match in nearest
    )
    prompt = AdaptBlueprint(
        question=state["question"],
        topics=tuple(state["topic_entities"]),
        exemplars=tuple(exemplars),
        relations=tuple(await _near(state["question"], schema, run)),
    )
    try:
        return (await run.ask(prompt)).branches
    except MalformedReply as error:
        run.failed(error)
        return None


async def _near(question: str, schema: Sequence[Hop], run: Run) -> list[str]:
    """Give the names of the relations that are most alike to the question, best first."""
    names = list(dict.fromkeys(hop.words for hop in schema))
    if len(names) <= OFFERED:
        return names
    rows = await run.encode([*map(spaced, names), question])
    best = await asyncio.to_thread(lambda: np.argsort(-(rows[:-1] @ rows[-1]), kind="stable")[:OFFERED])
    return [names[at] for at in best]


def _spoken(found: Blueprint, names: Mapping[str, str]) -> Blueprint:
    """Write the slots in the graph's own words; what the graph does not have stays a hint."""
    return Blueprint(
        tuple(
            tuple(Slot(names.get(slot.relation, slot.relation), slot.forward) for slot in branch)
            for branch in found
        )
    )


def _known(adapted: Sequence[Sequence[str]], names: Mapping[str, str], run: Run) -> Blueprint | None:
    """Keep the relations that the graph has; None if there are none.

    A branch of which none is left takes those of the others, so that every topic keeps its own.
    """
    read = [
        [(text.strip().removeprefix("^").strip(), not text.strip().startswith("^")) for text in b]
        for b in adapted
    ]
    run.note["dropped"] = [name for branch in read for name, _ in branch if name not in names]
    branches = [tuple(Slot(names[name], forward) for name, forward in b if name in names) for b in read]
    if not any(branches):
        return None
    others = Blueprint(tuple(filter(None, branches))).slots
    return Blueprint(tuple(branch or others for branch in branches))
