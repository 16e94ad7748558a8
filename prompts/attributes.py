"""How prompts show what the graph knows of candidates, and how replies become conditions that it checks."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from string import ascii_uppercase
from typing import Literal as Choice

from kgqa.kg.dialects import XSD
from kgqa.kg.proof.query import MAX_ATTRIBUTE_HOPS, Aggregate, Condition, Operator
from kgqa.kg.proof.values import Kind, kind_of
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, local_name, one_line
from kgqa.kg.text import fold
from kgqa.locks import cached_property
from kgqa.prompts.base import quoted
from kgqa.prompts.chain import draw_arrow

MAX_TYPES = 6
MAX_ALL_VALUES, MAX_EXAMPLES = 6, 4  # values up to which all are shown, and how many of more
MAX_SHOWN_BESIDE = 3  # values of an attribute that stand beside a candidate
MAX_FOUND_BESIDE = 3  # candidates that a mention stands near, by name
MAX_VALUE_CHARS = 60
MIN_STEM_CHARS = 4  # of words that begin alike, such as "Turkey" and "Turkish"

Extreme = Choice[
    "none", "smallest", "largest", "second smallest", "second largest", "third smallest", "third largest"
]
_RANKS = {"second": 2, "third": 3}


@dataclass(frozen=True)
class Attribute:
    """What nodes at a place of a chain have by some hops, without hops the nodes themselves.

    ``values`` are pairs of a candidate and a value.
    """

    place: int
    hops: tuple[Hop, ...]
    values: tuple[tuple[Term, Term], ...]

    @cached_property
    def of(self) -> Mapping[Term, list[Term]]:
        """The values of each candidate that has any."""
        found: dict[Term, list[Term]] = {}
        for candidate, value in self.values:
            found.setdefault(candidate, []).append(value)
        return found

    @cached_property
    def distinct(self) -> Mapping[str, Term]:
        """The values by their texts, each once, in their order."""
        return {term_text(value): value for _, value in self.values}

    @cached_property
    def kind(self) -> Kind:
        """What its values are compared as: among dates, 1961 is one."""
        kinds = {kind_of(value) for value in self.distinct.values()}
        if kinds == {"date", "number"}:
            return "date"
        return kinds.pop() if len(kinds) == 1 else "text"

    @property
    def words(self) -> str:
        """The relations that lead to the values."""
        return " ".join(hop.words for hop in self.hops)

    @cached_property
    def says_names(self) -> bool:
        """Whether its values are the candidates' own names."""
        return bool(self.hops) and all(
            isinstance(value, Literal) and value.value == candidate.name for candidate, value in self.values
        )

    def draw(self) -> str:
        """Draw the way to the values, some of them, and how many candidates have any.

        >>> ulm, born, label = Entity("http://x/u", "Ulm"), Hop("http://x/born"), Hop("http://x/label")
        >>> Attribute(1, (born,), ((ulm, Literal("854")),)).draw()
        '?1 -born-> "854" (1 candidate)'
        >>> Attribute(1, (label,), ((ulm, Literal("Ulm")),)).draw()
        '?1 -label-> its name'
        """
        if self.says_names:
            return f"?{self.place} {draw_arrow(self.hops[-1], 'its name')}"
        texts = [quoted(text, MAX_VALUE_CHARS) for text in self.distinct]
        if len(texts) > MAX_ALL_VALUES:
            texts = [*texts[:MAX_EXAMPLES], f"{len(texts) - MAX_EXAMPLES} more"]
        way = f"?{self.place}" if self.hops else f"?{self.place} itself:"
        for hop in self.hops[:-1]:
            way += f" {draw_arrow(hop, '?')}"
        shown = ", ".join(texts)
        return f"{way} {draw_arrow(self.hops[-1], shown) if self.hops else shown} {_draw_share(len(self.of))}"


@dataclass(frozen=True, slots=True)
class Mention:
    """What a question names beside its topics, the ``terms`` that it may stand for, and where these are.

    They are ``found`` as values of an attribute, by its place in the list, of a candidate.
    """

    text: str
    terms: tuple[Term, ...] = ()
    found: tuple[tuple[int, Term], ...] = ()

    @property
    def is_bound(self) -> bool:
        """Whether it may be a bound and no value: a number or a date says nothing where it is not found."""
        values = [term for term in self.terms if isinstance(term, Literal)]
        return bool(values) and all(kind_of(value) != "text" for value in values)

    def draw(self) -> str:
        """Say where it was found."""
        near = [f"{ascii_uppercase[at]} of {quoted(str(term))}" for at, term in self.found[:MAX_FOUND_BESIDE]]
        more = [f"{len(self.found) - len(near)} more"] if len(self.found) > len(near) else []
        return f"{quoted(self.text)}: {', '.join([*near, *more])}"


