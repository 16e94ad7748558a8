"""Scores what a beam may go on with."""

from dataclasses import replace

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.evaluation.simulation.pick_relations import leading, mistaken
from kgqa.evaluation.simulation.steps import hops_of
from kgqa.kg.terms import Chain, Entity, Term
from kgqa.prompts.found import shown
from kgqa.prompts.score_entities import ScoredEntities, ScoreEntities
from kgqa.prompts.score_relations import ScoredRelations, ScoreRelations
from kgqa.prompts.scores import Score

BEST = 0.9
"""What is chosen, rightly or wrongly."""

LEAST = 0.5
"""What is recalled beside a wrong choice; an entity that leads to next to nothing of the gold."""


async def score_relations(prompt: ScoreRelations, case: Case) -> ScoredRelations:
    """Give the best score to every relation that leads on to the answers, and none to the others.

    The choice for each chain of the beam is right or wrong by itself. A wrong one gives the best
    score to as many others; where the model recalls the right ones, they have the least.
    """
    scores: list[Score] = []
    for chain, right in (await leading(prompt.offers, case)).items():
        most = max(1, min(len(right), prompt.width))
        wrong = await mistaken(chain, prompt.offers, most, case)
        scores += [Score(number=number, score=BEST) for number in wrong]
        recalled = right if not wrong or case.happens("recall", str(chain)) else []
        left = recalled[: prompt.width - len(wrong)]
        scores += [Score(number=number, score=LEAST if wrong else BEST) for number in left]
    return ScoredRelations(scores=scores)


async def score_entities(prompt: ScoreEntities, case: Case) -> ScoredEntities:
    """Score those that lead to gold answers by how well they do; a wrong choice takes others.

    What a number is computed from, all of it is as good.
    """
    rows = shown(prompt.found)
    worth = {
        row.number: await _worth(prompt.found[row.group - 1].chain, row.candidate.term, case) for row in rows
    }
    right = [number for number, each in worth.items() if each]
    if case.happens("entity"):
        wrong = wrong_choice(right, len(rows), case.draws)
        return ScoredEntities(scores=[Score(number=number, score=BEST) for number in wrong])
    return ScoredEntities(scores=[Score(number=number, score=worth[number]) for number in right])


async def _worth(chain: Chain, term: Term, case: Case) -> float:
    """Say how well one end of a chain leads to the gold answers: 0, or from `LEAST` to `BEST`."""
    oracle = case.oracle
    rests = await oracle.rests(chain)
    if rests and (oracle.gold.is_number or oracle.gold.verdict):
        return BEST
    fits = [oracle.gold.mark([term]).f1] if () in rests else []
    for rest in filter(None, rests) if isinstance(term, Entity) else ():
        held = chain.holding([term])  # type: ignore[list-item]
        whole = replace(held, hops=(*held.hops, *(hops_of(rest, oracle.terrain.graph) or ())))
        fits.append(oracle.gold.mark(await oracle.terrain.ends(whole)).f1)
    best = max(fits, default=0.0)
    return round(LEAST + (BEST - LEAST) * best, 2) if best else 0.0
