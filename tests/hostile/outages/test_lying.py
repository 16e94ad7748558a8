"""An endpoint whose answers are whole and of the right form, and lie: each question ends in one record."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox
import pytest

import kgqa
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.opening import open_graph
from kgqa.runtime.record import Outcome
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.unit.evaluation.simulation import family

Json = dict[str, Any]
Lie = Callable[[Json], Json]

OPENED = 2
"""Queries that an endpoint is opened by."""

METHODS = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog", "agent")
NUMBERS = ("x", "NaN", "²", "-7", "7" * 5_000, "1e9", "", "0.5")
BLANK = {"type": "bnode", "value": "b0"}
LITERAL = {"type": "literal", "value": "x"}


def everywhere(kind: str, other: Json, answer: Json) -> Json:
    """Put another term in the place of each of a kind."""
    rows = answer["results"]["bindings"]
    answer["results"]["bindings"] = [
        {name: other if term["type"] == kind else term for name, term in row.items()} for row in rows
    ]
    return answer


def headed(change: Callable[[list[str]], list[str]], answer: Json) -> Json:
    return answer | {"head": {"vars": change(answer["head"]["vars"])}}


def rowed(change: Callable[[list[Json]], list[Json]], answer: Json) -> Json:
    return answer | {"results": {"bindings": change(answer["results"]["bindings"])}}


LIES: dict[str, Lie] = {
    **{f"numbers: {n[:9]}": partial(everywhere, "literal", LITERAL | {"value": n}) for n in NUMBERS},
    "blank nodes": partial(everywhere, "uri", BLANK),
    "literals": partial(everywhere, "uri", LITERAL),
    "one node": partial(everywhere, "uri", {"type": "uri", "value": "http://other/"}),
    "a triple": partial(everywhere, "uri", {"type": "triple", "value": {"subject": BLANK}}),
    "no columns": partial(headed, lambda names: []),
    "other columns": partial(headed, lambda names: ["a", "b"]),
    "each column twice": partial(headed, lambda names: [*names, *names]),
    "columns the other way round": partial(headed, lambda names: names[::-1]),
    "one more column": partial(headed, lambda names: ["more", *names]),
    "no rows": partial(rowed, lambda rows: []),
    "empty rows": partial(rowed, lambda rows: [{} for _ in rows] + [{}]),
    "each row many times": partial(rowed, lambda rows: rows * 50),
    "yes": lambda answer: {"head": {}, "boolean": True},
}


@contextmanager
def lying(file: Path, lie: Lie, after: int) -> Iterator[str]:
    """Serve a file, and lie in all answers but so many."""
    store, told = ox.Store(), [0]
    store.bulk_load(path=str(file))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body are sent at once: the second of two would wait for word of the first

        def do_GET(self) -> None:
            self._answer(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["content-length"])).decode())

        def _answer(self, form: str) -> None:
            found = store.query(parse_qs(form)["query"][0])
            answer = json.loads(found.serialize(format=ox.QueryResultsFormat.JSON))
            told[0] += 1
            if told[0] > after and "results" in answer:
                answer = lie(answer)
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/sparql-results+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/sparql"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("lie", LIES)
async def test_each_question_ends_in_one_record(lie: str, tmp_path: Path, tried: Tried) -> None:
    file = tmp_path / "family.ttl"
    file.write_text(PREFIXES + family.FAMILY, encoding="utf-8")
    whole = open_graph([file])
    turn = list(LIES).index(lie)
    cases = [(METHODS[(turn + after) % len(METHODS)], after) for after in (0, 1, OPENED, OPENED + 1)]
    for method, after in cases:
        model = SimulatedModel(family.question("ulm bonn", "parent born_in"), whole, ErrorRates(recall=1.0))
        with lying(file, LIES[lie], after) as url:
            record = await kgqa.aask("Which ones?", topics=["Ann"], method=method, kg=url, model=model)
        assert record["outcome"] in get_args(Outcome)
        json.dumps(record, allow_nan=False)
    tried(faults=len(cases), questions=len(cases), records=len(cases))
