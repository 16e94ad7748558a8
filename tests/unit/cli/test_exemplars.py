"""``kgqa exemplars``: what it prints and how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from kgqa.cli.exemplars import app
from kgqa.priors.errors import EncoderError
from kgqa.priors.exemplars import read_exemplar_header
from kgqa.priors.training_questions import query_starts

Run = Callable[..., Result]

ULM = {"id": "http://t/e/ulm", "name": "Ulm"}
BONN = {"id": "http://t/e/bonn", "name": "Bonn"}


def line(number: int, question: str, *path: str, **fields: Any) -> dict[str, Any]:
    given = {"id": str(number), "question": question, "topic_entities": [ULM], "answers": []}
    return {**given, **({"gold_path": path} if path else {}), **fields}


BOTH = {
    "topic_entities": [ULM, BONN],
    "gold_paths": [{"topic": ULM["id"], "path": ["^born_in"]}, {"topic": BONN["id"], "path": ["^died_in"]}],
}

LINES = [
    line(1, "who was born in Ulm?", "^born_in"),
    line(2, "who was born in Bonn?", "^born_in", topic_entities=[BONN]),
    line(3, "where does the river of Ulm end?", "river", "mouth"),
    line(4, "who was born in Ulm and died in Bonn?", **BOTH),
    line(5, "why Ulm?"),
]


@pytest.fixture
def run() -> Run:
    return lambda *arguments: CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "questions.jsonl", *LINES)


@pytest.fixture
def folder(run: Run, file: Path, tmp_path: Path) -> Path:
    assert run("build", "--dataset", file, "--out", tmp_path / "learned").exit_code == 0
    return tmp_path / "learned"


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return path


def one_line(ended: Result) -> str:
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("kgqa: ")
    assert ended.stderr.count("\n") == 1
    return ended.stderr


def test_build_says_what_was_read_and_what_came_of_it(run: Run, file: Path, tmp_path: Path) -> None:
    ended = run("build", "--dataset", file, "--out", tmp_path / "new")
    assert ended.exit_code == 0
    assert "5 questions, 4 with a chain" in ended.stdout
    assert "1 without: no SPARQL and no gold path" in ended.stdout
    assert "4 exemplars and 3 templates in" in ended.stdout


def test_a_question_is_added_with_its_query(run: Run, folder: Path, tmp_path: Path) -> None:
    query = "SELECT ?x { ?x <http://t/r/guards> ?y . ?y <http://t/r/in> <http://t/e/ulm> }"
    asked = ("who watches over Ulm?", "--query", query, "--topic", "Ulm")
    before = read_exemplar_header(folder)
    ended = run("add", folder, *asked)
    counted, use = ended.stdout.splitlines()
    assert counted == f"{before.exemplars + 1} exemplars and 4 templates in {folder}"
    assert use.endswith(f"--option exemplars={folder}")
    shown = run("show", folder, "who watches over Bonn?", "--topic", "Bonn").stdout
    assert "<-in- <-guards- answer" in shown
    again = run("add", folder, *asked)
    assert again.stdout == ended.stdout
    assert read_exemplar_header(folder).questions == before.questions + 2
    assert "1 exemplars and 1 templates" in run("add", tmp_path / "new", *asked).stdout


@pytest.mark.parametrize(
    ("query", "topic", "said"),
    [
        ("SELECT ?x {", "Ulm", "the query cannot be learned from: "),
        ("SELECT ?x { ?x <http://t/r/in> <http://t/e/ulm> }", "Paris", "the question does not name 'Paris'"),
        (
            "SELECT ?x { ?x <http://t/r/in> <http://t/e/ulm> . <http://t/e/bonn> <http://t/r/of> ?x }",
            "Ulm",
            "the query sets out from http://t/e/ulm, http://t/e/bonn; give as many topics, in this order",
        ),
    ],
)
def test_what_is_added_names_its_topic_and_leads_from_it(
    run: Run, folder: Path, query: str, topic: str, said: str
) -> None:
    ended = run("add", folder, "who watches over Ulm?", "--query", query, "--topic", topic)
    assert said in one_line(ended)


@pytest.mark.parametrize(
    ("query", "starts"),
    [
        ("SELECT ?answer { ?answer :in <http://e/z> . <http://e/answer> :of ?answer }", ["z", "answer"]),
        ("SELECT ?answer { ?answer :in :z . :answer :of ?answer }", ["z", "answer"]),
        ("SELECT ?x { ?x :in :answer-2 ; :of :answer . ?x :by :z }", ["answer-2", "answer", "z"]),
        ('SELECT ?x { ?x :from 1990 ; :of :z ; :till "1990-05" }', ["1990", "z", "1990-05"]),
        (r"SELECT ?x { ?x :in :z . ?x :of :a_\(b\) . :y :by ?x }", ["z", "a_(b)", "y"]),
    ],
)
def test_a_query_sets_out_from_what_it_names_in_its_order(query: str, starts: list[str]) -> None:
    found = query_starts(f"PREFIX : <http://e/> {query}")
    assert [start.removeprefix("http://e/") for start in found] == starts


def test_several_files_are_learned_from(run: Run, file: Path, tmp_path: Path) -> None:
    more = written(tmp_path / "more.jsonl", line(9, "who is from Ulm?", "^born_in"))
    assert "6 questions" in run("build", "--dataset", file, more, "--out", tmp_path / "new").stdout
    names = [source.name for source in read_exemplar_header(tmp_path / "new").sources]
    assert names == ["questions", "more"]


def test_test_questions_are_used_only_if_asked_for(run: Run, tmp_path: Path) -> None:
    parts = [line(1, "q Ulm?", "r", split="train"), line(2, "q Ulm?", "s", split="test")]
    file = written(tmp_path / "parts.jsonl", *parts)
    assert "1 questions" in run("build", "--dataset", file, "--out", tmp_path / "a").stdout
    assert "2 questions" in run("build", "--dataset", file, "--split", "all", "--out", tmp_path / "b").stdout


def test_show_without_a_question_says_what_there_is(run: Run, folder: Path) -> None:
    ended = run("show", folder)
    assert ended.exit_code == 0
    assert "5 questions, 1 of them without a chain, 4 exemplars" in ended.stdout
    assert "3 templates" in ended.stdout
    assert "encoder all-MiniLM-L6-v2" in ended.stdout
    table = [" ".join(row.split()) for row in ended.stdout.splitlines()]
    assert {"1 4", "2 1", "5 all the ends", "3 <-born_in- answer"} <= set(table)


def test_show_gives_what_exemplars_say_of_a_question(run: Run, folder: Path) -> None:
    ended = run("show", folder, "Who was born in BONN and died in Ulm?", "--topic", "Ulm", "--topic", "Bonn")
    assert ended.stdout.startswith("Who was born in [OTHER] and died in [ENT]?")
    table = [" ".join(row.split()) for row in ended.stdout.splitlines()]
    best, *_ = [row for row in table if row.endswith("answer")]
    assert best.startswith("1.000 1 who was born in [OTHER] and ")
    assert best.endswith(" <-died_in- answer")
    assert any(row.startswith("1 ") and row.endswith("% ^died_in") for row in table)
    assert any(row.startswith("2 ") and row.endswith("% no further hop") for row in table)
    assert "asked: all the ends (100.0%)" in table


def test_as_much_is_shown_as_asked_for(run: Run, folder: Path) -> None:
    shown = run("show", folder, "who was born in Ulm?", "--topic", "Ulm", "--top", "1").stdout
    assert shown.count("-> answer") + shown.count("- answer") == 2  # an exemplar and a solved question


@pytest.fixture
def graph(turtle: Callable[[str], Path]) -> Path:
    return turtle(
        'e:ulm rdfs:label "Ulm" ; a e:town . e:bonn rdfs:label "Bonn" ; a e:city . '
        'e:town rdfs:label "town" . e:city rdfs:label "city" .'
    )


def test_a_graph_says_what_kind_of_thing_topics_are(
    run: Run, file: Path, graph: Path, tmp_path: Path
) -> None:
    built = run("build", "--dataset", file, "--kg", graph, "--out", tmp_path / "kinds")
    assert "4 exemplars and 4 templates in" in built.stdout
    asked = ("show", tmp_path / "kinds", "and who was born in Bonn?", "--topic", "Bonn")
    told = [" ".join(row.split()) for row in run(*asked, "--kg", graph).stdout.splitlines()]
    assert "as a template: and who was born in [city]?" in told
    assert any(row.startswith("0.9") and "who was born in [city]?" in row for row in told)
    untold = run(*asked).stdout
    assert "as a template: and who was born in [entity]?" in untold


def test_a_graph_that_cannot_be_opened_is_told(run: Run, file: Path, tmp_path: Path) -> None:
    ended = run("build", "--dataset", file, "--kg", tmp_path / "none.nt", "--out", tmp_path / "a")
    assert ended.exit_code == 3
    assert ended.stderr.startswith("kgqa: ")


def test_what_goes_wrong_is_one_line(run: Run, folder: Path, file: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert "no folder of exemplars; make one: kgqa exemplars build" in one_line(run("show", missing))
    assert "missing" in one_line(run("build", "--dataset", missing, "--out", tmp_path / "a"))
    assert "is no folder of exemplars" in one_line(run("build", "--dataset", file, "--out", tmp_path))
    none = written(tmp_path / "none.jsonl", line(1, "why Ulm?"))
    assert "no question gives an exemplar" in one_line(run("build", "--dataset", none, "--out", folder))


def test_an_encoder_that_cannot_be_opened_is_told(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str | None) -> None:
        raise EncoderError(f"cannot open the encoder {name}")

    monkeypatch.setattr("kgqa.priors.encoder.open_encoder", refuse)
    ended = run("build", "--dataset", file, "--out", tmp_path / "a", "--encoder", "mine")
    assert ended.exit_code == 2
    assert ended.stderr == "kgqa: cannot open the encoder mine\n"
