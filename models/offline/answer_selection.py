"""Which ends of the chosen chains answer the question: all, those in common, an extreme, those it names.

The largest and the smallest are told by numbers and dates: those of a relation that training
questions of this kind went by, or else of the relation that is most similar to the question. So is what
a bound leaves: "after 1990", "more than 100".
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, local_name
from kgqa.kg.text import EVERYDAY_WORDS, FUNCTION_WORDS, fold
from kgqa.models.offline.question_intent import Bound, find_modifier
from kgqa.prompts.candidates import parse_number
from kgqa.retrieval.candidate_chains import CandidateChain, TrainingAdvice, fresh_ends
from kgqa.retrieval.lookups import Lookups
from kgqa.retrieval.wording import Encode, relation_phrase, text_similarities
from kgqa.retrieval.years import has_year_zero

SortKey = tuple[Decimal | int, ...]
"""Where a value is in the order: a number, or year, month, day, hour, minute and second."""

RelationSteps = Sequence[Sequence[Hop]]
"""What leads from a node to a value; the hops of one step are alternatives."""

_MIN_CONDITION_CHARS = 3

_MAX_SAMPLED_NODES = 6  # whose attributes are looked at to see which there are
_SAID_BONUS = 0.5  # of an attribute of which the question says all words
_COVERAGE_BONUS = 0.2  # of an attribute that all nodes have
_DATE_MISMATCH_PENALTY = 1.0  # of a date where another value is asked for, and the reverse
_MIN_ATTRIBUTE_SCORE = 0.3
_LABEL_PENALTY = 0.5  # of what tells things apart rather than measures them, unless that is asked for
_DETOUR_PENALTY = 0.1  # of a value that stands at a node beside the chain

_DATE = re.compile(
    r"(-[0-9]{1,9}|[0-9]{4,9})-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}))?)?[^0-9-]{0,9}.*"
)
_YEAR = re.compile(r"\b(?:1[0-9]|20)[0-9]{2}\b")
_YEAR_RANGE = range(-10_000, 3_000)
_FIRST_PLAIN_YEAR = 1_000  # from which a number of four digits looks like a year
_DATE_WORDS = re.compile(r"\b(year|dates?|born|died|founded|opened|built|start|end|from|to|since|until)\b")
_LABEL_WORDS = frozenset({"latitude", "longitude", "code", "id", "iso", "identifier"})
_DATE_TYPES = frozenset({"date", "dateTime", "gYear", "gYearMonth"})


class Selection(NamedTuple):
    """The ends that are answers, and the hops to the values that tell, where these are looked up."""

    terms: frozenset[Term]
    by: tuple[Hop, ...] = ()


class _Attribute(NamedTuple):
    """Relations that lead to a number or a date, from an end or from a node before it."""

    back: int
    hops: tuple[Hop, ...]
    dated: bool
    share: float  # of the nodes that were looked at, how many have it
    years: bool = False  # whether its numbers look like years
    early: bool = False  # whether they may be years of any time


async def select_answers(
    intent: QuestionIntent,
    candidates: Mapping[Entity, CandidateChain],
    question: str,
    graph: Lookups,
    encode: Encode,
) -> Selection | None:
    """Return the terms that are the answers; None where nothing restricts the ends, as a count does not.

    Of several chains these are the terms that all of them end at; where the chains go on
    alike, those that they reach through a node in common. The largest and the smallest are told
    by the values of `QuestionIntent.by`, or else by the number or date of the ends that is most
    similar to the question; an end that is a number or a date is its own value. Where several
    have the same value, all are answers.
    """
    chains = [each.chain for each in candidates.values()]
    terms = [each.fresh_terms for each in candidates.values()]
    if intent.kind in {"all", "count"}:
        several = len(terms) > 1 and not intent.union
        return Selection(await _common_ends(chains, terms, graph)) if several else None
    pool = frozenset() if intent.union else frozenset.intersection(*terms)
    pool = pool or frozenset().union(*terms)
    keys, by = await _sort_keys(intent, chains, pool, question, graph, encode)
    if not keys:
        return Selection(pool) if len(chains) > 1 else None
    extreme = max if intent.kind == "largest" else min
    own = {term: extreme(values) for term, values in keys.items()}
    best = extreme(own.values())
    return Selection(frozenset(term for term, key in own.items() if key == best), by)


async def _common_ends(
    chains: Sequence[Chain], terms: Sequence[frozenset[Term]], graph: Lookups
) -> frozenset[Term]:
    """Return the ends in common, by way of the first nodes in common where the chains go on alike."""
    common = frozenset.intersection(*terms)
    if len(common) > 1:
        for left in range(min(chain.depth for chain in chains) - 1, 0, -1):
            if len({chain.hops[-left:] for chain in chains}) > 1:
                continue
            pages = [await graph.follow_chain(chain.upto(chain.depth - left)) for chain in chains]
            nodes = [frozenset(end.term for end in fresh_ends(page)) for page in pages]
            reached = await follow_hops(frozenset.intersection(*nodes), chains[0].hops[-left:], graph)
            if met := common & frozenset().union(*reached.values()):
                return met
    return common


async def _sort_keys(
    intent: QuestionIntent,
    chains: Sequence[Chain],
    pool: frozenset[Term],
    question: str,
    graph: Lookups,
    encode: Encode,
) -> tuple[dict[Term, list[SortKey]], tuple[Hop, ...]]:
    """Return the values that the ends are told apart by, of each that has any, and what leads to them."""
    steps = [_find_relations(name, graph) for name in intent.by.split("/")] if intent.by else []
    if steps and all(steps) and (keys := await _look_up(steps, intent.back, chains, pool, graph)):
        return keys, tuple(hops[0] for hops in steps)
    own = {term: [key] for term in pool if (key := sort_key(term)) is not None}
    if 2 * len(own) > len(pool):
        return own, ()
    # what is compared in words, none where neither a modifier nor a like question tells
    modifier = find_modifier(question)
    meant = (modifier.of if modifier else "") or " ".join(
        relation_phrase(name) for name in intent.by.split("/")
    )
    if chosen := await _choose_attribute(question, meant, chains, pool, graph, encode):
        return await _look_up_attribute(chosen, chains, pool, graph), chosen.hops
    found = {term: _YEAR.findall(term.name or "") for term in pool}
    if _DATE_WORDS.search(meant) and all(found.values()):  # 2004 of "2004 NBA Finals"
        return {term: [(int(years[-1]),)] for term, years in found.items()}, ()
    return {}, ()


async def select_within(
    bounds: Sequence[Bound],
    chains: Sequence[Chain],
    pool: frozenset[Term],
    question: str,
    graph: Lookups,
    encode: Encode,
) -> Selection | None:
    """Return those of the ends that are within all bounds; None where there are none, or nobody knows.

    An end that is a number or a date is its own value; else that counts which is most similar to the question
    of what the ends, or the nodes before them, have: dates and years for a year, numbers for others.
    """
    if has_year_zero(hop for chain in chains for hop in chain.hops):
        bounds = [
            each._replace(value=each.value + 1) if each.value < 0 and each.dated else each for each in bounds
        ]
    left, by = pool, tuple[Hop, ...]()
    own = {term: [key] for term in pool if (key := sort_key(term)) is not None}
    for dated in dict.fromkeys(each.dated for each in bounds):
        wanted, keys = [each for each in bounds if each.dated is dated], own
        if 2 * len(own) <= len(pool):
            early = any(each.value < _FIRST_PLAIN_YEAR for each in wanted)
            chosen = await _choose_attribute(question, "", chains, pool, graph, encode, dated, early=early)
            keys = await _look_up_attribute(chosen, chains, pool, graph) if chosen else {}
            by += chosen.hops if chosen else ()
        left &= {term for term, values in keys.items() if any(_is_within(key, wanted) for key in values)}
    return Selection(left, by) if left else None


def _is_within(key: SortKey, bounds: Iterable[Bound]) -> bool:
    return all(each.by(Decimal(key[0]), each.value) for each in bounds)


def sort_key(term: Term) -> SortKey | None:
    """Read a literal as a number or a date, None where it is neither.

    >>> sort_key(Literal("1803")) < sort_key(Literal("1803-05-01"))
    True
    """
    number = parse_number(term)
    if number is not None:
        return (number,)
    found = _DATE.fullmatch(term.value) if isinstance(term, Literal) else None
    return tuple(int(part or 0) for part in found.groups()) if found else None


def _find_relations(name: str, graph: Lookups) -> list[Hop]:
    """Return the relations of a graph by a name of `QuestionIntent.by`."""
    local = name.removeprefix("^")
    found = (each for each in graph.relations if each.endswith(local) and local_name(each) == local)
    return [Hop(relation, forward=local == name) for relation in found]


async def _look_up(
    steps: RelationSteps, back: int, chains: Sequence[Chain], pool: frozenset[Term], graph: Lookups
) -> dict[Term, list[SortKey]]:
    """Look up the values of the ends or of the nodes before them; what is no value is counted."""
    nodes = await _value_nodes(back, chains, pool, graph)
    pairs: dict[Term, set[tuple[Term, Term]]] = defaultdict(set)
    for node, found in (await _follow_steps(sorted(nodes), steps, graph)).items():
        for end in nodes[node]:
            pairs[end] |= found
    keys = {end: [key for _, term in of if (key := sort_key(term)) is not None] for end, of in pairs.items()}
    if any(keys.values()):
        return {end: values for end, values in keys.items() if values}
    return {end: [(len(of),)] for end, of in pairs.items()}


async def _look_up_attribute(
    attribute: _Attribute, chains: Sequence[Chain], pool: frozenset[Term], graph: Lookups
) -> dict[Term, list[SortKey]]:
    return await _look_up([(hop,) for hop in attribute.hops], attribute.back, chains, pool, graph)


async def _value_nodes(
    back: int, chains: Sequence[Chain], pool: frozenset[Term], graph: Lookups
) -> dict[Entity, frozenset[Term]]:
    """Return the nodes that values belong to, each with the ends that it leads to."""
    if back == 0:
        return {end: frozenset([end]) for end in keep_entities(pool)}
    found: dict[Entity, frozenset[Term]] = {}
    for chain in chains:
        if chain.depth > back:
            before = await graph.follow_chain(chain.upto(chain.depth - back))
            led = await follow_hops((each.term for each in before), chain.hops[-back:], graph)
            for node, ends in led.items():
                found[node] = found.get(node, frozenset()) | (pool & ends)
    return found


async def follow_hops(
    starts: Iterable[Term], hops: Sequence[Hop], graph: Lookups
) -> dict[Entity, frozenset[Term]]:
    """Return what each entity leads to by hops, of those that lead anywhere: one query for each hop."""
    led = await _follow_steps(keep_entities(starts), [(hop,) for hop in hops], graph)
    return {start: frozenset(end for _, end in pairs) for start, pairs in led.items()}


async def _follow_steps(
    starts: Sequence[Entity], steps: RelationSteps, graph: Lookups
) -> dict[Entity, set[tuple[Term, Term]]]:
    """Return each node before the last step with each end, by the start that leads there."""
    led: dict[Entity, set[tuple[Term, Term]]] = {start: {(start, start)} for start in starts}
    for hops in steps:
        nodes = sorted(keep_entities({end for pairs in led.values() for _, end in pairs}))
        asked = [(node, hop) for node in nodes for hop in hops]
        pages = await graph.follow_relation([(node.id, hop) for node, hop in asked])
        ends: dict[Term, list[Term]] = defaultdict(list)
        for (node, _), page in zip(asked, pages, strict=True):
            ends[node] += page
        led = {
            start: {(at, end) for _, at in pairs for end in ends.get(at, ())} for start, pairs in led.items()
        }
    return {start: pairs for start, pairs in led.items() if pairs}


def keep_entities(terms: Iterable[Term]) -> list[Entity]:
    """Leave literals out."""
    return [term for term in terms if isinstance(term, Entity)]


async def _choose_attribute(
    question: str,
    meant: str,
    chains: Sequence[Chain],
    pool: frozenset[Term],
    graph: Lookups,
    encode: Encode,
    years: bool | None = None,
    *,
    early: bool = False,
) -> _Attribute | None:
    """Return the attribute that is most similar to the question and what it is ``meant`` to compare by.

    With ``years`` one of dates or numbers that look like years, or else of numbers; of numbers that may be
    years where none looks like one, or the years are ``early``.
    """
    nodes: dict[int, set[Term]] = {0: set(pool), 1: set()}
    hops: dict[int, set[Hop]] = {0: set(), 1: set()}
    for chain in chains:
        hops[0] |= set(await graph.extend_chain(chain))
        if chain.depth > 1:
            before = chain.upto(chain.depth - 1)
            nodes[1] |= {each.term for each in await graph.follow_chain(before, whole=False)}
            hops[1] |= set(await graph.extend_chain(before))
    listed = sorted(await _list_attributes(nodes, hops, graph))
    attributes = [
        each for each in listed if years is None or (each.dated or each.years if years else not each.dated)
    ]
    if years and (early or not attributes):
        attributes = [each for each in listed if each.dated or each.early]
    if not attributes:
        return None
    scores = await asyncio.to_thread(_score_attributes, question, meant, attributes, encode)
    best = int(np.argmax(scores))
    return attributes[best] if scores[best] >= _MIN_ATTRIBUTE_SCORE else None


async def _list_attributes(
    nodes: Mapping[int, Collection[Term]], hops: Mapping[int, Collection[Hop]], graph: Lookups
) -> set[_Attribute]:
    """Return what gives some nodes numbers or dates, and the nodes that they own: three queries.

    The nodes, and the hops that lead on from them, are by how far before the ends they are.
    """
    starts: list[tuple[int, tuple[Hop, ...], Entity, Collection[Hop]]] = []
    sampled = {}
    for back, terms in nodes.items():
        known = sorted(keep_entities(terms))
        sampled[back] = known[:: -(-len(known) // _MAX_SAMPLED_NODES) or 1]  # evenly spread over their order
        starts += [(back, (), node, sorted(hops[back])) for node in sampled[back]]
    led, owned = await _list_values(starts, graph), await graph.owned_relations()
    beside = [
        (back, way, node)
        for (back, way), ends in led.items()
        for node in keep_entities(ends)
        if node.name is None or way[-1].relation in owned
    ][: 3 * _MAX_SAMPLED_NODES]
    relations = await graph.list_relations(sorted({node.id for *_, node in beside}))
    further = await _list_values([(*each, relations[each[-1].id]) for each in beside], graph)
    found = set()
    for (back, way), ends in (led | further).items():
        if values := [end for end in ends if sort_key(end) is not None]:
            share = min(1.0, len(values) / len(sampled[back]))
            years = all(_YEAR.fullmatch(value.name or "") for value in values)
            early = all(key[0] in _YEAR_RANGE for key in map(sort_key, values) if key)
            found.add(_Attribute(back, way, _is_dated(way[-1], values), share, years, early))
    return found


async def _list_values(
    starts: Sequence[tuple[int, tuple[Hop, ...], Entity, Iterable[Hop]]], graph: Lookups
) -> dict[tuple[int, tuple[Hop, ...]], list[Term]]:
    """Return one value for each relation of each node, by the hops that lead to it: one query."""
    asked = [(back, way, node, hop) for back, way, node, hops in starts for hop in hops if hop.forward]
    pages = await graph.follow_relation([(node.id, hop) for _, _, node, hop in asked])
    values: dict[tuple[int, tuple[Hop, ...]], list[Term]] = defaultdict(list)
    for (back, way, _, hop), page in zip(asked, pages, strict=True):
        values[back, (*way, hop)] += page.items[:1]
    return values


def _is_dated(hop: Hop, values: Sequence[Term]) -> bool:
    """Return whether values are dates: by their type or form, or years by the relation's name."""
    keys = [sort_key(value) or () for value in values]
    types = {local_name(value.datatype) for value in values if isinstance(value, Literal)}
    if types & _DATE_TYPES or any(len(key) > 1 for key in keys):
        return True
    years = all(key[0] in _YEAR_RANGE for key in keys)
    return years and _DATE_WORDS.search(relation_phrase(hop.words)) is not None


