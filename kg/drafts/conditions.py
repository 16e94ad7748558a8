"""A drafted query as what its nodes are joined to and what is true of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from kgqa.kg.dialects import RDFS, XSD
from kgqa.kg.drafts.reading import EXISTS, Draft, Group, Pattern, conjuncts, name_of, variables_of
from kgqa.kg.node_phrases import THINGS, Alternative, Clause, Edge, NodePhrases, Union
from kgqa.kg.phrases import be, is_verbal, list_words, say_compared, say_relation, say_term, say_terms
from kgqa.kg.sparql.derived import INSTANCE_OF, leads_to_members
from kgqa.kg.sparql.nodes import Node, is_constant, is_open, is_value, to_term
from kgqa.kg.terms import Entity, Hop, Literal, Term, is_iri, value_node

COMPUTED = "what is computed"  # what an expression is called where no more is said of it

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_UNSPOKEN = {f"Builtin_{name}" for name in ("BOUND", "DATATYPE", "LANG", "isBLANK", "isIRI", "isLITERAL")}
_BINDING = {"AdditiveExpression": 1, "MultiplicativeExpression": 2}  # the more, the tighter
_CASTS = {"Builtin_STR", "Builtin_LCASE", "Builtin_UCASE"}
_TEXT_TESTS = {
    "CONTAINS": "something with",
    "REGEX": "something like",
    "STRSTARTS": "something that begins with",
    "STRENDS": "something that ends in",
}


def told_by(test: Node, term: Callable[[Node], Term]) -> tuple[Node, str] | None:
    """Return a variable and what the test of a filter says that it is; None where it says anything else."""
    name = name_of(test).removeprefix("Builtin_")
    if name == "ConditionalOrExpression":
        found = [told_by(each, term) for each in (test.expr, *test.other)]
        told = [each[1] for each in found if each and found[0] and each[0] == found[0][0]]
        return (found[0][0], " or ".join(told)) if found[0] and len(told) == len(found) else None
    if name in _TEXT_TESTS:
        text, part = unwrapped(test.arg1 or test.text), unwrapped(test.arg2 or test.pattern)
        is_told = is_open(text) and is_constant(part)
        return (text, f"{_TEXT_TESTS[name]} {say_term(term(part))}") if is_told else None
    if name != "RelationalExpression":
        return None
    node, operator, other = test.expr, test.op, test.other
    if operator in {"IN", "NOT IN"}:
        node, listed = unwrapped(node), other if isinstance(other, list) else []
        if not (is_open(node) and listed and all(map(is_constant, listed))):
            return None
        return node, f"{'not ' * (operator != 'IN')}{say_terms([*map(term, listed)])}"
    if not variables_of(node):
        node, other, operator = other, node, _MIRRORED.get(operator, operator)
    is_year = name_of(node) == "Builtin_YEAR"
    node, other = unwrapped(node.arg if is_year else node), unwrapped(other)
    if not (is_open(node) and is_constant(other)):
        return None
    value = term(other)
    if is_year:
        value, operator = Literal(value.id, f"{XSD}gYear"), "year" if operator == "=" else operator
    return node, say_compared(operator, value)


def say_computed(of: Node, say: Callable[[Node], str], term: Callable[[Node], Term]) -> str:
    """Say an expression, its variables by ``say``; of a function of several what it is computed from."""
    of = unwrapped(of)
    if is_open(of):
        return say(of)
    if is_constant(of):
        return say_term(term(of))
    if (name := name_of(of)) in _BINDING:
        steps = [(op, unwrapped(each)) for op, each in zip(of.op, of.other, strict=True)]
        steps = [(op, each) for op, each in steps if (op, str(each)) != ("*", "1.0")]  # no integers divided
        parts = [unwrapped(of.expr), *(each for _, each in steps)]
        said = [say_computed(each, say, term) for each in parts]
        loose = [_BINDING.get(name_of(each), 9) <= _BINDING[name] for each in parts]
        first, *others = (f"({each})" if at else each for each, at in zip(said, loose, strict=True))
        return " ".join(
            [first, *(f"{_SIGNS[op]} {each}" for (op, _), each in zip(steps, others, strict=True))]
        )
    inner = [each for each in (of.arg, of.arg1, of.arg2) if each is not None] if name else []
    if name.startswith("Builtin_") and name not in _UNSPOKEN and len(inner) == 1:
        argument = say_computed(inner[0], say, term)
        if name_of(unwrapped(inner[0])) in _BINDING:
            argument = f"({argument})"
        return f"the {name.removeprefix('Builtin_').lower()} of {argument}"
    names = [say(each) for each in sorted(variables_of(of))]
    return f"{COMPUTED} of {' and '.join(names)}" if names else COMPUTED


def is_comparison(test: Node) -> bool:
    """Return whether a filter compares two values."""
    return name_of(test) == "RelationalExpression" and test.op not in {"IN", "NOT IN"}


def unwrapped(expression: Node) -> Node:
    """Return what an expression only casts."""
    while (name := name_of(expression)) in _CASTS or (
        name == "Function" and str(expression.iri).startswith(XSD)
    ):
        inner = expression.expr if name == "Function" else expression.arg
        expression = next(iter(inner), None) if isinstance(inner, list) else inner
    return expression


_PLAIN = {"BGP", "Join", "LeftJoin"}
_SUBCLASSES = {f"{RDFS}subClassOf", "http://www.wikidata.org/prop/direct/P279"}


class Conditions:
    """What a query asks for of its nodes.

    Attributes:
        numbers: The number of each node.
        named: The names of those that are constants.
        groups: The edges of each group; ``edges`` are required, ``optional`` are not.
        unions: The alternatives.
        bound: The nodes that every row has.
        clauses: What is true of nodes.
        having: What is true of what is computed.
        compared: The filters that compare two of its values.
        counted: Under each variable, what is computed of a group.
        computed: Under each variable, the expression that it is.
        has_more: Whether there is more to the query.
    """

    def __init__(self, draft: Draft, names: Mapping[str, str]) -> None:
        self.draft, self.names = draft, names
        self.has_more = draft.has_unread or any(
            each.limit is not None or each.offset for each in draft.selects[1:]
        )
        self.numbers: dict[Node, int] = {}
        self.named: dict[int, str] = {}
        self.clauses: list[tuple[int, Clause]] = []
        self.having: list[tuple[Node, str]] = []
        self.compared: list[Node] = []
        self.counted, self.computed = draft.counted, draft.computed
        self.vague = {each for each, parts in draft.groups.items() if parts - _PLAIN}
        classes = {each.end for each in draft.patterns if _is_type(each.relation)}
        self.kinds = {
            each.start: each.end
            for each in draft.patterns
            if each.start in classes and _is_class_path(each) and is_constant(each.end)
        }
        self.groups: dict[Group, list[Edge]] = {}
        for pattern in draft.patterns:
            self.groups.setdefault(pattern.group, []).extend(self._edge(pattern))
        self.has_more |= any(
            group.kind != "required" and (group in self.vague or group not in self.groups)
            for group in draft.groups
        )
        self.edges = self._edges_of("required")
        self.optional = self._edges_of("optional")
        self.unions = [*self._unions()]
        self.bound = nodes_of(self.edges).union(*(each.nodes for each in self.unions))
        self._bind()
        for group, test in draft.tests:
            if group.kind == "required":
                self._test(test)
            elif test.name != "TrueFilter":
                self.has_more = True
        self._exclude()

    def _edges_of(self, kind: str) -> list[Edge]:
        return [edge for group, edges in self.groups.items() if group.kind == kind for edge in edges]

    def term(self, node: Node) -> Term:
        """Return what a constant stands for."""
        if is_value(node):
            return to_term(node)
        return Entity(str(node), self.names.get(str(node))) if is_iri(str(node)) else Literal(str(node))

    def _number(self, node: Node) -> int:
        number = self.numbers.setdefault(node, len(self.numbers))
        if not is_open(node):
            self.named[number] = say_term(self.term(node))
        return number

    def _edge(self, pattern: Pattern) -> Iterator[Edge]:
        from rdflib.paths import AlternativePath, MulPath

        start, end = pattern.start, pattern.end
        if pattern.relation is None and start in self.kinds:
            return  # said with what is of these kinds
        path, parts = pattern.path, [pattern.path]
        if pattern.relation is None:
            parts = path.args if isinstance(path, AlternativePath) else [getattr(path, "path", None)]
        if pattern.goes_anywhere or not all(is_iri(str(each)) for each in parts):
            self.has_more = True
            self.vague.add(pattern.group)
            return
        hops = [Hop(str(each), name=self.names.get(str(each))) for each in pattern.named]
        name = list_words([*map(say_relation, hops)], "or")
        if isinstance(path, MulPath):
            name = f"{'directly or indirectly' if is_verbal(name) else 'direct or indirect'} {name}"
        hop = Hop(hops[0].relation, name=name)
        if leads_to_members(hop.inverse) and end in self.kinds:
            end, hop = self.kinds[end], Hop(INSTANCE_OF)
        if is_open(start) != is_open(end):
            constant, other = (end, start) if is_open(start) else (start, end)
            term = self.term(constant)
            known = value_node(term) if isinstance(term, Literal) else term
            yield Edge(known, hop.inverse if other is start else hop, self._number(other))
        else:
            yield Edge(self._number(start), hop, self._number(end))

    def _bind(self) -> None:
        """Say what VALUES and BIND give to nodes."""
        given = {name: [of] for name, of in self.computed.items() if name in self.numbers}
        given |= {name: [name] for name in self.counted if name in self.numbers}
        if not any("values" in self.draft.groups[each] for each in self.vague if each.kind != "required"):
            given |= self.draft.values
        for node, values in given.items():
            if all(map(is_constant, values)):
                self._is(node, say_terms([*map(self.term, values)]))
            else:
                self.has_more = True

    def _is(self, node: Node, told: str) -> None:
        """Say what a node is."""
        if (number := self.numbers.get(node)) is not None:
            self.clauses.append((number, lambda several: f"that {be(several)} {told}"))
        self.has_more |= number not in self.bound

    def _test(self, test: Node) -> None:
        """Say a filter."""
        for each in conjuncts(test):
            if (said := told_by(each, self.term)) is None:
                if is_comparison(each):
                    self.compared.append(each)
                else:
                    self.has_more |= name_of(each) not in EXISTS
            elif said[0] in self.counted or said[0] in self.computed:
                self.having.append(said)
            else:
                self._is(*said)

    def _unions(self) -> Iterator[Union]:
        """Yield the alternatives of UNION; those within others, or with tests, are not said."""
        found: dict[Group | None, list[list[Edge]]] = {}
        for group, edges in self.groups.items():
            if group.kind == "alternative":
                found.setdefault(group.parent, []).append(edges)
        others = nodes_of([*self.edges, *self.optional])
        for parent, parts in found.items():
            shared = frozenset.intersection(*(frozenset(nodes_of(edges)) for edges in parts))
            own = nodes_of([edge for edges in parts for edge in edges]) - shared
            if len(parts) == 2 and parent and parent.kind == "required" and shared and not own & others:
                yield Union(shared, [Alternative(edges) for edges in parts])
            else:
                self.has_more = True

    def _exclude(self) -> None:
        """Say what EXISTS, NOT EXISTS and MINUS ask for, of the one node that they share with the rest."""
        given = {*self.draft.values, *self.computed, *self.counted} & {*self.numbers}
        bound = {self.numbers[each] for each in given}
        bound |= nodes_of([*self.optional, *self._edges_of("alternative"), *self.edges])
        for group, edges in self.groups.items():
            if group.kind != "tested":
                continue
            shared = nodes_of(edges) & bound
            is_one = len(shared) == 1 and shared <= self.bound and group.holds
            if not (is_one and group.parent and group.parent.kind == "required"):
                self.has_more = True
                continue
            node = shared.pop()
            phrases = NodePhrases(edges, (), (), self.named_of(edges))
            said = phrases.node(node, several=True).text
            if group.negated and (group in self.vague or not phrases.said.issuperset(edges)):
                self.has_more = True
                continue
            self.has_more |= not phrases.said.issuperset(edges)
            had = said.removeprefix(f"{THINGS} with any ")
            told = f"excluding {said}" if group.negated else f"that are among {said}"
            told = told if had == said else f"with{'out' * group.negated} any {had}"
            self.clauses.append((node, _always(told)))

    def named_of(self, edges: Sequence[Edge], it: int | None = None) -> dict[int, str]:
        """Return what the nodes of edges are called, the one spoken of "it"."""
        named = {node: name for node, name in self.named.items() if node in nodes_of(edges)}
        return {**named, it: "it"} if it in nodes_of(edges) and it is not None else named


def _is_type(relation: Node) -> bool:
    return is_iri(str(relation)) and leads_to_members(Hop(str(relation), forward=False))


def _is_class_path(pattern: Pattern) -> bool:
    """Return whether a pattern leads from a class to itself and to all above it."""
    return (
        pattern.relation is None and pattern.goes_anywhere and _SUBCLASSES.issuperset(map(str, pattern.named))
    )


def _always(told: str) -> Clause:
    return lambda several: told


def nodes_of(edges: Sequence[Edge]) -> set[int]:
    """Return the numbers of the nodes that edges join."""
    return {node for edge in edges for node in (edge.start, edge.end) if isinstance(node, int)}