@dataclass(frozen=True)
class KnownAttributes:
    """What the graph knows of candidates: ``listed`` attributes, the most similar to the question first.

    ``types`` are pairs of a candidate and a type, in such an order; ``cut`` says that of many candidates some
    were looked at.
    """

    chain: Chain
    listed: tuple[Attribute, ...] = ()
    types: tuple[tuple[Term, Term], ...] = ()
    mentions: tuple[Mention, ...] = ()
    cut: bool = False

    @cached_property
    def _kinds(self) -> Mapping[str, tuple[Term, frozenset[Term]]]:
        """The types that not all of the candidates have, by their texts, and whose they are.

        The most similar to the question first; of those that the same candidates have, one with a name.
        """
        having: dict[Term, set[Term]] = {}
        for candidate, kind in self.types:
            having.setdefault(kind, set()).add(candidate)
        named: dict[frozenset[Term], Term] = {}
        for kind, candidates in having.items():
            first = named.setdefault(frozenset(candidates), kind)
            if kind.name and not first.name:
                named[frozenset(candidates)] = kind
        most = len({candidate for candidate, _ in self.types})
        telling = [of for of in named if len(of) < most][:MAX_TYPES] or [*named][:1]
        return {term_text(named[of]): (named[of], of) for of in telling}

    @property
    def kinds(self) -> Mapping[str, Term]:
        """The types that are shown, by their texts."""
        return {text: kind for text, (kind, _) in self._kinds.items()}

    def draw(self) -> Iterator[str]:
        """Draw attributes and types, and what the question names."""
        if self.listed:
            yield "Attributes" + (" (of some candidates, there are more):" if self.cut else ":")
            yield from (f"{letter}. {each.draw()}" for letter, each in self.lettered.items())
        else:
            yield "Attributes: none"
        if self.types:
            shown = (
                f"{quoted(text, MAX_VALUE_CHARS)} {_draw_share(len(of))}"
                for text, (_, of) in self._kinds.items()
            )
            yield f"Types: {', '.join(shown)}"
        yield from (f"Found near the candidates: {each.draw()}" for each in self.mentions if each.found)
        if lost := [quoted(each.text) for each in self.mentions if not each.found and not each.is_bound]:
            yield f"Not found near the candidates: {', '.join(lost)}"

    @property
    def lettered(self) -> Mapping[str, Attribute]:
        """The attributes by the letters that they are shown with."""
        return dict(zip(ascii_uppercase, self.listed, strict=False))

    def draw_values(self, candidate: Term) -> str:
        """Draw the types of a candidate and what it has of the attributes."""
        kinds = [quoted(text, MAX_VALUE_CHARS) for text, (_, of) in self._kinds.items() if candidate in of]
        parts = [", ".join(kinds[:2])] if kinds else []
        for letter, each in self.lettered.items():
            values = each.of.get(candidate, ()) if each.place < self.chain.depth or each.hops else ()
            if values and not each.says_names:
                texts = dict.fromkeys(quoted(term_text(value), MAX_VALUE_CHARS) for value in values)
                parts.append(f"{letter} {', '.join([*texts][:MAX_SHOWN_BESIDE])}")
        return f" ({'; '.join(parts)})" if parts else ""

    def condition(self, letter: str, operator: Operator, text: str, question: str) -> Condition:
        """Return the condition that a reply states; raise ValueError if it cannot be checked.

        A name is compared with what the question says, lest it be a choice by name.
        """
        if operator == "type":
            return Condition(self.chain.depth, (), "type", _named(text, self.kinds, "type"), f"is a {text}")
        naming = next((each.hops[-1] for each in self.listed if each.says_names), None)
        return condition_on(self._attribute(letter), f"attribute {letter}", operator, text, question, naming)

    def extreme(self, letter: str, extreme: Extreme) -> Aggregate:
        """Return what a reply asks for; raise ValueError if there is nothing to compare."""
        attribute = self._attribute(letter)
        end = attribute.place == self.chain.depth
        return extreme_by(attribute, f"attribute {letter}", extreme, end=end)

    def _attribute(self, letter: str) -> Attribute:
        found = self.lettered.get(letter)
        if found is None:
            last = [*self.lettered][-1:]
            offered = f"choose from A to {last[0]}" if last else "there are none"
            raise ValueError(f'attribute "{letter}" was not offered; {offered}')
        return found


