"""Replies about plans in steps: the plan, the relations and entities of a step, its verification."""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise, zip_longest
from typing import Any

import numpy as np

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.answer_selection import follow_hops, keep_entities
from kgqa.models.offline.claim_replies import fact_polarity, read_claim
from kgqa.models.offline.interpretation import Interpretation
from kgqa.models.offline.question_intent import named_terms
from kgqa.prompts.chain import extend
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.prompts.plan_steps import PlanSteps, StepsReply
from kgqa.prompts.plans import Statement, StepReply
from kgqa.prompts.revise_plan import RevisedSteps, RevisePlan
from kgqa.prompts.select_entities import SelectedEntities, SelectEntities
from kgqa.prompts.select_relations import SelectedRelations, SelectRelations
from kgqa.prompts.verify_step import StepVerdict, VerifyStep
from kgqa.retrieval.lookups import NO_ANSWER, Lookups
from kgqa.retrieval.wording import relation_phrase, text_similarities

_MAX_STATEMENTS = 8  # statements that a step predicts at most
_MAX_HEADS = 3  # nodes of which a prediction is made, of those that a move begins at
_UNKNOWN_HEAD = "?"  # where a move begins at several: of each only some is foreseen
_NEAREST_RELATIONS = 3  # that are followed where no chain is known


def _step_searches(known: Interpretation) -> list[str]:
    """Say for each step what it looks for: ``mayor of Ulm``, then ``spouse of the mayor``."""
    columns = []
    for chain in known.chains.values():
        moves = known.moves[chain.topic]
        words = [" ".join(dict.fromkeys(relation_phrase(hop.words) for hop in move)) for move in moves]
        further = (f"{two} of the {one}" for one, two in pairwise(words))
        columns.append([*(f"{each} of {chain.topic}" for each in words[:1]), *further])
    return ["; ".join(dict.fromkeys(filter(None, row))) for row in zip_longest(*columns)]


async def _outline(known: Interpretation) -> list[StepReply]:
    """Return the steps of a plan along the chosen chains, with what the graph says at each.

    The topics take turns until there are `_MAX_STATEMENTS`.
    """
    graph = Lookups(known.graph)
    predicted = [await _predict_statements(topic, moves, graph) for topic, moves in known.moves.items()]
    steps = []
    searches = _step_searches(known)
    for search, row in zip(searches, zip_longest(*predicted, fillvalue=()), strict=True):
        turns = (statement for column in zip_longest(*row) for statement in column if statement)
        shown = islice(dict.fromkeys(turns), _MAX_STATEMENTS)
        steps.append(
            StepReply(thought=f"Look for the {search}.", search=search, observation=list(map(list, shown)))
        )
    return steps


async def _predict_statements(
    topic: Entity, moves: Iterable[Sequence[Hop]], graph: Lookups
) -> list[list[Statement]]:
    """Return for each move from a topic some of what the graph says; nothing where that takes too long."""
    rows: list[list[Statement]] = []
    heads = [topic]
    for move in moves:
        try:
            reached = await follow_hops(heads, move, graph)
        except NO_ANSWER:
            reached = {}
        pairs = [  # by their names; what leads back comes last
            (head, end)
            for head, ends in reached.items()
            for end in sorted(ends, key=lambda end: (end == head, end.name or "", end.id))
        ]
        words = " ".join(hop.words for hop in move)
        row: list[Statement] = []
        for head, end in pairs:
            if end.name:
                said = _UNKNOWN_HEAD if len(heads) > 1 else str(head)
                row.append((said, words, str(end)) if move[-1].forward else (str(end), words, said))
        rows.append(row)
        heads = list(islice(dict.fromkeys(keep_entities(end for _, end in pairs)), _MAX_HEADS))
    return rows


async def select_relations(prompt: SelectRelations, known: Interpretation) -> SelectedRelations:
    """Choose what the chosen chain goes on by, and whatever says the same the other way round.

    Where that is not offered, what another chain goes on by; where none is known, the nearest in words.
    A question for yes or no may be borne out or denied by whatever else joins the same things.
    """
    if not known.chains:
        texts = [" ".join(relation_phrase(hop.words) for hop in offer.hops) for offer in prompt.offers]
        alike = await asyncio.to_thread(text_similarities, prompt.question, texts, known.encode)
        nearest = [int(at) + 1 for at in np.argsort(-alike, kind="stable")[:_NEAREST_RELATIONS]]
        return SelectedRelations(relations=nearest)
    others = [chain for each in known.alternatives.values() for chain in each]
    chosen = list(known.chains.values())
    if is_yes_no_question(prompt.question):  # a single hop more, or another last hop
        chosen += [
            chain
            for chain in others
            if chain.depth == 1 or chain.hops[:-1] == known.chains[chain.topic].hops[:-1]
        ]
    numbers = _matching_offers(prompt, chosen, known) or _matching_offers(prompt, others, known)
    return SelectedRelations(relations=numbers)


