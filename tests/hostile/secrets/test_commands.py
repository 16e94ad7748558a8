"""Whatever a command prints, logs or writes, and however servers fail: no key can be read in it."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.cli import main as command
from kgqa.evaluation.runs import evaluate as evaluating
from kgqa.kg.doctor import query_limits as queries
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.secrets.conftest import AT_ONCE, Planted, echo
from kgqa.tests.hostile.secrets.planted import PARTS, everything, leaks
from kgqa.tests.integration.serving.asking import INPUT
from kgqa.tests.support.servers.faults import Cut, Fault, NotJson

Kgqa = Callable[..., tuple[int, str]]

STATUSES = (400, 401, 403, 404, 418, 422, 429, 500, 503)

ASKED = ["--method", "cor", INPUT["question"], "--topic", "Ada"]

PERSON = "http://t/e/"


@pytest.fixture
def kgqa(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Kgqa:
    """Run a command in this process; gives its status and all that it prints, which holds no key."""

    def ended(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["kgqa", *arguments])
        with pytest.raises(SystemExit) as end:
            command.main()
        printed = "".join(capfd.readouterr())
        assert leaks(printed.encode()) == [], printed
        return int(end.value.code or 0), printed

    return ended


def redirects(planted: Planted) -> Iterator[Fault]:
    for status in (301, 302, 307, 308):
        yield echo(status, ("Location", planted.elsewhere.url), AT_ONCE)


def test_no_failure_of_a_server_shows_a_key(planted: Planted, kgqa: Kgqa, log: Path, tried: Tried) -> None:
    asked = ["ask", *ASKED, "--model", planted.model]
    faults = [*map(echo, STATUSES), *redirects(planted), Cut(), NotJson()]
    for fault in faults:
        planted.faults(model=fault)
        status, said = kgqa(*asked, "--kg", planted.graph_url(), "--format", "json", "--watch")
        assert status == 4, said
        planted.faults(graph=fault)
        status, said = kgqa(*asked, "--kg", planted.graph_url(), "--format", "json")
        assert status == 3, said
    assert planted.elsewhere.requests == []  # neither the question nor a key
    assert leaks(everything(planted.folder)) == []
    assert leaks(log.read_bytes()) == []
    assert b"HTTP Request: POST" in log.read_bytes()  # and not because nothing was logged
    tried(faults=2 * len(faults), questions=2 * len(faults), records=2 * len(faults))


def test_each_key_goes_where_it_belongs(
    planted: Planted, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["ask", *ASKED, "--kg", planted.graph_url(), "--model", planted.model]
    assert kgqa(*asked)[0] == 0
    monkeypatch.setenv("OPENAI_BASE_URL", planted.models.url)
    assert kgqa(*asked[:-1], f"{planted.model}-beside")[0] == 0
    of_model = {"OPENAI_API_KEY", "model user", "model password", "model parameter"}
    of_graph = {"graph user", "graph password", "graph parameter"}
    assert set(leaks(repr(planted.models.requests).encode())) == of_model
    assert set(leaks(repr(planted.graphs.requests).encode())) == of_graph


def test_evaluation_its_processes_and_its_pages_hold_no_key(
    planted: Planted, kgqa: Kgqa, log: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    begun = lines_of_children(monkeypatch)
    questions = dataset(planted.folder / "questions.jsonl", 4)
    run = ["eval", "--method", "cor", "--dataset", str(questions)]
    run += ["--kg", planted.graph_url(), "--model", planted.model]
    planted.faults(model=echo(500))
    assert kgqa(*run, "--out", "run")[0] == 1
    planted.faults()
    monkeypatch.setattr(evaluating, "count_processes", lambda *_: 2)
    assert kgqa(*run, "--out", "run", "--retry-failed")[0] == 0
    assert kgqa("score", "run/results.jsonl", "--dataset", str(questions))[0] == 0
    assert kgqa("report", "run", "--out", "report.html")[0] == 0
    assert kgqa("kg", "info", planted.graph_url())[0] == 0
    monkeypatch.setattr(queries, "HEAVY_QUERY_SECONDS", 0.2)
    kgqa("kg", "check", planted.graph_url())
    planted.faults(graph=echo(500))
    kgqa("kg", "check", planted.graph_url())
    assert len(begun) == 2 and leaks(repr(begun).encode()) == []
    written = everything(planted.folder)
    assert leaks(written) == []
    assert all(name in written for name in (b"report.html", b"replies.sqlite", b"run.json"))
    assert leaks(log.read_bytes()) == []
    tried(faults=6, questions=8, records=8)


def test_names_that_are_no_addresses_are_not_repeated_with_their_passwords(
    planted: Planted, family: Path, kgqa: Kgqa, tried: Tried
) -> None:
    user, password = PARTS["graph user"], PARTS["graph password"]
    odd = [
        f"HTTP://{user}:x@127.0.0.1:1/sparql",
        f" http://{user}:x@127.0.0.1:1/sparql",
        f"http://x:{password}@127.0.0.1:1/sparql",  # with / and # as they are
        f"http://x:{user}",  # without a host
        f"http://x:12{user}@[::1/sparql",
        f"ftp://{user}:{password}@127.0.0.1/graph.ttl",
        f"postgresql://{user}:{password}@127.0.0.1/base",
    ]
    for name in odd:
        assert kgqa("ask", *ASKED, "--kg", name, "--format", "json")[0] == 3
        assert kgqa("ask", *ASKED, "--kg", name, "--kg", str(family), "--format", "json")[0] in {2, 3}
        assert kgqa("kg", "info", name)[0] == 3
        assert kgqa("ask", *ASKED, "--model", name, "--kg", str(family))[0] == 4
    assert leaks(everything(planted.folder)) == []
    tried(inputs=2 * len(odd), questions=3 * len(odd), records=3 * len(odd))


def test_an_address_is_not_taken_for_a_file(
    planted: Planted, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_CACHE", f"redis://:{PARTS['database password']}@127.0.0.1/0")
    status, said = kgqa("ask", *ASKED, "--model", f"{planted.model}-uncached", "--kg", planted.graph_url())
    assert (status, "KGQA_CACHE names a file" in said) == (4, True)
    assert leaks(everything(planted.folder)) == []


def test_keys_may_stand_in_a_file(planted: Planted, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    dotenv = Path(".env")
    dotenv.write_text(
        f"OPENAI_BASE_URL={planted.models.url}\nOPENAI_API_KEY='{PARTS['OPENAI_API_KEY']}'\n"
        f"KGQA_KG='{planted.graph_url()}'\nANTHROPIC_API_KEY={PARTS['ANTHROPIC_API_KEY']}\n"
    )
    try:
        assert kgqa("ask", *ASKED, "--model", f"{planted.model}-by-file", "--format", "json")[0] == 0
    finally:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "KGQA_KG", "ANTHROPIC_API_KEY"):
            monkeypatch.delenv(name)
    dotenv.unlink()
    assert leaks(repr(planted.models.requests).encode()) == ["OPENAI_API_KEY"]
    assert leaks(everything(planted.folder)) == []


def lines_of_children(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the command lines of processes that are begun, which every user of the machine can list."""
    begun: list[tuple[Any, ...]] = []
    begin = asyncio.create_subprocess_exec

    async def seen(*line: Any, **options: Any) -> Any:
        begun.append(line)
        return await begin(*line, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", seen)
    return begun


def dataset(path: Path, size: int) -> Path:
    answers = [{"id": f"{PERSON}{name}", "name": name.title()} for name in ("bonn", "ulm")]
    ada = [{"id": f"{PERSON}ada", "name": "Ada"}]
    lines = [
        {"id": str(n), "question": INPUT["question"], "topic_entities": ada, "answers": answers}
        for n in range(size)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path
