"""What leads on from a frontier, and which of it is shown; for the nodes that search step by step.

Both filters are VoG's entropy filter (appendix A.2, equations 5 to 8).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Path, Term
from kgqa.priors.answer_agreement import normalise_answer
from kgqa.priors.candidate_ranking import (
    WEIGHT_DECIMALS,
    relation_words,
    select_candidates,
    similarity_to_suggestions,
)
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.plans import PlanStep
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import KnownExtensions
from kgqa.tools.arguments import relation_arguments

MAX_COMPARED_NAMES = 500
"""Names that are compared with what is suggested, at most: to encode more takes seconds."""


async def list_candidates(
    frontier: Sequence[Path], leads: Sequence[KnownExtensions], runtime: NodeRuntime
) -> list[RelationCandidate]:
    """Return the relations that leave the frontier, sorted as the graph sorts hops.

    The graph is asked, in one query, for what is not known of the topics already (``leads``).

    Raises:
        KGError: if the graph fails or refuses.
    """
    ends = {path.end.id: path.end for path in frontier if isinstance(path.end, Entity)}
    if not ends:
        return []
    known = {lead.chain.topic.id: lead.hops for lead in leads if not lead.chain.hops}
    asked = [entity for id, entity in ends.items() if id not in known]
    if asked:
        pages: dict[str, Page[Hop]] = await runtime.call_tool("list_relations", **relation_arguments(asked))
        known |= {id: page.items for id, page in pages.items()}
    heads: dict[Hop, list[int]] = {}
    for place, path in enumerate(frontier):
        for hop in known.get(path.end.id, ()) if isinstance(path.end, Entity) else ():
            heads.setdefault(hop, []).append(place)
    ordered = sorted(heads, key=lambda hop: (hop.relation, not hop.forward))
    return [RelationCandidate(hop, tuple(heads[hop])) for hop in ordered]


async def rank_candidates(
    offers: Sequence[RelationCandidate],
    frontier: Sequence[Path],
    question: str,
    step: PlanStep | None,
    runtime: NodeRuntime,
) -> list[RelationCandidate]:
    """Put relations in order by their likeness to what is suggested, and keep the best for each topic.

    Those most alike to what the step predicts are kept, and those most alike to the question,
    so that a wrong prediction does not crowd out the right relation.

    Raises:
        EncoderError: if there is no encoder.
    """
    if not offers:
        return []
    texts = [relation_words(offer.hop.words) for offer in offers]
    by_both = [
        await _likeness_weights(texts, hints, runtime)
        for hints in ([question], predicted_texts(step))
        if hints
    ]
    stay: set[int] = set()
    for topic in dict.fromkeys(path.topic for path in frontier):
        places = [
            at for at, offer in enumerate(offers) if any(frontier[h].topic == topic for h in offer.heads)
        ]
        stay.update(places[at] for weights in by_both for at in _best_indices(weights[places], runtime))
    likest = np.max(by_both, axis=0)
    return [offers[at] for at in sorted(stay, key=lambda at: (-likest[at], at))]


async def likeliest_terms(
    terms: Sequence[Term], suggestions: Sequence[str], runtime: NodeRuntime
) -> list[Term]:
    """Keep as many terms as the entropy filter shows, the likeliest first; all in order if they are few.

    What is suggested by its name comes before all others. Nodes without a name cannot be
    compared: they come last, as they are.

    Raises:
        EncoderError: if there is no encoder.
    """
    if len(terms) <= runtime.context.width:
        return list(terms)
    wanted = set(map(normalise_answer, suggestions))
    named = [term for term in terms if term.name]
    called = [term for term in named if normalise_answer(term.name or "") in wanted]
    first = set(called)
    others = [term for term in named if term not in first][:MAX_COMPARED_NAMES]
    weights = await _likeness_weights([str(term.name) for term in others], suggestions, runtime)
    shown = [
        *called,
        *(others[at] for at in _best_indices(weights, runtime)),
        *(term for term in terms if not term.name),
    ]
    return shown[: runtime.context.width]


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
    return (
        similarity_to_suggestions(rows[: len(texts)], rows[len(texts) :])
        .astype(np.float64)
        .round(WEIGHT_DECIMALS)
    )


def _best_indices(weights: npt.NDArray[np.float64], runtime: NodeRuntime) -> list[int]:
    context = runtime.context
    return select_candidates(weights, min(context.k_min, context.width), context.width, context.temperature)
