"""What is sent to an endpoint, and what of it is never shown."""

import asyncio
import base64
import json
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.endpoint.transport import MAX_GET_URL_CHARS, HttpTransport
from kgqa.kg.errors import KGError, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql import chain_queries
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.retries import RetryPolicy
from kgqa.tests.support.servers.faults import Answer, Exchange, Fault
from kgqa.tests.support.servers.proxy import Proxy, Request
from kgqa.tests.support.servers.scripted import answer, saying, told

ASK = "SELECT ?x { ?x ?y ?z }"

SECRETS = ("p@ss/word:1", "key-0815", base64.b64encode(b"me:p@ss/word:1").decode())


def send(url: str, query: str = ASK, seconds: float = 5.0) -> None:
    async def run() -> None:
        transport = HttpTransport(url)
        try:
            await transport.send(query, seconds)
        finally:
            await transport.close()

    asyncio.run(run())


def secret(url: str) -> str:
    """Put a user, a password and a key into an address."""
    return (
        url.replace("http://", "http://me:p%40ss%2Fword%3A1@") + "?default-graph-uri=http://g/&key=key-0815"
    )


@pytest.mark.parametrize(
    ("query", "method"),
    [
        (ASK, "GET"),
        (ASK + " " * (MAX_GET_URL_CHARS - len(ASK) + 1), "POST"),
        (ASK + " #" + "語" * (MAX_GET_URL_CHARS // 9), "POST"),
    ],
    ids=["short", "long", "long once encoded"],
)
def test_long_queries_are_posted(query: str, method: str) -> None:
    with saying(then=answer()) as server:
        send(server.url, query)
    (request,) = server.requests
    assert (request.method, request.query) == (method, query)
    assert len(request.target) < 3 * MAX_GET_URL_CHARS
    assert request.headers["accept"] == "application/sparql-results+json, application/json;q=0.5"
    assert (method == "POST") == (request.headers.get("content-type") == "application/x-www-form-urlencoded")


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_whatever_a_query_says_arrives_as_it_is(text: str) -> None:
    hostile = f"{text} INSERT DELETE PREFIX CONSTRUCT a: <b> # {text}"
    chain = Chain(Entity("http://x/a"), (Hop("http://x/insert"),))
    query = chain_queries.trace_chain(chain, [Literal(hostile)], ())
    with saying(then=answer()) as server:
        send(server.url, query)
    assert server.queries == [query]


@pytest.mark.parametrize("query", [ASK, ASK + " " * MAX_GET_URL_CHARS])
def test_parameters_user_and_password_of_the_address_are_sent(query: str) -> None:
    with saying(then=answer()) as server:
        send(secret(server.url), query)
    (request,) = server.requests
    assert request.parameters["default-graph-uri"] == ["http://g/"]
    assert request.parameters["key"] == ["key-0815"]
    assert request.headers["authorization"] == f"Basic {SECRETS[2]}"
    assert "@" not in request.headers["host"]


@pytest.mark.parametrize("path", ["/sparql/", "/", "/a%20b/sparql"])
def test_the_path_is_asked_as_it_is_written(path: str) -> None:
    with saying(then=answer()) as server:
        send(server.url.replace("/sparql", path))
    assert server.requests[0].target.startswith(f"{path}?")


def test_a_server_is_told_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    with saying(then=answer()) as server:
        send(server.url)
        monkeypatch.setenv("KGQA_USER_AGENT", "Mühle/1.0 (me@example.org)\r\nX-Evil: 1")
        send(server.url)
    usual, own = (request.headers for request in server.requests)
    assert usual["user-agent"].startswith("kgqa (httpx/")
    assert own["user-agent"] == "M?hle/1.0 (me@example.org) X-Evil: 1"
    assert "x-evil" not in own


def test_only_a_server_that_ends_such_queries_in_an_error_is_told_the_deadline() -> None:
    with saying(then=answer()) as server:
        send(server.url)
    (request,) = server.requests
    assert request.headers["x-bigdata-max-query-millis"] == "4500"
    assert "timeout" not in request.parameters


def test_an_address_that_would_have_half_answers_sent_is_refused() -> None:
    with pytest.raises(KGUnavailable, match="leave the timeout out of the address"):
        HttpTransport("http://127.0.0.1:1/sparql?timeout=5000")


@pytest.mark.parametrize(
    "url",
    ["http://", "http:///sparql", "http://host:99999/", "http://[::1/sparql", "http://a b/", "https://?x=1"],
)
def test_what_is_no_address_is_said_in_one_line(url: str) -> None:
    with pytest.raises(KGUnavailable) as raised:
        open_graph([url])
    assert "\n" not in str(raised.value)


async def test_a_query_that_is_no_text_is_refused() -> None:
    with saying(then=answer()) as server, pytest.raises(KGRejected, match="cannot be sent"):
        await Endpoint(server.url).query("SELECT ?x { ?x ?y '\ud800' }")
    assert server.requests == []


def echo(status: int, *headers: tuple[str, str]) -> Callable[[Exchange], Answer]:
    """A server that shows in its error all that it was sent."""

    def fault(exchange: Exchange) -> Answer:
        request = exchange.request
        body = f"{request.target} {request.headers} me:p@ss/word:1 key-0815"
        return told(body.encode(), *headers, status=status)

    return fault


FAULTS = [
    *(echo(status) for status in (400, 401, 403, 404, 418, 429, 500, 503, 504)),
    echo(429, ("Retry-After", "3600")),
    echo(301, ("Location", "http://me:p%40ss%2Fword%3A1@other/sparql?key=key-0815")),
    echo(302),
    echo(200),
    None,
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_no_failure_shows_what_lets_someone_in(fault: Callable[[Exchange], Answer] | None) -> None:
    with saying(then=fault) as server:
        endpoint = Endpoint(secret(server.url), retries=RetryPolicy(attempts=1))
        with pytest.raises(KGError) as raised:
            await endpoint.query(ASK)
        shown = "".join(traceback.format_exception(raised.value)) + repr(endpoint) + endpoint.url
    assert not [word for word in SECRETS if word in shown]
    assert str(raised.value).startswith(f"{server.url}: ")


@pytest.mark.parametrize("user", ["Virtuoso", "virtuoso", "sparql", "error-37000", "timeout"])
@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (500, "Virtuoso 37000 Error SP030: SPARQL compiler, line 1: syntax error", KGRejected),
        (500, "\n Virtuoso 37000 Error", KGRejected),
        (500, "Virtuoso S1T00 Error: timed out; timeout: execution time", KGTimeout),
        (500, "Virtuoso 40001 Error", KGUnavailable),
    ],
)
async def test_whose_fault_an_error_is_does_not_hang_on_what_is_hidden_of_it(
    user: str, status: int, text: str, kind: type[KGError]
) -> None:
    with saying(then=told(text.encode(), status=status)) as server:
        url = server.url.replace("http://", f"http://{user}:SP030@").replace("?", "")
        with pytest.raises(kind) as raised:
            await Endpoint(f"{url}?apikey={user}&pass=37000+E", retries=RetryPolicy(attempts=1)).query(ASK)
    assert type(raised.value) is kind
    if user[0] in "vVs":
        assert "Virtuoso" in str(raised.value) and ("SPARQL" in str(raised.value)) == ("SPARQL" in text)


@pytest.mark.parametrize(
    ("rest", "target", "graphs"),
    [
        ("/a@b/sparql", "/a@b/sparql?", None),
        ("/sparql?default-graph-uri=http://me@g/", "/sparql?", ["http://me@g/"]),
        ("/sparql?named-graph-uri=mailto:a@b", "/sparql?", None),
    ],
)
def test_a_sign_that_stands_after_the_host_is_no_end_of_a_password(
    rest: str, target: str, graphs: list[str] | None
) -> None:
    with saying(then=answer()) as server:
        send(server.url.replace("/sparql", rest))
        send(server.url.replace("/sparql", rest).replace("http://", "http://me:pw@").replace("a@b/", "a/"))
    first, second = server.requests
    assert first.target.startswith(target)
    assert first.parameters.get("default-graph-uri") == graphs
    assert second.headers["authorization"] == f"Basic {base64.b64encode(b'me:pw').decode()}"


async def test_no_record_shows_what_lets_someone_in(
    oxigraph_server: Callable[[list[Path]], str], turtle: Callable[[str], Path]
) -> None:
    with Proxy(
        oxigraph_server([turtle("e:ada rdfs:label 'Ada' ; r:knows e:bob . e:bob rdfs:label 'Bob' .")])
    ) as proxy:
        url = secret(proxy.url).replace("?default-graph-uri=http://g/&", "&")
        record = await kgqa.aask("Whom does Ada know?", topics=["Ada"], kg=url, model="offline")
    assert record["answers"]
    assert not [word for word in (*SECRETS, "key-0815", "p%40ss") if word in str(record)]


@pytest.mark.parametrize(("refused", "status", "taken"), [("GET", 405, "POST"), ("POST", 501, "GET")])
def test_a_server_of_one_method_is_asked_by_that(refused: str, status: int, taken: str) -> None:
    queries = [ASK, f"# {'x' * MAX_GET_URL_CHARS}\n{ASK}"]
    with saying(then=None) as proxy:
        proxy.faults = lambda request: (
            lambda _: Answer(status, (), b"") if request.method == refused else answer("a")
        )
        endpoint = Endpoint(proxy.url)
        for _ in range(2):
            assert [endpoint.query_now(query).rows for query in queries] == [[(Literal("a"),)]] * 2
        methods = [request.method for request in proxy.requests]
        assert methods.count(refused) == 1 and methods[-3:] == [taken] * 3
        if taken == "GET":
            with pytest.raises(KGRejected, match="too long for GET, and the server does not take POST"):
                endpoint.query_now(f"# {'x' * 70_000}\n{ASK}")
        proxy.faults = lambda request: lambda _: Answer(405, (), b"")
        with pytest.raises(KGUnavailable, match=r"no SPARQL endpoint at this address \(405\)"):
            Endpoint(proxy.url).query_now(ASK)


def test_both_methods_have_one_deadline() -> None:
    def slow(_: Exchange) -> Answer:
        time.sleep(0.4)
        return Answer(405, (), b"")

    with saying(then=slow) as server, pytest.raises(httpx.ReadTimeout):
        send(server.url, seconds=0.6)


def test_an_address_that_only_lacks_a_slash_is_told_with_it() -> None:
    moved = told(b"", ("Location", "/sparql/?query=x"), status=301)
    with saying(then=moved) as proxy, pytest.raises(KGUnavailable, match=r"it has moved; use \S+/sparql/$"):
        Endpoint(proxy.url).query_now(ASK)


@pytest.mark.parametrize(
    ("challenge", "told_of"),
    [
        ('Bearer realm="x"', "it wants Bearer authentication"),
        ('Digest realm="x, y", nonce="z", Bearer', "it wants Digest, Bearer authentication"),
        ("Basic", "put user and password"),
        ('Negotiate, Basic realm="x"', "put user and password"),
        ("", "put us"),
    ],
)
def test_how_a_server_wants_to_be_asked_is_told(challenge: str, told_of: str) -> None:
    headers = [("WWW-Authenticate", challenge)] if challenge else []
    with saying(then=told(b"", *headers, status=401)) as proxy, pytest.raises(KGUnavailable, match=told_of):
        Endpoint(proxy.url).query_now(ASK)


def test_triples_in_named_graphs_alone_are_told_with_their_graphs() -> None:
    def choose(request: Request) -> Fault:
        names = [{"graph": {"type": "uri", "value": f"http://g/{n}"}} for n in (1, 2)]
        named = {"head": {"vars": ["graph"]}, "results": {"bindings": names}}
        none = {"head": {"vars": ["relation", "n"]}, "results": {"bindings": []}}
        body = named if "GRAPH ?graph" in request.query else none
        if not ("GRAPH ?graph" in request.query or "GROUP BY ?relation" in request.query):
            return lambda _: answer("0", column="n")
        return lambda _: told(json.dumps(body).encode())

    with saying(then=None) as proxy:
        proxy.faults = choose
        with pytest.raises(
            KGUnavailable, match=r"\?default-graph-uri=http%3A%2F%2Fg%2F1 \(there is http://g/1, h"
        ):
            open_graph(proxy.url)
