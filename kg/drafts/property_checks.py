"""Checks of how a drafted query uses properties: who has them, where they lead, what is compared."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as Choice

from rapidfuzz import fuzz, process

from kgqa.kg.dialects import RDFS
from kgqa.kg.drafts.names import Names
from kgqa.kg.drafts.reading import Draft, Group, Pattern, parts_of, shown_name
from kgqa.kg.drafts.schema import TYPES, Schema, Use, ValueKind, datatype_kind, ends_of, kinds_of, values_of
from kgqa.kg.phrases import list_words
from kgqa.kg.profile.profile import UNTYPED
from kgqa.kg.sparql.nodes import Node, is_open, is_value, to_term
from kgqa.kg.terms import Literal

Level = Choice["wrong", "doubtful", "hint"]
"""Whether a query is refused, whether its writer has to confirm it, or whether it only explains no rows."""

MIN_SIMILARITY, SURE_SIMILARITY = 45.0, 80.0
"""Of a name that may be meant, or surely is (0 to 100, weighted ratio of rapidfuzz)."""

MAX_NEAREST = 3
MAX_LISTED = 8

_TEXT_TESTS = ("CONTAINS", "STRSTARTS", "STRENDS", "REGEX", "LCASE", "UCASE", "STRLEN", "SUBSTR")
_NUMBERS = {"SUM", "AVG"}
_EXTREMES = {"MIN", "MAX"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a query, in a sentence, and how sure that is; whether the graph makes it so.

    ``check`` is the name of the check that has found it.
    """

    text: str
    level: Level
    by_graph: bool = True
    check: str = ""


@dataclass(frozen=True)
class _Types:
    """Classes of which a node is a member of at least one; ``is_sure`` unless it may be of none of them."""

    classes: frozenset[str]
    is_sure: bool
    stated: str | None = None  # the class that the query names


