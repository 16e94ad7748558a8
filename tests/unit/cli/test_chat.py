"""``kgqa chat``, and ``kgqa`` without a command: questions, commands, and how it ends."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgqa import graphs
from kgqa.cli import chat, main as command

PLACES = """
e:ulm rdfs:label "Ulm" ; r:river e:danube .
e:danube rdfs:label "Danube" .
e:bonn rdfs:label "Bonn" ; r:river e:rhine .
e:rhine rdfs:label "Rhine" .
"""
ULM = "Which river is in Ulm?"

OWN = """
from typing import ClassVar

from kgqa.graphs.cor import CoR, EDGES
from kgqa.runtime.graph_builder import build_graph


class Mine(CoR):
    method: ClassVar[str] = "mine"


graph = build_graph(Mine, EDGES)
"""

Talk = Callable[..., tuple[str, str]]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def talk(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    turtle: Callable[[str], Path],
) -> Talk:
    """Say lines to the prompt; an exception among them is raised in their place, and Ctrl-D is the end."""
    graph = str(turtle(PLACES))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGQA_KG", graph)
    monkeypatch.setenv("KGQA_MODEL", "offline")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def said(*lines: str | type[BaseException]) -> tuple[str, str]:
        waiting: Iterator[str | type[BaseException]] = iter((*lines, EOFError))

        def read() -> str:
            line = next(waiting)
            if isinstance(line, str):
                return line
            raise line

        chat.converse(chat.Session(), read)
        return tuple(capsys.readouterr())  # type: ignore[return-value]

    return said


def test_question_after_question_is_answered_until_the_end(talk: Talk) -> None:
    out, err = talk(ULM, "", "  " + ULM, ":quit", "never asked")
    assert out.count("Ulm -river-> Danube") == 2
    assert out.splitlines()[0].endswith("graph.ttl")
    assert err == ""


def test_what_is_set_holds_for_the_questions_after_it(talk: Talk) -> None:
    out, err = talk(":method COR", ":topic Ulm", "Which river is there?", ":sparql", ":topic")
    assert "graph.ttl · about Ulm\n" in out
    assert "proved by the graph · cor, offline" in out
    assert "SELECT" in out and "Danube" in out
    assert out.rstrip().endswith("graph.ttl")
    assert err == ""


def test_steps_are_shown_where_they_are_asked_for(talk: Talk) -> None:
    before, _ = talk(ULM)
    after, _ = talk(":watch", ULM)
    assert len(after.splitlines()) > len(before.splitlines()) + 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (":method nix", "no method is called 'nix'"),
        (":method", "no such command, or not like this: :method; :help lists them"),
        (":", "no such command"),
        (":kg 'half", "No closing quotation"),
        (":nonsense", "no such command, or not like this: :nonsense"),
    ],
)
def test_a_wrong_command_is_one_line_and_nothing_else_changes(talk: Talk, line: str, said: str) -> None:
    out, err = talk(line, ULM)
    assert err.startswith("kgqa: ") and said in err and err.count("\n") == 1
    assert "proved by the graph · compose, offline" in out


def test_a_graph_that_is_not_there_is_told_and_the_one_before_stays(talk: Talk) -> None:
    out, err = talk(":kg none.ttl", ULM)
    assert "none.ttl" in err and err.count("\n") == 1
    assert "Ulm -river-> Danube" in out


def test_what_follows_is_made_whole_until_the_conversation_is_forgotten(talk: Talk) -> None:
    out, _ = talk(ULM, "hello", "And Bonn?", ":new", "And Bonn?")
    assert "Ask me about what is in the knowledge graph" in out
    first, second = out.split(chat.Session().describe())[1:]
    assert "  Which river is in Bonn?\nThe river of Bonn is Rhine.\n" in first
    assert "Which river is in Bonn?" not in second


def test_an_option_and_topics_hold_for_the_questions_after_them(talk: Talk) -> None:
    out, err = talk(
        ":method cor", ":option depth=0", ":option depth=1", ":topic Ulm, L'Aquila", "Which river is there?"
    )
    assert "depth" in err and err.count("\n") == 1
    assert "about Ulm, L'Aquila\n" in out


def test_an_interrupted_line_is_left_and_an_interrupted_question_stopped(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = talk(KeyboardInterrupt, ULM)
    assert "Danube" in out

    async def interrupted(self: object, question: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(chat.Session, "ask", interrupted)
    out, _ = talk(ULM, ":method cor")
    assert "stopped\ncor · offline" in out


COMMANDS = ("method", "kg", "model", "option", "topic", "new", "watch", "sparql", "quit")


def test_help_lists_every_command(talk: Talk) -> None:
    out, _ = talk(":help")
    assert all(f":{name}" in out for name in COMMANDS)


def test_on_no_terminal_the_command_alone_prints_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kgqa"])
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert "[OPTIONS] COMMAND [ARGS]" in capsys.readouterr().out


def test_on_a_terminal_it_asks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    started = []
    monkeypatch.setattr(chat, "converse", lambda session: started.append(session.method))
    monkeypatch.setattr(sys, "argv", ["kgqa"])
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    with pytest.raises(SystemExit) as end:
        command.main()
    assert (started, end.value.code or 0) == (["compose"], 0)


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    turtle: Callable[[str], Path],
) -> Run:
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


def test_a_follow_up_is_made_whole_and_each_answer_has_its_proof(run: Run) -> None:
    status, out, err = run("Which river is in Ulm?\nAnd Bonn?\n")
    assert (status, err) == (0, "")
    first, follow_up = out.split("  Which river is in Bonn?\n")
    assert "Ulm -river-> Danube" in first
    assert "Bonn -river-> Rhine" in follow_up


def test_a_method_of_ones_own_answers_by_its_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "_own", {})
    (tmp_path / "mine.py").write_text(OWN)
    status, out, err = run("Which river is in Ulm?\n", "--method", "mine.py:graph")
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
def test_what_cannot_be_taken_is_one_line(run: Run, arguments: tuple[str, ...], why: str) -> None:
    status, out, err = run("Which river is in Ulm?\n", *arguments)
    assert (status, out) == (2, "")
    assert why in err
    assert err.count("\n") == 1
