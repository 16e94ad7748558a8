"""What the graph knows of candidates, and what a question names beside its topics: for filters."""

import re
from calendar import month_name
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice

from kgqa.kg.pages import ChainAttributes, Mention as LinkedMention
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term
from kgqa.nodes.frontier.rerank import question_likeness
from kgqa.priors.candidate_ranking import relation_words
from kgqa.priors.errors import EncoderError
from kgqa.prompts.attributes import Attribute, KnownAttributes, Mention, term_text
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import VerifiedChain
from kgqa.tools.arguments import chain_arguments, write_hop

MAX_HOPS_READ = 12  # relations of each place whose values are read, the likest to the question
MIN_SHOWN, MAX_SHOWN = 3, 8  # attributes that a prompt shows
MIN_LIKENESS = 0.6  # to the question, as a share of the likest attribute's, of those beyond the first
MAX_FOUND_MISSING = 4  # attributes that a search for what is missing adds
MIN_MISSING_LIKENESS = 0.4  # to what is missing, of those
MAX_MENTIONS = 8
MAX_MEANINGS = 3  # entities that a name in the question may stand for
BETWEEN_BONUS = 0.1  # in likeness, of what stands at a node on the way: it tells of this very chain

_MONTHS = month_name[1:]
_MONTH = "|".join(f"{month}|{month[:3]}\\.?" for month in _MONTHS)
_DAY_FIRST = re.compile(
    rf"\b(?:(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH}),? (?P<year>[0-9]{{4}})\b"
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<month>{_MONTH}) (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<year>[0-9]{{4}})\b"
)
_NUMBER = re.compile(r"(?<![\w.,-])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:-[0-9]{2}-[0-9]{2})?(?![\w-])")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)")


_Key = tuple[int, tuple[Hop, ...]]  # place and hops of an attribute
_Pairs = list[tuple[Term, Term]]  # of a candidate and a value


async def known_attributes(
    question: str,
    branch: VerifiedChain,
    met: Sequence[VerifiedChain],
    topics: Sequence[Entity],
    runtime: NodeRuntime,
) -> KnownAttributes:
    """Return what the graph knows of a branch's ends, the likest to the question first.

    What the question names is looked for near them, topics too from which no chain has led to them. Two
    queries for each of its chains, one more where a value has no name, and one for the names in the
    question. What takes too long is not known.
    """
    chain = branch.chain
    named = await _named_beside(question, topics, runtime)
    begun = {chain.topic, *(each.chain.topic for each in met)}
    others: dict[str, list[Term]] = {str(topic): [topic] for topic in topics if topic not in begun}
    named = others | named
    near = [term for terms in named.values() for term in terms]
    read = {each: await _read(question, each, near, runtime) for each in branch.chains}
    pages = {each.hops: page for each, page in read.items() if page}
    if not pages:
        return KnownAttributes(chain, mentions=tuple(Mention(text, tuple(of)) for text, of in named.items()))
    within = None if branch.truncated else {*branch.ends}
    groups = _groups(chain, pages, within)
    standing = {
        text: [(key, end) for key, pairs in groups.items() for end, value in pairs if _is_any(value, terms)]
        for text, terms in named.items()
    }
    told = {key for places in standing.values() for key, _ in places}
    telling = [key for key, pairs in groups.items() if key in told or _tells_apart(pairs, branch.ends)]
    alike = {frozenset(groups[key]): key for key in reversed(telling)}  # a relation and its inverse
    telling = [key for key in telling if alike[frozenset(groups[key])] == key]
    listed = await _likeliest(telling, told, question, chain, runtime)
    values = [end for end in branch.ends if isinstance(end, Literal)]
    own = [Attribute(chain.depth, (), tuple((end, end) for end in values))] if len(values) > 1 else []
    at = {key: number for number, key in enumerate(listed, len(own))}
    mentions = (
        Mention(
            text, tuple(named[text]), tuple(dict.fromkeys((at[key], end) for key, end in of if key in at))
        )
        for text, of in standing.items()
    )
    kinds = [pair for each in pages.values() for pair in each.types if within is None or pair[0] in within]
    attributes = (*own, *(Attribute(*key, tuple(groups[key])) for key in listed))
    return KnownAttributes(
        chain,
        (*attributes, *_names(chain, pages.values(), within)),
        await _by_likeness(list(dict.fromkeys(kinds)), question, runtime),
        tuple(mentions),
        any(each.values.truncated for each in pages.values()),
    )


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
    likes = await _likeness([_attribute_words(each.hops) for each in new], missing, runtime)
    alike = [each for each, like in zip(new, likes, strict=True) if like >= MIN_MISSING_LIKENESS]
    return replace(known, listed=(*known.listed, *alike[:MAX_FOUND_MISSING])) if alike else None


async def _read(
    question: str, chain: Chain, near: Sequence[Term], runtime: NodeRuntime
) -> ChainAttributes | None:
    """Read what the nodes on a chain have by the relations that are likest to the question."""
    hops = await _likely_hops(question, chain, runtime)
    found: ChainAttributes | None = await runtime.try_tool(
        "chain_attributes",
        **chain_arguments(chain),
        relations={place: list(map(write_hop, of)) for place, of in hops.items()},
        near=near,
    )
    return found


