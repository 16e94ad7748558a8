"""What the graph knows of candidates, and what a question names beside its topics: for filters."""

import re
from calendar import month_name
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TypeVar

from kgqa.kg.pages import ChainAttributes, Mention as LinkedMention
from kgqa.kg.proof.values import date_parts, kind_of
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, Term, plain_term
from kgqa.kg.text import fold
from kgqa.nodes.similarity import are_missing, most_similar, similarity_scores
from kgqa.priors.candidate_ranking import hop_words, relation_words
from kgqa.prompts.attributes import Attribute, KnownAttributes, Mention, term_text
from kgqa.retrieval.years import ERA_YEAR, era_years, has_year_zero, read_era_year
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import VerifiedChain
from kgqa.tools.arguments import chain_arguments, write_hop

MAX_HOPS_READ = 12  # relations of each place whose values are read, the most similar to the question
MAX_OF_NAME = 2  # attributes with a value that the question names which come first
MIN_SHOWN, MAX_SHOWN = 3, 8  # attributes that a prompt shows
MAX_ALIKE = 2  # attributes of the same words, of different nodes, that come before others
MIN_SIMILARITY = 0.6  # to the question, as a share of the most similar attribute's, of those beyond the first
MAX_FOUND_MISSING = 4  # attributes that a search for what is missing adds
MAX_MENTIONS = 8
MAX_MEANINGS = 3  # entities that a name in the question may stand for
BETWEEN_BONUS = 0.25  # in similarity, of what stands at a node on the way: it tells of this very chain

_MONTHS = month_name[1:]
_MONTH = "|".join(f"{month}|{month[:3]}\\.?" for month in _MONTHS)
_YEAR = rf"(?:{ERA_YEAR}|(?P<year>[0-9]{{4}})\b)"
_DAY_FIRST = re.compile(
    rf"\b(?:(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH}),? {_YEAR}"
)
_MONTH_FIRST = re.compile(rf"\b(?P<month>{_MONTH}) (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}")
_NUMBER = re.compile(r"(?<![\w.,-])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:-[0-9]{2}-[0-9]{2})?(?![\w-])")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)")


_Key = tuple[int, tuple[Hop, ...]]  # place and hops of an attribute
Pairs = list[tuple[Term, Term]]  # of a candidate and a value
_K = TypeVar("_K")


async def known_attributes(
    question: str,
    branch: VerifiedChain,
    met: Sequence[VerifiedChain],
    topics: Sequence[Entity],
    runtime: NodeRuntime,
) -> KnownAttributes:
    """Return what the graph knows of a branch's ends, the most similar to the question first.

    What the question names is looked for near them, topics too from which no chain has led to them. Two
    queries for each of its chains, one more where a value has no name, and one for the names in the
    question. What takes too long is not known.
    """
    chain = branch.chain
    named = await named_beside(question, topics, chain.hops, runtime)
    begun = {chain.topic, *(each.chain.topic for each in met)}
    named = {str(topic): [plain_term(topic)] for topic in topics if topic not in begun} | named
    pages = await _read_branch(
        question, branch, [term for terms in named.values() for term in terms], runtime
    )
    if not pages:
        return KnownAttributes(chain, mentions=tuple(Mention(text, tuple(of)) for text, of in named.items()))
    within = None if branch.truncated else {*branch.ends}
    groups = group_values(chain, pages, within)
    standing = {
        text: [(key, end) for key, pairs in groups.items() for end, value in pairs if is_any(value, terms)]
        for text, terms in named.items()
    }
    listed = await _most_telling(groups, standing, branch, question, runtime)
    values = [end for end in branch.ends if isinstance(end, Literal)]
    own = [Attribute(chain.depth, (), tuple((end, end) for end in values))] if len(values) > 1 else []
    at = {key: number for number, key in enumerate(listed, len(own))}
    names = [fold(end.name or "") for end in branch.ends]
    mentions = (
        Mention(
            text, tuple(named[text]), tuple(dict.fromkeys((at[key], end) for key, end in of if key in at))
        )
        for text, of in standing.items()
        if of or not any(fold(text) in name for name in names)
    )
    kinds = [pair for each in pages.values() for pair in each.types if within is None or pair[0] in within]
    attributes = (*own, *(Attribute(*key, tuple(groups[key])) for key in listed))
    return KnownAttributes(
        chain,
        (*attributes, *_names(chain, pages.values(), within)),
        await order_types(list(dict.fromkeys(kinds)), question, runtime),
        tuple(mentions),
        any(each.values.truncated for each in pages.values()),
    )


