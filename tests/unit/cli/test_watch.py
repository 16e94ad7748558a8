"""``--watch`` on the sample graph: every method, and each step once."""

import sys
from collections.abc import Callable

import pytest

from kgqa.cli import main as command
from kgqa.graphs import METHODS
from kgqa.models.interface import Completion
from kgqa.models.offline import OfflineModel
from kgqa.prompts.base import Prompt, R

QUESTION = "Which currency is used in the country whose capital is Lima?"

LOOKAHEAD = ("--option", "lookahead=true")

ALL_MODEL = {"io", "cot", "sc", "agent", "sparql_qa"}

Watched = tuple[int, list[str], str]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Watched]:
    def ended(question: str, *arguments: str) -> Watched:
        given = ["kgqa", "ask", question, "--model", "offline", "--watch", *arguments]
        monkeypatch.setattr(sys, "argv", given)
        with pytest.raises(SystemExit) as end:
            command.main()
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out.splitlines(), err

    return ended


def test_an_option_of_null_wins_over_a_preset(watch: Callable[..., Watched]) -> None:
    null = ("--option", "encoder=null", "--option", "tau=null")
    status, lines, err = watch(QUESTION, "--method", "cog", "--option", "preset=paper", *null)
    assert (status, err) == (0, "")
    assert any(line.startswith("  from the graph, if I read you right · cog, offline") for line in lines)


@pytest.mark.parametrize(("method", "options"), [*((method, ()) for method in METHODS), ("cor", LOOKAHEAD)])
def test_every_method_can_be_watched(
    watch: Callable[..., Watched], method: str, options: tuple[str, ...]
) -> None:
    status, lines, err = watch(QUESTION, "--method", method, *options)
    if method in ALL_MODEL:
        assert (status, len(lines), err.count("\n")) == (4, 2, 1)
        assert err.endswith(("provider:name\n", "give a language model\n"))
    else:
        assert (status, err) == (0, "")
        said = ("proved by the graph", "from the graph, if I read you right")
        costs = tuple(f"  {each} · {method}, offline" for each in said)
        assert sum(line.startswith(costs) for line in lines) == 1
    assert sum(line.startswith("link ") for line in lines) == (method not in {"io", "cot", "sc"})
    recalls = method in {"compose", "pog_egp"} or bool(options)
    assert sum(line.startswith("exemplars ") for line in lines) == recalls


def test_steps_that_are_turned_off_do_not_show_the_one_before_again(watch: Callable[..., Watched]) -> None:
    _, lines, _ = watch("Which rivers flow in Peru and Brazil?", "--topic", "Peru", "--topic", "Brazil")
    assert [line.split()[0] for line in lines].count("link") == 1


def test_where_nobody_knows_the_answer_the_last_line_names_no_graph(
    watch: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(_: object, prompt: Prompt[R]) -> Completion[R]:
        return Completion(prompt.reply.model_validate({"reasoning": "", "answers": []}))  # type: ignore[arg-type]

    monkeypatch.setattr(OfflineModel, "ask", nothing)
    status, lines, _ = watch(QUESTION, "--method", "sc")
    assert (status, lines[-2]) == (1, "No answer found: the model does not know.")
    assert lines[-1].startswith("  no answer · sc, offline · ")
    assert lines[0].endswith("no answer · 10 times")
