"""``kgqa eval``: what it prints and how it ends."""

import json
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from kgqa.cli import main as command
from kgqa.tests.support import towns
from kgqa.tests.support.model_stub import Stub, failed, said, stubbed


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Kgqa = Callable[..., Ended]


@pytest.fixture
def evaluate(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    turtle: Callable[[str], Path],
) -> Kgqa:
    """Run the command on the towns, with a perfect model unless told otherwise."""
    towns.write(tmp_path / "towns.jsonl")
    turtle(towns.graph())
    monkeypatch.chdir(tmp_path)

    def ended(*arguments: str) -> Ended:
        usual = {
            "--dataset": "towns.jsonl",
            "--kg": "graph.ttl",
            "--model": "simulated:accuracy=1",
            "--out": "run",
        }
        given = [part for flag, value in usual.items() if flag not in arguments for part in (flag, value)]
        monkeypatch.setattr(sys, "argv", ["kgqa", "eval", *given, *arguments])
        with pytest.raises(SystemExit) as end:
            command.main()
        out, err = capsys.readouterr()
        return Ended(int(end.value.code or 0), out, err)

    return ended


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with stubbed() as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        yield stub


def test_a_run_ends_with_its_metrics(evaluate: Kgqa) -> None:
    ended = evaluate()
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].endswith(": 12 questions of towns on graph.ttl")
    assert [line.split() for line in lines if "Hits@1" in line] == [
        ["Hits@1", "100.0", "100.0", "to", "100.0"]
    ]
    assert [line.split()[:4] for line in lines if "LLM calls" in line] == [["LLM", "calls", "1", "1"]]
    assert lines[-1] == "run"
    assert {path.name for path in Path("run").iterdir()} == {
        ".lock",
        "intermediates.json",
        "run.json",
        "results.jsonl",
        "timings.jsonl",
        "metrics.json",
    }


def test_split_limit_and_seed_are_recorded(evaluate: Kgqa) -> None:
    assert evaluate("--split", "test", "--limit", "2", "--seed", "5", "--concurrency", "2").status == 0
    head = json.loads(Path("run/run.json").read_text())
    assert (head["dataset"]["split"], head["dataset"]["questions"], head["seed"]) == ("test", 2, 5)


def test_options_reach_the_method(evaluate: Kgqa) -> None:
    assert evaluate("--option", "depth=1", "--option", "budget.llm_calls=9").status == 0
    config = json.loads(Path("run/run.json").read_text())["config"]
    assert (config["depth"], config["budget"]["llm_calls"]) == (1, 9)


def test_failures_are_told_and_can_be_retried(evaluate: Kgqa, server: Stub) -> None:
    model = ("--model", "openai:gpt-4.1-mini", "--limit", "3")
    server.say(failed(401, "bad key"))
    ended = evaluate(*model)
    assert ended.status == 1
    assert "3 of 3 questions failed and count as wrong (" in " ".join(ended.out.split())
    assert "--retry-failed asks them again." in " ".join(ended.out.split())
    server.say(said("no JSON at all"))
    assert evaluate(*model).status == 1
    ended = evaluate(*model, "--retry-failed")
    assert (ended.status, "failed" in ended.out) == (0, False)


@pytest.mark.parametrize("method", ["io", "cot", "sc", "agent"])
def test_what_the_offline_model_is_of_no_use_to_fails_and_says_so(evaluate: Kgqa, method: str) -> None:
    ended = evaluate("--method", method, "--model", "offline")
    said = " ".join(ended.out.split())
    assert ended.status == 1
    assert "12 of 12 questions failed and count as wrong (" in said
    assert "provider:name); --retry-failed asks them again." in said
    assert "are not in graph.ttl" not in said


@pytest.mark.skipif(find_spec("langchain_community") is None, reason="needs the extra peers")
@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")
def test_a_query_of_the_model_is_run_again(evaluate: Kgqa) -> None:
    ended = evaluate("--method", "sparql_qa")
    rows = [line.split() for line in ended.out.splitlines() if line.startswith("KG-grounded")]
    assert (ended.status, rows[1]) == (0, ["KG-grounded,", "checked", "100.0", "100.0", "to", "100.0"])
    assert float(rows[0][1]) > 0