async def _read_branch(
    question: str, branch: VerifiedChain, near: Sequence[Term], runtime: NodeRuntime
) -> dict[tuple[Hop, ...], ChainAttributes]:
    """Return what was read of the nodes along each chain of a branch, a page each, by its hops."""
    pages: dict[tuple[Hop, ...], ChainAttributes] = {}
    for each in branch.chains:
        read = await read_attributes(question, {each: range(1, each.depth + 1)}, near, runtime)
        pages |= {chain.hops: page for chain, page in read.items()}
    return pages


async def _most_telling(
    groups: Mapping[_Key, Pairs],
    standing: Mapping[str, Sequence[tuple[_Key, Term]]],
    branch: VerifiedChain,
    question: str,
    runtime: NodeRuntime,
) -> list[_Key]:
    """Return what distinguishes candidates, or has what the question names, the likeliest first."""
    named_at = [{key for key, _ in places} for places in standing.values()]
    telling = [
        key
        for key, pairs in groups.items()
        if any(key in each for each in named_at) or is_discriminative(pairs, branch.ends)
    ]
    first = {frozenset(groups[key]): key for key in reversed(telling)}  # a relation and its inverse
    telling = [key for key in telling if first[frozenset(groups[key])] == key]
    hops = branch.chain.hops
    words = {key: hop_words(key[1] or hops[key[0] - 1 : key[0]]) for key in telling}
    between = {key for key in telling if key[0] < branch.chain.depth}
    return await likeliest(words, named_at, between, question, runtime)


async def look_for_missing(
    missing: str,
    known: KnownAttributes,
    branch: VerifiedChain,
    met: Sequence[VerifiedChain],
    runtime: NodeRuntime,
) -> KnownAttributes | None:
    """Return what is known with what is alike to some words after it; None where nothing more is."""
    again = await known_attributes(missing, branch, met, (), runtime)
    shown = {(each.place, each.hops) for each in known.listed}
    new = [each for each in again.listed if (each.place, each.hops) not in shown]
    told = [hop_words(each.hops) for each in known.listed]
    may_be = await are_missing([[hop_words(each.hops)] for each in new], missing, told, runtime)
    alike = [each for each, may in zip(new, may_be, strict=True) if may]
    return replace(known, listed=(*known.listed, *alike[:MAX_FOUND_MISSING])) if alike else None


async def read_attributes(
    question: str,
    places: Mapping[Chain, Sequence[int]],
    near: Sequence[Term],
    runtime: NodeRuntime,
    hops: Mapping[Chain, Sequence[Hop]] = MappingProxyType({}),
) -> dict[Chain, ChainAttributes]:
    """Read what the nodes at places of chains have by the relations that are most similar to the question.

    ``hops`` are known to lead on from some chains; from others one query tells.
    """
    nodes = dict.fromkeys(chain.upto(place) for chain, of in places.items() for place in of)
    likely = await _likely_hops(question, [*nodes], hops, runtime)
    chains = [
        {
            **chain_arguments(chain),
            "relations": {place: [*map(write_hop, likely[chain.upto(place)])] for place in of},
        }
        for chain, of in places.items()
    ]
    found: list[ChainAttributes] | None = await runtime.try_tool("chain_attributes", chains=chains, near=near)
    return dict(zip(places, found, strict=True)) if found else {}


