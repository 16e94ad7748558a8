"""The numbers and dates that a question compares entities by, and how the graph leads to them."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, local_name
from kgqa.models.offline.question_intent import find_cue
from kgqa.models.offline.question_words import Encode, relation_phrase, text_similarities
from kgqa.prompts.candidates import parse_number

SortKey = tuple[Decimal | int, ...]
"""Where a value is in the order: a number, or year, month, day, hour, minute and second."""

RelationSteps = tuple[tuple[Hop, ...], ...]
"""What leads from a node to a value; the hops of one step are alternatives."""

_DATE = re.compile(
    r"(-?[0-9]{4,9})-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}))?)?[^0-9-]{0,9}.*"
)

_YEAR = re.compile(r"\b(?:1[0-9]|20)[0-9]{2}\b")

_MAX_SAMPLED_NODES = 6  # whose attributes are looked at to see which there are
_CUE_WEIGHT = 1.0  # of the similarity to the words that a cue stands for, beside that to the question
_SAID_BONUS = 0.5  # of an attribute of which the question says all words
_COVERAGE_BONUS = 0.2  # of an attribute that all nodes have
_DATE_MISMATCH_PENALTY = 1.0  # of a date where another value is asked for, and the reverse
_MIN_ATTRIBUTE_SCORE = 0.3
_LABEL_PENALTY = 0.5  # of what tells things apart rather than measures them, unless that is asked for
_DETOUR_PENALTY = 0.1  # of a value that stands at a node beside the chain

_YEAR_RANGE = range(1, 3_000)
_DATE_WORDS = re.compile(r"\b(year|dates?|born|died|founded|opened|built|start|end|from|to|since|until)\b")
_LABEL_WORDS = frozenset({"latitude", "longitude", "code", "id", "iso", "identifier"})
_DATE_TYPES = frozenset({"date", "dateTime", "gYear", "gYearMonth"})


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


def last_year_in_name(term: Term) -> SortKey | None:
    """Return the last year in a name, None where there is none: 2004 of "2004 NBA Finals"."""
    years = _YEAR.findall(term.name or "")
    return (int(years[-1]),) if years else None


def find_steps(by: str, graph: KnowledgeGraph) -> RelationSteps | None:
    """Return the relations that the graph has by the names of `QuestionIntent.by`, None if it lacks one."""
    steps = tuple(_find_relations(name, graph) for name in by.split("/") if by)
    return steps if steps and all(steps) else None


def _find_relations(name: str, graph: KnowledgeGraph) -> tuple[Hop, ...]:
    local = name.removeprefix("^")
    return tuple(
        Hop(relation, forward=local == name)
        for relation in graph.relations
        if relation.endswith(local) and local_name(relation) == local
    )


async def follow_steps(
    starts: Sequence[Entity], steps: RelationSteps, graph: KnowledgeGraph
) -> dict[Entity, tuple[tuple[Entity, Term], ...]]:
    """Follow relations from nodes: one query for each step.

    Returns:
        For each start that leads somewhere, each (node before the last step, end) it leads to.
    """
    led: dict[Entity, tuple[tuple[Entity, Term], ...]] = {start: ((start, start),) for start in starts}
    for hops in steps:
        nodes = sorted({end for pairs in led.values() for _, end in pairs if isinstance(end, Entity)})
        asked = [(node, hop) for node in nodes for hop in hops]
        pages = await graph.follow_relation([(node.id, hop) for node, hop in asked])
        ends: dict[Entity, list[Term]] = {}
        for (node, _), page in zip(asked, pages, strict=True):
            ends.setdefault(node, []).extend(page)
        led = {
            start: tuple({(at, end) for _, at in pairs if isinstance(at, Entity) for end in ends.get(at, ())})
            for start, pairs in led.items()
        }
    return {start: pairs for start, pairs in led.items() if pairs}


async def follow_hops(
    starts: Iterable[Term], hops: Sequence[Hop], graph: KnowledgeGraph
) -> dict[Entity, frozenset[Term]]:
    """Return what each entity leads to by hops, of those that lead anywhere: one query for each hop."""
    led = await follow_steps(keep_entities(starts), tuple((hop,) for hop in hops), graph)
    return {start: frozenset(end for _, end in pairs) for start, pairs in led.items()}


def keep_entities(terms: Iterable[Term]) -> list[Entity]:
    """Leave literals out."""
    return [term for term in terms if isinstance(term, Entity)]


async def look_up_sort_keys(
    steps: RelationSteps, back: int, chains: Sequence[Chain], pool: frozenset[Term], graph: KnowledgeGraph
) -> dict[Term, list[SortKey]]:
    """Look up the values of the ends or of the nodes before them; what is no value is counted."""
    nodes = await _value_nodes(back, chains, pool, graph)
    pairs: dict[Term, set[tuple[Entity, Term]]] = {}
    for node, found in (await follow_steps(sorted(nodes), steps, graph)).items():
        for end in nodes[node]:
            pairs.setdefault(end, set()).update(found)
    keys = {end: [key for _, term in of if (key := sort_key(term)) is not None] for end, of in pairs.items()}
    if any(keys.values()):
        return {end: values for end, values in keys.items() if values}
    return {end: [(len(of),)] for end, of in pairs.items()}


async def _value_nodes(
    back: int, chains: Sequence[Chain], pool: frozenset[Term], graph: KnowledgeGraph
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


class Attribute(NamedTuple):
    """Relations that lead to a number or a date, from an end or from a node before it."""

    back: int
    hops: tuple[Hop, ...]
    dated: bool
    share: float
    """Of the nodes that were looked at, how many have it."""

    @property
    def words(self) -> list[str]:
        """Each relation in words."""
        return [relation_phrase(hop.words) for hop in self.hops]


async def choose_attribute(
    question: str,
    by: str,
    chains: Sequence[Chain],
    pool: frozenset[Term],
    graph: KnowledgeGraph,
    encode: Encode,
) -> tuple[RelationSteps, int] | None:
    """Return the attribute most similar to the question, and how many nodes before the ends it starts.

    Where the question itself does not tell, ``by`` does: what a like question went by.
    """
    found = await _list_attributes(_sample_nodes(pool), 0, graph)
    for chain in chains:
        if chain.depth > 1:
            before = await graph.follow_chain(chain.upto(chain.depth - 1))
            found += await _list_attributes(_sample_nodes({each.term for each in before}), 1, graph)
    unique = sorted(set(found))
    if not unique:
        return None
    words = _comparison_words(question, by)
    scores = await asyncio.to_thread(_score_attributes, question, words, unique, encode)
    best = int(np.argmax(scores))
    if scores[best] < _MIN_ATTRIBUTE_SCORE:
        return None
    return tuple((hop,) for hop in unique[best].hops), unique[best].back


def asks_for_date(question: str, by: str) -> bool:
    """Return whether a question, or else what a like one went by, asks for the first or the last."""
    return bool(_DATE_WORDS.search(_comparison_words(question, by)))


def _comparison_words(question: str, by: str) -> str:
    """Return words for what is compared, none where neither a cue nor a like question tells."""
    cue = find_cue(question)
    return (cue.of if cue else "") or " ".join(relation_phrase(name) for name in by.split("/"))


def _sample_nodes(terms: frozenset[Term] | set[Term]) -> list[Entity]:
    """Return some of the entities, evenly spread over their order."""
    known = sorted(keep_entities(terms))
    return known[:: -(-len(known) // _MAX_SAMPLED_NODES) or 1]


async def _list_attributes(nodes: Sequence[Entity], back: int, graph: KnowledgeGraph) -> list[Attribute]:
    """List what gives the nodes numbers or dates, and the unnamed nodes beside them: four queries."""
    led = await _list_values([((), node) for node in nodes], graph)
    aside = [(hops, end) for hops, ends in led.items() for end in keep_entities(ends) if end.name is None]
    further = await _list_values(aside[: 3 * _MAX_SAMPLED_NODES], graph)
    found = []
    for hops, ends in (led | further).items():
        if values := [end for end in ends if sort_key(end) is not None]:
            share = min(1.0, len(values) / len(nodes))
            found.append(Attribute(back, hops, _is_dated(hops[-1], values), share))
    return found


async def _list_values(
    starts: Sequence[tuple[tuple[Hop, ...], Entity]], graph: KnowledgeGraph
) -> dict[tuple[Hop, ...], list[Term]]:
    """Return one value for each relation of each node, by the hops that lead to it: two queries."""
    hops = await graph.list_relations(sorted({node.id for _, node in starts}))
    asked = [(way, node, hop) for way, node in starts for hop in hops[node.id] if hop.forward]
    pages = await graph.follow_relation([(node.id, hop) for _, node, hop in asked])
    values: dict[tuple[Hop, ...], list[Term]] = {}
    for (way, _, hop), page in zip(asked, pages, strict=True):
        values.setdefault((*way, hop), []).extend(page.items[:1])
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
    question: str, meant: str, attributes: Sequence[Attribute], encode: Encode
) -> npt.NDArray[np.float64]:
    """Compare a question with attributes, each by its relation that is most similar: shape (attributes,)."""
    words = sorted({word for each in attributes for word in each.words})
    similarity = text_similarities(question, words, encode)
    if meant:
        similarity = similarity + _CUE_WEIGHT * text_similarities(meant, words, encode)
    asked, said = _word_set(meant), _word_set(f"{question} {meant}")
    bonuses = [_word_bonus(_word_set(word), asked, said) for word in words]
    scores = dict(zip(words, similarity + np.array(bonuses, np.float32), strict=True))
    dating = bool(_DATE_WORDS.search(meant)) if meant else None
    return np.array(
        [max(scores[word] for word in each.words) + _attribute_bonus(each, dating) for each in attributes]
    )


def _word_set(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def _word_bonus(words: frozenset[str], asked: frozenset[str], said: frozenset[str]) -> float:
    """Reward the words that are said; hold labels against what is not asked for by one, and the reverse."""
    astray = (words & _LABEL_WORDS) - said or (asked & _LABEL_WORDS) - words
    return _SAID_BONUS * len(words & said) / max(1, len(words)) - _LABEL_PENALTY * bool(astray)


def _attribute_bonus(attribute: Attribute, dating: bool | None) -> float:
    mismatch = dating is not None and attribute.dated != dating
    lost = _DATE_MISMATCH_PENALTY * mismatch + _DETOUR_PENALTY * (len(attribute.hops) - 1)
    return _COVERAGE_BONUS * attribute.share - lost
