"""What leads on from a frontier, and which of it is shown; for the nodes that search step by step.

Both filters are VoG's entropy filter (appendix A.2, equations 5 to 8).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Path, Term
from kgqa.priors.agreement import worded
from kgqa.priors.entropy import DIGITS, kept, likeness
from kgqa.priors.guidance import spaced
from kgqa.prompts.facts import Offer
from kgqa.prompts.plans import PlanStep
from kgqa.session.state import Lead
from kgqa.session.step import Run
from kgqa.tools.arguments import relation_arguments

COMPARED = 500
"""Names that are compared with what is suggested, at most: to encode more takes seconds."""


async def offered(frontier: Sequence[Path], leads: Sequence[Lead], run: Run) -> list[Offer]:
    """Give the relations that leave the frontier, sorted as the graph sorts hops.

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
        pages: dict[str, Page[Hop]] = await run.use("list_relations", **relation_arguments(asked))
        known |= {id: page.items for id, page in pages.items()}
    heads: dict[Hop, list[int]] = {}
    for place, path in enumerate(frontier):
        for hop in known.get(path.end.id, ()) if isinstance(path.end, Entity) else ():
            heads.setdefault(hop, []).append(place)
    ordered = sorted(heads, key=lambda hop: (hop.relation, not hop.forward))
    return [Offer(hop, tuple(heads[hop])) for hop in ordered]


async def ranked(
    offers: Sequence[Offer], frontier: Sequence[Path], question: str, step: PlanStep | None, run: Run
) -> list[Offer]:
    """Put relations in order by their likeness to what is suggested, and keep the best for each topic.

    Those most alike to what the step predicts are kept, and those most alike to the question,
    so that a wrong prediction does not crowd out the right relation.

    Raises:
        EncoderError: if there is no encoder.
    """
    if not offers:
        return []
    texts = [spaced(offer.hop.words) for offer in offers]
    by_both = [await _weights(texts, hints, run) for hints in ([question], predicted(step)) if hints]
    stay: set[int] = set()
    for topic in dict.fromkeys(path.topic for path in frontier):
        places = [
            at for at, offer in enumerate(offers) if any(frontier[h].topic == topic for h in offer.heads)
        ]
        stay.update(places[at] for weights in by_both for at in _best(weights[places], run))
    likest = np.max(by_both, axis=0)
    return [offers[at] for at in sorted(stay, key=lambda at: (-likest[at], at))]


async def likeliest(terms: Sequence[Term], suggestions: Sequence[str], run: Run) -> list[Term]:
    """Keep as many terms as the entropy filter shows, the likeliest first; all in order if they are few.

    What is suggested by its name comes before all others. Nodes without a name cannot be
    compared: they come last, as they are.

    Raises:
        EncoderError: if there is no encoder.
    """
    if len(terms) <= run.context.width:
        return list(terms)
    wanted = set(map(worded, suggestions))
    named = [term for term in terms if term.name]
    called = [term for term in named if worded(term.name or "") in wanted]
    first = set(called)
    others = [term for term in named if term not in first][:COMPARED]
    weights = await _weights([str(term.name) for term in others], suggestions, run)
    shown = [*called, *(others[at] for at in _best(weights, run)), *(term for term in terms if not term.name)]
    return shown[: run.context.width]


def predicted(step: PlanStep | None) -> list[str]:
    """Give what a step suggests to look for: the relations that it predicts, and what it searches."""
    if step is None:
        return []
    relations = (relation for _, relation, _ in step.observation)
    return [text for text in dict.fromkeys([*relations, step.search]) if text.strip()]


async def _weights(texts: Sequence[str], suggestions: Sequence[str], run: Run) -> npt.NDArray[np.float64]:
    """Give the likeness of each text to the suggestion it is most alike to: w (equation 5)."""
    if not texts:
        return np.zeros(0)
    rows = await run.encode([*texts, *map(spaced, suggestions)])
    return likeness(rows[: len(texts)], rows[len(texts) :]).astype(np.float64).round(DIGITS)


def _best(weights: npt.NDArray[np.float64], run: Run) -> list[int]:
    context = run.context
    return kept(weights, min(context.k_min, context.width), context.width, context.temperature)
