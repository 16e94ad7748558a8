"""The table of a record: whole where a method gives one, null where none does."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given, strategies as st

import kgqa
from kgqa.cli import output
from kgqa.cli.show_record import draw_table
from kgqa.runtime.record import Table, zero_spend
from kgqa.runtime.record_table import MAX_ROWS_SHOWN, cell_text, to_csv, to_markdown
from kgqa.runtime.record_text import Answered, say_record
from kgqa.tests.support.doubles import children
from kgqa.tests.support.tables import HUTS, cell, graph


async def test_a_record_keeps_the_table_that_a_node_gives() -> None:
    record = await kgqa.aask("Which huts have beds?", method=graph, kg="sample", model=children())
    assert record["table"] == HUTS
    assert [answer["id"] for answer in record["answers"]] == ["http://x/abel", "http://x/berta", "http://x/c"]


async def test_answers_without_columns_have_no_table() -> None:
    record = await kgqa.aask("What is the capital of Mongolia?", kg="sample", model="offline")
    assert (record["answers"] != [], record["table"]) == (True, None)


def told(**other: Any) -> Answered:
    answers = [row[0] for row in HUTS["rows"]]
    config = {"config": {"model": "offline"}, "usage": {**zero_spend(), "seconds": 0.1}, "method": "listing"}
    beside: dict[str, Any] = {"paths": [], "conditions": [], "trace": [], "topics": [], "stopped_by": None}
    record = {"answers": answers, "outcome": "grounded", "confidence": None, "table": HUTS}
    return Answered({**record, **beside, **config, **other})


def test_csv_has_all_rows_and_no_formula() -> None:
    strange = {**HUTS, "rows": [[cell("=1+1"), cell("-4"), cell("a\nb,c")]]}
    assert list(csv.reader(io.StringIO(to_csv(HUTS)))) == [
        ["hut", "beds", "opened"],
        ["Abel Hut", "24", "1931-06-01"],
        ["Berta, the old", "8", ""],
        ["http://x/c", "120", "2004-09-12"],
    ]
    assert to_csv(strange).splitlines()[1] == """'=1+1,-4,"a b,c\""""


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=4))
def test_csv_of_any_texts_is_read_again_as_they_are_shown(rows: list[tuple[str, ...]]) -> None:
    table: Table = {**HUTS, "rows": [[*map(cell, row)] for row in rows]}
    read = list(csv.reader(io.StringIO(to_csv(table))))[1:]
    shown = [[cell_text(cell(text)) for text in row] for row in rows]
    assert [[text.removeprefix("'") for text in row] for row in read] == [
        [text.removeprefix("'") for text in row] for row in shown
    ]


def test_a_table_in_words_is_markdown_of_the_first_rows() -> None:
    many: Table = {**HUTS, "rows": [[cell(f"a|{n}"), None, cell("1")] for n in range(MAX_ROWS_SHOWN + 2)]}
    lines = to_markdown(many).splitlines()
    assert lines[:3] == ["| hut | beds | opened |", "| --- | --- | --- |", "| a\\|0 |  | 1 |"]
    assert (len(lines), lines[-1]) == (MAX_ROWS_SHOWN + 3, "and 2 more rows")
    assert to_markdown({**HUTS, "truncated": True}).endswith("\nand more rows")


def test_a_reply_has_the_answers_and_below_them_their_table() -> None:
    said = say_record(told()).split("\n\n")
    assert said == ["Abel Hut; Berta, the old; and <http://x/c>.", to_markdown(HUTS)]


def test_a_record_prints_its_table_and_a_notebook_shows_it() -> None:
    record = told(table={**HUTS, "columns": ["<b>hut", "beds", "opened"]})
    assert "\n  | Abel Hut | 24 | 1931-06-01 |\n" in str(record)
    assert "<th>&lt;b&gt;hut</th>" in record._repr_html_()
    assert "<td>Berta, the old</td><td>8</td><td></td>" in record._repr_html_()


def test_a_data_frame_has_names_and_numbers() -> None:
    frame = told().to_pandas()
    assert [*frame["hut"]] == ["Abel Hut", "Berta, the old", "http://x/c"]
    assert (frame["beds"].sum(), frame["opened"].isna().sum()) == (152, 1)


def test_codes_and_entities_that_look_like_numbers_stay_text() -> None:
    table: Table = {**HUTS, "columns": ["n", "n"], "rows": [[cell("007"), cell("12", "http://x/12")]]}
    assert told(table=table).to_pandas().to_numpy().tolist() == [["007", "12"]]


def test_answers_without_a_table_are_a_frame_of_one_column_and_none_an_error() -> None:
    assert told(table=None).to_pandas().columns.tolist() == ["answer"]
    with pytest.raises(ValueError, match="No answer found"):
        told(answers=[], table=None, outcome="none").to_pandas()


def test_a_record_of_an_older_version_has_no_table() -> None:
    record = {key: value for key, value in told().items() if key != "table"}
    assert say_record(record) == "Abel Hut; Berta, the old; and <http://x/c>."
    assert Answered(record).to_pandas().columns.tolist() == ["answer"]


def test_no_text_of_a_table_commands_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    strange = "\x1b[2J[red]\u202e"
    table: Table = {**HUTS, "columns": [strange, "b"], "rows": [[cell(strange), cell(strange, "http://x/a")]]}
    output.open_console().print(draw_table(table))
    shown = capsys.readouterr().out + to_csv(table) + to_markdown(table)
    assert "[red]" in shown
    assert not {"\x1b", "\u202e"} & set(shown)
