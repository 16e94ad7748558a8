"""``kgqa kg check``: what it says of endpoints that are well, and of those that are not."""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from kgqa.cli import main as command
from kgqa.kg.doctor import check as checking, query_limits as queries
from kgqa.kg.doctor.check import advise_public
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import virtuoso as virtuosos
from kgqa.tests.support.servers.faults import Answer, Cut, Delay, Fault, NotJson, Status, WrongType
from kgqa.tests.support.servers.fixtures import Serve
from kgqa.tests.support.servers.processes import free_port
from kgqa.tests.support.servers.proxy import Proxy, Request
from kgqa.tests.support.servers.scripted import answer, late

FREEBASE = DATA / "freebase" / "freebase_grasp_slice.nt.gz"
WIKIDATA = DATA / "wikidata" / "wikidata_slice.nt.gz"

PARTS = checking.CHECK_PARTS

SERVERS = pytest.mark.parametrize("server", ["oxigraph_server", "virtuoso"])

FAMILY = """
e:ann rdfs:label "Ann"@en ; r:child e:ben, e:eve ; r:born e:ulm .
e:ben rdfs:label "Ben"@en ; r:child e:cat ; r:born e:ulm .
e:eve rdfs:label "Eve"@en . e:cat rdfs:label "Cat"@en . e:ulm rdfs:label "Ulm"@en ; r:on e:danube .
e:danube rdfs:label "Danube"@en .
"""


@dataclass
class Checked:
    """What a check printed, and how it ended."""

    status: int
    out: str
    report: dict[str, Any] = field(default_factory=dict)

    def finding(self, check: str, level: str | None = None) -> dict[str, Any]:
        """Return the worst finding of a check."""
        found = [
            each
            for each in self.report["findings"]
            if each["check"] == check and level in (None, each["level"])
        ]
        assert found, [(each["check"], each["level"], each["says"]) for each in self.report["findings"]]
        return found[0]

    @property
    def bad(self) -> list[dict[str, Any]]:
        """Findings that are warnings or worse."""
        return [each for each in self.report["findings"] if each["level"] in ("warning", "fatal")]


Check = Callable[..., Checked]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Check:
    """Run ``kgqa kg check URL --json``; ``parts`` are those that are run, beside reaching and opening."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KGQA_USER_AGENT", raising=False)

    def run(url: str, parts: Sequence[str] | None = None, *, as_json: bool = True) -> Checked:
        kept = tuple(part for part in PARTS if parts is None or part.name in ("sample", *parts))
        monkeypatch.setattr(checking, "CHECK_PARTS", kept)
        monkeypatch.setattr(sys, "argv", ["kgqa", "kg", "check", url, *["--json"] * as_json])
        with pytest.raises(SystemExit) as end:
            command.main()
        out, err = capsys.readouterr()
        report = json.loads(out) if as_json and out else {}
        return Checked(int(end.value.code or 0), out or err, report)

    return run


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small graph."""
    path = tmp_path_factory.mktemp("family") / "family.ttl"
    names = "@prefix e: <http://t/e/> . @prefix r: <http://t/r/> . @prefix rdfs: "
    path.write_text(f"{names}<http://www.w3.org/2000/01/rdf-schema#> .{FAMILY}", encoding="utf-8")
    return path


@pytest.fixture
def served(request: pytest.FixtureRequest, server: str, family: Path) -> str:
    url: str = request.getfixturevalue(server)([family])
    return url


@pytest.fixture
def proxy(oxigraph_server: Serve, family: Path) -> Iterator[Proxy]:
    with Proxy(oxigraph_server([family])) as between:
        yield between


@SERVERS
@pytest.mark.parametrize("dump", [FREEBASE, WIKIDATA], ids=["freebase", "wikidata"])
def test_a_real_graph_on_a_real_server_is_good(
    check: Check, request: pytest.FixtureRequest, server: str, dump: Path
) -> None:
    if not dump.exists():
        pytest.skip(f"needs {dump.name}")
    url = request.getfixturevalue(server)([dump])
    found = check(url, None if server == "virtuoso" else [part.name for part in PARTS[:-1]])
    assert (found.status, found.bad, found.report["level"]) == (0, [], "good")
    dialect = dump.name.partition("_")[0]
    assert found.finding("dialect")["figures"] == {"dialect": dialect}
    assert found.finding("server")["says"].lower().startswith(server.partition("_")[0])
    assert found.finding("relations")["figures"]["relations"] > 500
    assert found.finding("queries")["figures"]["kinds"] == 11
    assert found.finding("row limit")["figures"]["rows"] > 10_000
    assert found.finding("sorting")["figures"]["rows"] >= 10_000
    assert 0 < found.finding("latency")["figures"]["median"] < 5
    assert found.finding("look-up")["level"] == found.finding("mediators")["level"] == "good"
    assert found.report["seconds"] < 30


