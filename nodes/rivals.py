"""Rivals: what else would answer otherwise, of the name of a topic, or a number that the graph states.

Or it is the same relation, the other way round.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace

from kgqa.kg.errors import KGError
from kgqa.kg.linking.class_names import content_words
from kgqa.kg.linking.schema_terms import is_same_name
from kgqa.kg.pages import ChainResult, Match, Proof
from kgqa.kg.proof.query import AnswerQuery, Branch
from kgqa.kg.proof.values import kind_of
from kgqa.kg.terms import Chain, Entity, Hop, Term, local_name
from kgqa.kg.text import FUNCTION_WORDS, fold, spaced, strip_article
from kgqa.priors.masking import mask_topic
from kgqa.prompts.candidates import parse_number
from kgqa.retrieval.directions import turned_noun
from kgqa.retrieval.wording import relation_phrase, word_similarity
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record_alternatives import which_is_meant
from kgqa.runtime.state import State
from kgqa.tools.arguments import chain_arguments

MIN_STEM_SHARED = 0.55  # of a word: "ship" of "shipped"
MAX_NAMESAKES = 5  # things that a question may name by the same part of their names


async def rival_answers(query: AnswerQuery, proof: Proof, state: State, runtime: NodeRuntime) -> list[str]:
    """Return in words what is open because something else would answer otherwise.

    That is which topic is meant where a query has one of several of a name, a number that the graph states
    of what a query counts, and which way a relation is meant.
    """
    found = [name async for name in _ambiguous_names(query, proof, state, runtime)]
    found += [stated async for stated in _stated_numbers(query, proof, state, runtime)]
    return [*found, *[way async for way in _other_ways(query, proof, state, runtime)]]


async def _ambiguous_names(
    query: AnswerQuery, proof: Proof, state: State, runtime: NodeRuntime
) -> AsyncIterator[str]:
    """Yield which topics are meant is open: another of the name has such relations, and other answers."""
    used = {entity for branch in query.branches for chain in branch.chains for entity in _entities(chain)}
    for topic in state["topic_entities"]:
        bearers = [
            each
            for each in (topic, *state["alternative_entities"].get(topic.id, ()))
            if is_same_name(str(each), str(topic))
        ]
        bearers += await _partly_named(topic, state, runtime)
        for one in [each for each in bearers if each in used]:
            for other in [each for each in bearers if each not in used]:
                swapped = replace(query, branches=tuple(_swap(each, one, other) for each in query.branches))
                if await _answers_otherwise(swapped, proof, runtime):
                    same = is_same_name(str(other), str(topic))
                    yield which_is_meant(str(topic) if same else state["mentioned_as"][topic.id])
                    return


async def _partly_named(topic: Entity, state: State, runtime: NodeRuntime) -> list[Entity]:
    """Return others whose names have all words that a question says of a topic's name, if it says a part.

    They are told apart where the question says elsewhere a word of the topic's name that theirs lacks.
    """
    asked, name = (set(fold(text).split()) for text in (state["question"], str(topic)))
    said = state["mentioned_as"].get(topic.id, "")
    if not said or not (part := set(fold(said).split())) < name:
        return []
    try:
        found: list[Match] = await runtime.call_tool("find_entities", name=said, limit=MAX_NAMESAKES)
    except (BudgetExceeded, KGError) as error:
        runtime.trace["rivals"] = f"left out: {error}"
        return []
    sure = any(match.sure for match in found if match.entity == topic)
    others = [match.entity for match in found if match.entity != topic and (match.sure or not sure)]
    words = {other: set(fold(str(other)).split()) for other in others}
    told = asked - FUNCTION_WORDS
    return [other for other in others if part <= words[other] and told.isdisjoint(name - words[other])]


async def _answers_otherwise(query: AnswerQuery, proof: Proof, runtime: NodeRuntime) -> bool:
    """Return whether a query gives other answers; whether one holds is told where its relations lead."""
    try:
        found: Proof = await runtime.call_tool("prove_answers", query=query)
        if {*found.answers} != {*proof.answers} and (query.ask or query.aggregate):
            bare = (_without_constraints(each) for each in query.branches) if query.ask else query.branches
            reached = replace(query, branches=tuple(bare), aggregate=None, ask=False)
            ends: Proof = await runtime.call_tool("prove_answers", query=reached)
            return bool(len(ends.answers))
    except (BudgetExceeded, KGError, ValueError) as error:  # or it is more than a query takes
        runtime.trace["rivals"] = f"left out: {error}"
        return True
    return bool(len(found.answers)) and {*found.answers} != {*proof.answers}


async def _other_ways(
    query: AnswerQuery, proof: Proof, state: State, runtime: NodeRuntime
) -> AsyncIterator[str]:
    """Yield relations of topics that a question says the other way round, or in words of neither way.

    The latter where a topic has such a relation both ways, and the other way leads elsewhere.
    """
    known = {lead.chain.topic: lead.hops for lead in state["leads"] if not lead.chain.hops}
    for branch in query.branches:
        topic, hop = branch.chain.topic, next(iter(branch.chain.hops), None)
        name = strip_article(fold(_said(topic, state))).split()
        if hop is None or not state["linked"] or not name or turned_as_said(branch.chain, state):
            continue
        asked = fold(state["question"]).split()
        turned = replace(branch, chain=replace(branch.chain, hops=(hop.inverse, *branch.chain.hops[1:])))
        if _is_said_before(hop, name, asked):
            if hop.forward:
                yield f"{relation_phrase(hop.words)} {topic}"
        elif hop.inverse in known.get(topic, ()) and not _is_said(hop, _without(name, asked)):
            others = tuple(turned if each is branch else each for each in query.branches)
            if await _answers_otherwise(replace(query, branches=others), proof, runtime):
                yield f"which way {relation_phrase(hop.words)} is meant"


def turned_as_said(chain: Chain, state: State) -> str:
    """Return the noun by which a question says a chain's first relation the other way round; else nothing."""
    masked = mask_topic(state["question"], _said(chain.topic, state), ())
    return turned_noun(masked, chain.hops[0]) if chain.hops else ""


