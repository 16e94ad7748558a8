"""Asks a graph what an answer query gives, and for the facts behind its answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kgqa.kg.dialects import Dialect
from kgqa.kg.graph import Executor, Row
from kgqa.kg.naming import Naming
from kgqa.kg.pages import Evidence, Page, Proof
from kgqa.kg.proof import compilation
from kgqa.kg.proof.compilation import ANSWER, node_variable, with_prologue, write_body
from kgqa.kg.proof.query import AnswerQuery, Condition, Pick
from kgqa.kg.proof.values import is_one_of
from kgqa.kg.proof.verbaliser import verbalise
from kgqa.kg.sparql.decoding import read_integer, sort_key
from kgqa.kg.sparql.patterns import NOWHERE, label_of
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Term, Triple, is_blank

MAX_ROWS = 2_000  # ways from one part of a query to its answers that are looked at
MAX_NODES = 4  # of such a way
MANY_ANSWERS = 50  # which may be the first of very many

Way = list[Term]  # nodes, from the topic of a chain on, or from the node that has an attribute


def conditions_with_facts(query: AnswerQuery) -> list[int]:
    """Return the numbers, from 1, of the conditions that some fact meets."""
    met = (
        each.operator == "type" or (each.attribute and each.operator != "not exists" and not each.unknown)
        for each in query.conditions
    )
    return [number for number, meets in enumerate(met, 1) if meets]


def can_be_traced(query: AnswerQuery, branch: int, depth: int) -> bool:
    """Return whether it is one chain, from a topic, to the answers, and no longer than a row has room for."""
    each = query.branches[branch]
    single = not each.others and each.chain.topic != ANY
    return single and 0 < depth <= MAX_NODES and each.places[depth - 1] == query.returned


def write_evidence_query(
    query: AnswerQuery,
    answers: Sequence[Term],
    depths: Mapping[int, int],
    types: Sequence[str],
    labels: Sequence[str],
) -> str:
    """Ask for ``?part ?answer``, and four times for a node ``?w0``, its ``?label0`` and ``?rank0``.

    The parts are the branches in ``depths``, up to so many hops, then the conditions that facts meet. Nodes
    are in the order in which facts lead from one to the next. Names are looked up after all parts. The
    chains are gone back from the answers, as Oxigraph goes from where terms are listed; chains of several
    hops from their topics, where few answers are all that there are: they were gone so for these.
    """
    several = any(chain.depth > 1 for branch in query.branches for chain in branch.chains)
    forwards = several and len(answers) < MANY_ANSWERS
    held = () if query.ask or forwards else (Pick(query.returned, tuple(answers)),)
    plain = replace(query, aggregate=None, ask=False, picked=(*query.picked, *held))
    triples, tests = write_body(plain, types)
    if forwards and not query.ask:
        tests = [*tests, f"FILTER({is_one_of(node_variable(plain, query.returned), answers)})"]
    body, blocks = " ".join([*triples, *tests]), []
    ways = [
        [node_variable(plain, place) for place in plain.branches[branch].places[:depth]]
        for branch, depth in depths.items()
    ]
    ways += [_condition_nodes(plain, number) for number in conditions_with_facts(plain)]
    for part, way in enumerate(ways):  # Virtuoso loses columns that another part lacks
        filled = [*way, *[NOWHERE] * (MAX_NODES - len(way))]
        columns = " ".join(f"({node} AS ?w{place})" for place, node in enumerate(filled))
        blocks.append(
            f'{{ SELECT DISTINCT {ANSWER} {columns} ("{part:d}" AS ?part) WHERE {{ {body} }} '
            f"LIMIT {MAX_ROWS:d} }}"
        )
    places = range(MAX_NODES)
    shown = " ".join(f"?w{place} ?label{place} ?rank{place}" for place in places)
    named = " ".join(label_of(labels, f"?w{place}", str(place)) for place in places)
    return with_prologue(f"SELECT ?part {ANSWER} {shown} WHERE {{ {{ {' UNION '.join(blocks)} }} {named} }}")


def _condition_nodes(query: AnswerQuery, number: int) -> list[str]:
    """Return what a query calls the nodes of the facts that meet a condition, the node that has it first."""
    condition = query.conditions[number - 1]
    nodes = [node_variable(query, condition.place)]
    nodes += [f"?m{number}"] if len(condition.attribute) > 1 else []
    nodes += [f"?v{number}"] if condition.attribute and not _is_given(condition) else []
    return [*nodes, f"?t{number}"] if condition.operator == "type" else nodes


def chain_facts(chain: Chain, ways: Mapping[Term, Sequence[Way]]) -> dict[Term, tuple[Triple, ...]]:
    """Return the facts of the least way along a chain to each answer; not by the topic, if another leads."""

    def order(way: Way) -> tuple[bool, list[str]]:
        return chain.topic in way[:-1], [node.id for node in way]

    least = {answer: min(each, key=order) for answer, each in ways.items()}
    return {answer: tuple(_follow(chain.hops, [chain.topic, *way])) for answer, way in least.items()}


def condition_facts(query: AnswerQuery, number: int, ways: Mapping[Term, Sequence[Way]]) -> Iterator[Triple]:
    """Yield the facts of the least way in which each answer meets a condition; a yes as a whole."""
    least = [min(each, key=_order) for each in ways.values()]
    if query.ask and least:
        least = [min(least, key=_order)]
    for way in least:
        yield from _facts(query.conditions[number - 1], way)


def read_ways(rows: Sequence[Row], named: Mapping[Term, Term]) -> dict[int, dict[Term, list[Way]]]:
    """Return the ways to each answer, by the parts of `write_evidence_query`; none past what is no term."""
    found: dict[int, dict[Term, list[Way]]] = {}
    for part, answer, *columns in rows:
        nodes: list[Term] = [node for node in columns[::3] if node is not None]
        if part is not None and answer is not None and len(nodes) == MAX_NODES:
            way = [named[node] for node in nodes if f"<{node.id}>" != NOWHERE]
            found.setdefault(read_integer(part), {}).setdefault(answer, []).append(way)
    return found


def _is_given(condition: Condition) -> bool:
    """Return whether the value is written in the triples themselves."""
    return condition.operator == "=" and isinstance(condition.value, Entity)


def _order(way: Way) -> list[tuple[bool, str, str, str, str]]:
    return [sort_key(term) for term in way]


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


class Prover:
    """Answer queries on one graph; its pages hold at most so many ``rows``."""

    def __init__(self, executor: Executor, dialect: Dialect, naming: Naming, *, rows: int) -> None:
        self._executor, self._dialect, self._naming, self._rows = executor, dialect, naming, rows

    def write_query(self, query: AnswerQuery) -> str:
        """Return the SPARQL of an answer query; see `KnowledgeGraph`."""
        return compilation.write_query(query, self._dialect.types)

    async def prove(self, query: AnswerQuery) -> Proof:
        """Return what an answer query gives; see `KnowledgeGraph`. Names are looked up after it.

        Blank nodes are no answers, and the query says so where it would give some.
        """
        text, types = self.write_query(query), self._dialect.types
        answer = await self._executor.query(text if query.has_one_row else self._with_names(text))
        rows = ((*row, None, None) for row in answer.rows)
        found = list(self._naming.apply((term, label, rank) for term, label, rank, *_ in rows).values())
        if not query.computes_value and any(map(is_blank, found)):
            found = [term for term in found if not is_blank(term)]
            text = compilation.write_query(query, types, named=True)
        kept = sorted(found[: self._rows], key=sort_key)
        page = Page(tuple(kept), answer.cut or len(found) > self._rows)
        return Proof(text, page, tuple(compilation.write_parts(query, types)), verbalise(query))

    async def trace_answers(
        self, query: AnswerQuery, answers: Sequence[Term], depths: Mapping[int, int] = MappingProxyType({})
    ) -> Evidence:
        """Return the facts behind some answers of a query; see `KnowledgeGraph`."""
        traced = {place: depth for place, depth in depths.items() if can_be_traced(query, place, depth)}
        numbers = () if query.computes_value else conditions_with_facts(query)
        ways: dict[int, dict[Term, list[Way]]] = {}
        if answers and (traced or numbers):
            labels, types = self._naming.labels, self._dialect.types
            asked = write_evidence_query(query, answers, traced, types, labels)
            rows = (await self._executor.query(asked)).rows
            nodes = (row[at : at + 3] for row in rows for at in range(2, len(row), 3))
            named = self._naming.apply((node, label, rank) for node, label, rank in nodes)
            ways = read_ways(rows, named)
        found = {
            place: chain_facts(query.branches[place].chain.upto(depth), ways.get(part, {}))
            for part, (place, depth) in enumerate(traced.items())
        }
        met = (
            condition_facts(query, number, ways.get(part, {}))
            for part, number in enumerate(numbers, len(traced))
        )
        paths = tuple(tuple(found.get(place, {}).get(end, ()) for end in answers) for place in depths)
        return Evidence(paths, tuple(fact for each in met for fact in each))

    def _with_names(self, query: str) -> str:
        """Ask for the first answers of a query with their names: ``?answer ?label ?rank``."""
        *prologue, select = query.partition("\n") if query.startswith("PREFIX") else (query,)
        limited = f"{{ {select} LIMIT {self._rows + 1:d} }}"
        return (
            f"{''.join(prologue)}SELECT ?answer ?label ?rank WHERE {{ {limited} "
            f"{label_of(self._naming.labels, '?answer')} }}"
        )