def _draw_share(count: int) -> str:
    return f"({count} candidate{'s' * (count != 1)})"


def draw_applied(conditions: Sequence[Condition]) -> list[str]:
    """Draw the conditions that hold of all candidates.

    >>> in_ulm = Condition(1, (Hop("http://x/lives_in"),), "=", Entity("http://x/u", "Ulm"))
    >>> draw_applied([in_ulm, Condition(1, (Hop("http://x/born"),), "year", Literal("1905"))])
    ['All candidates meet: ?1 -lives_in-> "Ulm"; ?1 -born-> (year) "1905"']
    """
    drawn = []
    for each in conditions:
        way = " ".join(draw_arrow(hop, "?") for hop in each.attribute).removesuffix(" ?")
        how = f"({each.operator})" if each.operator != "=" else ""
        value = quoted(term_text(each.value), MAX_VALUE_CHARS) if each.value else ""
        drawn.append(" ".join(filter(None, (f"?{each.place}", way, how, value))))
    return [f"All candidates meet: {'; '.join(drawn)}"] if drawn else []


def term_text(term: Term) -> str:
    """Return what a term is called, of a day without the time: a type may have nothing but its id."""
    return (term.name or local_name(term.id)).removesuffix("T00:00:00Z")


def condition_on(
    attribute: Attribute, called: str, operator: Operator, text: str, question: str, naming: Hop | None = None
) -> Condition:
    """Return what a reply states of an attribute; raise ValueError if it cannot be checked.

    A candidate's own name is compared with what the question says, lest it be a choice by name; a value that
    the question does not say and that tells one candidate of several from all others is remembered. A part
    of a name is compared where ``naming`` leads to it, or one value has it.
    """
    if attribute.kind == "entity" and operator == "contains":
        return _name_contains(attribute, called, text, question, naming)
    if attribute.says_names and not is_said(question, text):
        raise ValueError(f'the question does not say {quoted(text)}; candidates are named in "chosen"')
    words = " ".join(filter(None, (attribute.words, operator, text)))
    if not text and "exists" in operator:
        return Condition(attribute.place, attribute.hops, operator, None, words)
    value = _value(attribute, called, operator, text)
    remembered = _tells_one(attribute, operator, term_text(value)) and not is_alluded_to(question, text)
    return Condition(attribute.place, attribute.hops, operator, value, words, remembered)


def _name_contains(
    attribute: Attribute, called: str, text: str, question: str, naming: Hop | None
) -> Condition:
    if naming and len(attribute.hops) < MAX_ATTRIBUTE_HOPS:
        names = tuple((owner, Literal(term_text(value))) for owner, value in attribute.values)
        named = Attribute(attribute.place, (*attribute.hops, naming), names)
        words = " ".join(filter(None, (attribute.words, f"name contains {text}")))
        return replace(condition_on(named, called, "contains", text, question), words=words)
    having = [each for each in attribute.distinct if fold(text) in fold(each)]
    if len(having) != 1:
        raise ValueError(f"{len(having)} values of {called} have {quoted(text)} in their names; name one")
    return condition_on(attribute, called, "=", having[0], question)


def _tells_one(attribute: Attribute, operator: Operator, text: str) -> bool:
    """Return whether a name or a text tells one candidate of several from the others, or none of them."""
    owners = {owner for owner, each in attribute.values if _holds_text(operator, term_text(each), text)}
    others = {owner for owner, _ in attribute.values} - owners
    few = len(owners) < 2 or (operator in {"!=", "not exists"} and len(others) < 2)
    compared = operator in {"=", "!=", "contains", "not exists"}
    return compared and attribute.kind in {"entity", "text"} and few and len(owners | others) > 1


def _holds_text(operator: Operator, value: str, text: str) -> bool:
    return fold(text) in fold(value) if operator == "contains" else value == text


def extreme_by(attribute: Attribute, called: str, extreme: Extreme, *, end: bool) -> Aggregate:
    """Return what has such a value, of an attribute at the chain's ``end`` or before it.

    Raises:
        ValueError: if there is nothing to compare.
    """
    by = attribute.kind
    if by not in {"number", "date"}:
        raise ValueError(f'{called} has neither numbers nor dates to compare; what names say is "chosen"')
    rank, largest = _RANKS.get(extreme.split()[0], 1), extreme.endswith("largest")
    if not attribute.hops and end:
        return Aggregate("max" if largest else "min", by=by, rank=rank)
    return Aggregate("argmax" if largest else "argmin", attribute.hops, attribute.place, by, rank)


