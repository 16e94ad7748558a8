"""Proof: the one query that answers come down to, and who has decided what of it (beyond the papers)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain as joined

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Proof
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Pick
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, Path, Term, local_name, one_line, plain_term
from kgqa.kg.text import fold
from kgqa.nodes.coverage import uncovered_phrases
from kgqa.nodes.mentioned import is_term_said, is_value_said
from kgqa.nodes.modifiers import unasked_function, unmet_kind, unused_modifiers
from kgqa.nodes.rivals import rival_answers, turned_as_said
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import Outcome, PathStep, RecordedCondition, ref
from kgqa.runtime.record_text import MAX_READING_CHARS, as_sentence, list_answers, unique_refs
from kgqa.runtime.state import ComputedQuery, State, Update, VerifiedChain
from kgqa.tools.proof import say_answers

RETURNED = 0  # the place of the answers

NO_ANSWERS = "the query gives no answers"

UNJUDGED = "which of these meet the question"
"""The condition that is left where nobody was asked, or every turn was spent."""


def query_of_memory(
    branches: Sequence[VerifiedChain], topics: Sequence[Entity], *, held: bool = True
) -> AnswerQuery:
    """Return what working memory comes down to: its chains meet at their ends.

    The answers are these, or what is at the place that the last one names.

    What the search has held a chain to is picked, apart from topics; or, if not ``held``, left free.

    Raises:
        ValueError: if it is more than a query takes.
    """
    parts, picked = [], []
    free = 1
    for each in branches:
        met = (each.met_at or each.chain.depth) - 1
        numbers = range(free, free + max(0, each.chain.depth - 1))
        places = (*numbers[:met], RETURNED, *numbers[met:])
        free += len(numbers)
        chain, picks = _without_held(each.chain, places, topics)
        parts.append(Branch(chain, places, each.others, each.fresh))
        picked += picks if held else []
        if each.picked is not None:
            picked.append(Pick(places[(each.place or 0) - 1], each.ends, each.picked))
    conditions = (
        replace(condition, place=branch.places[condition.place - 1])
        for each, branch in zip(branches, parts, strict=True)
        for condition in each.conditions
    )
    last, places = branches[-1].aggregate, parts[-1].places
    computed = replace(last, place=places[last.place - 1]) if last and last.place is not None else last
    returned = places[(branches[-1].place or 0) - 1]
    return AnswerQuery(tuple(parts), returned, tuple(conditions), computed, tuple(picked))


def _without_held(chain: Chain, places: Sequence[int], topics: Sequence[Entity]) -> tuple[Chain, list[Pick]]:
    """Return a chain without the entities that it is held to, but for topics, and these as picks."""
    kept = tuple(each for each in chain.constraints if {*each.entities} <= {*topics})
    picks = [
        Pick(places[each.depth - 1], each.entities, f"by way of {', '.join(map(str, each.entities[:3]))}")
        for each in chain.constraints
        if each not in kept
    ]
    return Chain(chain.topic, chain.hops, kept), picks


async def run_query(
    query: AnswerQuery, runtime: NodeRuntime, known: ComputedQuery | None = None
) -> Proof | None:
    """Run an answer query; None where it fails, gives nothing, or more than a page, as the trace says.

    One that is ``known`` is not asked again.
    """
    try:
        if known and known.query == query:
            proof = known.proof
        else:
            proof = await runtime.call_tool("prove_answers", query=query)
    except (BudgetExceeded, KGError) as error:
        runtime.trace["proof"] = f"left out: {error}"
        if isinstance(error, BudgetExceeded):
            runtime.trace["limit"] = error.limit
        return None
    if not len(proof.answers) or proof.answers.truncated:
        more = f"the query gives more than {len(proof.answers)} answers"
        runtime.trace["proof"] = more if len(proof.answers) else NO_ANSWERS
        return None
    return proof


def unmet_topics(query: AnswerQuery, state: State) -> list[str]:
    """Return the topics of the question that are no part of a query, by name.

    A condition for what a topic is called, or for what it may mean instead, is for the topic.
    """
    chains = list(joined.from_iterable(branch.chains for branch in query.branches))
    met: set[object] = {chain.topic for chain in chains} | {each.value for each in query.conditions}
    met |= {entity for chain in chains for held in chain.constraints for entity in held.entities}
    equal = {fold(str(each.value)) for each in query.conditions if each.value and each.operator == "="}

    def is_met(topic: Entity) -> bool:
        meant = [topic, *state["alternative_entities"].get(topic.id, ())]
        texts = {fold(str(topic)), fold(state["mentioned_as"].get(topic.id, ""))} - {""}
        return not met.isdisjoint((*meant, *map(plain_term, meant))) or not equal.isdisjoint(texts)

    unmet = {topic.id: topic for topic in state["topic_entities"] if not is_met(topic)}
    for id, hops in state["classes"].items():
        known = _hops_to_answers(query) if id in unmet else _all_hops(query)
        if known.intersection(hops):
            unmet.pop(id, None)
        elif Entity(id) not in met:
            unmet.setdefault(id, Entity(id, local_name(id)))
    return [*state["unlinked"], *map(str, unmet.values())]


def _hops_to_answers(query: AnswerQuery) -> set[Hop]:
    """Return the hops that end at the returned place."""
    return {
        hop
        for branch in query.branches
        for chain in branch.chains
        for place, hop in zip(branch.places, chain.hops, strict=False)
        if place == query.returned or (hop == chain.hops[-1] and branch.places[-1] == query.returned)
    }


def _all_hops(query: AnswerQuery) -> set[Hop]:
    """Return the hops of a query, of its conditions too."""
    chains = {hop for branch in query.branches for chain in branch.chains for hop in chain.hops}
    return chains | {hop for each in query.conditions for hop in each.attribute}


def recorded_conditions(
    query: AnswerQuery, proof: Proof, state: State, unchecked: Sequence[str]
) -> list[RecordedCondition]:
    """Return the conditions of a query with their parts of it, and those that are not checked.

    The graph compares, but the model has decided where it remembers what to compare with, or to set out
    from, or computes what nobody asks for.
    """
    question, topics = state["question"], {ANY, *state["topic_entities"]}
    starts = dict.fromkeys(chain.topic for branch in query.branches for chain in branch.chains)
    own = [f"from {start}" for start in starts if start not in topics and not is_term_said(start, question)]
    unasked = unasked_function(query.aggregate.function if query.aggregate else None, question)
    own += [unasked] if unasked == "count" else []
    words = [condition.words for condition in query.conditions]
    remembered = [each.remembered or not is_value_said(each, question) for each in query.conditions]
    if query.aggregate and query.aggregate.function != "count":
        words.append(query.aggregate.extreme)
        remembered.append(unasked is not None)
    graph = [
        RecordedCondition(words=each, query=part, by="model" if by_model else "graph")
        for each, by_model, part in zip(words, remembered, proof.conditions, strict=False)
    ]
    model = [
        RecordedCondition(words=pick.words or "chosen by the model", query=part, by="model")
        for pick, part in zip(query.picked, proof.conditions[len(words) :], strict=True)
    ]
    model += [RecordedCondition(words=each, query=None, by="model") for each in own]
    return [*graph, *model, *(RecordedCondition(words=each, query=None, by=None) for each in unchecked)]


async def prove_ends(
    chains: Mapping[Chain, Sequence[Term]], answers: Sequence[Term], state: State, runtime: NodeRuntime
) -> Update:
    """Return the query, conditions and outcome of answers that a model has named, and chains lead to.

    The chains of all topics are to meet, or else the model has inferred that they are alternatives. Where
    they lead to other ends as well, the answers are picked among these; a lone number that is no end counts
    them.
    """
    wanted = {each.id for each in answers}
    try:
        for query in _queries_of_chains(chains, answers) if chains and answers else ():
            if (proof := await run_query(query, runtime)) and {each.id for each in proof.answers} == wanted:
                return await proof_update(query, proof, (), state, runtime)
    except ValueError as error:
        runtime.trace["proof"] = f"left out: {error}"
    return {"outcome": "grounded_unverified"}


async def prove_claim(paths: Sequence[Path], *, holds: bool, state: State, runtime: NodeRuntime) -> Update:
    """Return the query, conditions and outcome of a yes or no by chains that join topics.

    It holds where a path for it ends at another topic, or where those of another do. It does not where a
    path against it ends at no topic, but at what is like one. What rests on other evidence, or on several
    facts that no one query has, or asks for more than that, is the model's inference.
    """
    back = {each.chain.topic: {hop.inverse for hop in each.hops} for each in state["leads"]}
    claims = _joining_chains(paths, state["topic_entities"], back, holds=holds)
    if (claim := next(claims, None)) is not None:
        query = AnswerQuery(make_branches([[chain] for chain in claim]), RETURNED, ask=True)
        proof = await run_query(query, runtime)
        if proof and [each.id for each in proof.answers] == [str(holds).lower()]:
            update = await proof_update(query, proof, (), state, runtime)
            told = {term for path in paths for term in (path.topic, path.end)}
            if update["outcome"] != "grounded_unverified" or not told.issuperset(state["topic_entities"]):
                return update
    return {"outcome": "grounded_inference"}


def _joining_chains(
    paths: Sequence[Path], topics: Sequence[Entity], back: Mapping[Entity, Collection[Hop]], *, holds: bool
) -> Iterator[Sequence[Chain]]:
    """Yield chains that join topics by evidence, or that would join them if it were not against it.

    What they would join is what such a relation leads to elsewhere: ``back`` are the relations that do.
    """
    for path in paths:
        for topic in topics:
            others = path.steps and path.chain.hops[-1] in back.get(topic, ()) and path.end not in topics
            meets = path.end == topic if holds else others
            if path.steps and topic != path.topic and meets:
                yield [path.chain.constrained_to([topic])]
    for path in paths if holds else ():
        met = {other.topic: other.chain for other in paths if other.end == path.end and other.steps}
        if len(met) > 1:
            yield list(met.values())


def say_proof(
    query: AnswerQuery,
    proof: Proof,
    shown: Sequence[Term] = (),
    paths: Sequence[Sequence[PathStep]] = (),
) -> str | None:
    """Return the answers as a sentence; None where none is sure to be right.

    Args:
        query: What is asked for.
        proof: What it gives.
        shown: The answers as they are shown, where that is in another order.
        paths: The chains, with the nodes on their way where there is one.
    """
    if len(proof.reading) > MAX_READING_CHARS:
        return None
    cut, answers = proof.answers.truncated, unique_refs(map(ref, shown or proof.answers.items))
    before = {one_line(path[-1]["head"]["name"] or "") for path in paths if path}
    last, several = before.pop() if len(before) == 1 else "", cut or len(answers) > 1
    return as_sentence(say_answers(query, list_answers(answers, cut=cut), several=several, last=last))


async def proof_update(
    query: AnswerQuery,
    proof: Proof,
    branches: Sequence[VerifiedChain],
    state: State,
    runtime: NodeRuntime,
    *,
    shown: Sequence[Term] = (),
    paths: Sequence[Sequence[PathStep]] = (),
) -> Update:
    """Return what a record says of a query that gives its answers, of ``branches`` of memory where it is so.

    It is unverified where nobody has judged all of it, a topic is no part of it, nothing counts what the
    question asks the number of, it does not apply an order, a negation, a comparison or a year, nothing of it
    says some words of the question, or something else would answer otherwise; what a model has picked or
    inferred is an inference, and so is that topics are alternatives.
    """
    verdicts = [branch.verdict for branch in branches]
    question, topics = state["question"], state["topic_entities"]
    found = tuple(proof.answers)
    modifiers = [*unmet_kind(found, question), *unused_modifiers(query, found, question, topics)]
    turned = (turned_as_said(chain, state) for branch in query.branches for chain in branch.chains)
    modifiers += dict.fromkeys(filter(None, turned))
    cued = {word for modifier in modifiers for word in fold(modifier).split()}
    uncovered = await uncovered_phrases(query, found, state, runtime)
    unmet = [
        *unmet_topics(query, state),
        *modifiers,
        *(each for each in uncovered if cued.isdisjoint(each.split())),
        *await rival_answers(query, proof, state, runtime),
        *_counted_languages(query, branches),
    ]
    earlier = {branch.aggregate for branch in branches[:-1]} - {None}
    if branches and branches[-1].aggregate == Aggregate("count"):
        earlier.discard(Aggregate("count"))  # all chains count the same nodes
    judged = "filter" not in verdicts and not earlier
    conditions = recorded_conditions(query, proof, state, unmet if judged else [*unmet, UNJUDGED])
    outcome: Outcome = "grounded"
    united = any(len({chain.topic for chain in branch.chains}) > 1 for branch in query.branches)
    if united or any(each["by"] == "model" for each in conditions):
        outcome = "grounded_inference"
    if unmet or not judged:
        outcome = "grounded_unverified"
    if judged and "infer" in verdicts:  # what is unmet was said when it was inferred
        outcome = "grounded_inference"
    return {
        "query": proof.sparql,
        "reading": proof.reading,
        "sentence": say_proof(query, proof, shown, paths),
        "conditions": conditions,
        "outcome": outcome,
    }


def _counted_languages(query: AnswerQuery, branches: Sequence[VerifiedChain]) -> list[str]:
    """Return in words that texts of several languages are counted: one may be the translation of another."""
    if not (query.aggregate and query.aggregate.function == "count" and branches):
        return []
    ends = branches[-1].ends
    languages = sorted({end.language for end in ends if isinstance(end, Literal) and end.language})
    return [f"texts in {' and '.join(languages)} are counted"] if len(languages) > 1 else []


def _queries_of_chains(
    chains: Mapping[Chain, Sequence[Term]], answers: Sequence[Term]
) -> Iterator[AnswerQuery]:
    """Yield what may give the answers: what all topics lead to, or any; without what returns; picked."""
    counts = not {end for ends in chains.values() for end in ends}.issuperset(answers)
    topics: dict[Entity, list[Chain]] = {}
    for chain in chains:
        topics.setdefault(chain.topic, []).append(chain)
    by_topic = list(topics.values())
    united = [[chain for each in by_topic for chain in each]]
    computed = Aggregate("count") if counts else None
    pick = Pick(RETURNED, tuple(answers), "named by the model")
    for alternatives in [by_topic, united][: len(by_topic)]:
        for fresh in (False, True)[: max(chain.depth for chain in united[0])]:
            yield AnswerQuery(make_branches(alternatives, fresh=fresh), RETURNED, (), computed)
        if not counts:
            yield AnswerQuery(make_branches(alternatives), RETURNED, picked=(pick,))


def make_branches(alternatives: Sequence[Sequence[Chain]], *, fresh: bool = False) -> tuple[Branch, ...]:
    """Return branches that end at the returned place, each of the chains that are united in it."""
    free, parts = 1, []
    for first, *others in alternatives:
        places = (*range(free, free + first.depth - 1), RETURNED)
        parts.append(Branch(first, places, tuple(others), fresh))
        free += len(places) - 1
    return tuple(parts)
