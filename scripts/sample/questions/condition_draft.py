"""The shape of a question with conditions, and the answer query that it comes down to."""

import re
from typing import Literal as Choice, NamedTuple

from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Operator
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, Term
from kgqa.scripts.sample.graph import BASE, RDF_TYPE, RDFS_LABEL, XSD
from kgqa.scripts.sample.questions.draft import Branch as Way, Topic, path
from kgqa.scripts.sample.questions.lookup import Lookup

_DATE_TYPES = {4: "gYear", 7: "gYearMonth", 10: "date"}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


class Where(NamedTuple):
    """A condition; ``at`` is the number of hops to its node on the first way, None the end.

    A value is a number, a date in ISO 8601 or other text, a class, or an entity.
    """

    attribute: str
    operator: Operator
    value: int | float | str | Topic | None = None
    at: int | None = None


class ConditionDraft(NamedTuple):
    """A question without answers; the ways from its topics meet at the answers."""

    text: str
    ways: tuple[Way, ...]
    conditions: tuple[Where, ...] = ()
    aggregate: Aggregate | None = None

    def query(self, graph: Lookup) -> AnswerQuery:
        """Return the answer query: ways begin at places of their own and end at the same one."""
        end = len(self.ways[0].path)
        words = re.findall(r"\[(.*?)\]", self.text)
        return AnswerQuery(
            branches=tuple(_branch(way, 10 * number, end, graph) for number, way in enumerate(self.ways)),
            returned=end,
            conditions=tuple(
                Condition(where.at or end, _hops(where.attribute), where.operator, _value(where, graph), said)
                for where, said in zip(self.conditions, words, strict=True)
            ),
            aggregate=self.aggregate,
        )


def find_topic(topic: Topic, graph: Lookup) -> Entity:
    """Return what a way sets out from: an entity with this name, a class, or anything."""
    match topic.kind:
        case "anything":
            return ANY
        case "class":
            return Entity(f"{BASE}c/{topic.name}")
    return Entity(graph.find(topic).value)


def _branch(way: Way, first: int, end: int, graph: Lookup) -> Branch:
    topic = find_topic(way.topic, graph)
    between = tuple(range(first + 1, first + len(way.path)))
    return Branch(Chain(topic, _hops(" ".join(way.path))), (*between, end))


def _hops(text: str) -> tuple[Hop, ...]:
    named = {"name": RDFS_LABEL, "type": RDF_TYPE}
    steps = ((step.removeprefix("^"), not step.startswith("^")) for step in path(text))
    return tuple(Hop(named.get(name, f"{BASE}r/{name}"), forward) for name, forward in steps)


def _value(where: Where, graph: Lookup) -> Term | None:
    match where.value:
        case None:
            return None
        case Topic() as topic:
            return Entity(graph.find(topic).value)
        case str() as text if where.operator == "type":
            return Entity(f"{BASE}c/{text}")
        case str() as text:
            return Literal(text, XSD + _DATE_TYPES[len(text)]) if _DATE.fullmatch(text) else Literal(text)
        case number:
            return Literal(str(number), XSD + ("integer" if isinstance(number, int) else "decimal"))


def ask(
    text: str,
    ways: str,
    *conditions: Where,
    best: str = "",
    by: Choice["number", "date"] = "number",
    at: int | None = None,
) -> ConditionDraft:
    """Return a draft.

    Args:
        text: The wording.
        ways: ``Country Germany: borders``, joined by ``&``; ``class Country: ^type``, ``anything: ^borders``.
        conditions: In the order of their words.
        best: An aggregate and its attribute.
        by: What is compared.
        at: The number of hops to what has the attribute, None for the end.
    """
    function, _, attribute = best.partition(" ")
    aggregate = Aggregate(function, _hops(attribute), at, by) if best else None
    return ConditionDraft(text, tuple(map(_way, ways.split(" & "))), conditions, aggregate)


def _way(text: str) -> Way:
    topic, hops = text.split(": ")
    kind, _, name = topic.partition(" ")
    return Way(Topic(kind, name), path(hops))
