"""Replies about plans in steps: the plan, the relations and entities of a step, its verification."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise, zip_longest

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Path, Term
from kgqa.models.offline.chain_replies import asks_for_count
from kgqa.models.offline.claim_replies import fact_polarity, read_claim
from kgqa.models.offline.comparison_attributes import follow_steps, keep_entities
from kgqa.models.offline.interpreter import Interpretation, QuestionInterpreter
from kgqa.models.offline.inverse_relations import InverseRelations
from kgqa.models.offline.question_intent import QuestionMentions, is_yes_no_question
from kgqa.models.offline.question_words import relation_phrase, text_similarities
from kgqa.prompts.plan_steps import PlanSteps, StepsReply
from kgqa.prompts.plans import MAX_STATEMENTS_SHOWN, PlanStep, Statement, StepReply
from kgqa.prompts.revise_plan import RevisedSteps, RevisePlan
from kgqa.prompts.select_entities import SelectedEntities, SelectEntities
from kgqa.prompts.select_relations import SelectedRelations, SelectRelations
from kgqa.prompts.verify_step import StepVerdict, VerifyStep

MAX_HEADS = 3
"""Nodes of which a prediction is made, of those that a move begins at."""

UNKNOWN_HEAD = "?"
"""What stands for the head where a move begins at several: of each only some is foreseen."""

Move = tuple[Hop, ...]
"""What leads from nodes with names to the next such: a hop, or some that meet at nodes without names."""


async def step_searches(belief: Interpretation, believer: QuestionInterpreter) -> list[str]:
    """Say for each step what it looks for; only the first names the topics, where the others begin is known.

    Raises:
        KGError: if the graph cannot be reached.
    """
    ways = [(chain.topic, await believer.between.moves(chain)) for chain in belief.chains.values()]
    columns = zip_longest(*(_search_texts(topic, moves) for topic, moves in ways))
    return ["; ".join(dict.fromkeys(filter(None, column))) for column in columns]


async def plan_outline(belief: Interpretation, believer: QuestionInterpreter) -> list[PlanStep]:
    """Return the steps of a plan along the believed chains, with what the graph says at each.

    Raises:
        KGError: if the graph cannot be reached.
    """
    predicted = [await _predict_statements(chain, believer) for chain in belief.chains.values()]
    texts = await step_searches(belief, believer)
    rows = zip_longest(*predicted, fillvalue=())
    return [
        PlanStep(f"Look for the {text}.", text, _interleave(row))
        for text, row in zip(texts, rows, strict=True)
    ]


def answer_terms(belief: Interpretation) -> list[Term]:
    """Return what the believed chains lead to, as far as it answers the question, in order of appearance."""
    fresh = [[end for end in page if not end.returning] or list(page) for page in belief.ends.values()]
    terms = dict.fromkeys(end.term for page in fresh for end in page)
    kept = [term for term in terms if belief.answers is None or term in belief.answers]
    return kept


def _search_texts(topic: Entity, moves: Sequence[Move]) -> list[str]:
    """Say moves: ``mayor of Ulm``, then ``spouse of the mayor``."""
    words = [" ".join(dict.fromkeys(relation_phrase(hop.words) for hop in move)) for move in moves]
    later = [f"{two} of the {one}" for one, two in pairwise(words)]
    return [f"{words[0]} of {topic}", *later]


async def _predict_statements(chain: Chain, believer: QuestionInterpreter) -> list[list[Statement]]:
    """Return for each move of a chain some of what the graph says; nothing where that takes too long."""
    rows: list[list[Statement]] = []
    heads = [chain.topic]
    for move in await believer.between.moves(chain):
        led = await _move_ends(heads, move, believer.graph)
        alone = len(heads) == 1
        rows.append(
            [
                _statement(str(head) if alone else UNKNOWN_HEAD, move, str(end))
                for head, ends in led.items()
                for end in ends
                if end.name
            ]
        )
        heads = list(
            islice(dict.fromkeys(keep_entities(end for ends in led.values() for end in ends)), MAX_HEADS)
        )
    return rows


async def _move_ends(
    heads: Sequence[Entity], move: Move, graph: KnowledgeGraph
) -> Mapping[Entity, list[Term]]:
    """Return the ends of a move from each node, by their names; what leads back to it comes last."""
    try:
        led = await follow_steps(heads, tuple((hop,) for hop in move), graph)
    except (KGTimeout, KGRejected):
        return {}
    return {
        head: sorted({end for _, end in pairs}, key=lambda end: (end == head, end.name or "", end.id))
        for head, pairs in led.items()
    }


def _statement(head: str, move: Move, end: str) -> Statement:
    words = " ".join(hop.words for hop in move)
    return (head, words, end) if move[-1].forward else (end, words, head)


def _interleave(rows: Sequence[Sequence[Statement]]) -> tuple[Statement, ...]:
    """Take turns between the topics until there are as many statements as a step shows."""
    turns = (statement for column in zip_longest(*rows) for statement in column if statement)
    return tuple(islice(dict.fromkeys(turns), MAX_STATEMENTS_SHOWN))


NEAREST_RELATIONS = 3
"""Relations that are followed where nothing is believed."""


async def select_relations(prompt: SelectRelations, believer: QuestionInterpreter) -> SelectedRelations:
    """Choose what the believed way goes on by, and whatever says the same the other way round.

    Where that is not offered, what another way goes on by; where nothing is believed, the nearest in words.
    A question for yes or no may be borne out or denied by whatever else joins the same things.
    """
    belief = await believer.believe(prompt.question, prompt.topics or path_topics(prompt.frontier))
    if not belief.chains:
        return SelectedRelations(
            rationale=belief.reason, relations=await _nearest_relations(prompt, believer)
        )
    mirrors = await believer.mirrors()
    others = [way for each in belief.others.values() for way in each]
    believed = list(belief.chains.values())
    if is_yes_no_question(prompt.question):
        believed += [way for way in others if _is_sibling(way, belief.chains[way.topic])]
    for ways in (believed, others):
        if chosen := _matching_offers(prompt, ways, mirrors):
            return SelectedRelations(rationale=belief.reason, relations=chosen)
    return SelectedRelations(rationale=belief.reason, relations=[])


async def select_entities(prompt: SelectEntities, believer: QuestionInterpreter) -> SelectedEntities:
    """Keep all, but for the last step, where the question asks for some of the ends."""
    belief = await believer.believe(prompt.question, prompt.topics)
    texts = await step_searches(belief, believer)
    right = belief.answers if belief.answers and texts[-1:] == [prompt.step.search] else frozenset()
    chosen = [number for number, term in enumerate(prompt.offered, 1) if term in right]
    return SelectedEntities(rationale=belief.reason, keep="some" if chosen else "all", chosen=chosen)


def path_topics(paths: Iterable[Path]) -> tuple[Entity, ...]:
    """Return the topics that paths begin at, each once, in order of appearance."""
    return tuple(dict.fromkeys(path.topic for path in paths))


def _matching_offers(prompt: SelectRelations, ways: Iterable[Chain], mirrors: InverseRelations) -> list[int]:
    """Number the offers by which ways go on from one of their heads; a topic that was left is none."""
    left = {path.topic for path in prompt.frontier if path.steps}
    steps = {
        (way.topic, tuple(map(mirrors.slot, way.hops[:size]))) for way in ways for size in _prefix_sizes(way)
    }
    return [
        number
        for number, offer in enumerate(prompt.offers, 1)
        if any(
            (chain.topic, tuple(map(mirrors.slot, (*chain.hops, offer.hop)))) in steps
            for chain in {prompt.frontier[head].chain for head in offer.heads}
            if chain.hops or chain.topic not in left
        )
    ]


def _is_sibling(way: Chain, believed: Chain) -> bool:
    """Return whether a way is a single hop, or differs from another one in its last hop alone."""
    return way.depth == 1 or way.hops[:-1] == believed.hops[:-1]


def _prefix_sizes(way: Chain) -> range:
    return range(1, way.depth + 1)


async def _nearest_relations(prompt: SelectRelations, believer: QuestionInterpreter) -> list[int]:
    texts = [relation_phrase(offer.hop.words) for offer in prompt.offers]
    alike = await asyncio.to_thread(text_similarities, prompt.question, texts, believer.encode)
    return [int(at) + 1 for at in np.argsort(-alike, kind="stable")[:NEAREST_RELATIONS]]


async def plan_steps(prompt: PlanSteps, believer: QuestionInterpreter) -> StepsReply:
    """Plan the believed way, its answers as the graph has them; where there is none, the question itself."""
    belief = await believer.believe(prompt.question, prompt.topics)
    steps = await _plan_steps(prompt.question, belief, believer)
    return StepsReply(
        rationale=belief.reason,
        steps=_step_replies(steps[: prompt.depth]),
        answers=await _answer_names(prompt.question, prompt.topics, belief, believer),
        whether=is_yes_no_question(prompt.question),
    )


async def revise_plan(prompt: RevisePlan, believer: QuestionInterpreter) -> RevisedSteps:
    """Plan the believed way as at first: it was the graph's from the beginning."""
    topics = prompt.topics or path_topics(prompt.facts)
    belief = await believer.believe(prompt.question, topics)
    steps = await _plan_steps(prompt.question, belief, believer)
    return RevisedSteps(
        rationale=belief.reason,
        first=1,
        steps=_step_replies(steps[: prompt.depth]),
        answers=await _answer_names(prompt.question, topics, belief, believer),
        whether=is_yes_no_question(prompt.question),
    )


