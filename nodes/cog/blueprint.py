"""Blueprint: which relations answered questions like this one? (CoG §3.2.1, copy or adapt)."""

import asyncio
from collections.abc import Sequence

from kgqa.kg.terms import Hop
from kgqa.nodes.cog.state import CoGState, CoGUpdate
from kgqa.nodes.recall_exemplars import KnownRelations, known_relations
from kgqa.nodes.similarity import most_similar, similarity
from kgqa.priors.blueprints import BlueprintMatch
from kgqa.priors.candidate_ranking import relation_words
from kgqa.priors.masking import mask_names
from kgqa.priors.slots import Blueprint, Slot
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptFreely
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.runtime.node import NodeRuntime, node

MAX_EXEMPLARS = 2  # blueprints that the model adapts from (§3.2.1: Top-2)
MAX_OFFERED_RELATIONS = 40  # relations of the graph, the nearest to the question, that the model is shown


@node("blueprint")
async def blueprint(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Copy the nearest blueprint, or let the model adapt the nearest two.

    It is copied where its similarity is above the threshold, or where the model is not to adapt, or not yet
    (``planning``); a malformed reply leaves it as it is. An adapted blueprint keeps only relations that the
    graph has, and counts only if there are any; where the graph does not list them all, or adaptation is
    free, the others stay as hints. Without a library the search goes on without a blueprint.
    """
    found, fits = await _choose_blueprint(state, runtime)
    begun: CoGUpdate = {"ranking": [], "findings": [], "pruned": [], "blueprint": found, "fits": fits}
    begun |= {"diagnoses": 0, "checks_without_gain": 0}
    return begun if runtime.context.plans_first else {**begun, "subgoals": []}


async def _choose_blueprint(state: CoGState, runtime: NodeRuntime) -> tuple[Blueprint | None, bool]:
    """Return a blueprint, if there is one, and whether it is copied or adapted, not just the nearest."""
    if not runtime.context.guidance:
        runtime.trace["reason"] = "guidance is off"
        return None, False
    nearest = await nearest_blueprints(state, runtime)
    if not nearest:
        runtime.trace |= {"source": "none", "similarity": None, "anchor": None, "blueprint": None}
        return None, False
    best = nearest[0]
    relations = await known_relations(state, runtime)
    names = {name: hop.words for name, hop in relations.by_name.items()}
    found = Blueprint(  # in the graph's own words; what the graph does not have stays a hint
        tuple(
            tuple(Slot(names.get(slot.relation, slot.relation), slot.forward) for slot in branch)
            for branch in best.blueprint
        )
    )
    source = "copied" if await is_copied(best, runtime) else "nearest"
    if source == "nearest" and runtime.context.adaptation and runtime.context.plans_first:
        written = await _write_branches(state, nearest[:MAX_EXEMPLARS], relations, runtime)
        adapted = read_branches(written, relations, runtime)
        source, found = ("adapted", adapted) if adapted else (source, found)
    runtime.trace |= {
        "source": source,
        "similarity": round(best.similarity, 4),
        "anchor": best.anchor,
        "blueprint": str(found),
    }
    return found, source != "nearest"


async def nearest_blueprints(state: CoGState, runtime: NodeRuntime) -> list[BlueprintMatch]:
    """Return the blueprints of the questions that are most alike, best first; none without a library."""
    library = await runtime.blueprint_library()
    if library is None:
        return []
    masked = mask_names(state["question"], [each.name for each in state["topic_entities"] if each.name])
    finding = asyncio.to_thread(library.nearest, masked, runtime.context.top_k)
    return await runtime.within_time_limit(finding)


async def is_copied(best: BlueprintMatch, runtime: NodeRuntime) -> bool:
    """Return whether a blueprint is so near that it is taken as it is."""
    library = await runtime.blueprint_library()
    tau = runtime.context.tau
    return library is not None and best.similarity > (library.tau if tau is None else tau)


def read_branches(
    branches: Sequence[Sequence[str]], known: KnownRelations, runtime: NodeRuntime
) -> Blueprint | None:
    """Return the blueprint that a model has written; None where the graph has none of it."""
    names = {name: hop.words for name, hop in known.by_name.items()}
    written = [[text.strip() for text in branch] for branch in branches]
    read = [[(text.removeprefix("^").strip(), text[:1] != "^") for text in branch] for branch in written]
    if runtime.context.adaptation == "free" or not known.is_complete:
        hints = (name for branch in read for name, _ in branch)
        names = {name: name for name in hints if not name.startswith("^")} | names
    if read:
        runtime.trace["dropped"] = [name for branch in read for name, _ in branch if name not in names]
    kept = [tuple(Slot(names[name], forward) for name, forward in b if name in names) for b in read]
    if not any(kept):
        return None
    others = Blueprint(tuple(filter(None, kept))).slots  # for a topic of whose branch none is left
    return Blueprint(tuple(branch or others for branch in kept))


async def _write_branches(
    state: CoGState, nearest: Sequence[BlueprintMatch], known: KnownRelations, runtime: NodeRuntime
) -> list[list[str]]:
    """Return the branches that the model writes after the nearest; free, one list after their templates."""
    question, topics = state["question"], tuple(state["topic_entities"])
    if runtime.context.adaptation == "free":
        templates = [(each.anchor, each.blueprint.slots) for each in nearest]
        lists = (SolvedQuestion(anchor, (tuple(s.relation for s in slots),)) for anchor, slots in templates)
        linear = await runtime.ask(AdaptFreely(question, tuple(lists), topics=topics))
        return [linear.relations] if linear else []
    relations = await nearest_relations(question, known.hops, runtime)
    reply = await runtime.ask(AdaptBlueprint(question, topics, solved_questions(nearest), tuple(relations)))
    return reply.branches if reply else []


def solved_questions(nearest: Sequence[BlueprintMatch]) -> tuple[SolvedQuestion, ...]:
    """Return blueprints as prompts show them."""
    branches = (tuple(tuple(map(str, branch)) for branch in each.blueprint) for each in nearest)
    return tuple(map(SolvedQuestion, (each.anchor for each in nearest), branches))


async def nearest_relations(question: str, schema: Sequence[Hop], runtime: NodeRuntime) -> list[str]:
    """Return the names of the relations that are most alike to the question, best first."""
    names = list(dict.fromkeys(hop.words for hop in schema))
    if len(names) <= MAX_OFFERED_RELATIONS:
        return names
    likes = await similarity([*map(relation_words, names)], question, runtime, "encoder")
    return [names[at] for at in most_similar(likes, MAX_OFFERED_RELATIONS)]
