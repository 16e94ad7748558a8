"""Replies to a prompt that composes one query: chains, what holds of their nodes, what is computed of them.

The right one gives the gold answers and nothing else, on the graph: by what the question asks by its answer
query, else by the chains alone, else by a condition or an extreme of what is shown.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain as joined, islice, product
from typing import get_args

from kgqa.evaluation.simulation.oracle import Case, wrong_choice
from kgqa.kg.proof.query import MAX_TERMS_PICKED, AnswerQuery, Branch, Pick
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term
from kgqa.models.decisive import ORDERED, Basis, candidates_of_query, decisive_replies, is_accepted
from kgqa.priors.candidate_ranking import hop_words
from kgqa.prompts.apply_conditions import StatedCondition
from kgqa.prompts.attributes import term_text
from kgqa.prompts.compose_query import ComposedBranch, ComposedQuery, ComposeQuery, OfferedChain, node_name

MAX_QUERIES_TRIED = 12  # choices of chains, and as many conditions on what each of them leaves
MAX_CHAINS_BY_ENDS = 4  # that are no gold paths and lead to gold answers

NOTHING = ComposedQuery(chains=[])


async def compose_query(prompt: ComposeQuery, case: Case) -> ComposedQuery:
    """Compose what gives the gold answers, or say what is missing for that, or choose them by name.

    What no chains say is drafted, where that is offered.

    A wrong choice is of a chain that leads astray. What a chain leads to is shown with it, so that one is
    only taken by a wrong verdict: else the right ones are where the model recalls them, and none is where it
    does not. A wrong verdict turns right chains down, too. A wrong choice of entities states another
    condition, or chooses others.
    """
    if prompt.drafts and case.happens("accuracy"):
        return ComposedQuery(chains=[], draft=True)
    right, misjudges = await _compose_gold(prompt, case), case.happens("judge")
    if case.happens("accuracy"):
        if misjudges:
            return NOTHING
        return _misstate(right, prompt, case) if right.chains and case.happens("entity") else right
    if misjudges:
        return await _compose_wrongly(prompt, right, case)
    return right if case.happens("recall") else NOTHING


async def _compose_wrongly(prompt: ComposeQuery, right: ComposedQuery, case: Case) -> ComposedQuery:
    """Take a chain that leads astray; nothing where none does."""
    own = {number for numbers in right.chains for number in numbers}
    for number in case.draws.shuffled("wrong chain", range(1, len(prompt.chains) + 1)):
        if number not in own and not await case.rests(prompt.chains[number - 1].chain):
            return ComposedQuery(chains=[[number]])
    return NOTHING


def _misstate(right: ComposedQuery, prompt: ComposeQuery, case: Case) -> ComposedQuery:
    """State another condition than the right one, or choose others."""
    ends = _shown_ends(right, prompt)
    if wrong := case.misstated(right.conditions, candidates_of_query(prompt, _plain(right), ends)):
        return right.model_copy(update={"conditions": [wrong]})
    numbers = wrong_choice(case.gold.mark(ends).numbers, len(ends), case.draws)
    return _choose(_plain(right), [ends[number - 1] for number in numbers], prompt)


def _plain(query: ComposedQuery) -> ComposedQuery:
    return ComposedQuery(chains=query.chains, answer=query.answer)


async def _compose_gold(prompt: ComposeQuery, case: Case) -> ComposedQuery:
    plain = [each async for each in _leading_queries(prompt, case)]
    asked = filter(None, (_as_asked(query, prompt, case) for query in plain))
    computed = (each for query in plain if not query.answer for each in _computed(query, prompt, case))
    on_the_way = [query for query in plain if query.answer]
    return (
        await _first_exact(joined(asked, computed), prompt, case)
        or await _first_exact(await _told_apart(plain, prompt, case), prompt, case)
        or await _first_exact(on_the_way, prompt, case)
        or await _undecided(plain, prompt, case, count=bool(await case.oracle.counted()))
    )


async def _first_exact(
    queries: Iterable[ComposedQuery], prompt: ComposeQuery, case: Case
) -> ComposedQuery | None:
    """Return the first query that gives the gold answers and nothing else."""
    for query in queries:
        if case.gold.mark(await _answers(query, prompt, case)).exact:
            return query
    return None


async def _told_apart(
    plain: Sequence[ComposedQuery], prompt: ComposeQuery, case: Case
) -> list[ComposedQuery]:
    """Return queries with conditions or an extreme that may leave the gold: first what the question names."""
    counts = bool(await case.oracle.counted())
    found: list[tuple[Basis, ComposedQuery]] = []
    for query in plain:
        told = [each async for each in _conditioned(query, prompt, case)]
        told += _by_end(query, prompt) if query.answer.startswith("?") else []
        found += ((basis, _counting(each) if counts else each) for basis, each in told)
    found.sort(key=lambda each: get_args(Basis).index(each[0]))
    return [query for _, query in found if is_accepted(prompt, query)]


def _counting(query: ComposedQuery) -> ComposedQuery:
    return query if query.extreme != "none" else query.model_copy(update={"count": True})


async def _conditioned(
    query: ComposedQuery, prompt: ComposeQuery, case: Case
) -> AsyncIterator[tuple[Basis, ComposedQuery]]:
    """Yield a query with what tells its answers apart, or the nodes with names on the way to them."""
    first = query.chains[0][0]
    chain, named = prompt.chains[first - 1].chain, prompt.chains[first - 1].named
    nodes = ["", *(node_name(first, place, chain) for place in named if len(query.chains) == 1)]
    left = await _answers(query, prompt, case)
    gold = tuple(await case.sought(left))
    for node in nodes if gold and not query.answer else nodes[:1]:
        at = query.model_copy(update={"answer": node}) if node else query
        here = await _answers(at, prompt, case) if node else left
        wanted = await _answers(at, prompt, case, leading_to=gold) if node else gold
        replies = decisive_replies(candidates_of_query(prompt, at, here), wanted) if wanted else iter(())
        for reply, basis in islice(replies, MAX_QUERIES_TRIED):
            stated = {"conditions": reply.conditions, "extreme": reply.extreme, "by": reply.by}
            yield basis, query.model_copy(update=stated)


def _by_end(query: ComposedQuery, prompt: ComposeQuery) -> Iterator[tuple[Basis, ComposedQuery]]:
    """Yield a query for a node on the way with what may be true of the end: what is named, or an extreme."""
    number = query.chains[0][0]
    end = node_name(number, prompt.chains[number - 1].chain.depth, prompt.chains[number - 1].chain)
    texts = {term_text(term) for each in prompt.mentions for term in each.terms}
    texts |= {str(each.term) for each in prompt.chains[number - 1].shown if str(each.term) in prompt.question}
    for text, operator in product(sorted(texts), ORDERED):
        stated = StatedCondition(attribute=end, operator=operator, value=text)
        yield "named", query.model_copy(update={"conditions": [stated]})
    for extreme in ("smallest", "largest"):
        yield "extreme", query.model_copy(update={"extreme": extreme, "by": end})


async def _undecided(
    plain: Sequence[ComposedQuery], prompt: ComposeQuery, case: Case, *, count: bool
) -> ComposedQuery:
    """Say what is missing; choose by name what no attribute tells, in case that it is not found."""
    async for way in _ways_missing(prompt, case):
        return NOTHING if prompt.final else way
    missing = "" if prompt.final else hop_words(await _missing_attribute(prompt, case))
    for query in plain:
        if chosen := await case.sought(_shown_ends(query, prompt)):
            return _choose(query, chosen, prompt).model_copy(update={"count": count, "missing": missing})
    return NOTHING


async def _ways_missing(prompt: ComposeQuery, case: Case) -> AsyncIterator[ComposedQuery]:
    """Yield what is missing of gold paths that are not offered, and the chain that leads furthest on each."""
    rests = {number: await case.rests(each.chain) for number, each in enumerate(prompt.chains, 1)}
    begun = {prompt.chains[number - 1].chain.topic for number, left in rests.items() if () in left}
    for topic, hops in await case.oracle.plans():
        if topic not in begun:
            on = [n for n, left in rests.items() if left and prompt.chains[n - 1].chain.topic == topic]
            on = sorted(on, key=lambda number: len(rests[number][0]))[:1]
            done = prompt.chains[on[0] - 1].chain.depth if on else 0
            yield ComposedQuery(chains=[on] if on else [], missing=hop_words(hops[done:]))


async def _missing_attribute(prompt: ComposeQuery, case: Case) -> Sequence[Hop]:
    """Return the first attribute that the question asks by its answer query, and that is not shown."""
    shown = {each.hops for each in prompt.attributes}
    for chain in [each.chain for each in prompt.chains if await case.is_end(each.chain)]:
        if hidden := case.oracle.hidden_attribute(chain, shown):
            return hidden
    return ()


def _choose(query: ComposedQuery, chosen: Sequence[Term], prompt: ComposeQuery) -> ComposedQuery:
    names = [name for name, end in _named_ends(query, prompt) if end in {*chosen}]
    return query.model_copy(update={"chosen": list(dict.fromkeys(names)), "words": prompt.question})


def _shown_ends(query: ComposedQuery, prompt: ComposeQuery) -> list[Term]:
    """Return the ends of the chains of a query that can be chosen by name."""
    return list(dict.fromkeys(end for _, end in _named_ends(query, prompt)))


def _named_ends(query: ComposedQuery, prompt: ComposeQuery) -> Iterator[tuple[str, Term]]:
    text = prompt.case()
    for number in (number for numbers in query.chains for number in numbers):
        ends = [end.term for end in prompt.chains[number - 1].shown]
        for name, end in zip(prompt.drawn[number], ends, strict=True):
            if name in text:
                yield name, end


async def _leading_queries(prompt: ComposeQuery, case: Case) -> AsyncIterator[ComposedQuery]:
    """Yield choices of chains that lead to gold answers: of all topics, then of one, then of any ends."""
    offered = dict(enumerate(prompt.chains, 1))
    right: dict[Entity, list[int]] = {}
    inner: list[ComposedQuery] = []
    for number, each in offered.items():
        if await case.is_end(each.chain):
            right.setdefault(each.chain.topic, []).append(number)
        for place in range(1, each.chain.depth):
            if await case.is_end(each.chain.upto(place)):
                inner.append(ComposedQuery(chains=[[number]], answer=node_name(number, place, each.chain)))
    inner += [each async for each in _by_attributes(prompt, case)]
    ways = [[*([n] for n in numbers), *([numbers] if len(numbers) > 1 else [])] for numbers in right.values()]
    choices = [list(each) for each in islice(product(*ways), MAX_QUERIES_TRIED)] if ways else []
    if len(ways) > 1:
        choices += [[each] for way in ways for each in way]
        choices.append([[number for numbers in right.values() for number in numbers]])
    if not case.oracle.asks_more:
        choices += _lists_by_ends(offered, case)
    for lists in choices:
        yield ComposedQuery(chains=lists)
    for query in inner[:MAX_QUERIES_TRIED]:
        topic = offered[query.chains[0][0]].chain.topic
        if beside := [numbers[:1] for other, numbers in right.items() if other != topic]:
            yield query.model_copy(update={"chains": [*query.chains, *beside]})
        yield query


async def _by_attributes(prompt: ComposeQuery, case: Case) -> AsyncIterator[ComposedQuery]:
    """Yield the attributes whose values are at the end of a gold path."""
    for letter, each in prompt.lettered.items():
        for node in each.nodes:
            if await case.is_end(Chain(node.topic, (*node.hops, *each.hops))):
                numbers = (n for n, offered in enumerate(prompt.chains, 1) if node in offered.chain.nodes)
                yield ComposedQuery(chains=[[next(numbers)]], answer=letter)


def _lists_by_ends(offered: dict[int, OfferedChain], case: Case) -> Iterator[list[list[int]]]:
    """Yield the chains whose ends are gold answers, the best first, and all that lead to nothing else."""
    marks = {n: case.gold.mark([end.term for end in each.shown]) for n, each in offered.items() if each.shown}
    leading = sorted((n for n in marks if any(marks[n].right)), key=lambda n: -marks[n].f1)
    yield from ([[number]] for number in leading[:MAX_CHAINS_BY_ENDS])
    pure = [number for number in leading if all(marks[number].right)]
    if len(pure) > 1:
        yield [pure]


def _computed(query: ComposedQuery, prompt: ComposeQuery, case: Case) -> Iterator[ComposedQuery]:
    """Yield a query as it is, and what may be computed of all that it gives."""
    yield query
    for take in case.gold.takes:
        number = query.chains[0][0]
        chain = prompt.chains[number - 1].chain
        by = query.answer or node_name(number, chain.depth, chain)
        computed = query.model_copy(
            update={"count": True} if take == "count" else {"extreme": take, "by": by}
        )
        if is_accepted(prompt, computed):
            yield computed


def _as_asked(query: ComposedQuery, prompt: ComposeQuery, case: Case) -> ComposedQuery | None:
    """Add what the question asks by its answer query, if all of it is of what is shown; else None."""
    names = {(node, each.hops): letter for letter, each in prompt.lettered.items() for node in each.nodes}
    names |= {(node, ()): name for name, node in prompt.nodes.items()}
    conditions: dict[StatedCondition, None] = {}
    asked: dict[str, object] = {}
    for numbers in query.chains:
        chain = prompt.chains[numbers[0] - 1].chain
        for each in case.oracle.conditions(chain):
            attribute = names.get((chain.upto(each.place), each.attribute), "")
            value = _value_text(each.value, prompt)
            conditions[StatedCondition(attribute=attribute, operator=each.operator, value=value)] = None
        if computed := case.oracle.aggregate(chain):
            place = chain.depth if computed.place is None else computed.place
            extreme = "largest" if computed.function.endswith("max") else "smallest"
            by = names.get((chain.upto(place), computed.attribute), "")
            asked |= {"count": True} if computed.function == "count" else {"extreme": extreme, "by": by}
    whole = query.model_copy(update={"conditions": [*conditions], **asked})
    return whole if whole != query and is_accepted(prompt, whole) else None


def _value_text(value: Term | None, prompt: ComposeQuery) -> str:
    """Return what a value is shown as: an answer query has no names."""
    if value is None or isinstance(value, Literal):
        return value.value if value else ""
    shown = [pair[1] for each in prompt.attributes for pair in each.values]
    shown += [kind for _, kind in prompt.types]
    return next((term_text(term) for term in shown if term == value), term_text(value))


async def _answers(
    query: ComposedQuery, prompt: ComposeQuery, case: Case, leading_to: tuple[Term, ...] = ()
) -> list[Term]:
    """Return what a query gives, as far as it has names; where ends are given, only what leads to them."""
    try:
        asked = answer_query(prompt.branches(query))
    except ValueError:
        return []
    if leading_to:
        asked = replace(asked, picked=(Pick(0, leading_to[:MAX_TERMS_PICKED]),))
    return [term for term in await case.cache.answers(asked) if term.name]


def answer_query(branches: Sequence[ComposedBranch]) -> AnswerQuery:
    """Return the query of branches that meet; the last one has the answer."""
    parts, conditions, free = [], [], 1
    for each in branches:
        met, ways = (each.met_at or each.chain.depth) - 1, range(free, free + each.chain.depth - 1)
        places = (*ways[:met], 0, *ways[met:])
        free += len(ways)
        parts.append(Branch(each.chain, places, each.others, each.fresh))
        conditions += [replace(one, place=places[one.place - 1]) for one in each.conditions]
    last, places = branches[-1], parts[-1].places
    computed = last.aggregate
    if computed and computed.place:
        computed = replace(computed, place=places[computed.place - 1])
    return AnswerQuery(tuple(parts), places[(last.place or 0) - 1], tuple(conditions), computed)
