"""Prune: how much does each relation promise? (ToG: relation exploration)."""

from collections import Counter
from collections.abc import Sequence

from kgqa.kg.terms import Chain
from kgqa.models.errors import MalformedReply
from kgqa.nodes.likeness import likeness
from kgqa.priors.guidance import spaced
from kgqa.prompts.chain import base_of
from kgqa.prompts.score_relations import ScoreRelations
from kgqa.session.frontier import Frontier, FrontierUpdate, Scored, spent
from kgqa.session.step import Run, step


@step("prune")
async def score_relations(state: Frontier, run: Run) -> FrontierUpdate:
    """Score what leaves the frontier, and keep the best of each of its chains.

    The model scores it, in one call for the whole frontier, or BM25 or the encoder by the words
    of the question (``pruning``). A malformed reply counts as no choice.
    """
    try:
        scored = await _scored(state, run)
    except MalformedReply as error:
        run.failed(error)
        return {"offers": [], "decision": "backtrack"}
    kept: list[Scored] = []
    taken: Counter[Chain] = Counter()
    for offer in sorted(scored, key=lambda each: -each.score):
        parent = base_of(offer.chain)
        if offer.score > 0 and taken[parent] < run.context.width:
            taken[parent] += 1
            kept.append(offer)
    run.note |= {"chosen": [f"{each.chain} {each.score:.2f}" for each in kept]}
    run.note["set_aside"] = len(state["offers"]) - len(kept)
    if not kept:
        return {"offers": [], "spent": spent(state), "decision": "backtrack"}
    return {"offers": kept}


async def _scored(state: Frontier, run: Run) -> Sequence[Scored]:
    chains = [offer.chain for offer in state["offers"]]
    by = run.context.pruning
    if by in {"bm25", "encoder"}:
        texts = [spaced(chain.hops[-1].words) for chain in chains]
        scores = await likeness(texts, state["question"], by, run)
        return [Scored(chain, score) for chain, score in zip(chains, scores, strict=True)]
    prompt = ScoreRelations(
        state["question"], tuple(chains), run.context.width, topics=tuple(state["topic_entities"])
    )
    reply = await run.ask(prompt)
    run.note["reason"] = reply.rationale
    return [Scored(chains[each.number - 1], each.score) for each in reply.scores]
