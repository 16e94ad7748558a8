"""Retrieve, rerank, prune: which relations are worth showing? (VoG §3.2, A.2, equations 5 to 8)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Chain, Entity, Hop, Path, Term
from kgqa.nodes.retrieve_relations import list_extensions
from kgqa.nodes.vog.state import (
    SearchCheckpoint,
    VoGState,
    VoGUpdate,
    concludes,
    current_step,
    earlier_checkpoints,
    extended_chains,
    max_selections,
    next_decision,
    open_paths,
)
from kgqa.priors.answer_agreement import normalise_answer
from kgqa.priors.candidate_ranking import (
    hop_words,
    relation_words,
    select_candidates,
    similarity_to_suggestions,
)
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.plans import PlanStep
from kgqa.prompts.select_relations import SelectRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, OutrightChain, node_has_run
from kgqa.tools.arguments import relation_arguments


@node("retrieve_relations")
async def retrieve_relations(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Ask the graph which relations leave the frontier, in either direction.

    A time-out is no empty observation: the step is passed over. Once the search has been taken up
    again, what was tried is left out.
    """
    index, frontier = state["step_index"], open_paths(state)
    runtime.trace |= {"step": index, "frontier": len(frontier)}
    offers = await list_candidates(frontier, state["leads"], runtime)
    if offers is None:
        return {"offers": [], "decision": "filter" if state["reached"] else "backtrack"}
    update: VoGUpdate = {}
    if runtime.context.retry_search:
        if node_has_run(state, "look_again"):
            offers = leave_out_tried(offers, frontier, set(state["tried"]))
        ahead = extended_chains(offers, frontier)
        checkpoint = SearchCheckpoint(index, state["frontier"], state["crossing"], state["crossed"], ahead)
        update["checkpoints"] = [*earlier_checkpoints(state, checkpoint), checkpoint]
    runtime.trace["relations"] = len(offers)
    decision = next_decision(offers, state, runtime.context, dead_end=not offers)
    return {**update, "offers": offers, "decision": decision}


async def list_candidates(
    frontier: Sequence[Path], leads: Sequence[KnownExtensions], runtime: NodeRuntime
) -> list[RelationCandidate] | None:
    """Return the relations that leave the frontier, sorted as the graph sorts hops; None if it fails.

    One that leads to nodes without a name is offered together with those that lead on from there
    (``cross_mediators``); what describes the database only where there is nothing else (``hide_noise``).
    """
    known = {lead.chain.topic.id: lead.hops for lead in leads if not lead.chain.hops}
    ends = {path.end.id: path.end for path in frontier if isinstance(path.end, Entity)}
    if asked := [entity for id, entity in ends.items() if id not in known]:
        pages = await runtime.try_tool("list_relations", **relation_arguments(asked))
        if pages is None:
            return None
        known |= {entity.id: pages[entity.id].items if entity.id in pages else () for entity in asked}
    groups: dict[Chain, dict[int, Path]] = {}
    for place, path in enumerate(frontier):
        if isinstance(path.end, Entity):
            groups.setdefault(path.chain, {})[place] = path
    held = {_hold_end(chain, paths.values()): paths for chain, paths in groups.items()}
    leaving = {
        chain: list(dict.fromkeys(hop for path in paths.values() for hop in known[path.end.id]))
        for chain, paths in held.items()
    }
    offered, noise = await list_extensions(leaving, runtime)
    heads: dict[tuple[Hop, ...], list[int]] = {}
    for offer in offered or noise:
        places = [at for at, path in held[offer.start].items() if offer.hops[0] in known[path.end.id]]
        heads[offer.hops] = sorted([*heads.get(offer.hops, ()), *places])
    ordered = sorted(heads, key=lambda hops: [(hop.relation, not hop.forward) for hop in hops])
    return [RelationCandidate(hops[0], tuple(heads[hops]), *hops[1:]) for hops in ordered]


def _hold_end(chain: Chain, paths: Iterable[Path]) -> Chain:
    """Return a chain held to the ends of paths along it."""
    return (
        chain.constrained_to(path.end for path in paths if isinstance(path.end, Entity))
        if chain.hops
        else chain
    )


def leave_out_tried(
    offers: Sequence[RelationCandidate], frontier: Sequence[Path], tried: set[Chain]
) -> list[RelationCandidate]:
    """Leave out of each relation the places from where it was followed before."""
    left = []
    for offer in offers:
        heads = tuple(at for at in offer.heads if offer.extend(frontier[at]) not in tried)
        left += [replace(offer, heads=heads)] if heads else []
    return left


MAX_COMPARED_NAMES = 500
"""Names that are compared with what is suggested, at most: to encode more takes seconds."""