@pytest.mark.parametrize("server", ["oxigraph_server"])
def test_people_get_a_line_for_each_finding(check: Check, served: str) -> None:
    found = check(served, ["names", "queries"], as_json=False)
    lines = found.out.splitlines()
    assert found.status == 0
    assert lines[0] == served.partition("?")[0]
    assert [line.split()[1] for line in lines[1:5]] == ["reachable:", "server:", "dialect:", "relations:"]
    assert lines[-1].startswith("kgqa can use it (")
    assert all(line.startswith("good ") for line in lines[1:-1])


def test_a_time_limit_is_told_from_none(check: Check, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked is as much as a server does in a while, and ends by itself."""
    monkeypatch.setattr(queries, "HEAVY_QUERY_SECONDS", 0.6)
    sides: list[int] = []

    def count(request: Request) -> Fault | None:
        if "?c {" not in request.query:
            return None
        sides.append(request.query.count('"') // 6)
        return late(answer("1", column="n"), 1e-6 * sides[-1] ** 3)

    proxy.faults = count
    none = check(proxy.url, ["time limit"])
    assert (none.status, none.finding("time limit")["level"]) == (0, "note")
    assert "--timeout-s" in none.finding("time limit")["advice"]
    assert (sides[0], sides) == (20, sorted(sides))
    assert 1e-6 * sides[-1] ** 3 < 0.8
    proxy.faults = lambda request: _Said(503, b"Query timeout") if "?c {" in request.query else None
    own = check(proxy.url, ["time limit"]).finding("time limit")
    assert (own["level"], own["says"]) == ("good", "it stops a query that takes too long, and says so")


def test_a_server_that_is_still_busy_is_a_warning(
    check: Check, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_HEAVY_QUERY_SECONDS", 0.2)
    monkeypatch.setattr(checking, "REST_SECONDS", 0.2)
    asked: list[str] = []

    def busy(request: Request) -> Fault | None:
        asked.append(request.query)
        return Delay(20) if any("?c {" in each for each in asked) else None

    proxy.faults = busy
    found = check(proxy.url, ["time limit"])
    assert (found.status, [each["check"] for each in found.bad]) == (1, ["time limit", "still busy"])
    assert "may be busy with it" in found.finding("time limit")["says"]
    assert "it goes on with what nobody waits for" in found.finding("still busy")["advice"]


@dataclass(frozen=True)
class _Said:
    """An error of the server, in its words."""

    code: int
    words: bytes

    def __call__(self, exchange: Any) -> Answer:
        return Answer(self.code, (("Content-Type", "text/plain"),), self.words)


@pytest.mark.parametrize(
    ("fault", "says", "advice"),
    [
        (Status(401), "refuses access (401)", "user"),
        (Status(403), "refuses access (403)", "user"),
        (Status(404), "no SPARQL endpoint at this address (404)", "/sparql"),
        (Status(429, "60"), "asks to wait 60 s (429)", "wait"),
        (Status(503), "cannot answer now: HTTP 503", "log"),
        (WrongType(), "no SPARQL endpoint: an answer of type text/html", "/query"),
        (NotJson(), "not SPARQL's JSON", "/query"),
        (Cut(), "the connection broke", "log"),
        (Delay(9), "no answer within 5 s", "busy"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_in_plain_words(
    check: Check, proxy: Proxy, fault: Fault, says: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.kg.doctor.check.REACH_PAUSE_SECONDS", 0.02)
    if isinstance(fault, Delay):
        monkeypatch.setattr("kgqa.kg.doctor.check.REACH_SECONDS", 0.2)
        says = "no answer within 0.2 s"
    proxy.faults = lambda _: fault
    found = check(proxy.url)
    assert found.status == 3
    [only] = found.report["findings"]
    assert (only["check"], only["level"]) == ("reachable", "fatal")
    assert says in only["says"]
    assert advice in only["advice"]


def test_one_bad_answer_before_a_good_one_is_a_warning(check: Check, proxy: Proxy) -> None:
    proxy.faults = [Status(503, "0")]
    found = check(proxy.url, [])
    assert (found.status, found.report["level"]) == (1, "warning")
    assert (
        found.finding("reachable")["says"]
        == "it answered at try 2 only; before: the server cannot answer now: HTTP 503: not now"
    )


def test_nothing_listening_and_no_such_host(check: Check) -> None:
    assert (
        check(f"http://127.0.0.1:{free_port()}/sparql").finding("reachable")["says"]
        == "nothing listens on this port"
    )
    found = check("http://nowhere.invalid/sparql")
    assert (found.status, found.finding("reachable")["says"]) == (3, "there is no host of this name")


@pytest.mark.parametrize("url", ["graph.ttl", "http://[x/sparql", "localhost:8890/sparql"])
def test_what_is_no_address_is_wrong_usage(check: Check, url: str) -> None:
    found = check(url)
    assert (found.status, found.out.count("\n")) == (2, 1)
    assert "write it as http://host:8890/sparql" in found.out


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(302 if self.path.startswith("/old") else 200)
        self.send_header("Location", "http://elsewhere/sparql")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>Welcome</html>")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def page() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_web_page_is_no_endpoint(check: Check, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.kg.doctor.check.REACH_PAUSE_SECONDS", 0.02)
    assert "no SPARQL endpoint" in check(page).finding("reachable", "fatal")["says"]
    assert "use http://elsewhere/sparql" in check(f"{page}/old").finding("reachable", "fatal")["says"]
    secure = check(page.replace("http:", "https:")).finding("reachable", "fatal")
    assert ("no secure connection" in secure["says"], "http://" in secure["advice"]) == (True, True)


def test_a_server_that_keeps_rows_back_or_holds_none_is_unusable(
    check: Check, tmp_path_factory: pytest.TempPathFactory, family: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := virtuosos.missing():
        pytest.skip(reason)
    with virtuosos.started(tmp_path_factory.mktemp("few"), rows=50) as server:
        url = server.load([family], "http://family/")
        found = check(url, ["queries", "row limit"])
        lost = found.finding("row limit")
        assert (found.status, lost["level"], lost["figures"]) == (3, "fatal", {"rows": 50})
        assert "answers are cut to 50 rows" in lost["says"]
        assert "ResultSetMaxRows" in lost["advice"]
        late = ("names", "sorting")
        hasty = [part._replace(seconds=0.001) if part.name in late else part for part in PARTS]
        monkeypatch.setattr(sys.modules[__name__], "PARTS", hasty)
        found = check(url, ["row limit", *late])
        assert found.finding("sorting")["advice"] == "try again when it has less to do"
        slow = found.finding("names")
        assert "ResultSetMaxRows = 100000" in slow["advice"]
        assert "names are listed part by part" in slow["advice"]
        empty = check(url.replace("family", "nothing"))
        assert (empty.status, empty.finding("graph")["says"]) == (3, "it holds no triples")
        assert "?default-graph-uri=http%3A%2F%2Ffamily%2F" in empty.finding("graph")["advice"]


def test_the_triples_of_the_server_itself_are_no_graph(check: Check, virtuoso: Serve, family: Path) -> None:
    found = check(virtuoso([family]).partition("?")[0], [])
    assert (found.status, found.report["level"]) == (1, "warning")
    assert "own triples" in found.finding("graph")["says"]
    assert "?default-graph-uri=" in found.finding("graph")["advice"]


@pytest.mark.parametrize(
    ("word", "feature"),
    [("STRBEFORE", "STRBEFORE"), ("EXISTS", "EXISTS"), ("MIN(", "GROUP BY with MIN"), ("IRI(", "IRI()")],
)
def test_what_the_server_does_not_know_is_named(check: Check, proxy: Proxy, word: str, feature: str) -> None:
    def refuse(request: Request) -> Fault | None:
        return Status(400) if word in request.query else None

    proxy.faults = refuse
    found = check(proxy.url, ["queries"])
    assert found.status == 3
    assert f"does not know {feature}: " in found.finding("queries", "fatal")["advice"]


def test_answers_that_do_not_agree_are_unusable(check: Check, proxy: Proxy) -> None:
    """A server that forgets the second part of a UNION has no way back."""

    def forget(request: Request) -> Fault | None:
        return _Without("forward", "0") if "?forward" in request.query else None

    proxy.faults = forget
    found = check(proxy.url, ["queries"])
    assert (found.status, found.finding("queries")["level"]) == (3, "fatal")
    assert "a relation of the entity is not listed" in found.finding("queries")["says"]


@dataclass(frozen=True)
class _Without:
    """The real answer without the rows that have this value."""

    column: str
    value: str

    def __call__(self, exchange: Any) -> Any:
        answer = exchange.fetch()
        told = json.loads(answer.body)
        rows = told["results"]["bindings"]
        told["results"]["bindings"] = [
            row for row in rows if row.get(self.column, {}).get("value") != self.value
        ]
        return replace(answer, body=json.dumps(told).encode())


def test_requests_at_a_time_that_are_too_many_are_a_warning(check: Check, proxy: Proxy) -> None:
    seen: list[str] = []

    def limited(request: Request) -> Fault | None:
        if "?end ?relation ?forward WHERE { VALUES ?end { <http://t/e/ann> }" not in request.query:
            return None
        seen.append(request.query)
        return Status(429, "1") if len(seen) > 1 else None

    proxy.faults = limited
    found = check(proxy.url, ["parallel"])
    assert (found.status, found.finding("parallel")["level"]) == (1, "warning")
    assert "too many requests" in found.finding("parallel")["says"]


def test_long_queries_that_are_refused_are_named(check: Check, proxy: Proxy) -> None:
    proxy.faults = lambda request: Status(413) if len(request.query) > 50_000 else None
    some = check(proxy.url, ["long queries"]).finding("long queries")
    assert (some["level"], "100 kB is refused" in some["says"]) == ("warning", True)
    proxy.faults = lambda request: Status(405) if request.method == "POST" else None
    none = check(proxy.url, ["long queries"]).finding("long queries")
    assert (none["level"], "POST" in none["advice"]) == ("fatal", True)


def test_a_slow_endpoint_is_done_with_in_time(
    check: Check, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "TOTAL_SECONDS", 1.2)
    proxy.faults = lambda _: Delay(0.25)
    found = check(proxy.url)
    assert found.report["seconds"] < 6  # a machine may be busy
    assert found.status == 1
    assert any("the time was up" in each["says"] for each in found.bad)


def test_an_endpoint_that_stops_answering_is_done_with_in_time(
    check: Check, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "OPENING_SECONDS", 0.3)
    proxy.faults = lambda _: Delay(9) if len(proxy.requests) > 1 else None
    found = check(proxy.url)
    assert (found.status, found.report["seconds"] < 6) == (3, True)
    assert found.finding("graph")["says"] == "it cannot be opened within 0.3 s"


def test_names_in_other_languages_and_none_are_told(
    check: Check, oxigraph_server: Serve, turtle: Callable[..., Path]
) -> None:
    german = oxigraph_server(
        [turtle('e:a rdfs:label "Wien"@de ; r:r e:b . e:b rdfs:label "Ulm"@de .', "de.ttl")]
    )
    assert check(german, ["names"]).finding("languages", "good")["says"] == "de (2)"
    tags = ", ".join(f'"Wien"@{a}{b}' for a in "abcd" for b in "xyz")
    many = oxigraph_server([turtle(f'e:a rdfs:label {tags}, "Vienna"@en ; r:r e:b .', "many.ttl")])
    assert "a node has 13 names" in check(many, ["names"]).finding("languages", "warning")["says"]
    none = oxigraph_server([turtle("e:a r:r e:b .", "none.ttl")])
    assert "names are made of IRIs" in check(none, ["names"]).finding("names", "warning")["says"]


def test_public_services_are_told_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGQA_USER_AGENT", raising=False)
    first, second = advise_public("https://query.wikidata.org/sparql")
    assert ("60 s" in first.advice, second.level) == (True, "warning")
    assert "KGQA_USER_AGENT" in second.advice
    assert [each.level for each in advise_public("https://qlever.dev/api/wikidata")] == ["note", "note"]
    monkeypatch.setenv("KGQA_USER_AGENT", "study/1.0 (mailto:me@example.org)")
    assert len(advise_public("https://query.wikidata.org/sparql")) == 1
    assert advise_public("http://wikidata.org.example.com/sparql") == []


def test_passwords_are_not_shown(check: Check, proxy: Proxy) -> None:
    url = proxy.url.replace("http://", "http://me:secret@")
    found = check(url, ["names", "queries"])
    assert found.status == 0
    assert "secret" not in found.out
