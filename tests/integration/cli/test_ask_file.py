"""``kgqa ask --file``: many questions, one record a line, in their order, and what goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kgqa.cli import ask_file, main as command
from kgqa.evaluation.question import Question
from kgqa.runtime.state import question_id

PLACES = """
e:ulm rdfs:label "Ulm" ; r:river e:danube .
e:bonn rdfs:label "Bonn" ; r:river e:rhine .
e:danube rdfs:label "Danube" . e:rhine rdfs:label "Rhine" .
"""
ULM, BONN = "Which river is in Ulm?", "Which river is in Bonn?"


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Kgqa = Callable[..., Ended]


@pytest.fixture
def ask(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    turtle: Callable[[str], Path],
) -> Kgqa:
    """Run ``kgqa ask`` in this process, over some places, offline."""
    graph = str(turtle(PLACES))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGQA_KG", graph)
    monkeypatch.setenv("KGQA_MODEL", "offline")

    def ended(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["kgqa", "ask", *arguments])
        with pytest.raises(SystemExit) as end:
            command.main()
        return Ended(int(end.value.code or 0), *capsys.readouterr())

    return ended


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def answers(text: str) -> list[tuple[str, list[str]]]:
    return [(record["id"], [each["name"] for each in record["answers"]]) for record in records(text)]


FILES = {
    "q.txt": f"{ULM}\n{BONN}\n",
    "q.csv": f"id,question,topics\na,{ULM},Ulm\nb,{BONN},Bonn\n",
    "q.jsonl": "".join(
        json.dumps({"id": id, "question": text}) + "\n" for id, text in [("a", ULM), ("b", BONN)]
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_each_question_of_a_file_has_its_record_on_a_line(ask: Kgqa, name: str) -> None:
    Path(name).write_text(FILES[name])
    ended = ask("--file", name)
    ids = [question_id(ULM), question_id(BONN)] if name == "q.txt" else ["a", "b"]
    assert (ended.status, ended.err) == (0, "")
    assert answers(ended.out) == [(ids[0], ["Danube"]), (ids[1], ["Rhine"])]


def test_topics_of_the_command_are_those_of_every_question(ask: Kgqa) -> None:
    Path("q.txt").write_text("Which river is there?\n")
    (record,) = records(ask("--file", "q.txt", "--topic", "Bonn").out)
    assert [topic["name"] for topic in record["topics"]] == ["Bonn"]


def test_what_the_output_has_already_is_not_asked_again(ask: Kgqa) -> None:
    Path("q.txt").write_text(f"{ULM}\n")
    assert ask("--file", "q.txt", "--output", "out.jsonl") == Ended(0, "", "")
    first = Path("out.jsonl").read_text()
    Path("out.jsonl").write_text(first + first[:50])  # a process was killed while it wrote
    Path("q.txt").write_text(f"{BONN}\n{ULM}\n")
    assert ask("--file", "q.txt", "--output", "out.jsonl").status == 0
    text = Path("out.jsonl").read_text()
    assert text.startswith(first)
    assert answers(text) == [(question_id(ULM), ["Danube"]), (question_id(BONN), ["Rhine"])]


def test_what_has_failed_is_asked_again(ask: Kgqa) -> None:
    Path("q.txt").write_text(f"{ULM}\n{BONN}\n")
    assert ask("--file", "q.txt", "--output", "out.jsonl").status == 0
    first, second = records(Path("out.jsonl").read_text())
    failed = {**first, "outcome": "kg_unavailable", "answers": []}
    Path("out.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (failed, second)))
    assert ask("--file", "q.txt", "--output", "out.jsonl") == Ended(0, "", "")
    found = dict(answers(Path("out.jsonl").read_text()))
    assert found == {question_id(ULM): ["Danube"], question_id(BONN): ["Rhine"]}


def test_an_output_of_other_settings_is_left_alone(ask: Kgqa) -> None:
    Path("q.txt").write_text(f"{ULM}\n")
    assert ask("--file", "q.txt", "--output", "out.jsonl").status == 0
    held = Path("out.jsonl").read_text()
    ended = ask("--file", "q.txt", "--output", "out.jsonl", "--option", "refines=1")
    assert (ended.status, ended.out, Path("out.jsonl").read_text()) == (2, "", held)
    assert "refines is 2 there and 1 here" in ended.err


def test_what_is_printed_is_in_order_and_nothing_is_held_back_at_the_end() -> None:
    """What is printed waits for the questions before it, and is printed at the end whatever happens."""
    printed: list[str] = []
    questions = [Question(id, f"{id}?") for id in "abc"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kgqa.cli.output.print_json", lambda record: printed.append(record["id"]))
        with ask_file._printing_in_order(questions) as take:
            for id in "cb":
                take({"id": id})
            assert printed == []
    assert printed == ["b", "c"]


@pytest.mark.parametrize(
    "held",
    [
        '{"id": "x", "note": 1}\n',
        '{"id": "x", "note": 1}',
        "my notes\n",
        "two lines\nof notes",
        '[{"question": "Q", "answers": ["x"]}]',
        '{"id": "x", "no',
    ],
)
def test_an_output_of_other_things_is_left_alone(ask: Kgqa, held: str) -> None:
    Path("q.txt").write_text(f"{ULM}\n")
    Path("out.jsonl").write_text(held)
    ended = ask("--file", "q.txt", "--output", "out.jsonl")
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert Path("out.jsonl").read_text() == held


def test_a_file_of_questions_is_not_its_own_output(ask: Kgqa) -> None:
    held = json.dumps([{"question": ULM, "answers": ["Danube"]}])
    Path("q.json").write_text(held)
    assert ask("--file", "q.json", "--output", "q.json").status == 2
    assert Path("q.json").read_text() == held


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["who?", "--file", "q.txt"], "give one question, or --file with many"),
        (["--file", "q.txt", "--sparql"], "leave --format, --sparql and --watch out"),
        (["who?", "--output", "o"], "--output goes with --file"),
        (["--file", "none.txt"], "no such question file: none.txt"),
        (["--file", "q.txt", "--option", "dpth=1"], "no option 'dpth'"),
        (["--file", "q.txt", "--model", "simulated"], "kgqa eval asks it"),
    ],
)
def test_wrong_usage_is_one_line(ask: Kgqa, arguments: list[str], said: str) -> None:
    Path("q.txt").write_text(f"{ULM}\n")
    ended = ask(*arguments)
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err


def test_a_graph_that_is_not_there_ends_it_before_any_question(ask: Kgqa) -> None:
    Path("q.txt").write_text(f"{ULM}\n")
    ended = ask("--file", "q.txt", "--kg", "none.ttl")
    assert (ended.status, ended.out) == (3, "") and "none.ttl" in ended.err


def test_questions_may_come_through_a_pipe_and_a_kill_loses_no_record(ask: Kgqa, tmp_path: Path) -> None:
    """Kill the process once it has written a record; the same command asks the rest."""
    many = [f"Which river is in {('Ulm', 'Bonn')[n % 2]}, traveller {n}?" for n in range(60)]
    Path("q.txt").write_text("\n".join(many))
    arguments = ["ask", "--file", "-", "--output", "out.jsonl", "--concurrency", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with (
        open("q.txt") as questions,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "kgqa.cli.main", *arguments], stdin=questions, env=environment
        ) as process,
    ):
        out = Path("out.jsonl")
        for _ in range(1200):
            if out.exists() and out.stat().st_size:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    before = [line for line in out.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert 0 < len(before) < len(many)
    assert ask("--file", "q.txt", "--output", "out.jsonl").status == 0
    text = out.read_text()
    assert text.startswith("".join(before))
    assert sorted(record["question"] for record in records(text)) == sorted(many)
