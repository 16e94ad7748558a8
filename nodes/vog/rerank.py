"""Rerank: which relations are worth showing? (VoG §3.2 and appendix A.2, equations 5 to 8)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Path, Term
from kgqa.nodes.vog.state import VoGState, VoGUpdate, current_step, open_paths
from kgqa.priors.answer_agreement import normalise_answer
from kgqa.priors.candidate_ranking import (
    hop_words,
    relation_words,
    select_candidates,
    similarity_to_suggestions,
)
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.plans import PlanStep
from kgqa.runtime.node import NodeRuntime, node

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
    """Put relations in order by their similarity to what is suggested, and keep the best for each topic.

    Those most alike to what the step predicts are kept, and those most alike to the question,
    so that a wrong prediction does not crowd out the right relation. By ``suggestions="plan"``
    those of the step alone, of all topics together.
    """
    if not offers:
        return []
    texts = [hop_words(offer.hops) for offer in offers]
    hints = [hint for hint in ([question], predicted_texts(step)) if hint]
    if runtime.context.suggestions == "plan":
        weights = await _similarity_weights(texts, hints[-1], runtime)
        return [offers[at] for at in _best_indices(weights, runtime)]
    by_hint = [await _similarity_weights(texts, hint, runtime) for hint in hints]
    stay: set[int] = set()
    for topic in dict.fromkeys(path.topic for path in frontier):
        heads = {place for place, path in enumerate(frontier) if path.topic == topic}
        places = [at for at, offer in enumerate(offers) if not heads.isdisjoint(offer.heads)]
        stay.update(places[at] for weights in by_hint for at in _best_indices(weights[places], runtime))
    weights = np.max(by_hint, axis=0)
    return [offers[at] for at in sorted(stay, key=lambda at: (-weights[at], at))]


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
        weights = await _similarity_weights([str(term) for term in terms], suggestions, runtime)
        return [terms[at] for at in _best_indices(weights, runtime)]
    wanted = set(map(normalise_answer, suggestions))
    called = [term for term in terms if term.name and normalise_answer(term.name) in wanted]
    first = set(called)
    others = [term for term in terms if term.name and term not in first][:MAX_COMPARED_NAMES]
    weights = await _similarity_weights([str(term.name) for term in others], suggestions, runtime)
    likeliest = [others[at] for at in _best_indices(weights, runtime)]
    return [*called, *likeliest, *(term for term in terms if not term.name)][:width]


def predicted_texts(step: PlanStep | None) -> list[str]:
    """Return what a step suggests to look for: the relations that it predicts, and what it searches."""
    if step is None:
        return []
    relations = (relation for _, relation, _ in step.observation)
    return [text for text in dict.fromkeys([*relations, step.search]) if text.strip()]


async def _similarity_weights(
    texts: Sequence[str], suggestions: Sequence[str], runtime: NodeRuntime
) -> npt.NDArray[np.float64]:
    """Return the similarity of each text to the suggestion it is most alike to: w (equation 5)."""
    if not texts:
        return np.zeros(0)
    rows = await runtime.encode([*texts, *map(relation_words, suggestions)])
    return similarity_to_suggestions(rows[: len(texts)], rows[len(texts) :])


def _best_indices(weights: npt.NDArray[np.float64], runtime: NodeRuntime) -> list[int]:
    context = runtime.context
    return select_candidates(
        weights, min(context.k_min, context.width), context.width, context.softmax_temperature
    )
