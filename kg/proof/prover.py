"""Asks a graph what an answer query gives, and for the facts behind its answers."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kgqa.kg.dialects import Dialect
from kgqa.kg.graph import Executor
from kgqa.kg.naming import Naming
from kgqa.kg.pages import Evidence, Page, Proof
from kgqa.kg.proof import compilation, facts
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.proof.verbaliser import verbalise
from kgqa.kg.sparql.decoding import sort_key
from kgqa.kg.sparql.patterns import label_of
from kgqa.kg.terms import Term, is_blank


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
        traced = {place: depth for place, depth in depths.items() if facts.can_be_traced(query, place, depth)}
        numbers = () if query.computes_value else facts.conditions_with_facts(query)
        ways: dict[int, dict[Term, list[facts.Way]]] = {}
        if answers and (traced or numbers):
            labels, types = self._naming.labels, self._dialect.types
            asked = facts.write_evidence_query(query, answers, traced, types, labels)
            rows = (await self._executor.query(asked)).rows
            nodes = (row[at : at + 3] for row in rows for at in range(2, len(row), 3))
            named = self._naming.apply((node, label, rank) for node, label, rank in nodes)
            ways = facts.read_ways(rows, named)
        found = {
            place: facts.chain_facts(query.branches[place].chain.upto(depth), ways.get(part, {}))
            for part, (place, depth) in enumerate(traced.items())
        }
        met = (
            facts.condition_facts(query, number, ways.get(part, {}))
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
