"""Makes the profile of a graph: a few counts, and the facts of some members of each class."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from kgqa.kg.dialects import META_NAMESPACES, PLAIN, RDFS, XSD, Dialect, is_readable
from kgqa.kg.errors import KGRejected, KGSilent, KGTimeout
from kgqa.kg.graph import Executor, Row
from kgqa.kg.profile.naming import Facts, find_naming, find_unnamed
from kgqa.kg.profile.profile import (
    UNTYPED,
    ClassProfile,
    Profile,
    ProfileSummary,
    PropertyProfile,
    Wording,
)
from kgqa.kg.profile.terminology import DEFINITIONS, is_meta, is_terminology_only
from kgqa.kg.proof.values import kind_of
from kgqa.kg.sparql import profile_queries as queries
from kgqa.kg.sparql.decoding import item_at, read_integer
from kgqa.kg.sparql.derived import BROADER, SUBCLASS
from kgqa.kg.terms import KINDS_NAMESPACE, Entity, Literal, Term, is_iri, kinds_of, local_name

T = TypeVar("T")

Ask = Callable[[str], Sequence[Row]]  # runs one query and returns its rows
MAX_CLASSES = 5_000  # classes that are profiled, those with most members

MAX_MEMBERS_READ, MAX_MEMBERS_OF_CLASS, MIN_MEMBERS_OF_CLASS = 10_000, 500, 4
"""Members whose facts are read: of all classes together, of one, and of one where there are thousands."""

SUBJECTS_OF_RELATION = 50  # by which nodes without a class are found
FACTS_PER_MEMBER = 30  # that are read, on average
MAX_FACTS_OF_MEMBER = 1_000  # that are read of one with many
ENDS_PER_MEMBER = 2  # entities at the ends of facts of which the class is looked up, for each member read
MAX_MEMBERS_READ_NOW = 1_000
"""The same where somebody waits: of an endpoint, or of classes that a question names."""

MAX_UNNAMED_READ = 50  # nodes without a name at the ends of a property, of which it is read what they have
IDS_PER_QUERY, CLASSES_PER_QUERY = 500, 40
MAX_TERMS = 50_000  # classes, relations and the like
MAX_SUPERCLASSES = 100_000
TERMINOLOGY_SHARE = 0.9  # of the facts of a relation that describe terms, for it to be terminology

MAX_ENUMERATED = 20  # distinct values of a property up to which all are listed
MAX_EXAMPLES = 5  # values of a property that are shown where there are more

MAX_VALUE_CHARS = 80
MAX_MEMBERS_COUNTED = 100_000  # of one class of a graph that is not gone through
MAX_PROPERTIES, MIN_PROPERTIES, MAX_PROPERTIES_IN_ALL = 40, 8, 30_000
"""Properties that are kept of a class, the commonest first, and of all classes together."""


class LenientAsk:
    """Asks an executor; has nothing where that takes too long or is refused, as ``failed`` says."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.failed = False

    def __call__(self, query: str) -> Sequence[Row]:
        """Return the rows of a query."""
        try:
            return self._executor.query_now(query).rows
        except (KGTimeout, KGSilent, KGRejected):
            self.failed = True
            return []