@node("rerank")
async def rerank(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Keep the relations that are most alike to what the step predicts, the fewer the clearer they are."""
    step, frontier = current_step(state), open_paths(state)
    offers = await rank_candidates(state["offers"], frontier, state["question"], step, runtime)
    best = list(map(str, offers[:3]))
    runtime.trace |= {"step": state["step_index"], "kept": len(offers), "best": best}
    return {"offers": offers, "decision": "forward"}


async def rank_candidates(
    offers: Sequence[RelationCandidate],
    frontier: Sequence[Path],
    question: str,
    step: PlanStep | None,
    runtime: NodeRuntime,
) -> list[RelationCandidate]:
    """Put relations in order by their likeness to what is suggested, and keep the best for each topic.

    Those most alike to what the step predicts are kept, and those most alike to the question,
    so that a wrong prediction does not crowd out the right relation. By ``suggestions="plan"``
    those of the step alone, of all topics together.
    """
    if not offers:
        return []
    texts = [hop_words(offer.hops) for offer in offers]
    hints = [hint for hint in ([question], predicted_texts(step)) if hint]
    if runtime.context.suggestions == "plan":
        likest = await _likeness_weights(texts, hints[-1], runtime)
        return [offers[at] for at in _best_indices(likest, runtime)]
    by_hint = [await _likeness_weights(texts, hint, runtime) for hint in hints]
    stay: set[int] = set()
    for topic in dict.fromkeys(path.topic for path in frontier):
        heads = {place for place, path in enumerate(frontier) if path.topic == topic}
        places = [at for at, offer in enumerate(offers) if not heads.isdisjoint(offer.heads)]
        stay.update(places[at] for weights in by_hint for at in _best_indices(weights[places], runtime))
    likest = np.max(by_hint, axis=0)
    return [offers[at] for at in sorted(stay, key=lambda at: (-likest[at], at))]


async def likeliest_terms(
    terms: Sequence[Term], suggestions: Sequence[str], runtime: NodeRuntime
) -> list[Term]:
    """Keep as many terms as the entropy filter shows, the likeliest first; all in order if they are few.

    What is suggested by its name comes before all others. Nodes without a name cannot be
    compared: they come last, as they are. By ``suggestions="plan"`` all are put in order by their weights
    alone, those without a name by their ids.
    """
    width = runtime.context.width
    if len(terms) <= width:
        return list(terms)
    if runtime.context.suggestions == "plan":
        weights = await _likeness_weights([str(term) for term in terms], suggestions, runtime)
        return [terms[at] for at in _best_indices(weights, runtime)]
    wanted = set(map(normalise_answer, suggestions))
    called = [term for term in terms if term.name and normalise_answer(term.name) in wanted]
    first = set(called)
    others = [term for term in terms if term.name and term not in first][:MAX_COMPARED_NAMES]
    weights = await _likeness_weights([str(term.name) for term in others], suggestions, runtime)
    likeliest = [others[at] for at in _best_indices(weights, runtime)]
    return [*called, *likeliest, *(term for term in terms if not term.name)][:width]


def predicted_texts(step: PlanStep | None) -> list[str]:
    """Return what a step suggests to look for: the relations that it predicts, and what it searches."""
    if step is None:
        return []
    relations = (relation for _, relation, _ in step.observation)
    return [text for text in dict.fromkeys([*relations, step.search]) if text.strip()]


async def _likeness_weights(
    texts: Sequence[str], suggestions: Sequence[str], runtime: NodeRuntime
) -> npt.NDArray[np.float64]:
    """Return the likeness of each text to the suggestion it is most alike to: w (equation 5)."""
    if not texts:
        return np.zeros(0)
    rows = await runtime.encode([*texts, *map(relation_words, suggestions)])
    return similarity_to_suggestions(rows[: len(texts)], rows[len(texts) :])


def _best_indices(weights: npt.NDArray[np.float64], runtime: NodeRuntime) -> list[int]:
    context = runtime.context
    return select_candidates(
        weights, min(context.k_min, context.width), context.width, context.softmax_temperature
    )


MAX_UNASKED_RELATIONS = 3  # relations that are followed where the model was not asked, or would not say


@node("prune")
async def prune(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model choose among the relations; a single one needs no call.

    In the last step it may say that the first leads to the answers, by itself or with only a condition left
    (``outright_answers``). A malformed reply, or one too many in the same step, leaves the likeliest.
    """
    context, offers, asked = runtime.context, state["offers"], state["asked"]
    said: OutrightChain | None = None
    chosen = offers[:MAX_UNASKED_RELATIONS]
    if len(offers) > 1 and asked < max_selections(state, context):
        step, frontier, topics = current_step(state), open_paths(state), tuple(state["topic_entities"])
        outright = context.outright_answers and concludes(state, context) and len(topics) == 1
        prompt = SelectRelations(
            state["question"],
            step,
            tuple(frontier),
            tuple(offers),
            outright,
            filtering=context.attributes,
            topics=topics,
        )
        asked += 1
        if reply := await runtime.ask(prompt):
            runtime.trace["reason"] = reply.rationale
            chosen = [offers[number - 1] for number in reply.relations]
            if outright and len(chosen) == 1 and reply.then in {"stop", "filter"}:
                said = OutrightChain(chosen[0].extend(frontier[chosen[0].heads[0]]), reply.then)
    runtime.trace |= {"step": state["step_index"], "chosen": list(map(str, chosen))}
    decision = next_decision(chosen, state, context)
    return {"offers": chosen, "asked": asked, "outright": said, "decision": decision}
