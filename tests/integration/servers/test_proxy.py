"""Each fault of the proxy does to a client what it says."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from kgqa.tests.support.servers.faults import (
    JSON,
    Answer,
    Anytime,
    Cut,
    Delay,
    Half,
    NotJson,
    StackTrace,
    Status,
    WrongType,
)
from kgqa.tests.support.servers.proxy import Proxy

ROWS = [{"n": {"type": "literal", "value": str(n)}} for n in range(50)]
BODY = json.dumps({"head": {"vars": ["n"]}, "results": {"bindings": ROWS}}).encode()


@pytest.fixture
def proxy():
    """A proxy before an endpoint that always gives the same 50 rows."""
    with Proxy("http://127.0.0.1:1/sparql?default-graph-uri=http%3A%2F%2Fg%2F") as endpoint:
        endpoint.faults = lambda request: lambda exchange: Answer(200, (("Content-Type", JSON),), BODY)
        with Proxy(endpoint.url) as proxy:
            yield proxy


def get(proxy):
    return httpx.get(proxy.url, timeout=5)


def test_what_passes_is_kept(proxy):
    query = "SELECT ?n { ?n ?p 'é&' }"
    url = f"{proxy.url}&timeout=5"
    asked = httpx.post(url, data={"query": query}, headers={"User-Agent": "tester"})
    assert (asked.status_code, asked.content, asked.headers["content-type"]) == (200, BODY, JSON)
    httpx.get(proxy.url, params={**httpx.URL(proxy.url).params, "query": "ASK {}"})
    httpx.post(proxy.url, content="ASK { ?s ?p ?o }", headers={"Content-Type": "application/sparql-query"})
    assert proxy.queries == [query, "ASK {}", "ASK { ?s ?p ?o }"]
    assert [request.method for request in proxy.requests] == ["POST", "GET", "POST"]
    assert proxy.requests[0].headers["user-agent"] == "tester"
    assert proxy.requests[0].parameters["timeout"] == ["5"]
    assert proxy.requests[1].parameters["default-graph-uri"] == ["http://g/"]


def test_a_connection_serves_one_request_after_the_other(proxy):
    with httpx.Client() as client:
        for _ in range(3):
            assert client.get(proxy.url).content == BODY
    assert len(proxy.requests) == 3


def test_faults_come_in_order_and_then_none(proxy):
    proxy.faults = [Status(503), Status(429, retry_after="1")]
    first, second, third = (get(proxy) for _ in range(3))
    assert [first.status_code, second.status_code, third.status_code] == [503, 429, 200]
    assert ("retry-after" in first.headers, second.headers["retry-after"]) == (False, "1")
    assert len(proxy.requests) == 3


def test_a_function_chooses_who_meets_a_fault(proxy):
    proxy.faults = lambda request: Status(500) if "DISTINCT" in request.query else None
    asked = ["SELECT DISTINCT", "SELECT", "DISTINCT"]
    answers = [httpx.post(proxy.url, data={"query": query}) for query in asked]
    assert [answer.status_code for answer in answers] == [500, 200, 500]


def test_a_delay_keeps_the_answer_back(proxy):
    proxy.faults = [Delay(0.2), Delay(30)]
    start = time.monotonic()
    assert get(proxy).content == BODY
    assert time.monotonic() - start >= 0.2
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(proxy.url, timeout=0.1)


def test_a_cut_connection_gives_no_answer(proxy):
    proxy.faults = [Cut()]
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        get(proxy)


def test_half_an_answer_with_its_length_is_seen_by_http(proxy):
    proxy.faults = [Half()]
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
        get(proxy)


@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_half_an_answer_without_length_is_only_torn_json(proxy, framing):
    proxy.faults = [Half(framing)]
    answer = get(proxy)
    assert (answer.status_code, answer.headers["content-type"]) == (200, JSON)
    assert answer.content == BODY[: len(BODY) // 2]


def test_the_wrong_type_is_a_page(proxy):
    proxy.faults = [WrongType()]
    answer = get(proxy)
    assert answer.headers["content-type"].startswith("text/html")
    assert "<html>" in answer.text


def test_prose_comes_under_the_right_type(proxy):
    proxy.faults = [NotJson()]
    answer = get(proxy)
    assert answer.headers["content-type"] == JSON
    with pytest.raises(ValueError, match="Expecting value"):
        answer.json()


@pytest.mark.parametrize("status", [200, 206])
def test_an_answer_of_virtuoso_out_of_time_is_whole_json_with_fewer_rows(proxy, status):
    proxy.faults = [Anytime(status)]
    answer = get(proxy)
    assert (answer.status_code, answer.headers["x-sql-state"]) == (status, "S1TAT")
    assert answer.json()["results"]["bindings"] == ROWS[:25]


def test_a_stack_trace_follows_half_the_json(proxy):
    proxy.faults = [StackTrace()]
    answer = get(proxy)
    assert (answer.status_code, answer.headers["content-type"]) == (200, JSON)
    assert answer.content.startswith(BODY[: len(BODY) // 2])
    assert "java.util.concurrent.TimeoutException" in answer.text


def test_requests_pass_side_by_side(proxy):
    arrived = threading.Barrier(8, timeout=10)

    def together(exchange):
        arrived.wait()  # nobody goes on before all eight are there
        return Answer(200, (("Content-Type", JSON),), BODY)

    proxy.faults = lambda request: together
    with ThreadPoolExecutor(8) as pool:
        assert all(answer.content == BODY for answer in pool.map(lambda _: get(proxy), range(8)))


def test_no_thread_and_no_connection_outlive_the_proxy():
    before = set(threading.enumerate())
    start = time.monotonic()
    with httpx.Client() as client, ThreadPoolExecutor(1) as pool:
        with Proxy("http://127.0.0.1:1/") as proxy:
            proxy.faults = [Status(503), Delay(30)]
            assert client.get(proxy.url).status_code == 503  # and the connection stays open
            waiting = pool.submit(httpx.get, proxy.url)
            while len(proxy.requests) < 2:
                time.sleep(0.01)
        assert isinstance(waiting.exception(5), httpx.HTTPError)
    assert set(threading.enumerate()) == before
    assert time.monotonic() - start < 5
