"""What Python shows of objects and exceptions holds no key."""

import base64
import hashlib
import logging
import time
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgqa.addresses import (
    check_password,
    graph_url,
    redact_keys,
    redact_logged_urls,
    redact_name,
    redact_text,
    secrets_in,
    server_of_url,
)
from kgqa.api import OptionError, make_context
from kgqa.evaluation.runs.evaluate import evaluate
from kgqa.graphs import context_of
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.endpoint.transport import HttpTransport
from kgqa.kg.errors import KGError, KGUnavailable
from kgqa.models.chat import ChatModel
from kgqa.models.clients import ClientPool
from kgqa.models.error_messages import hide_secrets
from kgqa.models.errors import ModelError
from kgqa.models.registry import open_model
from kgqa.runtime.server_limits import Limits, NotServed
from kgqa.serving.authentication import read_keys
from kgqa.serving.checkpoints import checkpointer
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.secrets.conftest import Planted, echo
from kgqa.tests.hostile.secrets.planted import PARTS, address, leaks
from kgqa.tests.unit.models.pick import Pick


def shown(*things: object) -> bytes:
    """Return all that Python shows of things: in prints, in debuggers, and of errors with their causes."""
    texts = [text for thing in things for text in (str(thing), repr(thing), f"{thing!a}")]
    errors = [thing for thing in things if isinstance(thing, BaseException)]
    return "\n".join([*texts, *("".join(traceback.format_exception(error)) for error in errors)]).encode()


async def test_exceptions_show_no_key_whatever_a_server_says(planted: Planted, tried: Tried) -> None:
    faults = [echo(status) for status in (301, 400, 401, 403, 404, 409, 418, 500)]
    for fault in faults:
        planted.faults(fault, fault)
        model, graph = ChatModel(planted.model), Endpoint(planted.graph_url())
        with pytest.raises(ModelError) as failed:
            await model.ask(Pick())
        with pytest.raises(ModelError) as turned:
            await model.turn([])
        with pytest.raises(KGError) as refused:
            await graph.query("ASK {}")
        assert leaks(shown(failed.value, turned.value, refused.value, model, graph, graph.url)) == []
    tried(faults=3 * len(faults))


async def test_objects_show_no_key(planted: Planted) -> None:
    clients = ClientPool(planted.model)
    context = context_of("cor")(kg=(planted.graph_url(),), model=planted.model)
    client = await clients.get()
    things = [clients, clients.url, client, client.root_async_client.base_url, context, context.config()]
    assert leaks(shown(*things, read_keys(f"me:{PARTS['caller']}"))) == []
    assert context.kg[0].count("@") == 1  # it is known all the same