async def verify_step(prompt: VerifyStep, believer: QuestionInterpreter) -> StepVerdict:
    """Call for a revision of a step that the believed way does not have."""
    belief = await believer.believe(prompt.question, prompt.topics or path_topics(prompt.facts))
    astray = bool(belief.chains) and prompt.step.search not in await step_searches(belief, believer)
    steps = await plan_outline(belief, believer) if astray else []
    observed = steps[prompt.number - 1].observation if prompt.number <= len(steps) else ()
    return StepVerdict(rationale=belief.reason, revise=astray, observation=list(map(list, observed)))


async def _plan_steps(question: str, belief: Interpretation, believer: QuestionInterpreter) -> list[PlanStep]:
    return await plan_outline(belief, believer) or [
        PlanStep("Look for what is nearest in words.", question.strip() or "?")
    ]


async def _answer_names(
    question: str, topics: tuple[Entity, ...], belief: Interpretation, believer: QuestionInterpreter
) -> list[str]:
    """Return the names of what the belief leads to, or how many there are, or yes or no."""
    if is_yes_no_question(question):
        return await _answer_yes_no(question, topics, belief, believer)
    ends = [end for page in belief.ends.values() for end in page]
    found = answer_terms(belief)
    if asks_for_count(belief, ends) and not any(page.truncated for page in belief.ends.values()):
        return [str(len(found))]
    return list(dict.fromkeys(end.name for end in found if end.name))