def _groups(
    chain: Chain, pages: Mapping[tuple[Hop, ...], ChainAttributes], within: set[Term] | None
) -> dict[_Key, _Pairs]:
    """Return the values by what they are of; what a chain itself says is left out.

    Of several chains to the same ends only what the ends have counts.
    """
    own = {step for hops in pages for step in enumerate(hops)}
    own |= {(place, hop.inverse) for hops in pages for place, hop in enumerate(hops, 1)}
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


def _tells_apart(pairs: _Pairs, ends: Sequence[Term]) -> bool:
    """Return whether not all candidates have the same value; of one alone, everything may tell."""
    return len(ends) == 1 or len({value for _, value in pairs}) > 1 or {*ends} > {end for end, _ in pairs}


async def _likeliest(
    keys: Sequence[_Key], told: set[_Key], question: str, chain: Chain, runtime: NodeRuntime
) -> list[_Key]:
    """Return what the question names a value of, then what is most like it, but for what is far less so."""
    words = [_attribute_words(hops or chain.hops[place - 1 : place]) for place, hops in keys]
    likes = await _likeness(words, question, runtime)
    score = {
        key: (key in told, like + BETWEEN_BONUS * (key[0] < chain.depth))
        for key, like in zip(keys, likes, strict=True)
    }
    order = sorted(sorted(keys), key=lambda key: score[key], reverse=True)[:MAX_SHOWN]
    best = max((like for _, like in score.values()), default=0.0)
    return [
        key for at, key in enumerate(order) if at < MIN_SHOWN or score[key] >= (False, MIN_LIKENESS * best)
    ]


def _attribute_words(hops: Sequence[Hop]) -> str:
    return relation_words(" ".join(hop.words for hop in hops))


async def _by_likeness(
    types: Sequence[tuple[Term, Term]], question: str, runtime: NodeRuntime
) -> tuple[tuple[Term, Term], ...]:
    """Order candidates and their types by how alike the type is to the question."""
    kinds = sorted({kind for _, kind in types}, key=lambda kind: kind.id)
    likes = await _likeness([relation_words(term_text(kind)) for kind in kinds], question, runtime)
    score = dict(zip(kinds, likes, strict=True))
    return tuple(sorted(types, key=lambda pair: -score[pair[1]]))


async def _likely_hops(question: str, chain: Chain, runtime: NodeRuntime) -> dict[int, list[Hop]]:
    """Return the relations at each place that are most alike to the question."""
    chains = [chain_arguments(chain.upto(depth)) for depth in range(1, chain.depth + 1)]
    visits = await runtime.try_tool("visit_chains", chains=chains, ends=False) or ()
    chosen = {}
    for place, visit in enumerate(visits, 1):
        hops = visit.hops.items
        likes = await _likeness([relation_words(hop.words) for hop in hops], question, runtime)
        order = sorted(range(len(hops)), key=lambda at: (-likes[at], at))
        chosen[place] = [hops[at] for at in order[:MAX_HOPS_READ]]
    return chosen


async def _likeness(texts: Sequence[str], question: str, runtime: NodeRuntime) -> list[float]:
    """Return how alike texts are to the question: by the encoder, or by words where there is none."""
    try:
        return await question_likeness(texts, question, "encoder", runtime)
    except EncoderError:
        return await question_likeness(texts, question, "bm25", runtime)


async def _named_beside(
    question: str, topics: Sequence[Entity], runtime: NodeRuntime
) -> dict[str, list[Term]]:
    """Return what a question names beside its topics, with the terms that it may stand for."""
    linked: Sequence[LinkedMention] = await runtime.try_tool("link_entities", question=question) or ()
    rest = question
    for topic in topics:
        rest = rest.replace(topic.name, " ") if topic.name else rest
    named = _values_in(rest)
    ids = {topic.id for topic in topics}
    for mention in linked:
        terms = [match.entity for match in mention.matches if match.sure][:MAX_MEANINGS]
        if terms and ids.isdisjoint(term.id for term in terms):
            named.setdefault(mention.text, []).extend(terms)
    return dict(islice(named.items(), MAX_MENTIONS))


def _values_in(question: str) -> dict[str, list[Term]]:
    """Return dates, numbers and quoted text of a question, dates as the graph writes them."""
    named: dict[str, list[Term]] = {}
    for pattern in (_MONTH_FIRST, _DAY_FIRST):
        for found in pattern.finditer(question):
            if written := _iso_date(found.groupdict()):
                named[found.group()] = [Literal(written)]
        question = pattern.sub(" ", question)
    for found in _QUOTED.finditer(question):
        text = next(filter(None, found.groups()))
        named[text] = [Literal(text)]
    for found in _NUMBER.finditer(question):
        named[found.group()] = [Literal(found.group().replace(",", ""))]
    return named


def _iso_date(parts: Mapping[str, str | None]) -> str | None:
    month = next(at for at, name in enumerate(_MONTHS, 1) if name[:3] == (parts["month"] or "")[:3])
    try:
        day = date(int(parts["year"] or 0), month, int(parts["day"] or 1)).isoformat()
    except ValueError:
        return None
    return day if parts["day"] else day[:7]


def _is_any(value: Term, terms: Iterable[Term]) -> bool:
    """Return whether a value is one of some terms, or a date within one."""
    texts = [term.value for term in terms if isinstance(term, Literal)]
    if isinstance(value, Entity):
        return value in terms
    return any(value.value == text or value.value.startswith(f"{text}-") for text in texts)