def _said(topic: Entity, state: State) -> str:
    return state["mentioned_as"].get(topic.id, str(topic))


def _is_said_before(hop: Hop, name: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether a question says a relation up to its preposition, and then a name: "owned by Ada"."""
    relation = fold(spaced(hop.words)).split()
    if relation[-1:] and relation[-1] not in FUNCTION_WORDS:
        return False
    tails = (strip_article(" ".join(asked[at:])).split() for at in range(len(asked)))
    starts = [at for at, tail in enumerate(tails) if tail[: len(name)] == name]
    before = (asked[max(0, at - len(relation)) : at] for at in starts)
    return any(
        len(said) == len(relation)
        and all(
            one == other or word_similarity(one, other) >= MIN_STEM_SHARED
            for one, other in zip(said, relation, strict=True)
        )
        for said in before
    )


def _without(name: Sequence[str], asked: Sequence[str]) -> list[str]:
    starts = [at for at in range(len(asked)) if asked[at : at + len(name)] == name]
    return [word for at, word in enumerate(asked) if not any(0 <= at - each < len(name) for each in starts)]


def _is_said(hop: Hop, asked: Sequence[str]) -> bool:
    words = content_words(hop.words).split()
    return all(any(word_similarity(word, other) >= MIN_STEM_SHARED for other in asked) for word in words)


async def _stated_numbers(
    query: AnswerQuery, proof: Proof, state: State, runtime: NodeRuntime
) -> AsyncIterator[str]:
    """Yield numbers that topics have by relations whose words say what is counted, where it is another."""
    if not query.aggregate or query.aggregate.function != "count":
        return
    counted = {*_counted(query, state)} - {frozenset()}
    taken = {hop for branch in query.branches for chain in branch.chains for hop in chain.hops}
    for lead in state["leads"]:
        hops = [hop for hop in lead.hops if hop.forward and hop not in taken and _says_any(hop, counted)]
        chains = [chain_arguments(Chain(lead.chain.topic, (hop,))) for hop in hops if not lead.chain.hops]
        visits: list[ChainResult] = []
        try:
            visits = await runtime.call_tool("visit_chains", chains=chains, hops=False) if chains else []
        except (BudgetExceeded, KGError) as error:
            runtime.trace["rivals"] = f"left out: {error}"
        for hop, visit in zip(hops, visits, strict=False):
            ends = [end.term for end in visit.ends]
            if len(ends) == 1 and _is_other_number(ends[0], [*proof.answers]):
                yield f"{hop.words}: {ends[0]}"


def _counted(query: AnswerQuery, state: State) -> Iterator[frozenset[str]]:
    """Yield the words of what a query counts: of the relations to it, and of the classes that are named."""
    for branch in query.branches:
        if query.returned in branch.places:
            yield from (_words(chain.hops[-1].words) for chain in branch.chains if chain.hops)
    yield from (_words(local_name(id)) for id in state["classes"])


def _words(relation: str) -> frozenset[str]:
    return frozenset(content_words(relation).split())


def _says_any(hop: Hop, counted: set[frozenset[str]]) -> bool:
    said = _words(hop.words)
    return any(each <= said for each in counted)


def _is_other_number(term: Term, answers: list[Term]) -> bool:
    return kind_of(term) == "number" and parse_number(term) not in map(parse_number, answers)


def _entities(chain: Chain) -> Iterator[Entity]:
    yield chain.topic
    yield from (entity for held in chain.constraints for entity in held.entities)


def _swap(branch: Branch, one: Entity, other: Entity) -> Branch:
    """Return a branch with another entity in the place of one."""

    def swapped(chain: Chain) -> Chain:
        constraints = tuple(
            replace(held, entities=tuple(sorted({other if e == one else e for e in held.entities})))
            for held in chain.constraints
        )
        return Chain(other if chain.topic == one else chain.topic, chain.hops, constraints)

    return replace(branch, chain=swapped(branch.chain), others=tuple(map(swapped, branch.others)))


def _without_constraints(branch: Branch) -> Branch:
    free = [replace(chain, constraints=()) for chain in branch.chains]
    return replace(branch, chain=free[0], others=tuple(free[1:]))
