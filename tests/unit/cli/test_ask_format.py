"""``kgqa ask --format``: the answers alone, as a table or CSV, or the whole record."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from kgqa.cli.main import app
from kgqa.runtime.record_table import to_csv
from kgqa.tests.support.doubles import FAMILY
from kgqa.tests.support.tables import HUTS

Ask = Callable[..., Result]


@pytest.fixture
def ask(turtle: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    graph = str(turtle(FAMILY))
    monkeypatch.chdir(tmp_path)

    def asked(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["ask", *arguments, "--kg", graph, "--model", "offline"])

    return asked


QUESTION = ("Which huts are there?", "--method", "kgqa.tests.support.tables:graph")
LIST_HUTS = (*QUESTION, "--option", "min_confidence=0")


def test_a_table_is_drawn_with_what_it_has_cost(ask: Ask) -> None:
    lines = ask(*LIST_HUTS).output.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["hut", "beds", "opened"],
        ["Abel", "Hut", "24", "1931-06-01"],
        ["Berta,", "the", "old", "8"],
    ]
    assert any("from the graph, if I read you right · listing, offline" in line for line in lines)


def test_a_table_alone_is_all_of_it(ask: Ask) -> None:
    lines = ask(*LIST_HUTS, "--format", "table").output.splitlines()
    assert (len(lines), lines[-1].split()) == (4, ["http://x/c", "120", "2004-09-12"])


def test_csv_is_the_table(ask: Ask) -> None:
    ended = ask(*LIST_HUTS, "--format", "csv")
    assert (ended.exit_code, ended.output) == (0, to_csv(HUTS))


def test_csv_of_a_list_has_one_column(ask: Ask) -> None:
    assert ask("Who are Ada's children?", "--format", "csv").output == "answer\nBen\nCleo\n"


def test_json_is_the_record(ask: Ask) -> None:
    assert json.loads(ask(*LIST_HUTS, "--format", "json").output)["table"] == HUTS


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((*QUESTION, "--format", "csv"), 1, "No answer found: nothing in the "),
        (("Who?", "--format", "csv", "--sparql"), 2, "give --format or --sparql, not both"),
        ((*QUESTION, "--sparql"), 1, "No answer found: nothing in the "),
        *(
            (arguments, 2, "only an answer has a format, a query, steps or topics; give a question")
            for arguments in [("--format", "table"), ("--sparql",), ("--watch",), ("--topic", "Lima")]
        ),
        (("--output", "o.jsonl"), 2, "--output goes with --file"),
        (("--file", "q.txt", "--format", "csv"), 2, "--file prints whole records"),
    ],
)
def test_a_format_that_makes_no_sense_is_one_line(
    ask: Ask, arguments: tuple[str, ...], status: int, said: str
) -> None:
    ended = ask(*arguments)
    assert (ended.exit_code, ended.output.count("\n")) == (status, 1)
    assert ended.output.startswith(f"kgqa: {said}")
