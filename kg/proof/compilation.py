"""The SPARQL of an answer query: one SELECT, or ASK, that any store answers alike.

Triples come first, then what tests them: a planner that knows them all can begin where there is least.

>>> born, ulm = Hop("http://x/born_in", forward=False), Entity("http://x/Ulm")
>>> of_ulm = Branch(Chain(ulm, (born, Hop("http://x/wrote"))), (1, 2))
>>> alive = Condition(1, (Hop("http://x/died"),), "not exists")
>>> print(write_query(AnswerQuery((of_ulm,), 2, (alive,)), types=()))
SELECT DISTINCT ?answer WHERE {
  ?n1 <http://x/born_in> <http://x/Ulm> .
  ?n1 <http://x/wrote> ?answer .
  FILTER NOT EXISTS {
    ?n1 <http://x/died> ?v1 .
  }
}
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from kgqa.kg.dialects import WIKIBASE, XSD, is_statement_relation
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.proof.values import bind_number, bind_seconds, compare, is_comparable, is_one_of
from kgqa.kg.sparql.patterns import (
    compare_node,
    is_named,
    known_entities,
    one_of,
    proof_pattern,
    serialise,
    topic_node,
    values_list,
)
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal

ANSWER = "?answer"


def write_query(query: AnswerQuery, types: Sequence[str], *, named: bool = False) -> str:
    """Return the SPARQL of an answer query, which calls its answers ``?answer``, no blank nodes if ``named``.

    ``types`` are the predicates from an entity to its types.
    """
    (triples, tests), aggregate = write_body(query, types), query.aggregate
    tests += [f"FILTER({is_named(ANSWER)})"] if named else []
    body = triples + tests
    if query.ask:  # to Virtuoso, a union of which it sees that nothing passes has a row without values
        answers = _group(f"{{ SELECT {ANSWER} WHERE {{", body, "} }")
        lines = _group("ASK {", [*answers, f"FILTER(BOUND({ANSWER}))"])
    elif aggregate is None:
        lines = _group(f"SELECT DISTINCT {ANSWER} WHERE {{", body)
    elif aggregate.function == "count":
        lines = _group(
            f"SELECT (COUNT(DISTINCT {node_variable(query, query.returned)}) AS {ANSWER}) WHERE {{", body
        )
    else:
        lines = _extreme(query, aggregate, triples, tests)
    return with_prologue("\n".join(lines))


def with_prologue(text: str) -> str:
    """Return a query with the one prefix that it may have, on a line before it."""
    return f"PREFIX xsd: <{XSD}>\n{text}" if "xsd:" in text else text


def _group(head: str, lines: Iterable[str], tail: str = "}") -> list[str]:
    return [head, *(f"  {line}" for line in lines), tail]


def node_variable(query: AnswerQuery, place: int) -> str:
    """Return what the query calls the node of a place."""
    counted = query.aggregate is not None and query.aggregate.function == "count"
    return ANSWER if place == query.returned and not counted else f"?n{place}"


def write_body(query: AnswerQuery, types: Sequence[str]) -> tuple[list[str], list[str]]:
    """Write the triples of branches and conditions, and what tests their nodes."""
    triples: list[str] = []
    tests: list[str] = []
    told = _constrained_nodes(query)
    for number, branch in enumerate(query.branches, 1):
        nodes = [node_variable(query, place) for place in branch.places]
        triples += _branch(branch, nodes, f"?b{number}", told)
    for number, condition in enumerate(query.conditions, 1):
        more, compared = _condition(condition, node_variable(query, condition.place), number, types)
        triples += more
        tests += compared
    for pick in query.picked:
        part, is_test = _pick(pick, query)
        (tests if is_test else triples).append(part)
    return triples, tests


def _constrained_nodes(query: AnswerQuery) -> set[str] | None:
    """Return the nodes with conditions, picks or several branches; None for a count."""
    if query.aggregate and query.aggregate.function == "count":
        return None
    met = Counter(place for branch in query.branches for place in {*branch.places})
    told = {place for place, times in met.items() if times > 1}
    told |= {each.place for each in query.conditions} | {each.place for each in query.picked}
    if query.aggregate and query.aggregate.place is not None:
        told.add(query.aggregate.place)
    return {node_variable(query, place) for place in told}


def _branch(branch: Branch, nodes: list[str], name: str, told: set[str] | None) -> list[str]:
    """Write a chain, or the union of alternatives; nodes that not all of them have are called by ``name``."""
    if not branch.chain.hops:
        return [known_entities((chain.topic.id for chain in branch.chains), nodes[-1])]
    if not branch.others:
        return _chain(branch.chain, nodes, branch.fresh, told)
    lines: list[str] = []
    for place, chain in enumerate(branch.chains):
        own = [f"{name}_{place}_{depth}" for depth in range(1, chain.depth)]
        passed = nodes if chain.depth == branch.chain.depth else [*own, nodes[-1]]
        lines += _group("UNION {" if place else "{", _chain(chain, passed, branch.fresh, told))
    return lines


def _chain(chain: Chain, nodes: Sequence[str], fresh: bool, told: set[str] | None) -> list[str]:
    topic = topic_node(chain, "[]")
    steps = zip([topic, *nodes], chain.steps, nodes, strict=False)
    lines = [proof_pattern(start, hop, node, held) for start, (hop, held), node in steps]
    lines += [] if told is None else _best_ranked([topic, *nodes], chain.hops, told)
    tests = " && ".join(compare_node(node, "!=", chain.topic) for node in dict.fromkeys(nodes))
    return [*lines, f"FILTER({tests})"] if fresh and chain.topic != ANY else lines


def _best_ranked(nodes: Sequence[str], hops: Sequence[Hop], told: set[str]) -> Iterator[str]:
    """Yield what holds statements of a Wikibase to the preferred ones of their subjects, if there are any.

    So do its direct relations. A statement of which more is told, such as its time, may be of any rank.
    """
    for at, pair in enumerate(pairwise(hops), 1):
        stating, valued = pair if pair[0].forward else pair[::-1]
        subject, preferred = nodes[at - 1 if stating.forward else at + 1], f"<{WIKIBASE}PreferredRank>"
        whole = valued.relation == stating.relation.replace("/prop/", "/prop/statement/")
        known = is_statement_relation(stating.relation) and stating.forward is valued.forward
        if known and whole and nodes[at] not in told and subject != "[]":
            others = f"{subject} <{stating.relation}> ?better . ?better <{WIKIBASE}rank> {preferred}"
            own = f"EXISTS {{ {nodes[at]} <{WIKIBASE}rank> {preferred} }}"
            yield f"FILTER({own} || NOT EXISTS {{ {others} }})"


def _attribute(node: str, hops: Sequence[Hop], value: str, between: str) -> list[str]:
    nodes = [node, between, value] if len(hops) > 1 else [node, value]
    return [proof_pattern(start, hop, end) for start, hop, end in zip(nodes, hops, nodes[1:], strict=False)]


def write_parts(query: AnswerQuery, types: Sequence[str]) -> Iterator[str]:
    """Yield the part of a query that each condition is, then its extreme, then what was picked."""
    for number, condition in enumerate(query.conditions, 1):
        triples, tests = _condition(condition, node_variable(query, condition.place), number, types)
        yield "\n".join(triples + tests)
    if (extreme := query.aggregate) and extreme.function != "count":
        node = node_variable(query, query.returned if extreme.place is None else extreme.place)
        value = "?v" if extreme.attribute else node
        best = "MIN" if extreme.function in {"min", "argmin"} else "MAX"
        shown = f"{best}({value})"
        if extreme.rank > 1:
            shown = _nth(value if best == "MIN" else f"DESC({value})", extreme.rank)
        yield " ".join([shown, *_attribute(node, extreme.attribute, value, "?m")])
    for pick in query.picked:
        yield _pick(pick, query)[0]


def _nth(order: str, rank: int) -> str:
    return f"ORDER BY {order} LIMIT 1 OFFSET {rank - 1:d}"


def _pick(pick: Pick, query: AnswerQuery) -> tuple[str, bool]:
    """Write what holds a node to the terms that were picked, and say whether it is a test."""
    node = node_variable(query, pick.place)
    has_triples = pick.place not in query.topic_places  # Virtuoso dies of several VALUES without any
    if has_triples and all(isinstance(term, Entity) for term in pick.terms):
        return f"VALUES {node} {{ {values_list(pick.terms)} }}", False
    return f"FILTER({is_one_of(node, pick.terms)})", True


def _condition(
    condition: Condition, node: str, number: int, types: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Write a condition: the triples that it adds to the chains, and what tests their values."""
    hops, operator, value = condition.attribute, condition.operator, condition.value
    if condition.unknown:
        triples, tests = _condition(replace(condition, unknown=False), node, number, types)
        known = " ".join(_attribute(node, hops, f"?u{number}", f"?w{number}"))
        met = " ".join(triples + tests)
        return [], [f"FILTER(NOT EXISTS {{ {known} }} || EXISTS {{ {met} }})"]
    if operator == "not exists":
        positive = replace(condition, operator="=" if value else "exists")
        triples, tests = _condition(positive, node, number, types)
        return [], _group("FILTER NOT EXISTS {", triples + tests)
    if hops and operator == "=" and isinstance(value, Entity):
        return _attribute(node, hops, serialise(value), f"?m{number}"), []
    end = f"?v{number}" if hops else node
    triples = _attribute(node, hops, end, f"?m{number}")
    if value is None:
        return triples, []
    if isinstance(value, Literal):
        return triples, list(compare(end, operator, value, f"?k{number}"))
    if operator != "type":
        return triples, [f"FILTER({end} {operator} {serialise(value)})"]
    kind = f"?t{number}"
    return [*triples, f"{one_of(kind, types)} {end} {kind} {serialise(value)} ."], []