def test_refusals_do_not_repeat_what_was_given(planted: Planted, tried: Tried) -> None:
    url = planted.graph_url()
    limits = Limits(kg=((address("http://other/sparql", "graph"),),), model=("offline",), priors=())
    refusals: list[Any] = []
    for bad in ({"kg": (url,), "depth": "many"}, {"kg": (url,), "nothing": 1}):
        with pytest.raises(ValueError) as invalid:
            context_of("cor")(**bad)
        with pytest.raises(OptionError) as unread:
            make_context("cor", bad)
        refusals += [invalid.value, unread.value]
    for named in ({"kg": (url,)}, {"kg": ("sample",), "model": url}):
        with pytest.raises(NotServed) as held:
            limits.check(context_of("cor")(**named))
        refusals.append(held.value)
    with pytest.raises(ModelError) as unknown:
        open_model(url)
    assert leaks(shown(*refusals, unknown.value)) == []
    tried(inputs=5)


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "mysql", "redis"])
async def test_checkpoints_make_no_folder_of_an_address(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGQA_CHECKPOINTS", f"{scheme}://me:{PARTS['database password']}@127.0.0.1:1/base")
    with pytest.raises(RuntimeError, match="begins with postgresql://") as refused:
        async with checkpointer():
            pass
    assert leaks(shown(refused.value)) == []
    assert list(tmp_path.iterdir()) == []


async def test_a_run_that_cannot_begin_does_not_say_its_keys(planted: Planted, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as missing:
        await evaluate(dataset=tmp_path / "none.jsonl", kg=planted.graph_url(), out=tmp_path / "run")
    assert leaks(shown(missing.value)) == []


@pytest.mark.parametrize(
    ("text", "secrets", "left"),
    [
        ("Incorrect key: sk-0123456789***", ["sk-0123456789abcdef"], "Incorrect key: …***"),
        ("SK-0123456789", ["sk-0123456789"], "…"),
        ("key=ab.*cd+(x", ["ab.*cd+(x"], "key=…"),
        ("a word stays", ["word"], "a word stays"),
        ("a password goes", ["password"], "a … goes"),
        ("a passw0rd stays, passw0rd-12 goes", ["passw0rd-12"], "a passw0rd stays, … goes"),
        ("İ: k-0815, K-0815", ["K-0815"], "İ: …, …"),
        ("ends in 6789abcdef", ["sk-0123456789abcdef"], "ends in …"),
        ("nothing\0is lost", [], "nothing is lost"),
    ],
)
def test_secrets_and_parts_of_them_are_hidden(text: str, secrets: list[str], left: str) -> None:
    assert redact_text(text, secrets) == left


@pytest.mark.parametrize("sign", "@/?#")
def test_an_address_that_does_not_tell_where_its_password_ends_is_refused(sign: str) -> None:
    odd = f"http://me:12{sign}34@host/sparql?default-graph-uri=http://g/"
    if sign != "@":
        with pytest.raises(ValueError, match="write %40"):
            check_password(odd)
    assert graph_url(odd) == "http://host/sparql?default-graph-uri=http://g/"
    assert redact_name(f"openai:{odd}").endswith("//host/sparql?default-graph-uri=http://g/")
    assert any(odd[10:14] in key for key in secrets_in(odd))


@pytest.mark.parametrize("start", ["", "//", "http://"])
def test_an_address_without_a_scheme_keeps_its_password_to_itself(start: str) -> None:
    address = f"{start}me:Secret-1@host:80/v1?query=ASK&token=123456#x"
    shown = f"{start.removeprefix('//')}host:80/v1"
    assert server_of_url(address) == graph_url(address) == shown
    assert redact_keys(address) == f"{shown}?query=ASK"
    assert {"Secret-1", "123456"} <= {*secrets_in(address)}
    assert server_of_url(f"me:Secret-1@host/v1?to={GRAPH}") == "host/v1"


def test_a_path_alone_stays_as_it_is() -> None:
    assert redact_keys("/v1/search?q=1&key=2") == "/v1/search?q=1"


@pytest.mark.parametrize("name", ["Authorization", "auth", "oauth", "x-auth-or", "author_token", "apiKey"])
def test_a_name_of_a_key_is_told_from_an_author(name: str) -> None:
    assert secrets_in(f"http://h/?{name}=abcdef1#x&Author=Shakespeare&coauthors=Marlowe") == [
        "abcdef1#x",
        "abcdef1",
    ]


GRAPH = "?default-graph-uri=http://me@g/"


@pytest.mark.parametrize(
    "host", ["host", "host.org", "127.0.0.1:8890", "localhost:1", "[::1]", "[::1]:7", "a.b:"]
)
def test_a_path_and_a_graph_may_hold_what_ends_passwords(host: str) -> None:
    for rest in ("/a@b/sparql", f"/sparql{GRAPH}", f"/path@v1{GRAPH}"):
        check_password(f"http://{host}{rest}")
        assert graph_url(f"http://{host}{rest}") == f"http://{host}{rest}"
        assert server_of_url(f"http://{host}{rest}") == f"http://{host}{rest}".partition("?")[0]
    check_password(f"http://me:pw@{host}/sparql{GRAPH}")
    assert graph_url(f"http://me:pw@{host}/sparql{GRAPH}") == f"http://{host}/sparql{GRAPH}"


ADVICE = (
    "openai:m: http://127.0.0.1:1/v1 is of use to /home/user/ollama; set it up as service, or require none"
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "ollama"),
        ("OPENAI_API_KEY", "http://127.0.0.1:1/v1"),
        ("OPENAI_API_KEY", "EMPTY"),
        (
            "DATABASE_URL",
            "postgresql://service:hunter2x@host/ollama?sslmode=require&application_name=service",
        ),
        ("KGQA_API_KEYS", f"service:{PARTS['caller']}"),
        ("GOOGLE_KEY", "/"),
    ],
)
def test_words_that_all_know_stay_in_what_is_said(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(name, value)
    there = tmp_path / "key.json"
    there.touch()
    monkeypatch.setenv("SIGNING_KEY", str(there))
    request = SimpleNamespace(
        headers={"Authorization": "Bearer ollama"}, url="http://h/v1?api-version=of use to"
    )
    said = f"{ADVICE} {there.parent}"
    assert hide_secrets(said, SimpleNamespace(request=request)) == said  # type: ignore[arg-type]


def test_keys_of_the_environment_and_of_a_call_are_hidden_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_URLS", "sample, http://me:pa,ss%2F1@h/?apikey=k-081516,redis://:p-081517@h,sample")
    monkeypatch.setenv("B_PASSWORD", "/no/such/file-081518")
    basic = base64.b64encode(b"k-081519:p-081520").decode()
    headers = {"Authorization": f"Basic {basic}", "x-pass": "p-081521"}
    request = SimpleNamespace(headers=headers, url="http://h/?sig=p-081522")
    said = f"pa,ss%2F1 pa,ss/1 k-081516 p-081517 /no/such/file-081518 k-081519 p-081520 {basic}"
    said = f"{said} p-081521 p-081522"
    assert hide_secrets(said, SimpleNamespace(request=request)).split() == ["…"] * 10  # type: ignore[arg-type]


def test_long_keys_are_looked_for_in_no_time() -> None:
    keys = [f"-----BEGIN {n}{hashlib.shake_256(bytes([n])).hexdigest(1_200)}" for n in range(10)]
    text = f"no such {keys[3][700:760]} {'word ' * 300}"
    began = time.process_time()
    assert keys[3][700:760] not in redact_text(text, keys)
    assert time.process_time() - began < 1


def test_lines_of_log_are_kept_but_for_the_key(caplog: pytest.LogCaptureFixture) -> None:
    import httpx

    redact_logged_urls("kgqa.tests.http")
    log = logging.getLogger("kgqa.tests.http")
    with caplog.at_level(logging.INFO):
        log.info("%s %s %d", "GET", httpx.URL(f"http://me:{PARTS['graph user']}@host/a?key=1"), 200)
        log.info("%s", httpx.URL("http://other/search?q=1&page=a@b"))
        log.info("%(a)s", {"a": 1})
        log.info("no arguments")
    lines = ["GET http://host/a 200", "http://other/search?q=1&page=a@b", "1", "no arguments"]
    assert caplog.messages == lines


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("http_proxy", f"http://user:{PARTS['OPENAI_API_KEY']}#@x:1"),
        ("https_proxy", f"http://user:{PARTS['OPENAI_API_KEY']}/1@x:1"),
        ("HTTP_PROXY", "::::"),
        ("SSL_CERT_FILE", "/nonexistent"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_one_line_without_it(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(KGUnavailable, match="look at HTTP_PROXY") as caught:
        HttpTransport("https://127.0.0.1:9/sparql")
    assert leaks(str(caught.value).encode()) == []
    assert caught.value.__cause__ is None
    tried(faults=1)