def group_values(
    chain: Chain, pages: Mapping[tuple[Hop, ...], ChainAttributes], within: set[Term] | None
) -> dict[_Key, Pairs]:
    """Return the values by what they are of; what a chain itself says is left out.

    What a chain from anything sets out from is not said by it. Of several chains to the same ends only what
    the ends have counts.
    """
    own = {step for hops in pages for step in enumerate(hops)}
    back = [(place, hop.inverse) for hops in pages for place, hop in enumerate(hops, 1)]
    own |= {(place, hop) for place, hop in back if place > 1 or chain.topic != ANY}
    groups: dict[_Key, dict[tuple[Term, Term], None]] = {}
    for hops, page in pages.items():
        for each in page.values:
            said = bool(each.hops) and (each.place, each.hops[0]) in own
            at_end = each.place == len(hops)
            if not said and (at_end or len(pages) == 1) and (within is None or each.end in within):
                place = chain.depth if at_end else each.place
                groups.setdefault((place, each.hops), {})[each.end, each.value] = None
    return {key: list(pairs) for key, pairs in groups.items()}


def _names(chain: Chain, found: Iterable[ChainAttributes], within: set[Term] | None) -> Iterator[Attribute]:
    """Yield what says the names of the ends."""
    groups: dict[tuple[Hop, ...], dict[tuple[Term, Term], None]] = {}
    for each in (name for page in found for name in page.names):
        if within is None or each.end in within:
            groups.setdefault(each.hops, {})[each.end, each.value] = None
    for hops, pairs in groups.items():
        yield Attribute(chain.depth, hops, tuple(pairs))


def is_discriminative(pairs: Pairs, ends: Sequence[Term]) -> bool:
    """Return whether not all candidates have the same value; of one alone, everything may tell."""
    return len(ends) == 1 or len({value for _, value in pairs}) > 1 or {*ends} > {end for end, _ in pairs}


async def likeliest(
    words: Mapping[_K, str],
    told: Iterable[Collection[_K]],
    between: Collection[_K],
    question: str,
    runtime: NodeRuntime,
) -> list[_K]:
    """Return what the question names a value of, then what is most like it, but for what is far less so.

    Each attribute is given with its words; those ``between`` are of nodes on the way. ``told`` are those that
    have each name of the question, of which the most similar come first.
    """
    likes = await similarity_scores([*words.values()], question, runtime)
    ranked = dict(zip(words, likes, strict=True))
    most_similar_first = sorted(words, key=lambda key: -ranked[key])
    named = {key for of in told for key in [key for key in most_similar_first if key in of][:MAX_OF_NAME]}
    score = {key: (key in named, like + BETWEEN_BONUS * (key in between)) for key, like in ranked.items()}
    ordered = sorted(words, key=lambda key: score[key], reverse=True)
    alike = ([key for key in ordered if words[key] == text] for text in {*words.values()})
    first = {key for some in alike for key in some[:MAX_ALIKE]}
    order = sorted(ordered, key=lambda key: key not in first)[:MAX_SHOWN]
    best = max((like for _, like in score.values()), default=0.0)
    return [
        key for at, key in enumerate(order) if at < MIN_SHOWN or score[key] >= (False, MIN_SIMILARITY * best)
    ]


async def order_types(
    types: Sequence[tuple[Term, Term]], question: str, runtime: NodeRuntime
) -> tuple[tuple[Term, Term], ...]:
    """Order candidates and their types by how alike the type is to the question."""
    kinds = sorted({kind for _, kind in types}, key=lambda kind: kind.id)
    likes = await similarity_scores([relation_words(term_text(kind)) for kind in kinds], question, runtime)
    score = dict(zip(kinds, likes, strict=True))
    return tuple(sorted(types, key=lambda pair: -score[pair[1]]))


