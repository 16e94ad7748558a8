"""Whatever anything is called: no output commands a terminal, and JSON is JSON."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kgqa.cli.output import print_json
from kgqa.cli.show_record import show_record, show_step
from kgqa.graphs import METHODS
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.commands import Kgqa, commands as commanding
from kgqa.tests.hostile.inputs.strings import FOREIGN, MARKUP, UNSEEN

STRANGE = (*FOREIGN, *UNSEEN, *MARKUP)

NAMES = [text for text in STRANGE if text.isprintable() or text.isascii()]
"""What can stand in a file of any kind."""


def dataset(folder: Path, text: str) -> Path:
    """Write questions in which everything is called the same."""
    path = folder / "questions.jsonl"
    ends = [{"id": "http://t/e/b", "name": text}]
    asked = {
        "topic_entities": [{"id": "http://t/e/a", "name": text}],
        "answers": ends,
        "gold_path": ["http://t/r/p"],
    }
    lines = [
        json.dumps({"id": f"{n}{text}", "question": f"{text} {n}?", "kind": text, "hops": 1, **asked})
        for n in range(3)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def graph(folder: Path, text: str) -> Path:
    """Write a graph whose nodes are all called the same, and with a relation as bad as an IRI can be."""
    path = folder / "graph.nt"
    label = json.dumps(text.encode("utf-8", "replace").decode())
    named = "".join(
        f"<http://t/e/{n}> <http://www.w3.org/2000/01/rdf-schema#label> {label} .\n" for n in "ab"
    )
    path.write_text(
        f"{named}<http://t/e/a> <http://t/r/p\u200b%1B%5B2J> <http://t/e/b> .\n", encoding="utf-8"
    )
    return path


def test_every_command_shows_hostile_names_as_text(run: Kgqa, tmp_path: Path, tried: Tried) -> None:
    """From the graph by a run to its scores and what is learned from it; `run` looks at each output."""
    text = "".join((*UNSEEN[3:9], *MARKUP))
    folder = tmp_path / "\x1b[2J[red]\u202e"
    folder.mkdir()
    kg, asked, out, learned = (
        str(graph(folder, text)),
        str(dataset(folder, text)),
        *(str(folder / name) for name in ("run[2J]", "learned")),
    )
    told = run("ask", text, "--topic", text, "--kg", kg, "--watch")
    assert told.status in (0, 1)
    assert "[/]" in told.out
    assert "[2J[red]" in run("kg", "info", kg).out
    commands = [
        ("ask", text, "--topic", "http://t/e/a", "--kg", kg, "--format", "json"),
        ("kg", "info", kg, "--json"),
        ("kg", "load", kg, "--out", str(folder / "store")),
        ("eval", "--dataset", asked, "--kg", kg, "--out", out, "--method=cog", "--model=simulated:"),
        ("score", out, "--dataset", asked),
        ("score", out, "--dataset", asked, "--json"),
        ("report", out, "--dataset", asked, "--out", str(folder / "r.html")),
        ("exemplars", "build", "--dataset", asked, "--out", learned),
        ("exemplars", "show", learned),
        ("exemplars", "show", learned, text, "--topic", text),
        ("blueprints", "build", "--dataset", asked, "--out", learned + "b"),
        ("blueprints", "show", learned + "b", text),
    ]
    for arguments in commands:
        ended = run(*arguments)
        assert ended.status == 0 or arguments[0] == "ask", (arguments[:2], ended)
        if arguments[-1] in ("--json", "json"):
            json.loads(ended.out)
    tried(inputs=run.runs)


def test_defaults_of_a_hostile_environment_are_listed(run: Kgqa, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_MODEL", "[/]\x1b[2J")
    monkeypatch.setenv("KGQA_KG", "[bold red]\u202e")
    out = run("methods", *METHODS).out
    assert out.count("[/] [2J") == out.count("[bold red]") == len(METHODS)


ENTRIES = ("chain", "reason", "error", "query", "finding", "verdict", "arm", "signal", "source", "blueprint")

LISTS = (
    "chains",
    "answers",
    "best",
    "beam",
    "known",
    "kept",
    "chosen",
    "added",
    "recalled",
    "dropped",
    "for",
    "subgoals",
)


def test_a_step_of_any_words_is_one_line_of_text(capsys: pytest.CaptureFixture[str], tried: Tried) -> None:
    for text in STRANGE:
        for entry in ({key: text} for key in ENTRIES):
            show_step({"node": text, "decision": "stop", **entry}, to_stderr=False)
        for many in ({key: [text, text]} for key in LISTS):
            show_step({"node": "link", "decision": "stop", **many}, to_stderr=False)
        out = capsys.readouterr().out
        assert out.count("\n") == len(ENTRIES) + len(LISTS)
        assert not commanding(out)
    tried(inputs=len(STRANGE) * (len(ENTRIES) + len(LISTS)))


def test_a_record_of_any_words_is_shown_as_text(capsys: pytest.CaptureFixture[str], tried: Tried) -> None:
    for text in STRANGE:
        named: Any = {"id": text, "name": text}
        path: Any = [{"head": named, "relation": text, "forward": True, "tail": {"id": text, "name": None}}]
        record: Any = {
            **{
                "answers": [named],
                "outcome": text,
                "topics": [],
                "paths": [path],
                "method": text,
                "stopped_by": text,
                "confidence": None,
                "query": text,
                "conditions": [{"words": text, "query": text, "by": by} for by in ("graph", "model", None)],
            },
            **{"config": {"model": text}, "trace": [{"node": "answer", "reason": text}]},
            "usage": {"llm_calls": 1, "cached_calls": 0, "kg_queries": 1, "model_queries": 0, "seconds": 0.1},
        }
        show_record(record)
        show_record({**record, "answers": []})
        show_record({**record, "answers": [], "stopped_by": None})
        out = capsys.readouterr().out
        assert not commanding(out), text
        assert out.count("\n") == 9 + 9  # and three conditions of each
    tried(inputs=len(STRANGE))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252", "utf-16"])
def test_json_is_the_same_value_in_any_encoding(
    encoding: str, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    value = {text: [text, {"\u00fc \u2013 \u6771\u4eac \U000e0041": text}] for text in STRANGE}
    print_json(value)
    sys.stdout.flush()
    text = written.getvalue().decode(encoding if encoding != "ascii" else "utf-8")
    assert text.count("\n") == 1
    assert not commanding(text)
    assert json.loads(text) == value
    tried(inputs=len(STRANGE))


def test_json_that_can_be_read_by_people_stays_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": "Z\u00fcrich \u6771\u4eac \u0639"})
    assert capsys.readouterr().out == '{"name": "Z\u00fcrich \u6771\u4eac \u0639"}\n'