def _score_attributes(
    question: str, meant: str, attributes: Sequence[_Attribute], encode: Encode
) -> npt.NDArray[np.float64]:
    """Compare a question with attributes, each by its relation that is most similar: shape (attributes,)."""
    phrases = [[relation_phrase(hop.words) for hop in each.hops] for each in attributes]
    words = sorted({phrase for each in phrases for phrase in each})
    similarity = text_similarities(question, words, encode)
    if meant:
        similarity = similarity + text_similarities(meant, words, encode)
    asked, said = _word_set(meant), _word_set(f"{question} {meant}")
    bonuses = [_word_bonus(_word_set(word), asked, said) for word in words]
    scores = dict(zip(words, similarity + np.array(bonuses, np.float32), strict=True))
    dating = bool(_DATE_WORDS.search(meant)) if meant else None
    best = [max(scores[phrase] for phrase in each) for each in phrases]
    return np.array(
        [score + _attribute_bonus(each, dating) for score, each in zip(best, attributes, strict=True)]
    )


def _word_set(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def _word_bonus(words: frozenset[str], asked: frozenset[str], said: frozenset[str]) -> float:
    """Reward the words that are said; hold labels against what is not asked for by one, and the reverse."""
    astray = (words & _LABEL_WORDS) - said or (asked & _LABEL_WORDS) - words
    return _SAID_BONUS * len(words & said) / max(1, len(words)) - _LABEL_PENALTY * bool(astray)


def _attribute_bonus(attribute: _Attribute, dating: bool | None) -> float:
    mismatch = dating is not None and attribute.dated != dating
    lost = _DATE_MISMATCH_PENALTY * mismatch + _DETOUR_PENALTY * (len(attribute.hops) - 1)
    return _COVERAGE_BONUS * attribute.share - lost


async def select_by_conditions(
    masked: str, candidate: CandidateChain, advice: TrainingAdvice, graph: Lookups
) -> frozenset[Term] | None:
    """Return the ends that the question names something of; None where it does not tell them apart.

    "Who plays Brian on Family Guy" leads from Family Guy through roles to actors; of these it is
    the one whose role has a character of that name. Looked at are the nodes without a name that
    come right before the ends. A word names something when it is in its name and in no training
    question nearby, where other things are named; one query for each equal chain, none where no word is left
    or where a sample does not hold all nodes.
    """
    usual = {word for near in advice.nearest for word in _naming_words(near.exemplar.question)}
    words = frozenset(_naming_words(masked)) - usual
    if not usual or not words or len(candidate.ends) < 2 or candidate.chain.depth < 2:
        return None
    counts: Counter[Term] = Counter()
    for chain in candidate.chains:
        counts |= await _count_named(words, chain, graph)
    known = candidate.terms
    best = max((counts[end] for end in known), default=0)
    kept = frozenset(end for end in known if counts[end] == best)
    return kept if best and len(kept) < len(known) else None


def _naming_words(text: str) -> list[str]:
    silent = EVERYDAY_WORDS | FUNCTION_WORDS
    words = fold(re.sub(r"\[[A-Z]+\]", " ", text)).split()
    long = (word for word in words if len(word) >= _MIN_CONDITION_CHARS)
    return [word for word in long if not word.isdigit() and word not in silent]


async def _count_named(words: frozenset[str], chain: Chain, graph: Lookups) -> Counter[Term]:
    """Count for each end the words that name one thing joined to a mediator before it, at most."""
    before = chain.upto(chain.depth - 1)
    middle = await graph.follow_chain(before, whole=False)
    nodes = [end.term.id for end in middle if isinstance(end.term, Entity) and end.term.name is None]
    if not nodes or middle.truncated:
        return Counter()
    last = chain.hops[-1]
    around = [hop for hop in await graph.extend_chain(before) if hop != chain.hops[-2].inverse]
    steps = [(node, hop) for node in nodes for hop in dict.fromkeys((*around, last))]
    pages = dict(zip(steps, await graph.follow_relation(steps), strict=True))
    named: Counter[str] = Counter()
    for (node, hop), page in pages.items():
        if hop != last:
            shared = (len(words.intersection(_naming_words(term.name or ""))) for term in page)
            named[node] = max([named[node], *shared])
    counts: Counter[Term] = Counter()
    for node in nodes:
        if named[node]:
            counts |= Counter(dict.fromkeys(pages[node, last], named[node]))
    return counts
