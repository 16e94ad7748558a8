"""What a query says: its patterns by the group that they stand in, its tests, and what it computes.

It is the query's algebra that is read, as rdflib makes it. What is not understood is left out, so that
nothing is concluded from it.

>>> query = "SELECT ?x { ?x a <http://x/Tool> OPTIONAL { ?x <http://x/p>/<http://x/q> ?y } }"
>>> [(each.group.kind, str(each.relation)) for each in read_draft(query).patterns]
[('required', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'), ('optional', 'http://x/p'), \
('optional', 'http://x/q')]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from kgqa.kg import terms
from kgqa.kg.dialects import XSD
from kgqa.kg.sparql.guard import rejecting
from kgqa.kg.sparql.nodes import Node, is_constant, is_iri_node, is_open, is_value, is_variable, rebuild
from kgqa.kg.sparql.parsing import parse_query

GroupKind = Literal["required", "optional", "tested", "alternative"]

_ARITHMETIC = {"AdditiveExpression", "MultiplicativeExpression"}
EXISTS = {"Builtin_EXISTS", "Builtin_NOTEXISTS"}
_PASSED_ON = {"Distinct", "Reduced", "Group", "Graph"}  # what only hands rows on


@dataclass(eq=False)
class Group:
    """Patterns that hold together: required ones, or those of an OPTIONAL, a test, an alternative.

    A test is EXISTS, NOT EXISTS or MINUS, the last two ``negated``. Where it ``holds``, every row meets it; a
    part of ``||`` or of an expression need not. An alternative is a part of a UNION.
    """

    kind: GroupKind
    parent: "Group | None" = None
    negated: bool = False
    holds: bool = True

    @property
    def around(self) -> Iterator["Group"]:
        """The group and those that it stands in."""
        group: Group | None = self
        while group:
            yield group
            group = group.parent

    @property
    def is_alternative(self) -> bool:
        """Whether another part of the query may give rows where this gives none."""
        return any(group.kind == "alternative" for group in self.around)


@dataclass(frozen=True, eq=False)
class Pattern:
    """A triple pattern, or one step of a property path.

    ``relation`` is None where the ``path`` does more than follow one; ``named`` has all of its IRIs.
    One that ``goes_anywhere`` leads from a node to itself, or by all relations but some.
    """

    group: Group
    start: Node
    relation: Node | None
    end: Node
    path: Node = None
    named: tuple[Node, ...] = ()
    goes_anywhere: bool = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """What it joins."""
        return (self.start, self.end) if self.relation is None else (self.start, self.relation, self.end)


@dataclass(frozen=True)
class Aggregated:
    """What a query computes of the rows of a group: ``of`` is a variable, an expression, or ``*``."""

    function: str
    of: Node
    result: Node
    distinct: bool


@dataclass(eq=False)
class Select:
    """A SELECT of a query: the whole of it, or one within.

    Attributes:
        patterns: The required patterns of its own.
        keys: What rows are grouped by, None for what is computed; None where they are not grouped.
        computed: Under each variable, the expression that it is.
        columns: The variables that it lets out.
        order: The expressions that rows are ordered by, and whether the greatest come first.
        limit: Rows that it lets out at most.
        offset: Rows that are left out before.
        is_plain: Whether it is made of nothing but required patterns and tests.
    """

    patterns: list[Pattern] = field(default_factory=list)
    keys: list[Node] | None = None
    aggregates: list[Aggregated] = field(default_factory=list)
    computed: dict[Node, Node] = field(default_factory=dict)
    columns: list[Node] = field(default_factory=list)
    order: list[tuple[Node, bool]] = field(default_factory=list)
    limit: int | None = None
    offset: int = 0
    is_plain: bool = True

    @property
    def expressions(self) -> list[Node]:
        """All that it computes, of rows, of groups, or to order them."""
        counted = (each.of for each in self.aggregates)
        return [*self.computed.values(), *counted, *(of for of, _ in self.order)]


@dataclass(eq=False)
class Draft:
    """A query as it was read.

    Attributes:
        asks: Whether it is an ASK.
        selects: Its SELECTs, that of the whole query first.
        patterns: All patterns.
        tests: The expressions of filters, each with the group that it stands in.
        values: The constants that VALUES gives to each variable.
        groups: What each group is made of: the names of the parts of its algebra.
        has_unread: Whether there is more to it.
    """

    asks: bool = False
    has_unread: bool = False
    selects: list[Select] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)
    tests: list[tuple[Group, Node]] = field(default_factory=list)
    values: dict[Node, list[Node]] = field(default_factory=dict)
    groups: dict[Group, set[str]] = field(default_factory=dict)

    @property
    def whole(self) -> Select:
        """The SELECT of the whole query."""
        return self.selects[0]

    @property
    def required(self) -> list[Pattern]:
        """The patterns without which there is no row."""
        return [each for each in self.patterns if each.group.kind == "required"]

    @property
    def iris(self) -> Iterator[tuple[Node, bool]]:
        """The IRIs that it names, each with whether it follows them."""
        for pattern in self.patterns:
            yield from ((each, True) for each in pattern.named)
            yield from ((each, False) for each in (pattern.start, pattern.end) if is_iri_node(each))
        values = (value for some in self.values.values() for value in some)
        tested = (part for _, test in self.tests for part in parts_of(test))
        yield from ((each, False) for each in (*values, *tested) if is_iri_node(each))

    @property
    def ids(self) -> frozenset[str]:
        """All IRIs that it names."""
        return frozenset(str(node) for node, _ in self.iris)

    @property
    def computed(self) -> dict[Node, Node]:
        """Under each variable that is computed, the expression that it is."""
        return {name: of for each in self.selects for name, of in each.computed.items()}

    @property
    def counted(self) -> dict[Node, Aggregated]:
        """Under each variable that is computed of a group, what that is."""
        return {each.result: each for select in self.selects for each in select.aggregates}

    @property
    def computed_columns(self) -> list[str]:
        """The columns that are computed of what every row has, so that they fail where they are empty."""
        bound, computed = {node for each in self.required for node in each.nodes}, self.computed
        names = computed | {name: each.of for name, each in self.counted.items()}

        def is_bound(node: Node, depth: int = 0) -> bool:
            if node not in names or depth > len(names):
                return node in bound
            return all(is_bound(each, depth + 1) for each in variables_of(names[node]))

        return [str(each) for each in self.whole.columns if each in computed and is_bound(each)]

    def is_free(self, pattern: Pattern) -> bool:
        """Return whether what a pattern leads to is not named, compared with a constant or computed with."""
        compared = [test for _, test in self.tests if any(map(is_constant, parts_of(test)))]
        bound = {*self.values}.union(*map(variables_of, [*compared, *self.arithmetic]))
        return bool(pattern.named) and is_open(pattern.end) and pattern.end not in bound

    @property
    def arithmetic(self) -> list[Node]:
        """The expressions that add, subtract, multiply or divide."""
        every = [*(test for _, test in self.tests), *(of for each in self.selects for of in each.expressions)]
        return [part for of in every for part in parts_of(of) if name_of(part) in _ARITHMETIC]

    @property
    def factors(self) -> list[terms.Literal]:
        """The numbers by which it adds, subtracts, multiplies and divides what it finds."""
        found = {str(part) for of in self.arithmetic for part in parts_of(of) if _is_number(part)}
        return [terms.Literal(each, f"{XSD}decimal") for each in sorted(found)]


def _is_number(node: Node) -> bool:
    return is_value(node) and isinstance(node.value, int | float | Decimal)


def read_draft(query: str) -> Draft:
    """Read a SELECT or ASK query.

    Raises:
        KGRejected: if the query is no SPARQL, or too long or too deep to be read.
    """
    _, root = parse_query(query)
    reader = _Reader(Draft(asks=root.name == "AskQuery", has_unread=bool(root.datasetClause)))
    with rejecting("the query cannot be read"):
        reader.select(root.p, Group("required"))
    return reader.draft


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def select(self, node: Node, group: Group) -> None:
        made = Select()
        self.draft.selects.append(made)
        self.walk(node, group, made)
        keys = {each.result: each.of for each in made.aggregates if each.function == "SAMPLE"}
        made.computed = {
            name: of for name, of in made.computed.items() if not (is_open(of) and keys.get(of) == name)
        }
        made.computed |= {name: of for name, of in keys.items() if of in (made.keys or ())}
        made.aggregates = [each for each in made.aggregates if each.result not in made.computed]

    def walk(self, node: Node, group: Group, select: Select) -> None:
        """Read a part of the algebra."""
        name = str(node.name)
        self.draft.groups.setdefault(group, set()).add(name)
        if name == "BGP":
            for start, relation, end in node.triples:
                self.add(group, start, relation, end, select)
        elif name == "Join":
            self.walk(node.p1, group, select)
            self.walk(node.p2, group, select)
        elif name in {"LeftJoin", "Minus", "Union"}:
            self.walk_beside(name, node, group, select)
        elif name == "ToMultiSet" and node.p.name != "values":
            select.is_plain = False
            self.select(_hide_variables(node.p, len(self.draft.selects)), group)
        elif name == "values":
            self.take_values(node.res)
        elif "p" in node:
            self.modify(name, node, select)
            self.walk(node.p, group, select)
            self.draft.has_unread |= name == "Graph"
            if name == "Filter":
                self.test(node.expr, group)
            elif name == "Extend":
                self.find_tests(node.expr, group, ())
        else:
            self.draft.has_unread = True

    def walk_beside(self, name: str, node: Node, group: Group, select: Select) -> None:
        """Read an OPTIONAL, MINUS or UNION: what stands beside the required patterns."""
        select.is_plain &= name == "Minus"
        if name == "Union":
            self.walk(node.p1, Group("alternative", group), Select())
            self.walk(node.p2, Group("alternative", group), Select())
            return
        self.walk(node.p1, group, select)
        inner = Group("optional" if name == "LeftJoin" else "tested", group, negated=name == "Minus")
        self.walk(node.p2, inner, Select())
        if name == "LeftJoin":
            self.test(node.expr, inner)

    def take_values(self, rows: Sequence[Mapping[Node, Node]]) -> None:
        """Take the rows of a VALUES."""
        self.draft.has_unread |= not rows
        for row in rows:
            self.draft.has_unread |= len(row) > 1 or not all(map(is_constant, row.values()))
            for variable, value in row.items():
                self.draft.values.setdefault(variable, []).append(value)

    def modify(self, name: str, node: Node, select: Select) -> None:
        """Take what changes rows, but not which patterns there are."""
        if name == "Extend":
            select.computed[node.var] = node.expr
        elif name == "Project":
            select.columns = [*node.PV]
        elif name == "OrderBy":
            select.order = [(each.expr, each.order == "DESC") for each in node.expr]
        elif name == "Slice":
            select.limit, select.offset = node.length, node.start or 0
        elif name == "AggregateJoin":
            select.keys = [each if is_open(each) else None for each in node.p.expr or ()]
            select.aggregates = [
                Aggregated(
                    str(each.name).removeprefix("Aggregate_").upper(),
                    each.vars,
                    each.res,
                    bool(each.distinct),
                )
                for each in node.A
            ]
        elif name not in {*_PASSED_ON, "Filter", "ToMultiSet"}:
            select.is_plain = False

    def test(self, expression: Node, group: Group) -> None:
        if expression is not None:
            self.draft.tests.append((group, expression))
            self.find_tests(expression, group, [*conjuncts(expression)])

    def find_tests(self, expression: Node, group: Group, held: Sequence[Node]) -> None:
        """Read the patterns of EXISTS and NOT EXISTS in an expression, of which these parts must hold."""
        for part in parts_of(expression):
            if (name := name_of(part)) in EXISTS:
                holds = any(each is part for each in held)
                self.tested(part.graph, Group("tested", group, name == "Builtin_NOTEXISTS", holds))

    def tested(self, node: Node, group: Group) -> None:
        """Read what EXISTS holds, which rdflib leaves as it was parsed, without its filters."""
        made_of = self.draft.groups.setdefault(group, set())
        made_of.update(["SubSelect"] * ("part" not in node), ["Filter"] * bool(node.filtered))
        for part in node.part or ():
            name = str(part.name)
            graphs = part.graph if name.endswith("GraphPattern") else None
            is_plain = name == "TriplesBlock" or (
                name == "GroupOrUnionGraphPattern" and len(graphs or ()) == 1
            )
            made_of.add("BGP" if is_plain else name)
            if name == "TriplesBlock":
                nodes = [each for triples in part.triples for each in triples]
                for triple in zip(nodes[::3], nodes[1::3], nodes[2::3], strict=False):
                    self.add(group, *triple)
            elif name == "GroupOrUnionGraphPattern" and graphs:
                for each in graphs:
                    self.tested(each, Group("alternative", group) if len(graphs) > 1 else group)
            elif name in {"OptionalGraphPattern", "MinusGraphPattern"} and graphs:
                self.tested(graphs, Group("optional" if name[0] == "O" else "tested", group))

    def add(self, group: Group, start: Node, relation: Node, end: Node, select: Select | None = None) -> None:
        for pattern in _steps(group, start, relation, end):
            self.draft.patterns.append(pattern)
            if select:
                select.patterns.append(pattern)


def _steps(group: Group, start: Node, relation: Node, end: Node) -> Iterator[Pattern]:
    """Yield the steps of a property path, with the nodes between them."""
    from rdflib import BNode
    from rdflib.paths import InvPath, Path, SequencePath

    if isinstance(relation, SequencePath):
        nodes = [start, *(BNode() for _ in relation.args[1:]), end]
        for at, each in enumerate(relation.args):
            yield from _steps(group, nodes[at], each, nodes[at + 1])
    elif isinstance(relation, InvPath):
        yield from _steps(group, end, relation.arg, start)
    elif isinstance(relation, Path):
        named = tuple(dict.fromkeys(_named(relation)))
        yield Pattern(group, start, None, end, relation, named, _goes_anywhere(relation))
    else:
        yield Pattern(group, start, relation, end, relation, () if is_open(relation) else (relation,))


def _goes_anywhere(path: Node) -> bool:
    from rdflib.paths import AlternativePath, MulPath, NegatedPath

    if isinstance(path, AlternativePath):
        return any(map(_goes_anywhere, path.args))
    return isinstance(path, NegatedPath) or (isinstance(path, MulPath) and path.mod in {"*", "?"})


def _named(path: Node) -> Iterator[Node]:
    from rdflib import URIRef
    from rdflib.paths import Path

    if isinstance(path, URIRef):
        yield path
    elif isinstance(path, Path):
        held = vars(path)
        for part in (held.get("path"), held.get("arg"), *(held.get("args") or ())):
            yield from _named(part)


def _hide_variables(node: Node, scope: int) -> Node:
    """Return a SELECT within another with names of its own for the variables that it does not let out."""
    from rdflib import Variable

    held = node
    while held.name != "Project" and "p" in held:
        held = held.p
    shown = {*(held.get("PV") or ())}

    def rename(term: Node) -> Node:
        return Variable(f"{term}{_MARK}{scope}") if is_variable(term) and term not in shown else term

    return rebuild(node, rename)


_MARK = "·"


def shown_name(variable: Node) -> str:
    """Return a variable as its query writes it."""
    return f"?{str(variable).partition(_MARK)[0]}"


def name_of(expression: Node) -> str:
    """Return what the algebra calls an expression; nothing for a term."""
    return str(getattr(expression, "name", ""))


def conjuncts(expression: Node) -> Iterator[Node]:
    """Go through what must hold where an expression does."""
    if name_of(expression) == "ConditionalAndExpression":
        for part in (expression.expr, *expression.other):
            yield from conjuncts(part)
    else:
        yield expression


def parts_of(node: Any) -> Iterator[Node]:
    """Go through an expression and its parts, but not what EXISTS holds."""
    yield node
    if isinstance(node, Mapping):
        for part in () if name_of(node) in EXISTS else node.values():
            yield from parts_of(part)
    elif isinstance(node, list):
        for part in node:
            yield from parts_of(part)


def variables_of(node: Any) -> set[Node]:
    """Return the variables of an expression."""
    return set(filter(is_variable, parts_of(node)))


def write_path(path: Node) -> str:
    """Return a relation or a property path as SPARQL; empty for one that rdflib does not write."""
    try:
        written: str = path.n3()
    except TypeError:  # of a negated inverse
        return ""
    return written