async def _answer_yes_no(
    question: str, topics: tuple[Entity, ...], belief: Interpretation, believer: QuestionInterpreter
) -> list[str]:
    """Tell what the first of the believed chains says that says either; nothing of more than two things."""
    named = QuestionMentions(question, topics)
    pages = {topic: [end.term for end in page if end.term in named] for topic, page in belief.ends.items()}
    terms = [*topics, *(end for ends in pages.values() for end in ends)]
    hops = [hop for chain in belief.chains.values() for hop in chain.hops]
    claim = await read_claim(question, topics, terms, hops, believer.graph)
    if not claim.clear or sum(map(len, claim.slots)) != 2:
        return []
    for topic, chain in belief.chains.items():
        one, others = claim.thing(topic), {claim.thing(end) for end in pages[topic]}
        for two in sorted(filter(None, others)):
            moves = await believer.between.moves(chain)
            if one and claim.joins(one, two):
                said = await asyncio.to_thread(fact_polarity, claim, one, two, moves, believer.encode)
                if said is not None:
                    return ["yes" if said else "no"]
    return []


def _step_replies(steps: Iterable[PlanStep]) -> list[StepReply]:
    return [
        StepReply(thought=step.thought, search=step.search, observation=list(map(list, step.observation)))
        for step in steps
    ]