def _matching_offers(prompt: SelectRelations, chains: Iterable[Chain], known: Interpretation) -> list[int]:
    """Number the offers by which chains go on from one of their heads; a topic that was left is none."""
    left = {path.topic for path in prompt.frontier if path.steps}
    starts = [path.chain for path in prompt.frontier]
    numbers = []
    for number, offer in enumerate(prompt.offers, 1):
        heads = {starts[at] for at in offer.heads if starts[at].hops or starts[at].topic not in left}
        longer = [extend(head, *offer.hops).chain for head in heads]
        if any(known.goes_along(chain, each) for chain in chains for each in longer):
            numbers.append(number)
    return numbers


async def select_entities(prompt: SelectEntities, known: Interpretation) -> SelectedEntities:
    """Keep all, but for the last step, where the question asks for some of the ends."""
    searches = _step_searches(known)
    right = known.answers if known.answers and searches[-1:] == [prompt.step.search] else frozenset()
    chosen = [number for number, term in enumerate(prompt.offered, 1) if term in right]
    return SelectedEntities(keep="some" if chosen else "all", chosen=chosen)


async def plan_steps(prompt: PlanSteps, known: Interpretation) -> StepsReply:
    """Plan the chosen chain, its answers as the graph has them; where there is none, the question itself."""
    return StepsReply(**await _plan(prompt, prompt.topics, known))


async def revise_plan(prompt: RevisePlan, known: Interpretation) -> RevisedSteps:
    """Plan the chosen chain as at first: it was the graph's from the beginning."""
    topics = prompt.topics or tuple(dict.fromkeys(path.topic for path in prompt.facts))
    return RevisedSteps(first=1, **await _plan(prompt, topics, known))


async def verify_step(prompt: VerifyStep, known: Interpretation) -> StepVerdict:
    """Call for a revision of a step that the chosen chain does not have."""
    astray = bool(known.chains) and prompt.step.search not in _step_searches(known)
    steps = await _outline(known) if astray else []
    observed = steps[prompt.number - 1].observation if prompt.number <= len(steps) else []
    return StepVerdict(revise=astray, observation=observed)


async def _plan(
    prompt: PlanSteps | RevisePlan, topics: tuple[Entity, ...], known: Interpretation
) -> dict[str, Any]:
    """Return the fields of a plan, at first and when it is revised."""
    question = prompt.question
    nearest = StepReply(thought="Look for what is nearest in words.", search=question.strip() or "?")
    steps = await _outline(known) or [nearest]
    if yes_no := is_yes_no_question(question):
        answers = await _answer_yes_no(question, topics, known)
    else:
        answers = await _answer_names(known)
    return {"steps": steps[: prompt.depth], "answers": answers, "whether": yes_no}


async def _answer_names(known: Interpretation) -> list[str]:
    """Return the names of what the chosen chains lead to, or how many there are."""
    ends = [end for page in known.ends.values() for end in page]
    answers = known.answer_terms()
    if await known.counts(ends) and not any(page.truncated for page in known.ends.values()):
        return [str(len(answers))]
    return list(dict.fromkeys(end.name for end in answers if end.name))


async def _answer_yes_no(question: str, topics: tuple[Entity, ...], known: Interpretation) -> list[str]:
    """Say what the first of the chosen chains says that says either; nothing of more than two things."""
    ends = {
        topic: named_terms(question, (end.term for end in page), topics) for topic, page in known.ends.items()
    }
    terms = [*topics, *(end for each in ends.values() for end in each)]
    hops = [hop for chain in known.chains.values() for hop in chain.hops]
    claim = await read_claim(question, topics, terms, hops, known.graph)
    if not claim.clear or sum(map(len, claim.slots)) != 2:
        return []
    for topic, moves in known.moves.items():
        one, others = claim.thing(topic), {claim.thing(end) for end in ends[topic]}
        for two in sorted(filter(None, others)):
            if one and claim.joins(one, two):
                said = await asyncio.to_thread(fact_polarity, claim, one, two, moves, known.encode)
                if said is not None:
                    return ["yes" if said else "no"]
    return []
