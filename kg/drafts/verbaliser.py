"""A drafted query in words: what its rows are of, what is shown of each, and in which order.

The words are made from its algebra; where a part of it cannot be said, they end in `FURTHER`.

>>> query = "SELECT ?d (COUNT(?m) AS ?n) { ?d a <http://x/Dept> ; <http://x/member> ?m } GROUP BY ?d"
>>> query += " HAVING (COUNT(?m) > 5) ORDER BY DESC(?n) LIMIT 3"
>>> say_query(query, {"http://x/Dept": "department"})
'for each department with more than 5 members: the number of its members; in descending order of the \
number of its members; the first 3'
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.kg.drafts.conditions import COMPUTED, Conditions, nodes_of, say_computed, unwrapped
from kgqa.kg.drafts.reading import Aggregated, Draft, read_draft, shown_name, variables_of
from kgqa.kg.errors import KGRejected
from kgqa.kg.node_phrases import (
    SOMETHING,
    THINGS,
    Clause,
    Edge,
    NodePhrases,
    Phrase,
    as_answers,
    say_equal,
)
from kgqa.kg.phrases import be, list_words, say_operator
from kgqa.kg.sparql.nodes import Node, is_open
from kgqa.kg.terms import Entity
from kgqa.kg.text import in_words

FURTHER = "and further conditions"

_FUNCTIONS = {"COUNT": "number", "SUM": "sum", "AVG": "average", "MIN": "smallest", "MAX": "largest"}


def say_query(query: str, names: Mapping[str, str]) -> str | None:
    """Return what a SELECT or ASK asks for, in words; None where it cannot be read. ``names`` are by ids."""
    try:
        draft = read_draft(query)
    except KGRejected:
        return None
    try:
        speaker = _Speaker(draft, names)
        said, has_more = speaker.say(), speaker.has_more
    except Exception:  # of an unknown form: the answer is worth more than its words
        said, has_more = THINGS, True
    return f"{said} {FURTHER}" if has_more else said


def say_rows(query: str, names: Mapping[str, str], answers: str, *, several: bool) -> str | None:
    """Return what a query has given as a sentence without its full stop; None where none is sure to be right.

    Args:
        query: A SELECT of one column, or an ASK that is so.
        names: What classes, relations and entities are called, by their ids.
        answers: All that is in the column, as words.
        several: Whether these are several answers.
    """
    try:
        speaker = _Speaker(read_draft(query), names)
        speaker.how = as_answers(several)
        speaker.say()
    except Exception:  # as above
        return None
    first, *others = speaker.parts
    if others or speaker.has_more:
        return None
    return f"Yes: {first.text}" if speaker.draft.asks else say_equal(first, answers, several=several)


class _Speaker(Conditions):
    """The words for a query.

    Attributes:
        said: The edges and clauses that are part of them.
        parts: What was said: what is asked for, the order, the number of rows.
        how: How rows are said of which nothing is shown (`NodePhrases.node`).
    """

    def __init__(self, draft: Draft, names: Mapping[str, str]) -> None:
        super().__init__(draft, names)
        self.said: set[Edge | Clause] = set()
        self.parts: list[Phrase] = []
        self.how: dict[str, Any] = {"thing": THINGS}

    def say(self) -> str:
        """Say what is asked for."""
        whole = self.draft.whole
        if self.draft.asks:
            self.parts = [Phrase(self._asked())]
        else:
            shown = [self._resolved(each) for each in whole.columns]
            root = self._root(shown)
            within = (key for select in self.draft.selects for key in select.keys or ())
            keys = [*(within if whole.keys is None else whole.keys)]
            is_of_nodes = all(each in self.numbers for each in keys)
            if root is not None and is_of_nodes and (keys or whole.keys is None):
                self.has_more |= bool(keys) and root not in map(self.numbers.get, keys)
                self.parts = [self._rows(root, shown)]
            else:
                root, is_row = None, whole.keys is None and not keys
                self.has_more |= is_row
                self.parts = [Phrase(THINGS, is_nested=True) if is_row else self._groups(keys, shown)]
            for of, down in whole.order:
                by = self._item(self._resolved(of), root).removeprefix("its ")
                self.parts.append(Phrase(f"in {'descending' if down else 'ascending'} order of {by}"))
        self.parts += map(Phrase, _say_cut(whole.offset or 0, whole.limit))
        within_unions = [edge for each in self.unions for part in each.alternatives for edge in part.edges]
        needed = {*self.edges, *within_unions, *(clause for _, clause in self.clauses)}
        self.has_more |= bool(self.having or self.compared) or not needed <= self.said
        return f"{'whether ' * self.draft.asks}{'; '.join(part.text for part in self.parts)}"

    def _asked(self) -> str:
        """Say what an ASK asks whether it is so."""
        root = next(iter(self.numbers.values()), None)
        if root is None:
            self.has_more = True
            return f"there is {SOMETHING}"
        keys = [key for select in self.draft.selects for key in select.keys or () if key in self.numbers]
        told = [each for each, _ in self.having] + [of for test in self.compared for of in variables_of(test)]
        if told and not keys and all(self._is_of_named(each) for each in told):
            return self._held(None)[0].removeprefix("where ")
        if told:
            of = self.numbers[keys[0]] if keys else self._root(sorted(told))
            return f"there is any {self._rows(of or root, ()).text.removeprefix('each ')}"
        name = self.named.pop(root, "")
        asked = self._say(self.edges, root)
        if name:
            return f"{name} is {asked.one_of_it}"
        return f"there {be(asked.is_plural)} {asked.text}"

    def _is_of_named(self, value: Node) -> bool:
        """Return whether a value is computed of several nodes, or is of one that the query names."""
        if (number := self.numbers.get(value)) is None:
            return True
        part = self._part(number, None, self.edges)
        return any(isinstance(edge.start, Entity) and not edge.members_of for edge in part) or bool(
            nodes_of(part) & {*self.named}
        )

    def _groups(self, keys: Sequence[Node], shown: Sequence[Node]) -> Phrase:
        """Say what is shown of all rows, or of groups by what is no node."""
        self.has_more |= not self.numbers
        columns = zip(self.draft.whole.columns, shown, strict=True)
        items = [
            self._item(each, None) if isinstance(each, Aggregated) or not keys else _name_of(column)
            for column, each in columns
            if column not in keys
        ]
        counted = [each.of for each in shown if isinstance(each, Aggregated) and each.function == "COUNT"]
        is_one = len(shown) == len(counted) == 1 and is_open(counted[0]) and not (keys or self.having)
        held = self._held(self.numbers.get(counted[0]) if is_one else None)
        if not keys:
            return Phrase(" ".join([list_words(items), *held]), is_nested=len(items) > 1)
        self.has_more |= not all(map(is_open, keys))
        by = [self._item(self._resolved(each), None) if is_open(each) else "group" for each in keys]
        of = " ".join([list_words(by).removeprefix("the "), *held])
        return Phrase(f"for each {of}: {list_words(items)}", is_nested=True)

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

    def _rows(self, root: int, shown: Sequence[Node]) -> Phrase:
        """Say what rows are of, and what is shown of each."""
        items = [
            self._item(each, root) for each in shown if not is_open(each) or self.numbers.get(each) != root
        ]
        counted = [node for each in self.counted.values() for node in variables_of(each.of)]
        plain = [each for each in (*shown, *(of for of, _ in self.draft.whole.order)) if is_open(each)]
        plain += [each for test in self.compared for each in sorted(variables_of(test))]
        edges = self._without(root, counted, plain)
        is_each = bool(items or self.having or self.compared)
        said = self._say(edges, root, **({"thing": "thing", "each": True} if is_each else self.how))
        text = " ".join([said.text, *self._held(root)])
        if not is_each:
            return said._replace(text=text)
        each = f"each {text.removeprefix('the ')}"
        return Phrase(f"for {each}: {list_words(items)}" if items else each, is_nested=True)

    def _held(self, root: int | None) -> list[str]:
        """Say what holds of what is computed, and of values that are compared."""
        parts = list[str]()
        having, self.having, compared, self.compared = self.having, [], self.compared, []
        for node, told in having:
            of = self._resolved(node)
            if isinstance(of, Aggregated) and of.function == "COUNT" and root is not None:
                parts.append(f"with {told} {self._several(of, root).removeprefix('its ')}")
            else:
                parts.append(f"where {self._item(of, root)} is {told}")
        for each in compared:
            one, other = (self._expression(of, root) for of in (each.expr, each.other))
            parts.append(f"where {one} is {say_operator(each.op)}{other}")
        return [" and ".join(parts)] if parts else []

    def _without(self, root: int, counted: Sequence[Node], plain: Sequence[Node]) -> list[Edge]:
        """Return the required edges but those to what is counted, or is only there to be shown."""
        left = [*self.edges]
        for node in dict.fromkeys([*counted, *plain]):
            part = (
                self._part(number, root, self.edges)
                if (number := self.numbers.get(node, root)) != root
                else []
            )
            held = {at for at, _ in self.clauses} & (nodes_of(part) - {root})
            bound = any(isinstance(edge.start, Entity) and not edge.members_of for edge in part)
            if node in counted or not (held or bound):
                left = [edge for edge in left if edge not in part]
        if root in nodes_of(left):
            return left
        tails = [edge for edge in self.edges if edge.end == root]  # it has no other name
        kinds = [edge for edge in self.edges if edge.members_of and edge.end in nodes_of(tails)]
        return [*tails, *(edge for edge in kinds if edge not in tails)]

    def _say(self, edges: Sequence[Edge], node: int, it: int | None = None, **how: Any) -> Phrase:
        """Say a node by some edges, and by all that is known of what these join, but of ``it``."""
        nodes = nodes_of(edges) or {*self.numbers.values()}
        clauses = [clause for clause in self.clauses if clause[0] in nodes and clause[0] != it]
        unions = [each for each in self.unions if each.nodes & nodes - {it}]
        phrases = NodePhrases(edges, clauses, unions, self.named_of(edges, it))
        said = phrases.node(node, **how)
        self.said |= phrases.said
        return said

    def _part(self, node: int, root: int | None, among: Sequence[Edge]) -> list[Edge]:
        """Return those edges that join a node with others, not by way of the root."""
        nodes, found = {node}, list[Edge]()
        for _ in among:
            found = [edge for edge in among if nodes & ({edge.start, edge.end} - {root})]
            nodes |= nodes_of(found) - {root}
        return found

    def _several(self, of: Aggregated, root: int | None) -> str:
        """Say the several things that are counted or added up."""
        if of.of == "*":
            nodes = sorted(self.bound - {*self.named})
            if root is not None or not nodes:
                return "rows"
            rows = "rows for " * (len(nodes) > 1 or bool(self.unions))
            return f"{rows}{self._node(nodes[0], None, several=True)}"
        node = unwrapped(self._resolved(of.of))
        if is_open(node) and node in self.numbers:
            return self._node(self.numbers[node], root, several=True)
        known = [each for each in sorted(variables_of(node)) if each in self.numbers]
        if isinstance(node, Aggregated) or not known:
            self.has_more = True
            return _name_of(of.of) if is_open(of.of) else "rows"
        owner = self._owner(self.numbers[known[0]]) if root is None else None
        if owner is None:
            return self._expression(node, root)
        over = self._say(self._without(owner, known, ()), owner, several=True).text
        return f"{self._expression(node, owner)} over {over}"

    def _expression(self, of: Node, root: int | None) -> str:
        said = say_computed(of, lambda node: self._item(self._resolved(node), root), self.term)
        self.has_more |= COMPUTED in said
        return said

    def _item(self, of: Node, root: int | None) -> str:
        """Say what is shown."""
        if isinstance(of, Aggregated):
            function = _FUNCTIONS.get(of.function, of.function.replace("_", " ").lower())
            return f"the {function} of {self._several(of, root)}"
        if not is_open(of):
            return self._expression(of, root)
        if of in self.numbers:
            return self._node(self.numbers[of], root)
        self.has_more = True
        return _name_of(of)

    def _node(self, node: int, root: int | None, *, several: bool = False) -> str:
        """Say a node, of what is at the root."""
        if node == root:
            return "it"
        among, ends = self.edges, ""
        if node not in nodes_of(among):
            groups = (group for group, edges in self.groups.items() if node in nodes_of(edges))
            group = next((each for each in groups if each.kind == "optional"), None)
            if group:
                among = [edge for each in group.around for edge in self.groups.get(each, ())]
                ends = "" if several else " if there is any"
        edges = self._part(node, root, among)
        words = self._say(edges, node, root, several=several, thing=SOMETHING).text
        self.has_more |= words == SOMETHING
        return f"{words}{ends}"


def _say_cut(offset: int, limit: int | None) -> list[str]:
    """Say which rows are kept, in their order."""
    if not offset:
        return [] if limit is None else [f"the first {'one' if limit == 1 else limit}"]
    if limit is None:
        return [f"from number {offset + 1} on"]
    return [f"number {offset + 1}" if limit == 1 else f"numbers {offset + 1} to {offset + limit}"]


def _name_of(variable: Node) -> str:
    """Return what a query calls a variable, in words."""
    return in_words(shown_name(variable)[1:]) if is_open(variable) else "group"