def _extreme(query: AnswerQuery, aggregate: Aggregate, triples: list[str], tests: list[str]) -> list[str]:
    """Write the answers whose value is the first or the last of all: an order would not tell which tie.

    The extreme comes first: rdflib tells a SELECT within a query what is bound before it. Virtuoso fails
    where one of the two is no SELECT of its own.
    """
    node = node_variable(query, query.returned if aggregate.place is None else aggregate.place)
    value = "?v" if aggregate.attribute else node
    bind = bind_number if aggregate.by == "number" else bind_seconds
    test = f"FILTER({is_comparable(value, aggregate.by)})"
    body = [*triples, *_attribute(node, aggregate.attribute, value, "?m"), *tests, test]
    shown = ANSWER if value == ANSWER else f"{ANSWER} {value}"
    valued = _group(f"{{ SELECT DISTINCT {shown} WHERE {{", body, "} }") + list(bind(value, "?key"))
    best = "MIN" if aggregate.function in {"min", "argmin"} else "MAX"
    extreme = _group(f"{{ SELECT ({best}(?key) AS ?best) WHERE {{", valued, "} }")
    if aggregate.rank > 1:
        order = "?best" if best == "MIN" else "DESC(?best)"
        ranked = [*valued, "BIND(?key AS ?best)"]
        extreme = _group("{ SELECT DISTINCT ?best WHERE {", ranked, f"}} {_nth(order, aggregate.rank)} }}")
    each = _group(f"{{ SELECT {ANSWER} ?key WHERE {{", valued, "} }")
    return _group(f"SELECT DISTINCT {ANSWER} WHERE {{", [*extreme, *each, "FILTER(?key = ?best)"])
