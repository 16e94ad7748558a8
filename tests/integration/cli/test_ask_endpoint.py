"""``kgqa ask`` at an endpoint that is away: one clear line, in seconds, and status 3."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa.cli import main as command
from kgqa.tests.support.servers.faults import Fault, Status
from kgqa.tests.support.servers.proxy import Proxy, Request

TOWN = "e:ulm rdfs:label 'Ulm' ; r:river e:danube . e:danube rdfs:label 'Danube' ; r:mouth e:sea ."

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Ask:
    """Run ``kgqa ask`` in this process; gives its status and what it prints."""
    monkeypatch.chdir(tmp_path)

    def ended(*options: str) -> tuple[int, str, str]:
        question = ["Which river flows through Ulm?", "--topic", "Ulm"]
        monkeypatch.setattr(sys, "argv", ["kgqa", "ask", *question, *options])
        with pytest.raises(SystemExit) as end:
            command.main()
        return int(end.value.code or 0), *capsys.readouterr()

    return ended


def test_nothing_listens(ask: Ask) -> None:
    start = time.monotonic()
    status, out, err = ask("--kg", "http://me:secret-word@127.0.0.1:1/sparql?key=secret-key")
    assert time.monotonic() - start < 5
    assert (status, out) == (3, "")
    assert err.startswith("kgqa: http://127.0.0.1:1/sparql: no connection; does the server run? (")
    assert err.count("\n") == 1
    assert "secret" not in err


def test_it_goes_away_in_the_middle(
    ask: Ask, oxigraph_server: Callable[[list[Path]], str], turtle: Callable[[str], Path]
) -> None:
    with Proxy(oxigraph_server([turtle(TOWN)])) as proxy:
        status, out, _ = ask("--kg", proxy.url, "--format", "json")
        assert (status, json.loads(out)["outcome"]) == (0, "grounded")
        linked = next(query for query in proxy.queries if "?fresh" in query and "/ulm" in query)
        followed = proxy.queries[proxy.queries.index(linked) + 1]

        def choose(request: Request) -> Fault | None:
            return Status(503) if followed in proxy.queries else None

        proxy.requests.clear()
        proxy.faults = choose
        other = f"{proxy.url}&as-if=new"  # what is open already has the answers
        status, out, err = ask("--kg", other, "--format", "json")
    record = json.loads(out)
    assert (status, record["outcome"], record["answers"]) == (3, "kg_unavailable", [])
    assert err == f"kgqa: {proxy.url.partition('?')[0]}: HTTP 503: not now\n"