async def _likely_hops(
    question: str, chains: Sequence[Chain], known: Mapping[Chain, Sequence[Hop]], runtime: NodeRuntime
) -> dict[Chain, list[Hop]]:
    """Return the relations of the ends of chains that are most alike to the question."""
    unknown = [chain for chain in chains if chain not in known]
    arguments = [*map(chain_arguments, unknown)]
    visits = await runtime.try_tool("visit_chains", chains=arguments, ends=False) if unknown else ()
    every = {**known, **{chain: visit.hops for chain, visit in zip(unknown, visits or (), strict=False)}}
    chosen = {}
    for chain in chains:
        hops = [*every.get(chain, ())]
        likes = await similarity_scores([relation_words(hop.words) for hop in hops], question, runtime)
        chosen[chain] = [hops[at] for at in most_similar(likes, MAX_HOPS_READ)]
    return chosen


async def named_beside(
    question: str, topics: Sequence[Entity], hops: Iterable[Hop], runtime: NodeRuntime
) -> dict[str, list[Term]]:
    """Return what a question names beside its topics, with the terms that it may stand for.

    ``hops`` tell how the graph numbers years.
    """
    linked: Sequence[LinkedMention] = await runtime.try_tool("link_entities", question=question) or ()
    rest = question
    for topic in topics:
        rest = rest.replace(topic.name, " ") if topic.name else rest
    named = _values_in(rest, hops)
    ids = {plain_term(topic).id for topic in topics}
    for mention in linked:
        meant = [] if mention.is_class else mention.matches
        terms = [plain_term(match.entity) for match in meant if match.sure][:MAX_MEANINGS]
        if terms and ids.isdisjoint(term.id for term in terms):
            named.setdefault(mention.text, []).extend(terms)
    return dict(islice(named.items(), MAX_MENTIONS))


def _values_in(question: str, hops: Iterable[Hop]) -> dict[str, list[Term]]:
    """Return dates, numbers and quoted text of a question, dates as a graph of such relations writes them."""
    zero = has_year_zero(hops)
    named: dict[str, list[Term]] = {}
    for pattern in (_MONTH_FIRST, _DAY_FIRST):
        for found in pattern.finditer(question):
            if written := _iso_date(found, zero):
                named[found.group()] = [Literal(written)]
        question = pattern.sub(" ", question)
    for found in _QUOTED.finditer(question):
        text = next(filter(None, found.groups()))
        named[text] = [Literal(text)]
    for year in era_years(question):
        named[year.text] = [Literal(_write_year(year.number, zero))]
    for found in _NUMBER.finditer(re.sub(ERA_YEAR, " ", question)):
        named[found.group()] = [Literal(found.group().replace(",", ""))]
    return named


def _iso_date(found: re.Match[str], zero: bool) -> str | None:
    month = next(at for at, name in enumerate(_MONTHS, 1) if name[:3] == found["month"][:3])
    year = int(found["year"]) if found["year"] else read_era_year(found)
    text = f"{_write_year(year, zero)}-{month:02}" + (f"-{int(found['day']):02}" if found["day"] else "")
    return text if kind_of(Literal(f"{text if found['day'] else text + '-01'}T00:00:00")) == "date" else None


def _write_year(year: int, zero: bool) -> str:
    """Return a year as graphs write it, where the one before 1 is 0 or -1."""
    year += zero and year < 0
    return f"{year:0{4 + (year < 0)}}"


def is_any(value: Term, terms: Iterable[Term]) -> bool:
    """Return whether a value is one of some terms, what one is called, or a date within one."""
    if isinstance(value, Entity):
        return value in terms
    if any(value.value == term.name for term in terms):
        return True
    found = date_parts(value.value) if kind_of(value) == "date" else ()
    given = (date_parts(term.value) for term in terms if isinstance(term, Literal))
    return any(parts and found[: len(parts)] == parts for parts in given)
