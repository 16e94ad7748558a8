"""``kgqa chat``: lines in, answers with their proof out."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa import graphs
from kgqa.cli import main as command

PLACES = """
e:ulm rdfs:label "Ulm" ; r:river e:danube .
e:bonn rdfs:label "Bonn" ; r:river e:rhine .
e:danube rdfs:label "Danube" .
e:rhine rdfs:label "Rhine" .
"""

OWN = """
from typing import ClassVar

from kgqa.graphs.cor import CoR, EDGES
from kgqa.runtime.graph_builder import build_graph


class Mine(CoR):
    method: ClassVar[str] = "mine"


graph = build_graph(Mine, EDGES)
"""

Chat = Callable[..., tuple[int, str, str]]


@pytest.fixture
def chat(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    turtle: Callable[[str], Path],
) -> Chat:
    """Say some lines; give the status, stdout and stderr."""
    graph = str(turtle(PLACES))
    monkeypatch.chdir(tmp_path)

    def said(said: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        monkeypatch.setattr(sys, "argv", ["kgqa", "chat", "--kg", graph, "--model", "offline", *arguments])
        with pytest.raises(SystemExit) as end:
            command.main()
            raise SystemExit(0)
        return (int(end.value.code or 0), *capsys.readouterr())

    return said


def test_a_follow_up_is_made_whole_and_each_answer_has_its_proof(chat: Chat) -> None:
    status, out, err = chat("Which river is in Ulm?\nAnd Bonn?\n")
    assert (status, err) == (0, "")
    first, follow_up = out.split("  Which river is in Bonn?\n")
    assert "Ulm -river-> Danube" in first
    assert "Bonn -river-> Rhine" in follow_up


def test_a_greeting_gets_a_word_of_help_and_an_empty_line_ends(chat: Chat) -> None:
    status, out, _ = chat("hello\n\nWhich river is in Ulm?\n")
    assert status == 0
    assert out.startswith("Ask me about what is in the knowledge graph")
    assert "Danube" not in out


def test_a_method_of_ones_own_answers_by_its_name(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "_own", {})
    (tmp_path / "mine.py").write_text(OWN)
    status, out, err = chat("Which river is in Ulm?\n", "--method", "mine.py:graph")
    assert status == 0, err
    assert "Ulm -river-> Danube" in out
    assert "mine, offline" in out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--method", "nobody"), "no method is called 'nobody'"),
        (("--method", "nobody.py:graph"), "no such file"),
        (("--option", "depht=3"), "has no option 'depht'"),
        (("--option", "answer_by=cor"), "has no option 'answer_by'"),
    ],
)
def test_what_cannot_be_taken_is_one_line(chat: Chat, arguments: tuple[str, ...], why: str) -> None:
    status, out, err = chat("Which river is in Ulm?\n", *arguments)
    assert (status, out) == (2, "")
    assert why in err
    assert err.count("\n") == 1
