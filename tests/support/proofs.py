"""Answer queries without SPARQL: a plain evaluation over triples, and random queries to try it with."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import get_args

from hypothesis import HealthCheck, Phase, reject, settings, strategies as st

from kgqa.kg.dialects import RDF, XSD
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Operator, Pick
from kgqa.kg.sparql.patterns import serialise
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, Term

NS = "http://x/"
TYPE = f"{RDF}type"

Triples = frozenset[tuple[Term, str, Term]]
Binding = dict[int, Term]


def answers(query: AnswerQuery, triples: Triples) -> set[Term] | int | bool:
    """Return what a query gives on some triples."""
    found: list[Binding] = [{}]
    for branch in query.branches:
        ways = [way for chain in branch.chains for way in _bind(branch, chain, triples)]
        found = [a | b for a in found for b in ways if all(a.get(place, b[place]) == b[place] for place in b)]
    found = [each for each in found if all(_holds(c, each[c.place], triples) for c in query.conditions)]
    found = [each for each in found if all(_is_picked(each[p.place], p.terms) for p in query.picked)]
    if query.ask:
        return bool(found)
    if query.aggregate and query.aggregate.function == "count":
        return len({each[query.returned] for each in found})
    if query.aggregate:
        found = _extreme(found, query.aggregate, query.returned, triples)
    return {each[query.returned] for each in found}


def _bind(branch: Branch, chain: Chain, triples: Triples) -> Iterator[Binding]:
    """Go through the ways of a chain; the nodes of one that is longer or shorter have no places."""
    known = _nodes(triples)
    starts = known if chain.topic == ANY else known & {chain.topic}
    ways: list[tuple[Term, ...]] = [(node,) for node in starts]
    for hop, held in chain.steps:
        ways = [(*way, node) for way in ways for node in _follow(way[-1], hop, triples)]
        ways = [way for way in ways if not held or way[-1] in held]
    for way in dict.fromkeys((chain.topic, *way[1:]) for way in ways):  # whatever it has set out from
        nodes = way[1:] or way
        if branch.fresh and chain.topic in way[1:]:
            continue
        pairs = list(zip(branch.places, nodes, strict=False))
        if len(nodes) != len(branch.places):
            pairs = [(branch.places[-1], nodes[-1])]
        if all(node == other for place, node in pairs for again, other in pairs if again == place):
            yield dict(pairs)


def _follow(node: Term, hop: Hop, triples: Triples) -> Sequence[Term]:
    return _neighbours(triples).get((node, hop), ())


@lru_cache(maxsize=1)
def _nodes(triples: Triples) -> frozenset[Term]:
    return frozenset(node for head, _, tail in triples for node in (head, tail))


@lru_cache(maxsize=1)
def _neighbours(triples: Triples) -> Mapping[tuple[Term, Hop], Sequence[Term]]:
    """Return where each hop leads from each node."""
    found: dict[tuple[Term, Hop], list[Term]] = defaultdict(list)
    for head, relation, tail in triples:
        hop = Hop(relation)
        found[head, hop].append(tail)
        found[tail, hop.inverse].append(head)
    return found


def _values(node: Term, hops: Sequence[Hop], triples: Triples) -> set[Term]:
    found = {node}
    for hop in hops:
        found = {end for each in found for end in _follow(each, hop, triples)}
    return found


def _holds(condition: Condition, node: Term, triples: Triples) -> bool:
    values, wanted = _values(node, condition.attribute, triples), condition.value
    if condition.operator == "exists":
        return bool(values)
    if condition.operator == "not exists":
        return not any(wanted is None or compare(value, "=", wanted) for value in values)
    if condition.operator == "type":
        return any((value, TYPE, wanted) in triples for value in values)
    return any(compare(value, condition.operator, wanted) for value in values)


COMPARE: dict[str, Callable[[object, object], bool]] = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def compare(value: Term, operator: str, wanted: Term) -> bool:
    """Return whether a value of the graph compares so with the one of a condition."""
    if isinstance(wanted, Entity):
        return COMPARE[operator](value, wanted)
    if isinstance(value, Entity):
        return False
    if operator == "contains":
        return wanted.value.lower() in value.value.lower()
    one, other = date(value), date(wanted)
    if operator == "year":
        year = other[0] if other else int(wanted.value)
        return one is not None and one[0] == year
    if not wanted.language and wanted.datatype not in DATES and number(wanted) is not None:
        return number(value) is not None and COMPARE[operator](number(value), number(wanted))
    if wanted.language or other is None:
        return COMPARE[operator](value.value, wanted.value)
    if one is None:
        return False
    if len(one) == len(other) == 4:
        return COMPARE[operator](seconds(value), seconds(wanted))
    precision = min(len(one), len(other), 3)
    return COMPARE[operator](one[:precision], other[:precision])


DATES = {XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth")}


def number(value: Term) -> float | None:
    if not isinstance(value, Literal) or not re.fullmatch(r"[-+.\deE]*\d[-+.\deE]*", value.value):
        return None
    try:
        return float(value.value)
    except ValueError:
        return None


def date(value: Literal) -> tuple[int | str, ...] | None:
    """Return year, month, day and time of a date as far as it says them."""
    day, _, time = re.sub(r"(Z|[+-]\d\d:\d\d)$", "", value.value).partition("T")
    found = re.fullmatch(r"(-\d{1,9}|\d{4}|\d{1,3}(?!-))(?:-(\d\d))?(?:-(\d\d))?", day)
    if not found or (time and not found[3]):
        return None
    return tuple(int(part) for part in found.groups() if part) + ((time,) if time else ())


def seconds(value: Literal) -> float:
    """Return a date or time in UTC, whole seconds."""
    year, month, day, *_ = (*date(value), 1, 1) if len(date(value)) < 3 else date(value)
    if year < 1:  # a calendar repeats itself after 400 years
        later = Literal(f"{year % 400 + 400:04}-{month:02}-{day:02}")
        return seconds(later) + 146_097 * 86_400 * (year // 400 - 1)
    if "T" not in value.value:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    moment = datetime.fromisoformat(value.value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).replace(microsecond=0).timestamp()


def _is_picked(node: Term, terms: Sequence[Term]) -> bool:
    """Tell whether a node is picked: a literal by its text, a double of the same number too."""
    if isinstance(node, Entity):
        return node in terms
    literals = [term for term in terms if isinstance(term, Literal)]
    doubles = {number(each) for each in literals if each.datatype == f"{XSD}double" == node.datatype}
    return node.value in {each.value for each in literals} or number(node) in doubles - {None}


def _extreme(found: list[Binding], aggregate: Aggregate, returned: int, triples: Triples) -> list[Binding]:
    place = returned if aggregate.place is None else aggregate.place
    keyed = []
    for each in found:
        for value in _values(each[place], aggregate.attribute, triples):
            if aggregate.by == "number" and number(value) is not None:
                keyed.append((number(value), each))
            if aggregate.by == "date" and isinstance(value, Literal) and date(value):
                keyed.append((seconds(value), each))
    best = (min if "min" in aggregate.function else max)((key for key, _ in keyed), default=None)
    return [each for key, each in keyed if key == best]


def text_of(term: Term) -> object:
    """Return what tells a term from others, whatever the datatype of a literal."""
    return term if isinstance(term, Entity) else (term.value, term.language)


def write(triples: Iterable[tuple[Term, str, Term]]) -> str:
    """Return triples as N-Triples."""
    written = (f"{serialise(head)} <{relation}> {serialise(tail)} .\n" for head, relation, tail in triples)
    return "".join(sorted(written))


# Random graphs and queries.


def x(name: str) -> Entity:
    return Entity(NS + name)


def hop(name: str) -> Hop:
    return Hop(NS + name.removeprefix("^"), not name.startswith("^"))


def chain(topic: str, *hops: str) -> Chain:
    return Chain(x(topic), tuple(map(hop, hops)))


def typed(text: str, name: str) -> Literal:
    return Literal(text, XSD + name)


ENTITIES = [x(name) for name in "abcd"]
TYPES = [x("Person"), x("Town")]
RELATIONS = [f"{NS}r", f"{NS}s"]
VALUE = f"{NS}v"
NUMBERS = [
    *(typed(text, "integer") for text in ("7", "-3", "0", "41")),
    *(Literal(text) for text in ("7", "07", "1e1", "+.5", "9.99", "1961")),
    typed("7.5", "decimal"),
    typed("0.5", "double"),
]
DATED = [
    *(typed(text, "gYear") for text in ("1961", "1962", "0984")),
    typed("1961-05", "gYearMonth"),
    *(typed(text, "date") for text in ("1961-05-03", "1961-05-04", "1961-12-31", "0984-02-28")),
    *(Literal(text) for text in ("1961-05", "1961-05-03", "1962-01-01", "1961-05-03+14:00")),
    typed("1961-05-04T04:30:00Z", "dateTime"),
    typed("1961-05-04T04:30:00", "dateTime"),
    typed("1961-05-03T23:30:00-05:00", "dateTime"),
    typed("1962-01-01T01:00:00+05:30", "dateTime"),
    Literal("1961-05-04T04:30Z"),
    Literal("-0427"),
    Literal("-0427-03-05"),
    Literal("-0001"),
]
TEXTS = [
    *(
        Literal(text)
        for text in ("", "Foo", "foo bar", "12 cm", "x7", 'a"b\\u0041', "été", "1961-5", "--05-03")
    ),
    *(Literal("foo", language=tag) for tag in ("en", "de")),
    Literal("ÉTÉ", language="fr"),
    typed("05:30:00", "time"),
]
VALUES = NUMBERS + DATED + TEXTS
ASKED = [each for each in NUMBERS + DATED + TEXTS if each.value not in {"-0427-03-05"}]


SETTINGS = settings(
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # to shrink what fails takes minutes
    suppress_health_check=list(HealthCheck),
)


def triples() -> st.SearchStrategy[Triples]:
    """Return small graphs of entities, relations, types and values."""
    entity = st.sampled_from(ENTITIES)
    linked = st.tuples(entity, st.sampled_from(RELATIONS), entity)
    kinds = st.tuples(entity, st.just(TYPE), st.sampled_from(TYPES))
    valued = st.tuples(entity, st.just(VALUE), st.sampled_from(VALUES))
    return st.frozensets(st.one_of(linked, valued, valued, kinds), min_size=30, max_size=90)


_LINKS = [Hop(relation, forward) for relation in RELATIONS for forward in (True, False)]
_ATTRIBUTES = [(Hop(VALUE),), *((link, Hop(VALUE)) for link in _LINKS[:2])]


@st.composite
def queries(draw: st.DrawFn) -> AnswerQuery:
    """Return queries of one or two branches and some of whatever else they may have."""
    some = lambda of, **sizes: tuple(draw(st.lists(of, **sizes)))  # noqa: E731
    hops = st.lists(st.sampled_from(_LINKS), min_size=1, max_size=2)

    def chain_of(hops: list[Hop]) -> Chain:
        found = Chain(draw(st.sampled_from([*ENTITIES, ANY])), tuple(hops))
        held = some(st.sampled_from(ENTITIES), max_size=4)
        return found.constrained_to(held) if len(held) > 3 else found

    def branch(first: int) -> Branch:
        if draw(st.integers(0, 7)) == 0:
            topics = some(st.sampled_from(ENTITIES), min_size=1, max_size=4)
            return Branch(Chain(topics[0]), (first,), tuple(map(Chain, topics[1:])))
        main = chain_of(draw(hops))
        if draw(st.integers(0, 3)) == 0:
            main = main.then(Hop(VALUE))
        others = [chain_of(draw(hops)) for _ in range(draw(st.sampled_from([0, 0, 1, 2])))]
        places = tuple(range(first, first + main.depth))
        return Branch(main, places, tuple(others), fresh=draw(st.booleans()))

    branches = [branch(1)]
    if draw(st.integers(0, 2)) == 0:
        second = branch(10)
        at = draw(st.sampled_from(sorted(second.shared)))
        meeting = draw(st.sampled_from(sorted(branches[0].shared)))
        places = tuple(meeting if place == at else place for place in second.places)
        branches.append(Branch(second.chain, places, second.others, second.fresh))
    places = st.sampled_from(sorted({place for each in branches for place in each.shared}))
    condition = st.builds(_condition, places, st.randoms(use_true_random=False))
    conditions = some(condition, max_size=draw(st.sampled_from([0, 1, 1, 2])))
    picked = some(st.builds(Pick, places, _picked()), max_size=1) if draw(st.integers(0, 3)) == 0 else ()
    returned, aggregate = draw(places), None
    kind = draw(st.sampled_from(["all", "all", "count", "ask", "extreme", "extreme"]))
    if kind == "count":
        aggregate = Aggregate("count")
    elif kind == "extreme":
        by = draw(st.sampled_from(["number", "date"]))
        ways = [Aggregate(name, by=by) for name in ("min", "max")]
        for attribute in _ATTRIBUTES:
            ways += [Aggregate(name, attribute, draw(places), by) for name in ("argmin", "argmax")]
        aggregate = draw(st.sampled_from(ways))
    try:
        return AnswerQuery(tuple(branches), returned, conditions, aggregate, picked, ask=kind == "ask")
    except ValueError:  # a topic has no value of its own
        reject()


def _picked() -> st.SearchStrategy[tuple[Term, ...]]:
    return st.lists(st.sampled_from([*ENTITIES, *VALUES]), min_size=3, max_size=20).map(tuple)


def _condition(place: int, random: object) -> Condition:
    """Make a condition; half of them of values."""
    while True:
        operator = random.choice(get_args(Operator))
        attribute = random.choice([(), *_ATTRIBUTES, *((link,) for link in _LINKS)])
        value = random.choice([random.choice(ENTITIES), random.choice(ASKED), random.choice(ASKED), None])
        if operator == "type":
            value = random.choice(TYPES)
        try:
            return Condition(place, attribute, operator, value)
        except ValueError:
            continue
