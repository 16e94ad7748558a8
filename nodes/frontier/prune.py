"""Prune: which relations, of all that leave the frontier? (PoG and EGP choose, ToG scores)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from kgqa.kg.terms import Chain
from kgqa.nodes.frontier.state import (
    FrontierState,
    FrontierUpdate,
    explores_entities,
    prompt_context,
    spent_chains,
)
from kgqa.nodes.recall_exemplars import exemplar_hops, hop_text, shown_exemplars
from kgqa.nodes.retrieve_relations import choose_extensions, reached_names
from kgqa.nodes.similarity import similarity_scores
from kgqa.priors.candidate_ranking import hop_words
from kgqa.prompts.chain import Extension
from kgqa.prompts.pick_relations import PickRelations
from kgqa.prompts.score_relations import ScoreRelations
from kgqa.runtime.node import NodeRuntime, node


@node("prune")
async def pick_relations(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model choose as many as the question needs, from all chains of the frontier at once.

    Where the frontier is of entities it is asked about one after the other.
    Solved questions like this one are shown, and the relations that these took are added to what
    is chosen (R_sel and R_cand ∩ R_guide). A malformed reply counts as no choice.
    """
    offers, exemplars = state["offers"], shown_exemplars(state, runtime, "guide_exploration")
    lots = [offers]
    says = runtime.context.outright_answers and not explores_entities(runtime.context)
    reached = [(start, reached_names(start, state)) for start in dict.fromkeys(each.start for each in offers)]
    if explores_entities(runtime.context):
        lots = [list(lot) for _, lot in groupby(offers, lambda offer: offer.start)]
    chosen: list[Extension] = []
    outright = None
    for lot in lots:
        if len(lot) == 1 and not runtime.context.always_ask:
            chosen += lot
            continue
        prompt = PickRelations(
            state["question"],
            tuple(lot),
            says,
            reached=tuple(reached) if says else (),
            exemplars=exemplars,
            **prompt_context(state),
        )
        hidden = [] if explores_entities(runtime.context) else state["hidden"]
        if choice := await choose_extensions(prompt, hidden, runtime):
            chosen += choice.offers
            outright = choice.outright
    runtime.trace |= {"chosen": [str(each.chain) for each in chosen], "set_aside": len(offers) - len(chosen)}
    if exemplars:
        guide = exemplar_hops(exemplars)
        added = [each for each in offers if guide.issuperset(map(hop_text, each.hops)) and each not in chosen]
        runtime.trace["guided"] = [str(each.chain) for each in added]
        chosen += added
    return {**_chosen_update(chosen, state), "outright": outright}


@node("prune")
async def score_relations(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Score what leaves the frontier, and keep the best of each of its chains.

    The model scores it, in one call for the whole frontier, or BM25 or the encoder by the words
    of the question (``pruning``). A malformed reply counts as no choice.
    """
    offers = state["offers"]
    by, width = runtime.context.pruning, runtime.context.width
    question, topics = state["question"], tuple(state["topic_entities"])
    if by in {"bm25", "encoder"}:
        texts = [hop_words(offer.hops) for offer in offers]
        scores = await similarity_scores(texts, question, runtime, by)
        scored = [replace(offer, score=score) for offer, score in zip(offers, scores, strict=True)]
    elif len(offers) == 1 and not runtime.context.always_ask:
        scored = offers
    else:
        reply = await runtime.ask(ScoreRelations(question, tuple(offers), width, topics=topics))
        if reply is None:
            return {"offers": [], "decision": "backtrack"}
        runtime.trace["reason"] = reply.rationale
        scored = [replace(offers[each.number - 1], score=each.score) for each in reply.scores]
    kept: list[Extension] = []
    taken: Counter[Chain] = Counter()
    for offer in sorted(scored, key=lambda each: -each.score):
        if offer.score > 0 and taken[offer.start] < width:
            taken[offer.start] += 1
            kept.append(offer)
    chosen = [f"{each.chain} {each.score:.2f}" for each in kept]
    runtime.trace |= {"chosen": chosen, "set_aside": len(offers) - len(kept)}
    return _chosen_update(kept, state)


def _chosen_update(chosen: Sequence[Extension], state: FrontierState) -> FrontierUpdate:
    if chosen:  # these are in place of what they extend
        return {"offers": list(chosen), "frontier": []}
    return {"offers": [], "spent": spent_chains(state), "decision": "backtrack"}
