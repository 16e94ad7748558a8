"""A drafted query in words: what its rows are of, what is shown of each, and in which order.

The words are made from its algebra; where a part of it cannot be said, they end in `FURTHER`.

>>> query = "SELECT ?d (COUNT(?m) AS ?n) { ?d a <http://x/Dept> ; <http://x/member> ?m } GROUP BY ?d"
>>> query += " HAVING (COUNT(?m) > 5) ORDER BY DESC(?n) LIMIT 3"
>>> say_query(query, {"http://x/Dept": "department"})
'for each department with more than 5 members: the number of its members; in descending order of the \
number of its members; the first 3'
"""

from collections.abc import Iterator, Mapping, Sequence

from kgqa.kg.drafts.reading import (
    Aggregated,
    Draft,
    Group,
    Node,
    Pattern,
    is_constant,
    is_open,
    read_draft,
    shown_name,
    variables_of,
)
from kgqa.kg.drafts.told import say_computed, told_by
from kgqa.kg.node_phrases import SOMETHING, THINGS, Alternative, Clause, Edge, NodePhrases, Union
from kgqa.kg.phrases import be, is_verbal, list_words, say_relation, say_term, say_terms
from kgqa.kg.sparql.derived import INSTANCE_OF, leads_to_members
from kgqa.kg.sparql.guard import RDFLIB_LOCK, walk_tree
from kgqa.kg.terms import XSD_STRING, Entity, Hop, Literal, Term, is_iri, value_node
from kgqa.kg.text import in_words

FURTHER = "and further conditions"

_FUNCTIONS = {"COUNT": "number", "SUM": "sum", "AVG": "average", "MIN": "smallest", "MAX": "largest"}
_EXISTS = {"Builtin_EXISTS", "Builtin_NOTEXISTS"}


def say_query(query: str, names: Mapping[str, str]) -> str | None:
    """Return what a SELECT or ASK asks for, in words; None where it cannot be read.

    Args:
        query: Its text.
        names: What classes, relations and entities are called, by their ids.
    """
    try:
        draft = read_draft(query)
        hidden = "EXISTS" in query.upper() and _has_hidden_tests(query)
    except Exception:  # whatever rdflib and pyparsing raise where it is no SPARQL
        return None
    speaker = _Speaker(draft, names)
    said = speaker.say()
    return f"{said} {FURTHER}" if speaker.has_more or hidden else said


def _has_hidden_tests(query: str) -> bool:
    """Return whether EXISTS holds a filter, which `read_draft` does not see."""
    from rdflib.plugins.sparql.parser import parseQuery

    with RDFLIB_LOCK:
        parts = [*walk_tree(parseQuery(query)[1])]
    held = (part.graph for part in parts if getattr(part, "name", "") in _EXISTS)
    return any(getattr(part, "name", "") == "Filter" for each in held for part in walk_tree(each))