def test_a_model_on_the_price_lists_has_a_cost(evaluate: Kgqa, server: Stub) -> None:
    server.say(said("no JSON at all"))
    ended = evaluate("--model", "openai:gpt-4.1-mini", "--limit", "2")
    metrics = json.loads(Path("run/metrics.json").read_text())
    calls = 2 * metrics["llm_calls"]["mean"]
    assert calls > 0
    assert metrics["cost"]["total"] == pytest.approx(calls * (10 * 0.4e-6 + 4 * 1.6e-6))
    assert "US dollars" in ended.out


def test_a_model_on_no_price_list_has_no_cost(evaluate: Kgqa) -> None:
    assert "US dollars" not in evaluate().out
    assert json.loads(Path("run/metrics.json").read_text())["cost"] is None


def test_another_version_of_kgqa_goes_on_and_says_so(
    evaluate: Kgqa, caplog: pytest.LogCaptureFixture
) -> None:
    evaluate()
    head = json.loads(Path("run/run.json").read_text())
    Path("run/run.json").write_text(json.dumps({**head, "kgqa": "0.0.9"}))
    assert evaluate().status == 0
    assert "run was begun by kgqa 0.0.9 and goes on with" in caplog.text


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(
    evaluate: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def full(self: object, line: bytes) -> None:
        nonlocal written
        written += 1
        if written == 9:
            raise OSError(28, "No space left on device")
        write(self, line)

    from kgqa.evaluation.runs.records import AppendLog

    write = AppendLog.append
    monkeypatch.setattr(AppendLog, "append", full)
    ended = evaluate("--concurrency", "1")
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "cannot use run: No space left on device; what is recorded stays" in ended.err
    assert Path("run/results.jsonl").read_bytes().count(b"\n") == 4
    assert evaluate().status == 0
    assert Path("run/results.jsonl").read_bytes().count(b"\n") == towns.TOWNS


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--dataset", "nowhere.jsonl"], 2, "nowhere.jsonl"),
        (["--format", "scroll"], 2, "scroll"),
        (["--split", "dev"], 2, "no questions in the split 'dev'"),
        (["--kg", "nowhere.nt"], 3, "no such file: nowhere.nt"),
        (["--model", "nobody:nothing"], 4, "nobody"),
        (["--model", "simulated:accuracy=much"], 2, "accuracy"),
        (["--method", "guess"], 2, "no method is called 'guess'"),
        (["--option", "breadth=3"], 2, "compose has no option 'breadth'"),
        (["--option", "depth"], 2, "key=value"),
        (["--option", "seed=3"], 2, "seed is no option of the method; give --seed"),
        (["--out", "towns.jsonl"], 2, "cannot use"),
        (["--out", "."], 2, "holds other things and no run"),
    ],
)
def test_bad_input_is_one_clear_line(evaluate: Kgqa, arguments: list[str], status: int, words: str) -> None:
    before = {path.name for path in Path().iterdir()}
    ended = evaluate(*arguments)
    assert (ended.status, ended.out, ended.err.count("\n")) == (status, "", 1)
    assert ended.err.startswith("kgqa: ")
    assert words in ended.err
    assert {path.name for path in Path().iterdir()} == before


@pytest.mark.parametrize("arguments", [["--limit", "0"], ["--concurrency", "0"], ["--limit", "few"]])
def test_numbers_out_of_range_are_usage(evaluate: Kgqa, arguments: list[str]) -> None:
    assert evaluate(*arguments).status == 2


def test_another_run_in_the_folder_is_one_line(evaluate: Kgqa) -> None:
    evaluate()
    ended = evaluate("--option", "depth=2")
    assert ended.err == "kgqa: run holds another run: depth is 4 there and 2 here; give another --out\n"
    assert (ended.status, ended.out) == (2, "")


def test_a_graph_that_has_none_of_the_topics_is_told(evaluate: Kgqa, tmp_path: Path) -> None:
    other = tmp_path / "other.ttl"
    other.write_text("<http://o/a> <http://o/b> <http://o/c> .")
    ended = evaluate("--kg", str(other))
    assert "The topics of 12 of 12 questions are not in" in " ".join(ended.out.split())
    assert "--kg names another graph" in " ".join(ended.out.split())
