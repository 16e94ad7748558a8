"""Replies about questions for yes or no: what a question claims, and whether facts say so."""

import asyncio
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations_with_replacement, islice, pairwise, product
from math import prod
from typing import Literal as Choice, NamedTuple

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Entity, Hop, Path, Term, Triple
from kgqa.kg.text import EVERYDAY_WORDS, FUNCTION_WORDS, fold
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.prompts.judge_claim import JudgeClaim, Judgement
from kgqa.retrieval.lookups import NO_ANSWER
from kgqa.retrieval.wording import (
    Encode,
    content_words,
    relation_phrase,
    stem_overlap,
    text_similarities,
    word_similarity,
)

_MAX_COMBINATIONS = 64  # of joined things that are looked at
_MAX_NAME_LOOKUPS = 12  # in the graph for one question
_MAX_NAME_WORDS = 4
_MIN_SIMILARITY = 0.35  # from which a relation says what a question claims
_MIN_STEM_SHARE = 0.5  # of the letters of two words that say the same

# how a question begins that asks for the same without it: isn't, doesn't
_NEGATED_QUESTION = re.compile(r"^(\w+)n t\b")
_ENUMERATION = re.compile(r"#(?:(?: the| an?)? #)*(?: and| as well as)(?: also| the| an?)* #")
_UNCLEAR = re.compile(r"\b(?:and|as well as|but|except|only|neither|nor|than|always|every|(?<!# )all)\b")
_IN_COMMON = re.compile(r"\b(?:same|shared?|in common)\b")

_CLASS_RELATION = re.compile(r"\b(?:class|subclass|type|kind|category|instance)\b|^is a$|^a$")
# a claim that says of things only what they are
_IS_A = re.compile(
    r"(?:is|are|was|were) (?:the |an? |both )*it(?: it)*(?: and (?:the |an? )?it)?"
    r"(?: both| an?| (?:kinds?|types?) of)* it"
)

# who does it, and to whom; a relation that is called by the verb goes that way
_ACTIVE = re.compile(r"(?:do|does|did|can|could|may|will|would) (?:the |an? )?it (\w+) (?:the |an? )?it")
_PASSIVE = re.compile(r"(?:is|are|was|were) (?:the |an? )?it (\w+) by (?:the |an? )?it")
_MUTUAL = frozenset({"adjoin", "bind", "border", "contact", "equal", "marri", "meet", "neighbour", "touch"})

_NEGATION = re.compile(r"\b(?:not|no|non|never|without|cannot|lacks?|\w+n t)\b")
# what a claim need not say: it says "of a gene on it", "of insects"
_LINKING_PHRASES = re.compile(
    r"\b(?:kind|type|subclass|instance|part) of\b|\bis a\b|\blocated (?:in|on|at)\b"
)
_TREATMENT = re.compile(
    r"\b(?:used|taken|given|prescribed|recommended|suitable|good|effective) (?:for|against|in)\b"
)
# beginnings of words that say the opposite of each other
_OPPOSITES = (
    (
        r"\b(?:contraindicat|avoid|harmful)",
        r"\b(?:indicat|treat|safe|suit|recommend|use[ds]?\b|tak(?:e|ing)\b|prescrib)",
    ),
    (r"\b(?:inhibit|block|suppress|antagoni)", r"\b(?:activat|stimulat|induc|agoni)"),
    (r"\b(?:increas|rais|worsen)", r"\b(?:decreas|reduc|lower|reliev)"),
    (r"\b(?:prevent|protect)", r"\b(?:caus|lead)"),
)


