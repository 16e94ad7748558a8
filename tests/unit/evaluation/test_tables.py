"""How tables agree: by values as the challenge's client counts, and by rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given as drawn, settings, strategies as st

import kgqa
from kgqa.evaluation.protocols import measure_by_protocol
from kgqa.evaluation.question import Question, Rows
from kgqa.evaluation.result import Result
from kgqa.evaluation.runs.evaluate import evaluate
from kgqa.evaluation.scoring.rescore import rescore
from kgqa.evaluation.scoring.tables import (
    cells_of,
    is_exact,
    measure_ndcg,
    measure_tables,
    score_cells,
    score_rows,
    with_rows,
)
from kgqa.tests.support.doubles import FAMILY

BY_CLIENT: list[tuple[Rows, Rows, tuple[float, float, float], float]] = [
    ([["a", "b"]], [["a", "c"], ["d", "a"]], (1 / 3, 1 / 2, 0.4), 0.3065735963827292),
    ([["a"]], [], (0.0, 0.0, 0.0), 0.0),
    (True, True, (1.0, 1.0, 1.0), 1.0),
    (True, False, (1.0, 1.0, 1.0), 1.0),
    (False, False, (0.0, 0.0, 0.0), 0.0),
    (True, [["a"]], (0.0, 0.0, 0.0), 0.0),
    ([["a"], ["b"], ["c"]], [["a"], ["b"], ["z"], ["c"]], (0.75, 1.0, 6 / 7), 0.7328286204777911),
    ([["a"], ["b"], ["c"]], [["a", "b"], ["0", "c"]], (0.75, 1.0, 6 / 7), 1.0),
    ([["é"], ["b"], ["Z"]], [["é"], ["zz"], ["Z"], ["0"], ["b"]], (0.6, 1.0, 0.75), 0.9060254355346823),
]
"""Gold rows, given rows, and what ``text2sparql-client`` 2.1 counts: set precision, recall and F, NDCG."""


@pytest.mark.parametrize(("gold", "given", "agreement", "ndcg"), BY_CLIENT)
def test_values_are_counted_as_the_client_counts_them(
    gold: Rows, given: Rows, agreement: tuple[float, float, float], ndcg: float
) -> None:
    assert tuple(score_cells(cells_of(given), cells_of(gold))) == pytest.approx(agreement, abs=1e-6)
    assert measure_ndcg(cells_of(given), cells_of(gold)) == pytest.approx(ndcg, abs=1e-6)


CELLS = st.sampled_from(["a", "b", "é", "Z", "0", "zz", "true", None])

TABLES = st.one_of(st.booleans(), st.lists(st.lists(CELLS, min_size=1), max_size=6))


@pytest.fixture(scope="module")
def client() -> Any:
    return pytest.importorskip("text2sparql_client.utils.evaluation_metrics")


@settings(deadline=None)
@drawn(TABLES, TABLES)
def test_values_are_counted_as_the_client_itself_counts_them(client: Any, gold: Rows, given: Rows) -> None:
    transform = client.DBpediaDict2PytrecDict("?").tranform  # codespell:ignore
    assume(cells_of(gold))  # it leaves out what has no gold

    def counted(rows: Rows) -> Any:
        if isinstance(rows, bool):
            return transform({"boolean": rows})
        cells = [{str(at): {"value": cell} for at, cell in enumerate(row) if cell} for row in rows]
        names = [str(at) for at in range(max(map(len, rows), default=0))]
        return transform({"head": {"vars": names}, "results": {"bindings": cells}})

    metrics = ("set_P", "set_recall", "set_F", "ndcg")
    by_client = client.Evaluation("", {*metrics}).evaluate(counted(given), counted(gold))["average"]
    ours = [*score_cells(cells_of(given), cells_of(gold)), measure_ndcg(cells_of(given), cells_of(gold))]
    assert ours == pytest.approx([by_client[name] for name in metrics], abs=1e-6)


def test_a_row_is_right_as_a_whole_in_whatever_columns() -> None:
    gold: Rows = [["a", "1"], ["b", "2"], ["c", None]]
    assert score_rows([["1", "a"], ["b", "3"]], gold) == (0.5, pytest.approx(1 / 3), pytest.approx(0.4))
    assert score_rows([["a", "1"], ["a", "1"]], [["a", "1"]]).f1 == 1
    assert score_rows(False, True).f1 == 0


def test_rows_are_exact_in_their_order_where_it_matters() -> None:
    gold: Rows = [["a", "1"], ["b", "2"]]
    assert is_exact([["b", "2"], ["a", "1"]], gold, ordered=False)
    assert not is_exact([["b", "2"], ["a", "1"]], gold, ordered=True)
    assert not is_exact([["a", "1"]], gold, ordered=False)


def asked(id: str, gold: Rows, given: Rows | None, **other: Any) -> tuple[Question, Result]:
    return with_rows(Question(id, id, **other), gold), Result(id, id, (), rows=given)


def test_questions_without_a_gold_value_are_left_out_but_for_the_client_and_missing_ones_are_wrong() -> None:
    pairs = [
        asked("right", [["a"], ["b"]], [["b"], ["a"]]),
        asked("ordered", [["a"], ["b"]], [["b"], ["a"]], ordered=True),
        asked("empty", [], [["a"]]),
    ]
    questions, results = map(list, zip(*pairs, strict=True))
    questions.append(asked("missing", [["a"]], [])[0])
    found = measure_tables(results, questions, 0)
    assert found is not None and found["ndcg"] is not None
    assert (found["n"], found["ndcg"]["value"]) == (3, 1.0)
    values = {name: found[name]["value"] for name in ("f1", "row_f1", "rows_exact")}  # type: ignore[literal-required]
    assert values == {
        "f1": pytest.approx(2 / 3),
        "row_f1": pytest.approx(2 / 3),
        "rows_exact": pytest.approx(1 / 3),
    }

    assert measure_by_protocol("text2sparql", results, questions)["f1"]["value"] == 0.5


def test_the_protocol_has_the_clients_mean_of_both() -> None:
    pairs = [
        asked("1", [["a"], ["b"]], [["a"], ["z"], ["b"]], ordered=True),
        asked("2", [["a"], ["b"]], [["a"], ["c"], ["d"]]),
        asked("3", [["a"]], [["a"]]),
    ]
    questions, results = map(list, zip(*pairs, strict=True))
    found = measure_by_protocol("text2sparql", results, questions)
    ndcg = found["ndcg"]["value"]
    assert found["f1"]["value"] == pytest.approx((0.8 + 0.4 + 1) / 3)
    assert found["f1_ndcg"]["value"] == pytest.approx((ndcg + 0.4 + 1 + ndcg) / 4)


def test_where_no_query_was_run_again_nothing_is_known() -> None:
    question, result = asked("1", [["a"]], None)
    assert measure_tables([result], [question], 0) is None
    with pytest.raises(ValueError, match="name the graph by --kg"):
        measure_by_protocol("text2sparql", [result], [question])


QUESTIONS = """\
dataset: {id: "https://challenge.example/family/", prefix: family}
questions:
  - id: 1
    question: {en: "Who are Ada's children?"}
    query: {sparql: "SELECT ?x { <http://t/e/ada> <http://t/r/child> ?x }"}
  - id: 2
    question: {en: "Where does Ben live?"}
    query: {sparql: "SELECT ?x ?name { <http://t/e/ben> <http://t/r/lives_in> ?x . ?x ?p ?name }"}