class _Speaker:
    """The words for a query.

    Attributes:
        has_more: Whether a part of it was not said.
    """

    def __init__(self, draft: Draft, names: Mapping[str, str]) -> None:
        self.draft, self.names = draft, names
        self.has_more = draft.has_unread or any(each.limit is not None for each in draft.selects[1:])
        self.numbers: dict[Node, int] = {}
        self.named: dict[int, str] = {}
        self.clauses: list[tuple[int, Clause]] = []
        self.having: list[tuple[Node, str]] = []
        self.counted = {each.result: each for select in draft.selects for each in select.aggregates}
        self.computed = {name: of for select in draft.selects for name, of in select.computed.items()}
        paths = [each for each in draft.patterns if each.relation is None and each.goes_anywhere]
        self.kinds = {each.start: each.end for each in paths if not is_open(each.end)}
        self.groups: dict[Group, list[Edge]] = {}
        for pattern in draft.patterns:
            self.groups.setdefault(pattern.group, []).extend(self._edge(pattern))
        self.edges, self.optional = (
            [edge for group, edges in self.groups.items() if group.kind == kind for edge in edges]
            for kind in ("required", "optional")
        )
        self.unions = [*self._unions()]
        for node, values in draft.values.items():
            self._is(node, say_terms([*map(self._term, values)]))
        for group, test in draft.tests:
            if group.kind == "required":
                self._test(test)
            elif test.name != "TrueFilter":
                self.has_more = True
        self._exclude()

    def _term(self, node: Node) -> Term:
        from rdflib import Literal as Value

        if isinstance(node, Value):
            return Literal(str(node), str(node.datatype or XSD_STRING), str(node.language or ""))
        return Entity(str(node), self.names.get(str(node))) if is_iri(str(node)) else Literal(str(node))

    def _number(self, node: Node) -> int:
        number = self.numbers.setdefault(node, len(self.numbers))
        if not is_open(node):
            self.named[number] = say_term(self._term(node))
        return number

    def _edge(self, pattern: Pattern) -> Iterator[Edge]:
        from rdflib.paths import AlternativePath, MulPath

        start, end = pattern.start, pattern.end
        if pattern.relation is None and start in self.kinds:
            return  # said with what is of these kinds
        if not pattern.named:
            self.has_more = True
            return
        hops = [Hop(str(each), name=self.names.get(str(each))) for each in pattern.named]
        name = list_words([*map(say_relation, hops)], "or")
        if pattern.relation is None:
            path = pattern.path
            parts = path.args if isinstance(path, AlternativePath) else [getattr(path, "path", None)]
            self.has_more |= not all(map(is_constant, parts))
            if isinstance(path, MulPath):
                name = f"{'directly or indirectly' if is_verbal(name) else 'direct or indirect'} {name}"
        hop = Hop(hops[0].relation, name=name)
        if leads_to_members(hop.inverse) and end in self.kinds:
            end, hop = self.kinds[end], Hop(INSTANCE_OF)
        if is_open(start) and not is_open(end):
            term = self._term(end)
            constant = value_node(term) if isinstance(term, Literal) else term
            yield Edge(constant, hop.inverse, self._number(start))
        elif is_open(end) and not is_open(start):
            yield Edge(Entity(str(start), self.names.get(str(start))), hop, self._number(end))
        else:
            yield Edge(self._number(start), hop, self._number(end))

    def _is(self, node: Node, told: str) -> None:
        """Say what a node is."""
        if node in self.numbers:
            self.clauses.append((self.numbers[node], lambda several: f"that {be(several)} {told}"))
        else:
            self.has_more = True

    def _test(self, test: Node) -> None:
        """Say a filter."""
        if test.name == "ConditionalAndExpression":
            for each in (test.expr, *test.other):
                self._test(each)
        elif (said := told_by(test, self._term)) is None:
            self.has_more |= test.name not in _EXISTS
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
        for parent, parts in found.items():
            shared = frozenset.intersection(*(frozenset(_nodes_of(edges)) for edges in parts))
            if len(parts) == 2 and parent and parent.kind == "required" and shared:
                yield Union(shared, [Alternative(edges) for edges in parts])
            else:
                self.has_more = True

    def _exclude(self) -> None:
        """Say what EXISTS, NOT EXISTS and MINUS ask for, of the first node that they share with the rest."""
        every = [*self.edges, *(edge for each in self.unions for edge in each.alternatives[0].edges)]
        for group, edges in self.groups.items():
            shared = sorted(_nodes_of(edges) & _nodes_of(every))
            if group.kind != "tested":
                continue
            if not (shared and group.parent and group.parent.kind == "required"):
                self.has_more = True
                continue
            said = NodePhrases(edges, (), (), self._named(edges)).node(shared[0], several=True).text
            had = said.removeprefix(f"{THINGS} with any ")
            told = f"excluding {said}" if group.negated else f"that are among {said}"
            told = told if had == said else f"with{'out' * group.negated} any {had}"
            self.clauses.append((shared[0], _always(told)))

    def _named(self, edges: Sequence[Edge], it: int | None = None) -> dict[int, str]:
        named = {node: name for node, name in self.named.items() if node in _nodes_of(edges)}
        return {**named, it: "it"} if it in _nodes_of(edges) and it is not None else named

    def say(self) -> str:
        """Say what is asked for."""
        whole = self.draft.whole
        shown = [self._resolved(each) for each in whole.columns]
        root = self._root(shown)
        if root is None:
            return THINGS
        within = [edge for union in self.unions for each in union.alternatives for edge in each.edges]
        every = [*self.edges, *self.optional, *within]
        self.has_more |= not _nodes_of(self.edges) <= {root, *_nodes_of(self._part(root, None, every))}
        if self.draft.asks:
            name = self.named.pop(root, "")
            asked = self._phrases(self.edges).node(root)
            return (
                f"whether {name} is {asked.one_of_it}"
                if name
                else f"whether there {be(asked.several)} {asked.text}"
            )
        counts = any(isinstance(each, Aggregated) for each in shown)
        if counts and not whole.keys and len(self.draft.selects) == 1:
            said = list_words([self._item(each, None) for each in shown])
            self.has_more |= bool(self.having)
        else:
            said = self._rows(root, shown)
        parts = [said]
        for of, down in whole.order:
            by = self._item(self._resolved(of), root).removeprefix("its ")
            parts.append(f"in {'descending' if down else 'ascending'} order of {by}")
        if whole.limit is not None:
            parts.append(f"the first {'one' if whole.limit == 1 else whole.limit}")
        return "; ".join([*parts, *([f"without the first {whole.offset}"] if whole.offset else [])])

    def _resolved(self, column: Node) -> Node:
        """Return what a column is: a node, what is computed of a group, or an expression."""
        for _ in self.computed:
            column = self.computed.get(column, column) if is_open(column) else column
        return self.counted.get(column, column) if is_open(column) else column

    def _root(self, shown: Sequence[Node]) -> int | None:
        """Return the node that rows are of: what they are grouped by, or the first that is shown.

        Where that is only had by another node, of which there is more to show, it is this one.
        """
        keys = [each for each in self.draft.whole.keys or () if each in self.numbers]
        nodes = [each for each in keys or shown if is_open(each) and each in self.numbers]
        nodes += [node for each in shown for node in sorted(variables_of(each)) if node in self.numbers]
        if not nodes:
            return next(iter(self.numbers.values()), None)
        first = self.numbers[nodes[0]]
        owner = self._owner(first)
        is_shown = owner in map(self.numbers.get, keys) if keys else len(shown) > 1
        return owner if owner is not None and is_shown else first

    def _owner(self, node: int) -> int | None:
        """Return the node that has another, which has nothing itself."""
        edges = [edge for edge in self.edges if node in (edge.start, edge.end)]
        owner = edges[0].start if len(edges) == 1 and edges[0].end == node else None
        return owner if isinstance(owner, int) else None

    def _rows(self, root: int, shown: Sequence[Node]) -> str:
        """Say what rows are of, and what is shown of each."""
        items = [
            self._item(each, root) for each in shown if not is_open(each) or self.numbers.get(each) != root
        ]
        counted = [node for each in self.counted.values() for node in variables_of(each.of)]
        plain = [each for each in (*shown, *(of for of, _ in self.draft.whole.order)) if is_open(each)]
        phrases = self._phrases(self._without(root, counted, plain))
        parts = [phrases.node(root, thing="thing" if items else THINGS, each=bool(items)).text]
        for node, told in self.having:
            of = self._resolved(node)
            if isinstance(of, Aggregated) and of.function == "COUNT":
                parts.append(f"with {told} {self._several(of, root).removeprefix('its ')}")
            else:
                parts.append(f"where {self._item(of, root)} is {told}")
        said = " and ".join([" ".join(parts[:2]), *parts[2:]])
        return f"for each {said.removeprefix('the ')}: {list_words(items)}" if items else said

    def _without(self, root: int, counted: Sequence[Node], plain: Sequence[Node]) -> list[Edge]:
        """Return the required edges but those to what is counted, or is only there to be shown."""
        left = [*self.edges]
        for node in dict.fromkeys([*counted, *plain]):
            part = self._part(number, root) if (number := self.numbers.get(node, root)) != root else []
            held = {at for at, _ in self.clauses} & (_nodes_of(part) - {root})
            bound = any(isinstance(edge.start, Entity) and not edge.members_of for edge in part)
            if node in counted or not (held or bound):
                left = [edge for edge in left if edge not in part]
        if root in _nodes_of(left):
            return left
        tails = [edge for edge in self.edges if edge.end == root]  # it has no other name
        kinds = [edge for edge in self.edges if edge.members_of and edge.end in _nodes_of(tails)]
        return [*tails, *(edge for edge in kinds if edge not in tails)]

    def _phrases(self, edges: Sequence[Edge], it: int | None = None) -> NodePhrases:
        nodes = _nodes_of(edges) or {*self.numbers.values()}
        clauses = [clause for clause in self.clauses if clause[0] in nodes and clause[0] != it]
        unions = [each for each in self.unions if each.nodes & nodes - {it}]
        return NodePhrases(edges, clauses, unions, self._named(edges, it))

    def _part(self, node: int, root: int | None, among: Sequence[Edge] = ()) -> list[Edge]:
        """Return the edges that join a node with others, not by way of the root."""
        every, nodes = among or [*self.edges, *self.optional], {node}
        found: list[Edge] = []
        for _ in every:
            found = [edge for edge in every if nodes & ({edge.start, edge.end} - {root})]
            nodes |= _nodes_of(found) - {root}
        return found

    def _several(self, of: Aggregated, root: int | None) -> str:
        """Say the several things that are counted or added up."""
        if is_open(of.of) and of.of in self.numbers:
            return self._node(self.numbers[of.of], root, several=True)
        known = [node for node in sorted(variables_of(of.of)) if node in self.numbers]
        owner = self._owner(self.numbers[known[0]]) if known and root is None else None
        if owner is not None:
            over = self._phrases(self._without(owner, known, ())).node(owner, several=True).text
            return f"{self._expression(of.of, owner)} over {over}"
        return self._expression(of.of, root) if known else "rows"

    def _expression(self, of: Node, root: int | None) -> str:
        return say_computed(of, lambda node: self._item(self._resolved(node), root), self._term)

    def _item(self, of: Node, root: int | None) -> str:
        """Say what is shown."""
        if isinstance(of, Aggregated):
            function = _FUNCTIONS.get(of.function, of.function.replace("_", " ").lower())
            return f"the {function} of {self._several(of, root)}"
        if is_open(of):
            return self._node(self.numbers[of], root) if of in self.numbers else in_words(shown_name(of)[1:])
        return self._expression(of, root)

    def _node(self, node: int, root: int | None, *, several: bool = False) -> str:
        """Say a node, of what is at the root."""
        if node == root:
            return "it"
        edges = self._part(node, root)
        words = self._phrases(edges, root).node(node, several=several, thing=SOMETHING).text
        return f"{words} if there is any" if edges and not {*edges} & {*self.edges} else words


def _always(told: str) -> Clause:
    return lambda several: told


def _nodes_of(edges: Sequence[Edge]) -> set[int]:
    return {node for edge in edges for node in (edge.start, edge.end) if isinstance(node, int)}
