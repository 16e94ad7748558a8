"""Answers as tables: what gold queries and those of records give, and how far they agree.

By cells they are compared as the client of the TEXT2SPARQL challenge does (``text2sparql-client`` 2.1): each
value of any row and column counts once. By rows, one is right where it has the same cells as a gold row.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import zip_longest
from math import log2
from typing import NamedTuple, TypeAlias

from typing_extensions import TypedDict

from kgqa.evaluation.question import EntityRef, Question, Rows
from kgqa.evaluation.result import Result, pair_results
from kgqa.evaluation.runs.event_loop import for_each
from kgqa.evaluation.scoring.statistics import Count, Share, mean_share
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import is_iri

TABLES_FILE = "tables.json"  # the file of a run folder: it is the graph of a run that tells

MAX_CONCURRENT_QUERIES = 8

Cells: TypeAlias = Mapping[str, bool]
"""The values of a table, each with whether it is meant: of an ASK that says no there is one that is not."""


class AnswerTables(TypedDict):
    """What queries give, by the ids of questions: the gold ones, and those of records."""

    gold: dict[str, Rows]
    given: dict[str, Rows]


class TableMetrics(TypedDict, total=False):
    """How answers agree with gold tables."""

    n: Count
    precision: Share
    recall: Share
    f1: Share
    ndcg: Share | None  # of the questions that ask for an order; null where none does
    f1_ndcg: Share | None  # of all: F1, and of those that ask for an order NDCG
    row_precision: Share
    row_recall: Share
    row_f1: Share
    rows_exact: Share


class Agreement(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


async def read_tables(
    questions: Sequence[Question], results: Sequence[Result], graph: KnowledgeGraph
) -> AnswerTables:
    """Run the queries of questions that have no other gold, and of their results.

    What a record's query gives is nothing where it has none, or one that is refused or takes too long; a
    question whose own query does so is left out.

    Raises:
        KGError: if the graph fails.
    """
    found: AnswerTables = {"gold": {}, "given": {}}
    asked = [each for each in questions if each.asks_rows]
    by_id = {question.id: result for question, result in pair_results(results, asked).pairs}

    async def read(question: Question) -> None:
        gold = await _run(question.sparql, graph) if question.rows is None else question.rows
        if gold is None:
            return
        result = by_id[question.id]
        given = await _run(result.record.get("query"), graph) if result else None
        found["gold"][question.id], found["given"][question.id] = gold, [] if given is None else given

    await for_each(asked, read, MAX_CONCURRENT_QUERIES)
    return found


async def _run(query: object, graph: KnowledgeGraph) -> Rows | None:
    if not isinstance(query, str) or not query.strip():
        return None
    try:
        table = await graph.select(query)
    except (KGTimeout, KGRejected):
        return None
    rows = [[cell.id if cell else None for cell in row] for row in table.rows]
    return rows == [["true"]] if table.columns == ("ask",) else rows


def with_gold(questions: Sequence[Question], gold: Mapping[str, Rows]) -> tuple[Question, ...]:
    """Return the questions with their gold tables, whose first columns are the answers."""
    return tuple(with_rows(each, gold[each.id]) if each.id in gold else each for each in questions)


def with_rows(question: Question, rows: Rows) -> Question:
    """Return a question with its gold table, whose first column is the answers."""
    first = dict.fromkeys(cells[0] for cells in _as_rows(rows) if cells and cells[0])
    refs = tuple(EntityRef(text, None if is_iri(text) else text) for text in first if text)
    return replace(question, rows=rows, readings=(refs,) if refs else ())


def with_given(
    results: Sequence[Result], questions: Sequence[Question], given: Mapping[str, Rows]
) -> list[Result]:
    """Return the results with the tables of their queries."""
    matched = pair_results(results, questions).matched
    return [
        replace(result, rows=given.get(question.id)) if question else result for result, question in matched
    ]


def measure_tables(
    results: Sequence[Result], questions: Sequence[Question], seed: int, *, empty: bool = False
) -> TableMetrics | None:
    """Measure how the tables of results agree with the gold ones.

    None where no question has a gold table, or no result has one because its query was not run again.
    ``empty`` says whether questions count, as wrong, whose gold has no value.
    """
    if all(result.rows is None for result in results):
        return None
    pairs = [
        (question.rows, result.rows if result and result.rows is not None else [], question.ordered)
        for question, result in pair_results(results, questions).pairs
        if question.rows is not None and (empty or cells_of(question.rows))
    ]
    if not pairs:
        return None
    cells = [score_cells(cells_of(given), cells_of(gold)) for gold, given, _ in pairs]
    ranked = [measure_ndcg(cells_of(given), cells_of(gold)) if by else None for gold, given, by in pairs]
    rows = [score_rows(given, gold) for gold, given, _ in pairs]
    exact = [is_exact(given, gold, ordered=ordered) for gold, given, ordered in pairs]
    known = [score for score in ranked if score is not None]
    either = [one.f1 if score is None else score for one, score in zip(cells, ranked, strict=True)]

    def share(values: Sequence[float]) -> Share:
        return mean_share(values, seed)

    return {
        "n": len(pairs),
        "precision": share([one.precision for one in cells]),
        "recall": share([one.recall for one in cells]),
        "f1": share([one.f1 for one in cells]),
        "ndcg": share(known) if known else None,
        "f1_ndcg": share(either) if known else None,
        "row_precision": share([one.precision for one in rows]),
        "row_recall": share([one.recall for one in rows]),
        "row_f1": share([one.f1 for one in rows]),
        "rows_exact": share(exact),
    }


def cells_of(rows: Rows) -> Cells:
    """Return the values of a table, column by column; of an ASK that it says yes.

    >>> cells_of([["a", "1"], ["b", None], ["a", "2"]])
    {'a': True, 'b': True, '1': True, '2': True}
    """
    if isinstance(rows, bool):
        return {"true": rows}
    return {cell: True for column in zip_longest(*rows) for cell in column if cell is not None}


def score_cells(given: Cells, gold: Cells) -> Agreement:
    """Score values as sets, as the client does: of an ASK any answer is right where gold says yes.

    >>> score_cells({"a": True, "c": True, "d": True}, {"a": True, "b": True})
    Agreement(precision=0.3333333333333333, recall=0.5, f1=0.4)
    """
    return _agreement({cell for cell, meant in gold.items() if meant}, given.keys())


def measure_ndcg(given: Cells, gold: Cells) -> float:
    """Return NDCG as the client counts it.

    All values weigh the same there, so that what ranks them are their bytes, the greatest first, not the
    order of the rows.
    """
    ranked = sorted(given, key=lambda cell: cell.encode("utf-8", "replace"), reverse=True)
    ideal = sum(1 / log2(place + 2) for place in range(sum(gold.values())))
    gain = sum(1 / log2(place + 2) for place, cell in enumerate(ranked) if gold.get(cell))
    return gain / ideal if ideal else 0.0


def score_rows(given: Rows, gold: Rows) -> Agreement:
    """Score rows as sets; one is right that has the cells of a gold row, in whatever columns."""
    return _agreement({*_row_keys(gold)}, {*_row_keys(given)})


def is_exact(given: Rows, gold: Rows, *, ordered: bool) -> bool:
    """Return whether the rows are the gold ones, each once; in their order, where it matters."""
    one, other = _row_keys(given), _row_keys(gold)
    return one == other if ordered else {*one} == {*other}


def _agreement(gold: Set[object], given: Set[object]) -> Agreement:
    right = len(gold & given)
    precision, recall = (right / len(given) if given else 0.0), (right / len(gold) if gold else 0.0)
    both = precision + recall
    return Agreement(precision, recall, 2 * precision * recall / both if both else 0.0)


def _row_keys(rows: Rows) -> list[tuple[str, ...]]:
    """Return what tells rows apart, each once: their cells, sorted."""
    return list(dict.fromkeys(tuple(sorted(cell or "" for cell in row)) for row in _as_rows(rows)))


def _as_rows(rows: Rows) -> list[list[str | None]]:
    return [["true" if rows else "false"]] if isinstance(rows, bool) else rows
