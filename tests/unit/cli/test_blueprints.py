"""``kgqa blueprints``: what it prints and how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from kgqa.cli.blueprints import app
from kgqa.priors.blueprints import read_library_header
from kgqa.priors.errors import EncoderError

Run = Callable[..., Result]


def line(number: int, question: str, *path: str, **fields: Any) -> dict[str, Any]:
    topics = [{"id": "http://t/e/ulm", "name": "Ulm"}]
    given = {"id": str(number), "question": question, "topic_entities": topics, "answers": []}
    return {**given, **({"gold_path": path} if path else {}), **fields}


LINES = [
    line(1, "who was born in Ulm?", "^born_in"),
    line(2, "which people were born in Ulm?", "^born_in"),
    line(3, "where does the river of Ulm end?", "river", "mouth"),
    line(4, "why Ulm?"),
]


@pytest.fixture
def run() -> Run:
    return lambda *arguments: CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "questions.jsonl", *LINES)


@pytest.fixture
def library(run: Run, file: Path, tmp_path: Path) -> Path:
    assert run("build", "--dataset", file, "--out", tmp_path / "lib").exit_code == 0
    return tmp_path / "lib"


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
    ended = run("build", "--dataset", file, "--out", tmp_path / "lib")
    assert ended.exit_code == 0
    assert "4 questions, 3 with a blueprint" in ended.stdout
    assert "1 without: no SPARQL and no gold path" in ended.stdout
    assert "2 templates in" in ended.stdout


def test_several_files_make_one_library(run: Run, file: Path, tmp_path: Path) -> None:
    more = [written(tmp_path / f"{n}.jsonl", line(n, f"q {n}?", f"r{n}")) for n in (1, 2)]
    ended = run("build", "--dataset", file, more[0], "--dataset", more[1], "--out", tmp_path / "lib")
    assert "6 questions, 5 with a blueprint" in ended.stdout
    names = [source.name for source in read_library_header(tmp_path / "lib").sources]
    assert sorted(names) == ["1", "2", "questions"]


def test_test_questions_are_used_only_if_asked_for(run: Run, tmp_path: Path) -> None:
    parts = [line(1, "q?", "r", split="train"), line(2, "q?", "s", split="test")]
    file = written(tmp_path / "parts.jsonl", *parts)
    assert "1 questions" in run("build", "--dataset", file, "--out", tmp_path / "a").stdout
    assert "2 questions" in run("build", "--dataset", file, "--split", "all", "--out", tmp_path / "b").stdout


def test_add_counts_further_questions(run: Run, library: Path, tmp_path: Path) -> None:
    more = written(tmp_path / "more.jsonl", line(9, "who was ever born in the town of Ulm?", "^born_in"))
    ended = run("build", "--dataset", more, "--out", library, "--add")
    assert "1 questions, 1 with a blueprint" in ended.stdout
    assert read_library_header(library).questions == 5
    shown = run("show", library).stdout
    assert "5 questions, 2 templates" in shown
    assert "who was ever born in the town of [ENT]?" in " ".join(shown.split())


def test_relations_that_are_not_listed_are_left_out(run: Run, file: Path, tmp_path: Path) -> None:
    (tmp_path / "relations.txt").write_text("river\nmouth\n")
    ended = run(
        "build", "--dataset", file, "--out", tmp_path / "a", "--relations", tmp_path / "relations.txt"
    )
    assert "2 without: a relation that is not among those given" in ended.stdout
    assert "1 templates" in ended.stdout


def test_show_without_a_question_gives_the_statistics(run: Run, library: Path) -> None:
    ended = run("show", library)
    assert ended.exit_code == 0
    assert "4 questions, 2 templates (50.0%), 1 questions without a blueprint" in ended.stdout
    assert "encoder all-MiniLM-L6-v2, anchors longest" in ended.stdout
    table = [row.split() for row in ended.stdout.splitlines()]
    assert ["1", "1"] in table
    assert ["2", "1"] in table


def test_show_tells_what_is_copied(run: Run, library: Path) -> None:
    near = run("show", library, "Which people were born in ULM?", "--topic", "Ulm").stdout
    assert near.startswith("Which people were born in [ENT]?")
    assert "at tau 0.98: copied" in near
    assert "1  <-born_in- answer" in near
    far = run("show", library, "How tall is Ann?").stdout
    assert "nothing is copied, the nearest is to be adapted" in far


def test_calibrate_writes_the_least_threshold_that_is_precise(run: Run, tmp_path: Path) -> None:
    asked = (
        ("who was born in Ulm in the year {}?", "^born_in"),
        ("does the river {} flow through Ulm?", "river"),
    )
    lines = [line(n, text.format(n), path) for text, path in asked for n in range(60)]
    lines = [{**each, "id": str(n)} for n, each in enumerate(lines)]
    file, lib = written(tmp_path / "many.jsonl", *lines), tmp_path / "lib"
    assert run("build", "--dataset", file, "--out", lib).exit_code == 0
    ended = run("calibrate", lib, "--dataset", file, "--held-out", "0.5")
    assert ended.exit_code == 0
    assert "tau 0.5 is the least with at least 90% of at least 20 copies right" in ended.stdout
    assert read_library_header(lib).tau is None
    assert run("calibrate", lib, "--dataset", file, "--held-out", "0.5", "--write").exit_code == 0
    assert read_library_header(lib).tau == 0.5
    assert "tau 0.5 (calibrated)" in run("show", lib).stdout


def test_a_library_of_the_text_of_queries_has_unmasked_anchors(run: Run, tmp_path: Path) -> None:
    file, lib = written(tmp_path / "one.jsonl", line(1, "who was born in Ulm?", "^born_in")), tmp_path / "lib"
    assert run("build", "--dataset", file, "--out", lib, "--reading", "text").exit_code == 0
    assert read_library_header(lib).reading == "text"
    told = run("show", lib).stdout
    assert "who was born in Ulm?" in told
    assert "read from the text of queries" in " ".join(told.split())


def test_calibrate_says_where_no_threshold_will_do(run: Run, library: Path, file: Path) -> None:
    ended = run("calibrate", library, "--dataset", file, "--held-out", "0.5", "--write")
    assert ended.exit_code == 1
    assert "no tau has at least 90% of at least 20 copies right" in ended.stdout
    assert read_library_header(library).tau is None


def test_what_goes_wrong_is_one_line(run: Run, library: Path, file: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert "no blueprint library; make one" in one_line(run("show", missing))
    assert "missing" in one_line(run("build", "--dataset", missing, "--out", tmp_path / "a"))
    assert "learned from questions already" in one_line(
        run("build", "--dataset", file, "--out", library, "--add")
    )
    for kept in (("--anchor", "shortest"), ("--reading", "text")):
        adding = run("build", "--dataset", file, "--out", library, "--add", *kept)
        assert "leave --anchor and --reading out" in one_line(adding)
    assert "is no blueprint library" in one_line(run("build", "--dataset", file, "--out", tmp_path))
    relations = ("--relations", missing)
    assert "relations" in one_line(run("build", "--dataset", file, "--out", library, *relations))


def test_an_encoder_that_cannot_be_opened_is_told(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str | None) -> None:
        raise EncoderError(f"cannot open the encoder {name}")

    monkeypatch.setattr("kgqa.priors.encoder.open_encoder", refuse)
    ended = run("build", "--dataset", file, "--out", tmp_path / "a", "--encoder", "mine")
    assert ended.exit_code == 2
    assert ended.stderr == "kgqa: cannot open the encoder mine\n"
    assert not (tmp_path / "a").exists()