@dataclass
class PropertyChecks:
    """Checks of a query's properties, by the classes that its nodes can be of."""

    draft: Draft
    schema: Schema
    names: Names
    _types: dict[tuple[Group, Node], tuple[_Types, ...]] = field(default_factory=dict, init=False)

    def level(self, group: Group, *, sure: bool) -> Level:
        """Return how bad it is that a part of a group gives nothing."""
        if not sure:
            return "hint"
        return "wrong" if group.kind == "required" else "doubtful"

    def properties_of(self, classes: Iterable[str]) -> str:
        """Say what members of some classes have."""
        owners = [each for id in sorted(classes) if (each := self.schema.classes.get(id)) and id]
        has = dict.fromkeys(part.relation for each in owners for part in each.properties)
        listed = [self.names.write(each) for each in [*has][:MAX_LISTED]]
        more = ", …" if len(has) > MAX_LISTED else ""
        called = list_words([self.names.write(each.id) for each in owners], "or")
        return f"{called} has {', '.join(listed)}{more}" if listed else ""

    def draw(self, pattern: Pattern) -> str:
        """Write a pattern."""
        return " ".join(map(self.names.node, (pattern.start, pattern.path, pattern.end)))

    def draw_relation(self, relation: str) -> str:
        """Write a relation, with where it leads from and to."""
        return self.names.write(relation) + self.draw_ends(relation)

    def draw_ends(self, relation: str) -> str:
        """Say where a relation leads from and to, as far as that is known."""
        uses = self.schema.uses.get(relation, ())
        owners = [self.names.write(use.owner.id) for use in uses if use.owner.id != UNTYPED]
        ends = dict.fromkeys(ends_of(uses))
        to = [self.names.write(end) if end != UNTYPED else "nodes without a class" for end in ends]
        to += dict.fromkeys(kind for use in uses for kind in sorted(use.kinds))
        led = f" to {list_words(to[:MAX_NEAREST])}" if to else ""
        return f", from {list_words(owners[:MAX_NEAREST])}{led}" if owners else f", {led[1:]}" if led else ""

    # Who has what

    def types_of(self, group: Group, node: Node) -> tuple[_Types, ...]:
        """Return what is known of the classes of a node within a group: all of it holds."""
        key = (group, node)
        if key not in self._types:
            self._types[key] = ()  # for patterns in circles
            self._types[key] = tuple(dict.fromkeys(self._find_types(group, node)))
        return self._types[key]

    def _find_types(self, group: Group, node: Node) -> Iterator[_Types]:
        if not is_open(node):
            return
        around = {*group.around}
        for pattern in self.draft.patterns:
            if pattern.group not in around or node not in {pattern.start, pattern.end}:
                continue
            if pattern.relation is None:
                continue
            relation = str(pattern.relation)
            if relation in TYPES and pattern.start == node:
                yield from self._stated_types(pattern, around)
            elif pattern.end == node and relation in self.schema.uses:
                uses = self.uses_of(pattern)
                ends = frozenset(ends_of(uses))
                if ends and UNTYPED not in ends and not any(use.leads_to_values for use in uses):
                    yield _Types(ends, all(self.schema.is_complete(use.owner) for use in uses))

    def _stated_types(self, pattern: Pattern, around: Collection[Group]) -> Iterator[_Types]:
        if not is_open(pattern.end):
            owner = self.schema.classes.get(id := str(pattern.end))
            if owner and owner.members:
                yield _Types(frozenset({id}), True, id)
            return
        for other in self.draft.patterns:  # ?x a ?class . ?class rdfs:subClassOf* C
            if other.group in around and other.start == pattern.end and not is_open(other.end):
                id = str(other.end)
                if [*map(str, other.named)] == [f"{RDFS}subClassOf"] and id in self.schema.classes:
                    below = frozenset(each.id for each in self.schema.kinds_below(id))
                    yield _Types(below, True, id)

    def uses_of(self, pattern: Pattern) -> tuple[Use, ...]:
        """Return the property of a pattern as those classes have it that its start can be of."""
        relation = str(pattern.relation)
        found = self.schema.uses_by(relation, None)
        for each in self.types_of(pattern.group, pattern.start):
            if each.is_sure and (some := self.schema.uses_by(relation, each.classes)):
                found = tuple(use for use in found if use in some) or found
        return found

    def misused(self) -> Iterator[Finding]:
        """Find properties of nodes whose classes do not have them."""
        for pattern in self.draft.patterns:
            relation = str(pattern.relation)
            if relation not in self.schema.uses or pattern.group.is_alternative:
                continue
            for types in self.types_of(pattern.group, pattern.start):
                owners = [
                    self.schema.classes[id] for id in sorted(types.classes) if id in self.schema.classes
                ]
                if not owners or any(self.schema.has(owner, relation) for owner in owners):
                    continue
                sure = types.is_sure and all(self.schema.is_complete(owner) for owner in owners)
                called = list_words([self.names.write(owner.id) for owner in owners][:MAX_NEAREST], "or")
                lacking = self.names.write(relation) + ("" if sure else " among those that were read")
                yield Finding(
                    f"{shown_name(pattern.start)} is {called}, which has no {lacking}: "
                    f"{self.draw_relation(relation)}{self._turned(pattern)}",
                    self.level(pattern.group, sure=sure),
                )

    def _turned(self, pattern: Pattern) -> str:
        """Say that a pattern may be meant the other way round."""
        if not is_open(pattern.end):
            return ""
        owners = {*self.schema.owners(str(pattern.relation))}
        types = self.types_of(pattern.group, pattern.start)
        ends = {*ends_of(self.schema.uses[str(pattern.relation)])}
        if owners and any(each.classes <= ends for each in types):
            turned = (pattern.end, pattern.relation, pattern.start)
            return f"; perhaps {' '.join(map(self.names.node, turned))}"
        return f"; {told}" if (told := next((self.properties_of(each.classes) for each in types), "")) else ""

    def wrong_ends(self) -> Iterator[Finding]:
        """Find what stands at the end of a property and cannot be there."""
        for pattern in self.draft.patterns:
            uses = self.uses_of(pattern) if str(pattern.relation) in self.schema.uses else ()
            if not uses or pattern.group.is_alternative:
                continue
            sure = self.schema.is_sure(uses)
            if is_open(pattern.end):
                yield from self._wrong_variable(pattern, uses, sure=sure)
            else:
                yield from self._wrong_constant(pattern, uses, sure=sure)

    def _wrong_variable(self, pattern: Pattern, uses: Sequence[Use], *, sure: bool) -> Iterator[Finding]:
        relation, level = self.draw_relation(str(pattern.relation)), self.level(pattern.group, sure=sure)
        around = {*pattern.group.around}
        leaving = [each for each in self.draft.patterns if each.start == pattern.end and each.group in around]
        if leaving and not any(use.leads_to_nodes for use in uses):
            yield Finding(
                f"{shown_name(pattern.end)} is a value, from which {self.draw(leaving[0])} cannot "
                f"lead on: {relation}",
                level,
            )
            return
        ends = {*ends_of(uses)}
        if UNTYPED in ends or not ends or any(use.leads_to_values for use in uses):
            return
        complete = all(self.schema.is_complete(use.owner) for use in uses)
        for types in self.types_of(pattern.group, pattern.end):
            if types.stated and types.classes and not types.classes & ends:
                yield Finding(
                    f"{self.names.write(str(pattern.relation))} does not lead to "
                    f"{self.names.write(types.stated)}: {relation}",
                    self.level(pattern.group, sure=complete and types.is_sure),
                )

    def _wrong_constant(self, pattern: Pattern, uses: Sequence[Use], *, sure: bool) -> Iterator[Finding]:
        value = _as_literal(pattern.end)
        if value is None:
            if not any(use.leads_to_nodes for use in uses):
                yield Finding(
                    f"{self.draw_relation(str(pattern.relation))}, not to a node such as "
                    f"{self.names.write(str(pattern.end))}: compare it with a value",
                    self.level(pattern.group, sure=sure),
                )
        elif not any(use.leads_to_values for use in uses):
            yield Finding(
                f"{self.draw_relation(str(pattern.relation))}, not to a value such as {_quote(value)}: name "
                f"the node, or compare a property of it{self._inner(uses)}",
                self.level(pattern.group, sure=sure),
            )
        else:
            level = self.level(pattern.group, sure=sure)
            yield from self._wrong_value(str(pattern.relation), value, uses, level, exact=True)

    def _inner(self, uses: Iterable[Use]) -> str:
        ends = dict.fromkeys(end for end in ends_of(uses) if end != UNTYPED)
        return f"; {told}" if (told := self.properties_of(ends)) else ""

    # What is compared

    def _wrong_value(
        self, relation: str, value: Literal, uses: Sequence[Use], level: Level, *, exact: bool
    ) -> Iterator[Finding]:
        """Find a value that a property does not have, of a kind or in words that it does not have.

        A triple pattern (``exact``) has a value with its datatype and language, a filter compares numbers.
        """
        kinds = kinds_of(uses)
        kind, called = datatype_kind(value.datatype), self.names.write(relation)
        plain = {"text" if each == "number as text" else each for each in kinds}
        datatypes = {each for use in uses for each in use.profile.datatypes}
        if kind not in plain:
            yield Finding(
                f"{called} has {list_words(sorted(kinds))}, and {_quote(value)} is {_a(kind)}"
                + _instead(kinds, kind, datatypes, value),
                level,
            )
            return
        if exact and kind in {"number", "date"} and value.datatype not in datatypes:
            written = list_words(sorted(self.names.write(each) for each in datatypes), "or")
            yield Finding(
                f"{called} has values of {written}: as {self.names.write(value.datatype)} {_quote(value)} is "
                "none of them; compare it in a FILTER",
                level,
            )
        if kind == "text":
            yield from self._wrong_text(called, value, uses, level)

    def _wrong_text(
        self, called: str, value: Literal, uses: Sequence[Use], level: Level
    ) -> Iterator[Finding]:
        listed = [each for each in values_of(uses) if datatype_kind(each.datatype) == "text"]
        same = [each for each in listed if each.value == value.value]
        if value in listed or not listed:
            return
        told = _milder(level)
        if same:
            yield Finding(
                f"{called} has {_quote(same[0])}, and not {_quote(value)}: write it so, or compare STR of it",
                told,
            )
            return
        tags = {each.language for each in listed}
        if value.language not in tags:
            yield Finding(
                f"{called} has texts such as {_quote(listed[0])}: {_quote(value)} has another language",
                told if all(use.profile.is_enumeration for use in uses) else "hint",
            )
        if all(use.profile.is_enumeration for use in uses):
            near = _nearest_texts(value.value, [each.value for each in listed])
            shown = [_quote(each) for each in listed if each.value in near][:MAX_NEAREST]
            offered = (
                f"nearest: {list_words(shown)}"
                if shown
                else f"it has {list_words([*map(_quote, listed)][:MAX_LISTED])}"
            )
            yield Finding(f"{called} has no value {_quote(value)}; {offered}", told)

    def uses_at(self, group: Group, node: Node) -> tuple[str, tuple[Use, ...]]:
        """Return the first property by which a variable is a value, and who has those by which it is one."""
        around = {*group.around}
        ending = [
            each
            for each in self.draft.patterns
            if each.end == node and (each.group in around or each.group.parent in around)
        ]
        if not ending or any(str(each.relation) not in self.schema.uses for each in ending):
            return "", ()
        return str(ending[0].relation), tuple(use for each in ending for use in self.uses_of(each))

    def compared(self) -> Iterator[Finding]:
        """Find comparisons of a property with values of a kind that it does not have."""
        for group, test in self.draft.tests:
            for part in parts_of(test):
                name = str(getattr(part, "name", ""))
                if name == "RelationalExpression":
                    yield from self._compared_in(group, part, is_whole=part is test)
                elif name.removeprefix("Builtin_") in _TEXT_TESTS:
                    operand = part.get("arg1", part.get("arg", part.get("text")))
                    yield from self._tested_text(group, operand, name.removeprefix("Builtin_"))

    def _compared_in(self, group: Group, part: Node, *, is_whole: bool) -> Iterator[Finding]:
        others = part.other if isinstance(part.other, list) else [part.other]
        pairs = [(part.expr, other) for other in others] + [(other, part.expr) for other in others]
        for variable, other in pairs:
            if not is_open(variable):
                continue
            relation, uses = self.uses_at(group, variable)
            if not uses:
                continue
            level = self.level(group, sure=self.schema.is_sure(uses))
            level = level if is_whole else _milder(level)  # another part of the test may hold
            value = _as_literal(other)
            if value is None:
                if is_open(other):
                    yield from self._compared_texts(group, variable, other, str(part.op), level)
            elif not any(use.leads_to_values for use in uses):
                yield Finding(
                    f"{shown_name(variable)} is a node, and {_quote(value)} a value: "
                    f"{self.draw_relation(relation)}{self._inner(uses)}",
                    level,
                )
            elif part.op in {"=", "IN"}:
                yield from self._wrong_value(relation, value, uses, level, exact=False)
            elif part.op in {"<", "<=", ">", ">="}:
                kinds = kinds_of(uses)
                if kinds == {"number as text"}:
                    yield self._as_text(relation, variable, level, uses)
                elif datatype_kind(value.datatype) not in kinds:
                    yield from self._wrong_value(relation, value, uses, level, exact=False)

    def _compared_texts(
        self, group: Group, one: Node, other: Node, operator: str, level: Level
    ) -> Iterator[Finding]:
        """Find two properties that are compared by size, one of which has numbers as texts."""
        if operator in {"=", "!=", "IN", "NOT IN"}:
            return
        for variable in (one, other):
            relation, uses = self.uses_at(group, variable)
            if uses and all(use.kinds == {"number as text"} for use in uses):
                yield self._as_text(relation, variable, _milder(level), uses)

    def _as_text(self, relation: str, variable: Node, level: Level, uses: Sequence[Use]) -> Finding:
        examples = [each.value for each in values_of(uses)][:2]
        return Finding(
            f"{self.names.write(relation)} has numbers as text ({', '.join(map(_quoted, examples))}), which "
            f"are not compared or added as numbers: write xsd:decimal({shown_name(variable)})",
            level,
        )

    def _tested_text(self, group: Group, operand: Node, function: str) -> Iterator[Finding]:
        if operand is None or not is_open(operand):
            return
        relation, uses = self.uses_at(group, operand)
        if uses and not any(use.leads_to_values for use in uses):
            yield Finding(
                f"{function} reads texts, and {shown_name(operand)} is a node: "
                f"{self.draw_relation(relation)}; take its name{self._inner(uses)}",
                self.level(group, sure=self.schema.is_sure(uses)),
            )

    def computed(self) -> Iterator[Finding]:
        """Find sums and orders of what are no numbers."""
        whole = self.draft.required[0].group if self.draft.required else Group("required")
        for select in self.draft.selects:
            compared = [(each.function, each.of) for each in select.aggregates]
            compared += [("ORDER BY", of) for of, _ in select.order]
            for function, of in compared:
                variable = select.computed.get(of, of) if is_open(of) else of
                if not is_open(variable):
                    continue
                relation, uses = self.uses_at(whole, variable)
                if not self.schema.is_sure(uses):
                    continue
                kinds = kinds_of(uses)
                if function in {*_NUMBERS, *_EXTREMES, "ORDER BY"} and kinds == {"number as text"}:
                    level: Level = "wrong" if function in _NUMBERS else "doubtful"
                    yield self._as_text(relation, variable, level, uses)
                elif function in _NUMBERS and not kinds & {"number", "number as text"}:
                    yield Finding(
                        f"{function} adds numbers, and {shown_name(variable)} is none: "
                        f"{self.draw_relation(relation)}{self._inner(uses)}",
                        "wrong",
                    )