class Claim:
    """What a question claims: each thing that it names is joined with the others.

    Those that "and" puts side by side are joined with the others each, not with one another. Things are
    the topics, whatever the question calls them, and what has one of the folded ``names``; of these, those
    that it does not have, or within a longer one, are passed over.

    Attributes:
        text: the folded question, "it" for each name.
        rest: what stands between the names.
        slots: the things by what stands for them; those side by side share a slot.
        clear: whether each "and" is between names, and nothing is excepted or compared.
        alike: whether it claims that things have something in common.
        doer: what does what the claim says, and by which verb, where it says so.
    """

    def __init__(self, question: str, topics: Collection[Entity], names: Collection[str]) -> None:
        folded = _NEGATED_QUESTION.sub(r"\1", fold(question))
        known = sorted({name for name in names if not FUNCTION_WORDS.issuperset(name.split())}, key=len)
        either = "|".join(map(re.escape, reversed(known))) or r"(?!)"
        parts = re.split(rf"\b({either})(?:e?s)?\b", folded)
        found, masked = parts[1::2], "#".join(parts[::2])
        called = {topic: fold(topic.name or "") for topic in topics}
        self._topics = {topic for topic, name in called.items() if not name or name not in folded}
        self._found = frozenset(found)
        self.rest = parts[::2]
        self.text = masked.replace("#", "it")
        left = iter(found)
        groups = re.findall(rf"{_ENUMERATION.pattern}|#", masked)
        named = [frozenset(islice(left, group.count("#"))) for group in groups]
        unnamed = [frozenset([topic.id]) for topic in sorted(self._topics)]
        self.slots = list(dict.fromkeys([*named, *unnamed]))
        self.clear = not _UNCLEAR.search(_ENUMERATION.sub("#", masked))
        self.alike = _IN_COMMON.search(masked) is not None
        active, passive = _ACTIVE.fullmatch(self.text), _PASSIVE.fullmatch(self.text)
        verb = active or passive
        self.doer = (found[0 if active else 1], _stem(verb[1])) if verb else None

    def thing(self, term: Term) -> str | None:
        """Return what stands for a term that is a thing of the claim."""
        name = fold(term.name or "")
        return name if name in self._found else term.id if term in self._topics else None

    def joins(self, one: str, two: str) -> bool:
        """Return whether two things are claimed to be joined."""
        return one != two and (len(self.slots) == 1 or not any({one, two} <= slot for slot in self.slots))

    def borne_out(self, pairs: Collection[frozenset[str]]) -> bool:
        """Return whether pairs join all that is claimed to be joined."""
        if sum(map(len, self.slots)) < 2 or prod(map(len, self.slots)) > _MAX_COMBINATIONS:
            return False
        choices: Iterable[Collection[str]] = product(*self.slots) if len(self.slots) > 1 else self.slots
        return all(_is_connected(set(choice), pairs) for choice in choices)


def _is_connected(things: set[str], pairs: Collection[frozenset[str]]) -> bool:
    met = {min(things)}
    while more := {one for pair in pairs if pair <= things and pair & met for one in pair - met}:
        met |= more
    return met == things


async def read_claim(
    question: str,
    topics: Collection[Entity],
    terms: Iterable[Term],
    hops: Iterable[Hop],
    graph: KnowledgeGraph,
) -> Claim:
    """Read what a question claims; what no term or relation at hand is called is looked up in the graph.

    A name has at most four words, neither begins nor ends with a function word, and has a word that is
    neither an everyday one nor of a relation.
    """
    names = {fold(term.name or "") for term in terms}
    relations = [relation_phrase(hop.words) for hop in hops]
    unknown: dict[str, None] = {}
    for part in Claim(question, (), names).rest:
        words = part.split()
        heavy = [at for at, word in enumerate(words) if word not in FUNCTION_WORDS]
        for one, two in combinations_with_replacement(heavy, 2):
            span = words[one : two + 1]
            if len(span) <= _MAX_NAME_WORDS and not all(_is_common_word(word, relations) for word in span):
                unknown[" ".join(span)] = None
    found = [name for name in islice(unknown, _MAX_NAME_LOOKUPS) if await _is_entity_name(name, graph)]
    return Claim(question, topics, {*names, *found})


def _is_common_word(word: str, relations: Sequence[str]) -> bool:
    return word in EVERYDAY_WORDS or stem_overlap(relations, [word]).max(initial=0.0) >= _MIN_STEM_SHARE


async def _is_entity_name(name: str, graph: KnowledgeGraph) -> bool:
    try:
        matches = await graph.find_entities(name, 1)
    except NO_ANSWER:
        return False
    return any(match.sure and match.how != "id" for match in matches)


class _ClaimFact(NamedTuple):
    """A fact that says a claim of two things, or the opposite."""

    number: int
    path: Path
    pair: frozenset[str]
    said: bool


