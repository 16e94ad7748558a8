"""Queries with one error each: what a model that drafts SPARQL gets wrong.

Where an error can be made is found by the grammar of rdflib, what it can be by the profile of the graph.

>>> query = "SELECT DISTINCT ?x { ?x <http://x/p> 'Ulm' } LIMIT 5"
>>> wrong_queries(query, Schema(Profile()))["lost limit"]()
["SELECT DISTINCT ?x { ?x <http://x/p> 'Ulm' } "]
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from kgqa.kg.drafts.names import blank_texts
from kgqa.kg.drafts.reading import Draft, read_draft
from kgqa.kg.drafts.schema import Schema, Use, values_of
from kgqa.kg.profile.profile import UNTYPED, Profile as Profile
from kgqa.kg.sparql.guard import RDFLIB_LOCK

MAX_OF_A_PLACE = 5  # errors of one kind that are made at one place of a query at most

_NEGATIONS = {"Builtin_NOTEXISTS"}


class _Edit(NamedTuple):
    """What is written in place of a part of a query."""

    start: int
    end: int
    text: str = ""


class _Part(NamedTuple):
    """A part of a query, as the grammar has read it."""

    read: Any
    start: int
    end: int


_Edits: TypeAlias = Iterator[tuple[_Edit, ...]]


def wrong_queries(query: str, schema: Schema) -> dict[str, Callable[[], list[str]]]:
    """Return what makes queries with one error each, by the kind of the error.

    What is made is another query, which may give the same rows, or be none that can be run (`is_read`).

    Raises:
        Exception: whatever rdflib and pyparsing raise where the query is no SPARQL.
    """
    writer = _Writer(query, schema)

    def make(edits: Callable[[], _Edits]) -> list[str]:
        return [*dict.fromkeys(map(writer.edited, edits()))]

    return {kind: partial(make, edits) for kind, edits in writer.kinds.items()}


def is_read(query: str) -> bool:
    """Return whether a query can be read; to read all that may be wrong would take seconds."""
    try:
        read_draft(query)
    except Exception:
        return False
    return True


@lru_cache(64)  # a question is drafted with many seeds, and to scan its query takes a second
def _scan(query: str) -> dict[str, list[_Part]]:
    from pyparsing import CaselessKeyword
    from rdflib.plugins.sparql import parser

    words = parser.RDFLiteral | parser.NumericLiteral | parser.Var | parser.BlankNode | parser.iri
    grammars = {
        "declared": parser.PrefixDecl,
        "words": words | CaselessKeyword("DISTINCT"),
        "filters": parser.Filter,
        "minus": parser.MinusGraphPattern,
        "groups": parser.GroupClause,
        "havings": parser.HavingClause,
        "limits": parser.LimitOffsetClauses,
        "selects": parser.SelectClause,
    }
    with RDFLIB_LOCK:
        found = {name: [*grammar.scan_string(query)] for name, grammar in grammars.items()}
    return {
        name: [_Part(read[0] if read else None, start, end) for read, start, end in parts if end > start]
        for name, parts in found.items()
    }


@dataclass
class _Writer:
    query: str
    schema: Schema
    draft: Draft = field(init=False)
    parts: list[_Part] = field(init=False)

    def __post_init__(self) -> None:
        self.draft, found = read_draft(self.query), _scan(self.query)
        declared = found["declared"]
        self._prefixes = {str(part.read.prefix or ""): str(part.read.iri) for part in declared}
        begin = max((part.end for part in declared), default=0)
        self.parts = [part for part in found["words"] if part.start >= begin]
        self._filters, self._minus = found["filters"], found["minus"]
        self._groups, self._havings = found["groups"], found["havings"]
        self._limits, self._selects = found["limits"], found["selects"]
        self._bare = blank_texts(self.query)

    @property
    def kinds(self) -> dict[str, Callable[[], _Edits]]:
        return {
            "other property": self._other_property,
            "foreign property": self._foreign_property,
            "other direction": self._other_direction,
            "misspelt name": self._misspelt,
            "lost condition": self._lost_condition,
            "lost negation": self._lost_negation,
            "lost group": self._lost_group,
            "lost having": lambda: ((_Edit(part.start, part.end),) for part in self._havings),
            "lost distinct": self._lost_distinct,
            "lost limit": lambda: ((_Edit(part.start, part.end),) for part in self._limits),
            "other value": self._other_value,
            "miswritten value": self._miswritten_value,
        }

    def edited(self, edits: Sequence[_Edit]) -> str:
        """Return the query with some parts written otherwise."""
        text = self.query
        for each in sorted(edits, reverse=True):
            text = text[: each.start] + each.text + text[each.end :]
        return text

    # What is named

    def _named(self) -> Iterator[tuple[_Part, str]]:
        """Yield the IRIs of the query, whole."""
        for part in self.parts:
            if getattr(part.read, "name", "") == "pname":
                prefix = str(part.read.prefix or "")
                if prefix in self._prefixes:
                    yield part, self._prefixes[prefix] + str(part.read.localname or "")
            elif self.query[part.start] == "<":
                yield part, str(part.read)

    def _relations(self) -> Iterator[tuple[_Part, str]]:
        """Yield those that patterns follow, and that classes have."""
        followed = {str(named) for pattern in self.draft.patterns for named in pattern.named}
        return (pair for pair in self._named() if pair[1] in followed & self.schema.uses.keys())

    def _other_property(self) -> _Edits:
        """Take another property of the same class that leads to the same kind of values or nodes."""
        for part, relation in self._relations():
            yield from _instead(
                part,
                (
                    other.profile.relation
                    for use in self.schema.uses[relation]
                    for other in (Use(use.owner, each) for each in use.owner.properties)
                    if other.profile.relation != relation and _is_alike(use, other)
                ),
            )

    def _foreign_property(self) -> _Edits:
        """Take a property of other classes."""
        for part, relation in self._relations():
            owners = {*self.schema.owners(relation)}
            others = (each for each in self.schema.uses if owners.isdisjoint(self.schema.owners(each)))
            yield from _instead(part, others)

    def _other_direction(self) -> _Edits:
        for part, _ in self._relations():
            turned = self.query[: part.start].endswith("^")
            yield (_Edit(part.start - turned, part.start, "" if turned else "^"),)

    def _misspelt(self) -> _Edits:
        """Leave a letter out of a name."""
        for part, id in self._named():
            local = id[max(id.rfind("/"), id.rfind("#")) + 1 :]
            if len(local) > 3 and local.isalpha():
                at = id.rindex(local) + len(local) // 2
                yield (_Edit(part.start, part.end, f"<{id[:at]}{id[at + 1 :]}>"),)

    # What is left out

    def _lost_condition(self) -> _Edits:
        """Leave a filter out, or let any value be where the query has one."""
        yield from ((_Edit(part.start, part.end),) for part in self._filters if not _is_negation(part))
        ends = {str(pattern.end) for pattern in self.draft.patterns} - {*self.schema.classes}
        ends |= {str(pattern.start) for pattern in self.draft.patterns}
        named = [(part, id) for part, id in self._named() if id in ends and id not in self.schema.uses]
        literals = [(part, str(part.read)) for part in self._literals() if str(part.read) in ends]
        for at, (part, _) in enumerate([*named, *literals]):
            yield (_Edit(part.start, part.end, f"?any{at}"),)

    def _lost_negation(self) -> _Edits:
        negations = [*filter(_is_negation, self._filters), *self._minus]
        yield from ((_Edit(part.start, part.end),) for part in negations)

    def _lost_group(self) -> _Edits:
        """Compute over all rows what is asked for each group."""
        for group in self._groups:
            select = max((each for each in self._selects if self._is_level(each, group)), key=_start)
            keys = [
                _Edit(part.start, part.end)
                for part in self.parts
                if select.start <= part.start < select.end
                and self._is_level(select, part)
                and self.query[part.start] in "?$"
            ]
            own = [each for each in self._havings if group.end <= each.start and self._is_level(group, each)]
            having = [_Edit(each.start, each.end) for each in sorted(own, key=_start)[:1]]
            yield (_Edit(group.start, group.end), *keys, *having)

    def _is_level(self, part: _Part, other: _Part) -> bool:
        """Return whether a part stands after another, within the same braces and brackets."""
        between = self._bare[part.start : other.start]
        pairs = (("{", "}"), ("(", ")"))
        return part.start <= other.start and all(between.count(a) == between.count(z) for a, z in pairs)

    def _lost_distinct(self) -> _Edits:
        for part in self.parts:
            if self.query[part.start : part.end].upper() == "DISTINCT":
                yield (_Edit(part.start, part.end),)

    # What is compared

    def _literals(self) -> Iterator[_Part]:
        """Yield the values of the query, but for those of LIMIT and OFFSET."""
        from rdflib import Literal

        for part in self.parts:
            if not any(limit.start <= part.start < limit.end for limit in self._limits):
                plain = part.read.string if getattr(part.read, "name", "") == "literal" else part.read
                if isinstance(plain, Literal) and self.query[part.start] not in "?$<":
                    yield _Part(plain, part.start, part.end)

    def _other_value(self) -> _Edits:
        """Compare with what the model remembers: another value of a property, another number or entity."""
        for part in self._literals():
            text, written = str(part.read), self.query[part.start : part.end]
            if written[0] not in "\"'":
                yield (_Edit(part.start, part.end, f"{2 * float(text) + 1:g}"),)
                continue
            relations = {str(each) for pattern in self.draft.patterns for each in pattern.named}
            values = [v for each in sorted(relations) for v in values_of(self.schema.uses.get(each, ()))]
            if text in {value.value for value in values}:
                others = [value.value for value in values if value.value != text]
                for other in others[:MAX_OF_A_PLACE]:
                    yield (_Edit(part.start, part.end, written.replace(text, other, 1)),)
        entities = {each.id: owner for owner in self.schema.profile.classes for each in owner.examples}
        joined = {str(node) for pattern in self.draft.patterns for node in (pattern.start, pattern.end)}
        for part, id in self._named():
            if id in joined and id not in self.schema.known:
                owner = entities.get(id)
                alike = {each.id for each in owner.examples} if owner else {*entities}
                yield from _instead(part, (each for each in entities if each in alike and each != id))

    def _miswritten_value(self) -> _Edits:
        """Write a text in another case or a number as a text."""
        for part in self._literals():
            text, written = str(part.read), self.query[part.start : part.end]
            other = text.lower() if text.lower() != text else text.upper()
            if written[0] not in "\"'":
                yield (_Edit(part.start, part.end, f'"{written}"'),)
            elif other != text:
                yield (_Edit(part.start, part.end, written.replace(text, other, 1)),)


def _instead(part: _Part, ids: Iterator[str]) -> _Edits:
    for id in [*dict.fromkeys(each for each in ids if each != UNTYPED)][:MAX_OF_A_PLACE]:
        yield (_Edit(part.start, part.end, f"<{id}>"),)


def _is_alike(use: Use, other: Use) -> bool:
    if use.leads_to_nodes:
        return bool(use.profile.ends.keys() & other.profile.ends.keys())
    return bool(use.kinds & other.kinds)


def _start(part: _Part) -> int:
    return part.start


def _is_negation(part: _Part) -> bool:
    return str(getattr(part.read.expr, "name", "")) in _NEGATIONS