def draw_owned_values(attribute: Attribute) -> str:
    """Draw values with the candidates that have them, or with how many do.

    >>> ulm, bonn = Entity("http://x/u", "Ulm"), Entity("http://x/b", "Bonn")
    >>> draw_owned_values(Attribute(1, (Hop("http://x/n"),), ((ulm, Literal("854")), (bonn, Literal("11")))))
    '"854" of "Ulm"; "11" of "Bonn"'
    """
    if attribute.says_names:
        return "its name"
    owners: dict[str, list[Term]] = {}
    for candidate, value in attribute.values:
        owners.setdefault(quoted(term_text(value), MAX_VALUE_CHARS), []).append(candidate)
    shown = list(owners)[: MAX_ALL_VALUES if len(owners) <= MAX_ALL_VALUES else MAX_EXAMPLES]
    told = {
        value: quoted(str(of[0]), MAX_VALUE_CHARS) if len(of) == 1 else str(len(of))
        for value, of in owners.items()
    }
    parts = [f"{', '.join(values)} of {whose}" for whose, values in groupby(shown, key=told.__getitem__)]
    more = len(owners) - len(shown)
    return "; ".join([*parts, f"{more} more"] if more else parts)


def _value(attribute: Attribute, called: str, operator: Operator, text: str) -> Term:
    """Return the value that a condition compares with: an entity, or a text as a value of its kind."""
    if attribute.kind == "entity":
        if len({value for _, value in attribute.values if fold(term_text(value)) == fold(text)}) > 1:
            raise ValueError(f"several values of {called} are called {quoted(text)}")
        return _named(text, attribute.distinct, f"value of {called}")
    if operator in {"contains", "year"} or attribute.kind == "text":
        return Literal(text) if operator != "=" else attribute.distinct.get(text, Literal(text))
    value = Literal(text.replace(",", "")) if attribute.kind == "number" else Literal(text, f"{XSD}date")
    if kind_of(value) != attribute.kind:
        raise ValueError(f"{called} has {attribute.kind}s, and {quoted(text)} is none")
    return value


def is_said(question: str, text: str) -> bool:
    """Return whether a question has a text in whole words, or all of several words somewhere.

    >>> [is_said("Who is the best?", "The Who"), is_said("Who of Smith's sons is Ben?", "Ben Smith")]
    [False, True]
    """
    folded, words = fold(question), re.findall(r"\w+", fold(text))
    whole = re.search(rf"(?<!\w){re.escape(fold(text))}(?!\w)", folded)
    told = any(len(word) >= MIN_STEM_CHARS for word in words)  # and not words such as "the" alone
    return whole is not None or (told and len(words) > 1 and {*words} <= {*re.findall(r"\w+", folded)})


def is_alluded_to(question: str, text: str) -> bool:
    """Return whether a question says a text, or has its numbers and a word that begins as one of its words.

    >>> [is_alluded_to("Which one is Turkish?", name) for name in ("Turkey", "Greece", "Turkey 2")]
    [True, False, False]
    """
    asked, named = ({*re.findall(rf"\b\w{{{MIN_STEM_CHARS}}}", fold(each))} for each in (question, text))
    numbers = {*re.findall(r"\d+", text)} <= {*re.findall(r"\d+", question)}
    return is_said(question, text) or (numbers and bool(asked & named))


def _named(text: str, terms: Mapping[str, Term], what: str) -> Entity:
    folded = {fold(name): term for name, term in terms.items()}
    found = terms.get(text) or folded.get(fold(text))
    if not isinstance(found, Entity):
        raise ValueError(f"no {what} is called {quoted(text)}")
    return found


def draw_told_apart(terms: Sequence[Term], marks: Sequence[str]) -> Iterator[str]:
    """Draw candidates, each with its marks; those that look the same are told apart by their ids."""
    lines = [f"{quoted(str(term))}{mark}" for term, mark in zip(terms, marks, strict=True)]
    sizes = Counter(lines)
    for term, line in zip(terms, lines, strict=True):
        yield f"{line} <{one_line(local_name(term.id), MAX_VALUE_CHARS)}>" if sizes[line] > 1 else line