async def judge_claim(prompt: JudgeClaim, interpreter: QuestionInterpreter) -> Judgement:
    """Go by the facts that join what the question claims to be joined: do they say so, or the opposite?

    Yes where each thing is joined, no where one is denied to be. Either direction of a relation says it,
    unless the question asks what something is, or says by the relation's verb who does it. Where facts say
    both of the same things it is unknown.
    """
    offered = prompt.offered
    terms = [*prompt.topics, *(node for path in offered for node in path.nodes)]
    hops = {hop for path in offered for hop, _ in path.steps}
    claim = await read_claim(prompt.question, prompt.topics, terms, hops, interpreter.graph)
    if told := _read_flags(offered, claim):
        return told
    facts = await asyncio.to_thread(_weigh_facts, offered, claim, interpreter.encode)
    favour, against = ([each for each in facts if each.said is said] for said in (True, False))
    joined, denied = ({each.pair for each in side} for side in (favour, against))
    verdict: Choice["yes", "no", "unknown"] = "unknown"
    if joined & denied:
        reason = "the facts contradict each other"
    elif denied and claim.clear and len(claim.slots) <= 2:
        reason, verdict = "a fact says the opposite", "no"
    elif not denied and claim.clear and claim.borne_out(joined):
        reason, verdict = "the facts say so", "yes"
    elif facts:
        reason = "the facts do not say all that the question claims"
    else:
        reason = "no fact says what the question claims"
    return Judgement(
        rationale=reason, verdict=verdict, favour=_choose_facts(favour), against=_choose_facts(against)
    )


def _read_flags(paths: Sequence[Path], claim: Claim) -> Judgement | None:
    """Return what truth values say of all things of a claim: "is it active?" where it has active: false."""
    things = {thing for slot in claim.slots for thing in slot}
    told: dict[str, dict[int, bool]] = {}
    for number, path in enumerate(paths, 1):
        thing, flag = claim.thing(path.topic), fold(path.nodes[-1].name or "")
        if thing and len(path.steps) == 1 and flag in {"true", "false"}:
            relation = relation_phrase(path.chain.hops[0].words)
            if _says_alike(relation, claim.text):
                denied = (_NEGATION.search(claim.text) is None) != (_NEGATION.search(relation) is None)
                told.setdefault(thing, {})[number] = (flag == "true") != denied
    if told.keys() != things or len(claim.slots) != 1 or not claim.clear:
        return None
    flags = {number: holds for each in told.values() for number, holds in each.items()}
    if any(len({*each.values()}) > 1 for each in told.values()):
        return None
    holds = all(flags.values())
    deciding = [number for number, each in flags.items() if each == holds]
    sides = {"favour": deciding} if holds else {"against": deciding}
    return Judgement(rationale="a value says so", verdict="yes" if holds else "no", **sides)


def _says_alike(relation: str, claim: str) -> bool:
    """Return whether the words of a relation and those of a claim are the same, but for their endings."""
    one, other = (
        [
            word
            for word in fold(_NEGATION.sub(" ", text)).split()
            if word not in FUNCTION_WORDS and word != "it"
        ]
        for text in (relation, claim)
    )
    shares = [max((word_similarity(word, by) for by in other), default=0.0) for word in one]
    shares += [max((word_similarity(word, by) for by in one), default=0.0) for word in other]
    return min(shares, default=0.0) >= _MIN_STEM_SHARE


def _weigh_facts(paths: Sequence[Path], claim: Claim, encode: Encode) -> list[_ClaimFact]:
    """Return the facts that say the claim or its opposite of two of its things, by their ends; blocks."""
    facts = []
    for number, path in enumerate(paths, 1):
        things = [claim.thing(node) for node in path.nodes]
        start = max((at for at, thing in enumerate(things[:-1]) if thing), default=0)
        one, two = things[start], things[-1]
        if one and two and claim.joins(one, two):
            last = len(path.steps)
            cuts = [at for at in range(start, last + 1) if at in (start, last) or path.nodes[at].name]
            moves = [path.chain.hops[begin:end] for begin, end in pairwise(cuts)]
            said = fact_polarity(claim, one, two, moves, encode)
            if said is not None:
                facts.append(_ClaimFact(number, path, frozenset((one, two)), said))
    return facts


