"""Checks of a drafted query against what is known of its graph, before anything is run.

What is found is said in sentences that teach: what is wrong, and what there is in its place. A query that is
right must not be refused, so that whatever a profile does not tell for sure is no more than a hint.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from kgqa.kg.drafts.multiplicity import multiplied_rows, unused_values, values_taken_twice
from kgqa.kg.drafts.names import Names
from kgqa.kg.drafts.property_checks import (
    MAX_LISTED,
    MAX_NEAREST,
    MIN_SIMILARITY,
    SURE_SIMILARITY,
    Finding,
    PropertyChecks,
)
from kgqa.kg.drafts.reading import Draft, Pattern, parts_of, shown_name, variables_of
from kgqa.kg.drafts.schema import TYPES, Schema, ends_of
from kgqa.kg.phrases import list_words
from kgqa.kg.profile.profile import UNTYPED
from kgqa.kg.sparql.nodes import Node, is_open, is_variable
from kgqa.kg.terms import is_iri

MAX_FINDINGS = 6

_CHANCE = {f"Builtin_{name}" for name in ("RAND", "UUID", "STRUUID", "BNODE")}


def check_draft(
    draft: Draft, schema: Schema, names: Names, known: Collection[str] = (), missing: Collection[str] = ()
) -> list[Finding]:
    """Return what is wrong with a query, the worst first.

    Its writer was shown ids that are ``known`` beside those of the schema, or the graph has them; it does not
    have those that are ``missing``. Others are not judged.
    """
    checked = _Checks(draft, schema, names, known, missing)
    each_check = ((check.__name__, check()) for check in checked.every)
    found = dict.fromkeys(replace(each, check=name) for name, every in each_check for each in every)
    order = ("wrong", "doubtful", "hint")
    best: dict[str, Finding] = {}
    for each in sorted(found, key=lambda each: order.index(each.level)):
        best.setdefault(each.text, each)
    return [*best.values()][:MAX_FINDINGS]


def unknown_ids(draft: Draft, schema: Schema, known: Collection[str] = ()) -> dict[str, bool]:
    """Return the IRIs of a query that neither a schema has nor its writer was shown; whether as relations."""
    found: dict[str, bool] = {}
    for node, is_relation in draft.iris:
        id = str(node)
        if is_iri(id) and id not in known and not schema.is_known(id):
            found[id] = found.get(id, False) or is_relation
    return found


def implied_classes(draft: Draft, schema: Schema) -> frozenset[str]:
    """Return the classes that nodes of a query are of: stated, or as no others have its properties."""
    possible: list[set[str]] = []
    for pattern in draft.patterns:
        relations = [*map(str, pattern.named)]
        if pattern.end is not None and not is_open(pattern.end) and str(pattern.end) in schema.classes:
            possible.append({each.id for each in schema.kinds_below(str(pattern.end))} or {str(pattern.end)})
        uses = [use for relation in relations for use in schema.uses.get(relation, ())]
        possible.append({use.owner.id for use in uses})
        possible.append({*ends_of(uses)})
    known = [each for each in possible if each and UNTYPED not in each]
    below = {id: {id, *(each.id for each in schema.kinds_below(id))} for id in schema.classes if id}
    return frozenset(id for id, kinds in below.items() if any(each <= kinds for each in known))


@dataclass
class _Checks(PropertyChecks):
    known: Collection[str]
    missing: Collection[str]

    @property
    def every(self) -> Sequence[Callable[[], Iterator[Finding]]]:
        return (
            self.unknown,
            self.scans,
            self.constant_columns,
            self.chance,
            self.empty_classes,
            self.misused,
            self.wrong_ends,
            self.compared,
            self.computed,
            self.unjoined,
            self.multiplied,
            self.left_over,
        )

    # What there is

    def unknown(self) -> Iterator[Finding]:
        """Find IRIs that the graph does not have: rows may do without those of no required pattern."""
        beside = {str(name): pattern for pattern in self.draft.patterns for name in pattern.named}
        required = self.draft.required
        needed = {str(node) for each in required for node in (each.start, each.end)}
        followed = {str(name) for each in required if len(each.named) == 1 for name in each.named}
        for node, is_relation in self.draft.iris:
            id = str(node)
            if id not in self.missing or self.schema.is_known(id) or id in self.known:
                continue
            yield Finding(
                f"{self.names.write(id)} is not known"
                + self.nearest(id, beside.get(id) if is_relation else None),
                "wrong" if id in (followed if is_relation else needed) else "doubtful",
            )

    def nearest(self, id: str, pattern: Pattern | None) -> str:
        """Say what is known and called nearly so; else what the node has that it was asked for."""
        if pattern:
            offered = [*dict.fromkeys([*self.schema.uses, *self.schema.relations])]
        else:
            offered = [each for each in (*self.schema.classes, *self.known) if each and is_iri(each)]
        wanted, words = self.names.words(id), [self.names.words(each) for each in offered]
        found = process.extract(
            wanted, words, scorer=fuzz.WRatio, score_cutoff=MIN_SIMILARITY, limit=MAX_NEAREST
        )
        near = [offered[at] for *_, at in found]
        sure = [offered[at] for _, score, at in found if score >= SURE_SIMILARITY]
        if len(sure) == 1:
            return f"; {self.names.write(sure[0])} is" + (self.draw_ends(sure[0]) if pattern else "")
        if near:
            drawn = [self.draw_relation(each) if pattern else self.names.write(each) for each in near]
            return f"; nearest: {'; '.join(drawn)}"
        types = self.types_of(pattern.group, pattern.start) if pattern else ()
        return next((f"; {told}" for each in types if (told := self.properties_of(each.classes))), "")

    # What is walked

    def scans(self) -> Iterator[Finding]:
        """Find patterns that all of the graph would have to be gone through for."""
        counts: dict[Node, int] = {}
        for pattern in self.draft.patterns:
            for node in {*pattern.nodes}:
                counts[node] = counts.get(node, 0) + 1
        for pattern in self.draft.patterns:
            by_any = pattern.relation is not None and is_open(pattern.relation)
            ends = [each for each in (pattern.start, pattern.end) if is_open(each) and counts[each] < 2]
            given = any(each in self.draft.values for each in (pattern.start, pattern.end))
            if (by_any or pattern.goes_anywhere) and len(ends) == 2 and not given:
                yield Finding(
                    f"{self.draw(pattern)} goes through all of the graph: say of which class or "
                    "entity one of its nodes is, and by which property it leads to the other",
                    "wrong",
                    by_graph=False,
                )
        if not self.draft.patterns:
            yield Finding(
                "the query has no pattern: what it gives is not found in the graph", "wrong", by_graph=False
            )

    def constant_columns(self) -> Iterator[Finding]:
        """Find columns that the query writes itself."""
        bound = {node for pattern in self.draft.patterns for node in pattern.nodes}
        bound |= {column for each in self.draft.selects[1:] for column in each.columns}
        counted = {name: each.of for name, each in self.draft.counted.items()}
        made = self.draft.computed | counted

        def is_found(node: Node, depth: int = 0) -> bool:
            if node in bound or depth > len(made) or counted.get(node) == "*":
                return True
            return node in made and any(is_found(each, depth + 1) for each in variables_of(made[node]))

        for column in self.draft.whole.columns:
            if not is_found(column):
                yield Finding(
                    f"{shown_name(column)} is found by none of the patterns: the graph has no part in it",
                    "wrong",
                    by_graph=False,
                )

    def chance(self) -> Iterator[Finding]:
        """Find what gives other rows each time."""
        expressions = [test for _, test in self.draft.tests]
        expressions += [of for select in self.draft.selects for of in select.expressions]
        names = {str(getattr(part, "name", "")) for each in expressions for part in parts_of(each)}
        for name in sorted(names & _CHANCE):
            yield Finding(
                f"{name.removeprefix('Builtin_')} gives something else each time the query is run",
                "doubtful",
                by_graph=False,
            )

    def empty_classes(self) -> Iterator[Finding]:
        """Find classes whose members are all stated to be of classes below them."""
        for pattern in self.draft.patterns:
            id = str(pattern.end)
            if str(pattern.relation) not in TYPES or is_open(pattern.end) or pattern.group.is_alternative:
                continue
            if self.schema.has_no_members(id):
                below = [self.names.write(each.id) for each in self.schema.kinds_below(id)]
                instead = (
                    f"; its kinds have: {list_words(below[:MAX_LISTED])}; write "
                    f"{shown_name(pattern.start)} a/rdfs:subClassOf* {self.names.write(id)}"
                )
                yield Finding(
                    f"nothing is stated to be {self.names.write(id)} itself" + (instead if below else ""),
                    self.level(pattern.group, sure=True),
                )

    # What is joined

    def unjoined(self) -> Iterator[Finding]:
        """Find parts of a query that nothing joins, so that each row of one goes with each of the other."""
        linked = [{node for node in pattern.nodes if is_open(node)} for pattern in self.draft.patterns]
        linked += [variables_of(test) for _, test in self.draft.tests]
        linked += [
            {name, *variables_of(of)} for each in self.draft.selects for name, of in each.computed.items()
        ]
        linked += [{each.result, *variables_of(each.of)} for s in self.draft.selects for each in s.aggregates]
        linked += [{*each.columns} for each in self.draft.selects[1:]]
        linked += [{of for of, _ in each.order if is_open(of)} for each in self.draft.selects[1:]]
        parts = _components(linked)
        required = [each for each in self.draft.required if any(map(is_open, each.nodes))]
        aggregated = {column for each in self.draft.selects[1:] if each.keys == [] for column in each.columns}
        apart = [part for part in parts if not part & aggregated and any(part & {*p.nodes} for p in required)]
        if len(apart) > 1:
            named = {node for each in required for node in each.nodes if is_variable(node)}
            shown = [min(map(shown_name, part & named), default="") for part in apart]
            if all(shown):
                yield Finding(
                    f"nothing joins {list_words(sorted(shown)[:MAX_NEAREST])}: each is paired with every "
                    "other; join them by a pattern or a FILTER",
                    "doubtful",
                )

    def multiplied(self) -> Iterator[Finding]:
        """Find sums, averages and counts of rows that are there several times."""
        for select in self.draft.selects:
            for each, pattern, again in multiplied_rows(select, self.uses_of, self.schema):
                of = shown_name(each.of) if is_open(each.of) else "its value"
                distinct = f"COUNT(DISTINCT {of})" if each.function == "COUNT" else "a subquery with DISTINCT"
                yield Finding(
                    f"{each.function}({of}) takes {of} once for each {shown_name(again)} of "
                    f"{self.draw(pattern)}, of which it has several: leave that pattern out, "
                    f"group by it, or write {distinct}",
                    "doubtful",
                )

    def left_over(self) -> Iterator[Finding]:
        """Find patterns that say nothing."""
        for pattern in unused_values(self.draft, self.uses_of, self.schema):
            yield Finding(
                f"{shown_name(pattern.end)} is used nowhere, and all have a "
                f"{self.names.write(str(pattern.relation))}: show it, compare it, or leave it out",
                "doubtful",
                by_graph=False,
            )
        for pattern, before in values_taken_twice(self.draft, self.uses_of, self.schema):
            yield Finding(
                f"{shown_name(before)} and {shown_name(pattern.end)} are the same: "
                f"{shown_name(pattern.start)} has one {self.names.write(str(pattern.relation))}",
                "doubtful",
                by_graph=False,
            )


def _components(linked: Iterable[set[Node]]) -> list[set[Node]]:
    """Return the groups of nodes that sets of them connect."""
    parts: list[set[Node]] = []
    for nodes in linked:
        if nodes:
            met = [part for part in parts if part & nodes]
            parts = [part for part in parts if part not in met] + [nodes.union(*met)]
    return parts