"""


async def test_gold_of_a_file_of_the_challenge_is_what_its_queries_give(
    turtle: Callable[[str], Path], tmp_path: Path
) -> None:
    graph, file, out = str(turtle(FAMILY)), tmp_path / "family.yml", tmp_path / "run"
    file.write_text(QUESTIONS)
    ended = await evaluate(file, out=out, kg=graph, model="offline")
    assert ended.metrics is not None and (tables := ended.metrics["tables"]) is not None
    assert (ended.metrics["hits_at_1"]["value"], ended.metrics["unscored"]) == (1.0, 0)
    assert (tables["f1"]["value"], tables["row_f1"]["value"]) == (pytest.approx((1 + 2 / 3) / 2), 0.5)
    kept = json.loads((out / "tables.json").read_text())
    assert kept["gold"]["family:2-en"] == [["http://t/e/bonn", "Bonn"]]


def test_a_run_is_scored_again_by_the_tables_that_it_keeps_and_answers_by_their_queries(
    turtle: Callable[[str], Path], tmp_path: Path
) -> None:
    graph, file = str(turtle(FAMILY)), tmp_path / "family.yml"
    file.write_text(QUESTIONS)
    queries = {"1": "SELECT ?x { <http://t/e/ada> <http://t/r/child> ?x }", "2": "SELECT nothing"}
    answers = [{"qname": f"family:{id}-en", "question": "?", "query": text} for id, text in queries.items()]
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    found = rescore(tmp_path / "answers.json", dataset=str(file), protocol="text2sparql", kg=[graph])
    assert found.metrics["f1"]["value"] == 0.5
    unnamed = [
        {"question": "Who are Ada's children?", "query": queries["1"], "endpoint": "http://t/text2sparql"}
    ]
    (tmp_path / "answers.json").write_text(json.dumps(unnamed))  # of a file that gives no prefix
    found = rescore(tmp_path / "answers.json", dataset=str(file), protocol="text2sparql", kg=[graph])
    assert found.metrics["f1"]["value"] == 0.5
    record = kgqa.ask("Where does Ben live?", kg=graph, model="offline", id="family:2-en")
    (tmp_path / "results.jsonl").write_text(json.dumps(record))
    tables = {"gold": {"family:2-en": [["x", "y"]]}, "given": {"family:2-en": [["x", "y"]]}}
    (tmp_path / "tables.json").write_text(json.dumps(tables))
    again = rescore(tmp_path, dataset=str(file), protocol="text2sparql")
    assert (again.metrics["f1"]["value"], again.metrics["excluded"]) == (1.0, 1)