def fact_polarity(
    claim: Claim, one: str, two: str, moves: Sequence[Sequence[Hop]], encode: Encode
) -> bool | None:
    """Return whether what leads from one thing to another says a claim, or its opposite; None: neither.

    The ``moves`` lead from names to names. Through something else that has a name nothing is denied; and
    that two things are joined to it alike is no news of what a claim joins, unless it says that they have
    something in common.
    """
    words = [" ".join(relation_phrase(hop.words) for hop in move) for move in moves]
    if _IS_A.fullmatch(claim.text):
        downwards = {one in claim.slots[0]} == {hop.forward for move in moves for hop in move}
        kinds = all(_CLASS_RELATION.search(each) and not _NEGATION.search(each) for each in words)
        return True if downwards and kinds and len(claim.slots) == 2 else None
    if len(moves) == 1:
        ((*_, hop), doer) = moves[0], claim.doer
        backwards = doer and len(moves[0]) == 1 and doer[0] != (one if hop.forward else two)
        if backwards and doer and _is_done_by(hop, doer[1]):
            return None
        return polarity(claim.text, words, encode)
    turns = any([hop.inverse for hop in reversed(one)] == [*two] for one, two in pairwise(moves))
    apart = turns or len(claim.slots) == 1
    return None if apart and not claim.alike else polarity(claim.text, words, encode) or None


def _is_done_by(hop: Hop, verb: str) -> bool:
    """Return whether a relation says of its subject what it does: "regulates", but not "borders"."""
    word = relation_phrase(hop.words)
    return word.endswith("s") and _stem(word) == verb not in _MUTUAL


def _stem(verb: str) -> str:
    return re.sub(r"(?:ed|es|s|e)$", "", verb)


def polarity(claim: str, moves: Sequence[str], encode: Encode) -> bool | None:
    """Return whether relations one after the other say what a claim says, or its opposite; None: neither.

    The ``claim`` is in lower case, with "it" for its names; ``moves`` lead from one of these to another.
    """
    said = [(move, _move_polarity(claim, move, encode)) for move in moves]
    needed = [each for move, each in said if each is not None or not _LINKING_PHRASES.search(move)]
    return None if None in needed or not needed else all(needed)


def _move_polarity(claim: str, move: str, encode: Encode) -> bool | None:
    opposite = _are_opposite(claim, move) or _are_opposite(move, claim)
    bare, words = (_NEGATION.sub(" ", text) for text in (claim, move))
    said = {bare, _TREATMENT.sub("treat", bare)}
    if not opposite and not any(_is_similar(text, words, encode) for text in said):
        return None
    denied = (_NEGATION.search(claim) is None) != (_NEGATION.search(move) is None)
    return opposite == denied


def _is_similar(claim: str, words: str, encode: Encode) -> bool:
    stems = stem_overlap([words], content_words(claim)).max(initial=0.0)
    return bool(stems >= _MIN_STEM_SHARE or text_similarities(claim, [words], encode)[0] >= _MIN_SIMILARITY)


def _are_opposite(one: str, other: str) -> bool:
    """Return whether one text says the one of two opposites alone, and the other text the other alone."""
    return any(
        re.search(here, one)
        and re.search(there, other)
        and not (re.search(there, one) or re.search(here, other))
        for here, there in _OPPOSITES
    )


def _choose_facts(facts: Sequence[_ClaimFact]) -> list[int]:
    """Number facts, the shortest of each pair of things, so that none only repeats what others say."""
    known: set[Triple] = set()
    shortest: dict[frozenset[str], int] = {}
    chosen: dict[int, tuple[object, ...]] = {}
    for each in sorted(facts, key=lambda fact: (len(fact.path.steps), fact.number)):
        size = shortest.setdefault(each.pair, len(each.path.steps))
        triples = set(each.path.triples)
        if len(each.path.steps) == size and not triples <= known:
            known |= triples
            chosen[each.number] = (each.path.topic, *each.path.steps)
    return sorted(
        number
        for number, own in chosen.items()
        if not any(other[: len(own)] == own for at, other in chosen.items() if at != number)
    )
