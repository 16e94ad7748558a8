"""The facts that meet a condition of an answer query, for each of some answers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgqa.kg.graph import Row, Rows
from kgqa.kg.proof.compilation import ANSWER, node_variable, with_prologue, write_body
from kgqa.kg.proof.query import AnswerQuery, Condition, Pick
from kgqa.kg.sparql.decoding import sort_key
from kgqa.kg.terms import Entity, Hop, Term, Triple

MAX_ROWS = 2_000  # ways in which conditions are met that are looked at, for all answers together


def conditions_with_facts(query: AnswerQuery) -> list[int]:
    """Return the numbers, from 1, of the conditions that some fact meets."""
    met = (
        each.operator == "type" or (each.attribute and each.operator != "not exists")
        for each in query.conditions
    )
    return [number for number, meets in enumerate(met, 1) if meets]


def write_facts_query(query: AnswerQuery, number: int, answers: Sequence[Term], types: Sequence[str]) -> str:
    """Ask for ``?answer`` and the nodes of the facts that meet a condition, the node that has it first.

    A yes is asked about as a whole, any other answer for itself.
    """
    held = () if query.ask else (Pick(query.returned, tuple(answers)),)
    plain = replace(query, aggregate=None, ask=False, picked=(*query.picked, *held))
    condition = query.conditions[number - 1]
    columns = [ANSWER, f"({node_variable(plain, condition.place)} AS ?node)"]
    columns += [f"?m{number}"] if len(condition.attribute) > 1 else []
    columns += [f"?v{number}"] if condition.attribute and not _is_given(condition) else []
    columns += [f"?t{number}"] if condition.operator == "type" else []
    triples, tests = write_body(plain, types)
    body = " ".join([*triples, *tests])
    return with_prologue(f"SELECT DISTINCT {' '.join(columns)} WHERE {{ {body} }} LIMIT {MAX_ROWS:d}")


def read_facts(query: AnswerQuery, number: int, answer: Rows) -> list[Triple]:
    """Return the facts of the least way in which each answer meets a condition."""
    least: dict[Term, Row] = {}
    for row in answer.rows:
        key, *way = row
        if key is not None and all(way) and (key not in least or _order(row) < _order(least[key])):
            least[key] = row
    if query.ask and least:
        least = dict([min(least.items(), key=lambda item: _order(item[1]))])
    condition = query.conditions[number - 1]
    return [fact for _, *way in least.values() for fact in _facts(condition, [term for term in way if term])]


def _is_given(condition: Condition) -> bool:
    """Return whether the value is written in the triples themselves."""
    return condition.operator == "=" and isinstance(condition.value, Entity)


def _order(row: Row) -> list[tuple[bool, str, str, str, str]]:
    return [sort_key(term) for term in row if term is not None]


def _facts(condition: Condition, way: list[Term]) -> Iterator[Triple]:
    hops, nodes = list(condition.attribute), way
    if condition.operator == "type" and condition.value is not None:
        *nodes, kind = way
        if hops:
            yield from _follow(hops, nodes)
        yield from _follow([Hop(kind.id)], [nodes[-1], condition.value])
        return
    yield from _follow(hops, [*nodes, condition.value] if _is_given(condition) and condition.value else nodes)


def _follow(hops: Sequence[Hop], nodes: Sequence[Term]) -> Iterator[Triple]:
    for start, hop, end in zip(nodes, hops, nodes[1:], strict=False):
        head, tail = (start, end) if hop.forward else (end, start)
        if isinstance(head, Entity):
            yield Triple(head, hop.relation, tail)