def build_profile(
    ask: Ask, predicates: Mapping[str, int], dialect: Dialect, most: int = MAX_MEMBERS_READ
) -> Profile:
    """Return the profile of a graph by its predicates, with their triples, and ``most`` members' facts."""
    types = _present(dialect.types, predicates)
    is_plain = dialect.name == PLAIN.name
    members = _count_members(ask, types)
    meta = {id for id in members if is_plain and is_meta(id)}
    terms, terminology = frozenset[str](), tuple[str, ...]()
    if is_plain and not is_terminology_only(members):
        terms, terminology = _terminology(ask, types, sorted(meta), predicates)
    elif is_plain:  # of classes, the kinds are what there is
        closures = [each for each in (SUBCLASS, BROADER) if each in predicates][:1]
        members |= _count_members(ask, closures)
        types = [*types, *closures]
    own = {id: n for id, n in members.items() if id not in meta}
    reader = _Reader(ask, types, dialect, predicates, most)
    ordered = sorted(own, key=lambda id: (-own[id], id))[: min(MAX_CLASSES, most // MIN_MEMBERS_OF_CLASS)]
    facts = reader.read_members(ordered, [each for each in predicates if each not in terminology])
    silent = {*_present(dialect.types, predicates), *terminology}
    read = [reader.class_profile(id, own.get(id, 0), some, silent) for id, some in facts.items() if some]
    above = _superclasses(ask, own) if f"{RDFS}subClassOf" in predicates else {}
    known = {*(each.id for each in read)}
    empty = {id: ClassProfile(id, 0, 0) for each in above.values() for id in each if id not in known}
    called = {id.removeprefix(KINDS_NAMESPACE) for id in (*known, *empty, *predicates)}
    wordings = _wordings(ask, sorted(called - {UNTYPED}), dialect, predicates)
    classes = [
        replace(
            each,
            superclasses=above.get(each.id, ()),
            wording=wordings.get(each.id.removeprefix(KINDS_NAMESPACE), Wording()),
        )
        for each in sorted((*read, *empty.values()), key=lambda each: (not each.id, -each.members, each.id))
    ]
    stated, found = {*dialect.labels, *dialect.aliases}, (name for each in classes for name in each.naming)
    summary = ProfileSummary(
        naming=tuple(dict.fromkeys(each for each in found if each not in stated)) if is_plain else (),
        unnamed=tuple(sorted({*reader.unnamed.values()})) if is_plain else (),
        terminology=terminology,
        by_iri=is_plain and reader.has_readable_unnamed(terms | members.keys()),
        languages=reader.languages(),
    )
    relations = {id: wordings[id] for id in sorted(predicates) if id in wordings}
    return Profile(tuple(classes), relations, terms, summary, tuple(types))


def profile_classes(ask: Ask, ids: Sequence[str], predicates: Mapping[str, int], dialect: Dialect) -> Profile:
    """Return the profile of some classes alone, as of a graph that is too large to be gone through.

    ``predicates`` may be empty, where they are not listed.
    """
    types = _present(dialect.types, predicates)
    reader = _Reader(ask, types, dialect, predicates, MAX_MEMBERS_READ_NOW)
    facts = reader.read_members(ids, ())
    wordings = _wordings(ask, ids, dialect, predicates)
    classes = []
    for id in ids:
        rows = ask(queries.count_members(id, types, MAX_MEMBERS_COUNTED))
        n = read_integer(rows[0][0]) if rows else 0
        found = reader.class_profile(id, n, facts[id], {*types})
        classes.append(replace(found, wording=wordings.get(id, Wording())))
    return Profile(tuple(classes), types=tuple(types))


def _present(wanted: Iterable[str], predicates: Mapping[str, int]) -> list[str]:
    """Return those of some predicates that a graph has, commonest first; all where they are not listed."""
    return sorted(
        (each for each in wanted if each in predicates or not predicates),
        key=lambda each: -predicates.get(each, 0),
    )


def _count_members(ask: Ask, types: Sequence[str]) -> dict[str, int]:
    members: dict[str, int] = {}
    for type_ in types:
        for class_, n in ask(queries.count_classes(type_, MAX_CLASSES)):
            if isinstance(class_, Entity) and is_iri(class_.id):
                id = _as_class(class_.id, type_)
                members[id] = max(members.get(id, 0), read_integer(n))
    return members


def _as_class(id: str, by: str) -> str:
    """Return the id of a class by what leads to it: as a kind of nodes, where they are below it."""
    return kinds_of(id) if by in (SUBCLASS, BROADER) else id


def _superclasses(ask: Ask, classes: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Return the classes right above those with members, and above these."""
    pairs = defaultdict[str, set[str]](set)
    for class_, above in ask(queries.superclasses(MAX_SUPERCLASSES)):
        if class_ and above and is_iri(above.id) and not is_meta(above.id):
            pairs[class_.id].add(above.id)
    found: dict[str, tuple[str, ...]] = {}
    new = {*classes}
    while new:
        found |= {id: tuple(sorted(pairs[id])) for id in new if id in pairs}
        new = {above for id in new for above in found.get(id, ())} - {*found}
    return found


def _terminology(
    ask: Ask, types: Sequence[str], meta: Sequence[str], predicates: Mapping[str, int]
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the terms of a graph with members, and the relations that describe hardly anything else."""
    rows = ask(queries.terms(meta, types, MAX_TERMS)) if meta or f"{RDFS}isDefinedBy" in predicates else []
    terms = {*predicates, *(node.id for (node,) in rows if isinstance(node, Entity))}
    described = Counter[str]()
    for some in _batches(sorted(terms)):
        for relation, n in ask(queries.count_relations_of(some)):
            described[relation.id if relation else ""] += read_integer(n)
    found = {
        each
        for each, n in predicates.items()
        if described[each] >= TERMINOLOGY_SHARE * n
        or (
            each.startswith(META_NAMESPACES[1:])
            and local_name(each) not in {"label", "comment", "seeAlso", "sameAs"}
        )
    }
    return frozenset(terms), tuple(sorted(found - {*types}))


class _Reader:
    """Reads facts of members, and makes profiles of them."""

    def __init__(
        self, ask: Ask, types: Sequence[str], dialect: Dialect, predicates: Mapping[str, int], most: int
    ) -> None:
        self._most = most
        self._ask, self._types, self._predicates, self._dialect = ask, types, predicates, dialect
        self._labels = _present(dialect.labels, predicates)
        self._classes: dict[str, tuple[str, ...]] = {}
        self._enumerations: dict[str, tuple[Literal, ...] | None] = {}
        self._tags = Counter[str]()
        self._naming: dict[str, tuple[str, ...]] = {}
        self._most_properties = MAX_PROPERTIES
        self._seen: dict[str, None] = {}
        self.unnamed: dict[str, str] = {}

    def read_members(self, classes: Sequence[str], relations: Sequence[str]) -> dict[str, Facts]:
        """Return the facts of some members of each class, and of nodes without one."""
        share = self._most // max(1, len(classes))
        kept = MAX_PROPERTIES_IN_ALL // max(1, len(classes))
        self._most_properties = max(MIN_PROPERTIES, min(MAX_PROPERTIES, kept))
        most = min(MAX_MEMBERS_OF_CLASS, max(MIN_MEMBERS_OF_CLASS, share))
        members: dict[str, list[str]] = {id: [] for id in classes}
        for some in _batches(classes, CLASSES_PER_QUERY):
            for place, member in self._ask(queries.some_members(some, self._types, most)):
                if isinstance(member, Entity):
                    members[item_at(some, place)].append(member.id)
        members[UNTYPED] = self._untyped(relations)
        ids = list(dict.fromkeys(id for several in members.values() for id in several))
        facts = self._facts(ids)
        self._learn_classes(facts)
        return {id: {each: facts.get(each, {}) for each in several} for id, several in members.items()}

    def _untyped(self, relations: Sequence[str]) -> list[str]:
        found: dict[str, None] = {}
        for some in _batches(relations, CLASSES_PER_QUERY):
            rows = self._ask(queries.some_subjects(some, SUBJECTS_OF_RELATION))
            found |= {member.id: None for (member,) in rows if isinstance(member, Entity)}
        typed: set[str] = set()
        for some in _batches(list(found)) if self._types else ():
            typed |= {node.id for node, _, _ in self._ask(queries.objects_by(some, self._types)) if node}
        return [id for id in found if id not in typed and id not in self._predicates][: self._most]

    def _facts(self, ids: Sequence[str]) -> dict[str, dict[str, list[Term]]]:
        """Return the facts of some nodes; where there are too many at once, of each half."""
        facts: dict[str, dict[str, list[Term]]] = {}
        parts = [*_batches(ids)]
        while parts:
            some = parts.pop()
            most = max(FACTS_PER_MEMBER * len(some), MAX_FACTS_OF_MEMBER)
            rows = self._ask(queries.facts_of(some, most))
            if len(rows) == most and len(some) > 1:
                parts += _batches(some, (len(some) + 1) // 2)
                continue
            for member, relation, end in rows:
                if member and relation and end:
                    facts.setdefault(member.id, {}).setdefault(relation.id, []).append(end)
        return {id: facts[id] for id in ids if id in facts}

    def _learn_classes(self, facts: Mapping[str, Mapping[str, Sequence[Term]]]) -> None:
        ends = (end for has in facts.values() for several in has.values() for end in several)
        ids = dict.fromkeys(end.id for end in ends if isinstance(end, Entity))
        self._seen |= dict.fromkeys((*facts, *ids))
        found = defaultdict[str, list[str]](list)
        for some in _batches(list(islice(ids, ENDS_PER_MEMBER * self._most))) if self._types else ():
            for node, by, class_ in self._ask(queries.objects_by(some, self._types)):
                if node and by and class_:
                    found[node.id].append(_as_class(class_.id, by.id))
        self._classes |= {id: tuple(sorted({*several})) for id, several in found.items()}

    def class_profile(self, id: str, members: int, facts: Facts, silent: set[str]) -> ClassProfile:
        """Return the profile of a class, some of whose members have these ``facts``."""
        naming = self._naming[id] = find_naming(facts, self._labels)
        unnamed = None if naming else find_unnamed([*facts])
        if unnamed:
            self.unnamed[id] = unnamed
        self._tags.update(
            end.language.partition("-")[0].lower()
            for has in facts.values()
            for each in naming
            for end in has.get(each, ())
            if isinstance(end, Literal)
        )
        names = {*naming, *self._labels, *self._dialect.aliases, *silent}
        properties = [
            self._property(relation, [has[relation] for has in facts.values() if relation in has])
            for relation in sorted({relation for has in facts.values() for relation in has} - names)
        ]
        properties.sort(key=lambda each: (-each.having, each.relation))
        whole = [p for p in properties if p.is_single and p.having == len(facts) == p.distinct > 1]
        return ClassProfile(
            id,
            max(members, len(facts)),
            len(facts),
            examples=tuple(map(Entity, islice(facts, 3))),
            identifiers=tuple(p.relation for p in whole if {*p.datatypes} <= _CODES and not p.ends),
            naming=naming,
            is_named=unnamed is None,
            properties=tuple(properties[: self._most_properties]),
        )

    def _property(
        self, relation: str, having: Sequence[Sequence[Term]], *, inner: bool = True
    ) -> PropertyProfile:
        ends = [end for several in having for end in several]
        classes, datatypes = Counter[str](), Counter[str]()
        for end in ends:
            if isinstance(end, Literal):
                datatypes[end.datatype] += 1
            else:
                classes.update(self._classes.get(end.id) or (UNTYPED,))
        literals = sorted({end for end in ends if isinstance(end, Literal)})
        shown, is_enumeration = self._values(relation, literals)
        least, most = _bounds(literals)
        unnamed = [
            end.id for end in dict.fromkeys(ends) if isinstance(end, Entity) and end.id.startswith("_:")
        ]
        return PropertyProfile(
            relation,
            len(having),
            len(ends),
            dict(sorted(classes.items())),
            dict(sorted(datatypes.items())),
            len({*ends}),
            shown,
            is_enumeration,
            least,
            most,
            self._inner(unnamed) if unnamed and inner else (),
        )

    def _inner(self, ids: Sequence[str]) -> tuple[PropertyProfile, ...]:
        """Return what nodes without a name have."""
        facts = self._facts(ids[:MAX_UNNAMED_READ])
        self._learn_classes(facts)
        relations = sorted({relation for has in facts.values() for relation in has} - {*self._types})
        return tuple(
            self._property(each, [has[each] for has in facts.values() if each in has], inner=False)
            for each in relations
        )

    def _values(self, relation: str, literals: Sequence[Literal]) -> tuple[tuple[Literal, ...], bool]:
        """Return the values of an enumeration and True, else examples and False."""
        if 0 < len(literals) <= MAX_ENUMERATED:
            if relation not in self._enumerations and len(self._enumerations) >= self._most // 20:
                self._enumerations[relation] = None  # that is enough to go through
            if relation not in self._enumerations:
                rows = self._ask(queries.some_values(relation, MAX_ENUMERATED + 1))
                values = tuple(sorted(end for (end,) in rows if isinstance(end, Literal)))
                self._enumerations[relation] = values if len(rows) <= MAX_ENUMERATED else None
            if (known := self._enumerations[relation]) is not None:
                return tuple(each for each in known if len(each.value) <= MAX_VALUE_CHARS), True
        step = max(1, len(literals) // MAX_EXAMPLES)
        some = list(literals[::step])[:MAX_EXAMPLES]
        return tuple(replace(each, value=each.value[:MAX_VALUE_CHARS]) for each in some), False

    def has_readable_unnamed(self, terms: Collection[str]) -> bool:
        """Return whether a node without a name has an IRI that can be read, among those that were seen."""
        seen = (
            id for id in self._seen if id not in terms and not id.startswith(("_:", *self.unnamed.values()))
        )
        readable = [id for id in islice(seen, ENDS_PER_MEMBER * self._most) if is_readable(local_name(id))]
        labels = {*self._labels, *(each for several in self._naming.values() for each in several)}
        for some in _batches(readable) if labels else ():
            named = {node.id for node, _, _ in self._ask(queries.objects_by(some, sorted(labels))) if node}
            if not named.issuperset(some):
                return True
        return False

    def languages(self) -> dict[str, float]:
        """Return the share of names in each language."""
        total = self._tags.total()
        return {tag: n / total for tag, n in sorted(self._tags.items())}


_CODES = {f"{XSD}string", f"{XSD}integer", f"{XSD}int", f"{XSD}long", f"{XSD}token"}


def _bounds(literals: Sequence[Literal]) -> tuple[Literal | None, Literal | None]:
    """Return the least and the greatest where most are numbers, or dates."""
    kinds = [(kind_of(each), each) for each in literals]
    numbers = sorted((each for kind, each in kinds if kind == "number"), key=lambda each: float(each.value))
    dates = sorted((each for kind, each in kinds if kind == "date"), key=lambda each: each.value)
    some = max(numbers, dates, key=len)
    return (some[0], some[-1]) if 2 * len(some) > len(literals) else (None, None)


def _wordings(
    ask: Ask, ids: Iterable[str], dialect: Dialect, predicates: Mapping[str, int]
) -> dict[str, Wording]:
    """Return what classes and relations are called."""
    labels, comments = _present(dialect.labels, predicates), _present(DEFINITIONS, predicates)
    names, comments_of = defaultdict[str, list[Literal]](list), defaultdict[str, list[Literal]](list)
    for some in _batches(list(dict.fromkeys(ids))) if labels or comments else ():
        for node, predicate, end in ask(queries.objects_by(some, [*labels, *comments])):
            if node and predicate and isinstance(end, Literal):
                (names if predicate.id in labels else comments_of)[node.id].append(end)

    def best(literals: Sequence[Literal]) -> str:
        ranked = ((dialect.language_rank(each.language), each.value) for each in literals)
        return min(ranked, default=((0, ""), ""))[1]

    return {
        id: Wording(tuple(sorted({*names[id]})), best(comments_of[id]))
        for id in sorted({*names, *comments_of})
    }


def _batches(items: Sequence[T], size: int = IDS_PER_QUERY) -> Iterator[Sequence[T]]:
    yield from (items[at : at + size] for at in range(0, len(items), size))