def _milder(level: Level) -> Level:
    return "doubtful" if level == "wrong" else level


def _as_literal(node: Node) -> Literal | None:
    """Return a value of rdflib as ours; None for any other node, and for what is no value of ours."""
    try:
        term = to_term(node) if is_value(node) else None
    except ValueError:
        return None
    return term if isinstance(term, Literal) else None


def _nearest_texts(text: str, offered: Sequence[str]) -> set[str]:
    """Return the texts that are written nearly so, those that differ in case alone before all."""
    same = {each for each in offered if each.casefold() == text.casefold()}
    found = process.extract(
        text.casefold(),
        [each.casefold() for each in offered],
        scorer=fuzz.WRatio,
        score_cutoff=MIN_SIMILARITY,
        limit=MAX_NEAREST,
    )
    return same or {offered[at] for *_, at in found}


def _instead(kinds: set[ValueKind], kind: ValueKind, datatypes: set[str], value: Literal) -> str:
    """Say how a value of another kind is to be written."""
    if kinds == {"number as text"}:
        return (
            f': write it as a text ("{value.value}"), or cast the property to xsd:decimal to compare numbers'
        )
    if kind == "text" and kinds == {"number"}:
        return f": write {value.value} without quotes"
    if kinds == {"date"}:
        return f': write "…"^^xsd:{min(datatypes).rpartition("#")[2]}, or compare YEAR of it'
    return ""


def _a(kind: ValueKind) -> str:
    return kind if kind == "true or false" else f"a {kind}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped[:60]}"'


def _quote(value: Literal) -> str:
    if datatype_kind(value.datatype) == "number":
        return value.value[:60]
    return _quoted(value.value) + (f"@{value.language}" if value.language else "")
