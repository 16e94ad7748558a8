"""Whatever an endpoint does to a query, a question ends in its right answer or in ``kg_unavailable``.

Where one of the last queries fails, which are to prove it, the right answer is less than ``grounded``.

Each method answers a question over an Oxigraph server behind a proxy that puts faults in its way.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.endpoint import client
from kgqa.kg.endpoint.client import CircuitBreaker
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.retries import RetryPolicy
from kgqa.tests.support.doubles import timeless
from kgqa.tests.support.servers.faults import (
    Anytime,
    Cut,
    Delay,
    Fault,
    Half,
    NotJson,
    StackTrace,
    Status,
    WrongType,
)
from kgqa.tests.support.servers.proxy import Proxy, Request
from kgqa.tests.support.servers.scripted import told
from kgqa.tests.unit.evaluation.simulation import family

METHODS = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog", "agent")

DEADLINE = 20.0
"""Seconds of a request: many, so that a busy machine is no fault."""

DEADLINE_OF_DELAYED = 0.5
"""Where a fault is to be late: few, since it is waited for."""

PASSING: dict[str, Fault] = {
    "delay": Delay(9),
    "429": Status(429, "0.01"),
    "503": Status(503),
    "504": Status(504),
    "cut": Cut(),
    "half": Half(),
    "half in chunks": Half("chunked"),
    "half to the end": Half("close"),
    "page": WrongType(),
    "prose": NotJson(),
    "stack trace": StackTrace(),
}
"""Faults that a second request may be spared."""

FINAL: dict[str, Fault] = {
    "a part in time": Anytime(),
    "too long": lambda exchange: told(b"Virtuoso S1T00 Error SR171: Transaction timed out", status=500),
}
"""What a server says of a query that takes too long: it is not asked again, and a search turns back."""

KINDS = PASSING | FINAL

PLACES = ("once", "always", "from then on")
"""What is hit: the first request for a query, all requests for it, these and all that come after."""


PERFECT = ErrorRates(recall=1.0)

ASTRAY = ErrorRates(accuracy=0.5, recall=1.0, judge=0.2, entity=0.1)

SAME = ("outcome", "answers", "stopped_by", "topics")
"""What a fault must not change in a record; its facts may be left out, and its trace says so then."""

UNPROVEN = ("grounded_inference", "grounded_unverified")


class Faulty:
    """A graph at an endpoint behind a proxy, forgotten between runs as if it was opened anew."""

    def __init__(self, proxy: Proxy, graph: SparqlGraph, whole: SparqlGraph, name: str) -> None:
        self._proxy, self._graph, self._whole, self.name = proxy, graph, whole, name

    async def ask(
        self,
        method: str,
        fault: Fault | None = None,
        place: str = "",
        query: str = "",
        errors: ErrorRates = PERFECT,
    ) -> kgqa.Record:
        """Ask, and do this to the query; the model looks up what is right in the graph as it is."""
        hit = False

        def choose(request: Request) -> Fault | None:
            nonlocal hit
            before, now = hit, request.query == query
            hit = hit or now
            return (
                fault
                if (now and not (before and place == "once")) or (before and place == PLACES[2])
                else None
            )

        self._proxy.requests.clear()
        self._proxy.faults = choose
        executor: Any = self._graph._executor
        executor._cache.clear()
        executor._breaker = CircuitBreaker()
        executor._deadline = DEADLINE_OF_DELAYED if isinstance(fault, Delay) else DEADLINE
        model = SimulatedModel(family.question("ulm bonn", "parent born_in"), self._whole, errors)
        return await kgqa.aask("Which ones?", topics=["Ann"], method=method, kg=self.name, model=model)

    @property
    def queries(self) -> list[str]:
        """What the last run has asked, each once."""
        return list(dict.fromkeys(self._proxy.queries))


@pytest.fixture(scope="module")
def served(
    oxigraph_server: Callable[[list[Path]], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Faulty]:
    from kgqa.tests.conftest import PREFIXES

    path = tmp_path_factory.mktemp("faults") / "family.ttl"
    path.write_text(PREFIXES + family.FAMILY, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, Proxy(oxigraph_server([path])) as proxy:
        patch.setattr(client, "RetryPolicy", partial(RetryPolicy, pause=0.01))
        graph = open_graph([proxy.url], deadline=DEADLINE)
        yield Faulty(proxy, graph, open_graph([path]), graph)


def judged(record: kgqa.Record, undisturbed: kgqa.Record) -> str:
    """Tell how a run ended."""
    if all(record[key] == undisturbed[key] for key in SAME):
        return "right"
    if record["outcome"] in UNPROVEN and record["trace"][-1].keys() & {"proof", "evidence"}:
        return "unproven" if record["answers"] == undisturbed["answers"] else "wrong"
    honest = record["outcome"] == "kg_unavailable" and not record["answers"] and not record["paths"]
    return "kg_unavailable" if honest else "wrong"


def cases(queries: list[str], method: str) -> Iterator[tuple[str, str, str]]:
    """Return for each query and place a kind of faults, in turns; they begin elsewhere for each method."""
    kinds = cycle(KINDS)
    places = product(queries, PLACES)
    for kind, (query, place) in zip(islice(kinds, METHODS.index(method), None), places, strict=False):
        yield kind, place, query


@pytest.mark.parametrize("method", METHODS)
async def test_a_fault_ends_in_the_right_answer_or_in_an_outage(served: Faulty, method: str) -> None:
    undisturbed = await served.ask(method)
    assert (undisturbed["outcome"], family_names(undisturbed)) == ("grounded", ["Bonn", "Ulm"])
    ends = {
        case: judged(await served.ask(method, KINDS[case[0]], *case[1:]), undisturbed)
        for case in cases(served.queries, method)
    }
    assert {kind for kind, _, _ in ends} == {*KINDS}
    assert [case for case, end in ends.items() if end == "wrong"] == []
    assert {end for (kind, place, _), end in ends.items() if place == "once" and kind in PASSING} == {"right"}
    assert "kg_unavailable" in ends.values()


def family_names(record: kgqa.Record) -> list[str | None]:
    return sorted((answer["name"] for answer in record["answers"]), key=str)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["429", "half"])
async def test_a_fault_that_passes_leaves_no_trace(served: Faulty, method: str, kind: str) -> None:
    undisturbed = await served.ask(method)
    disturbed = await served.ask(method, KINDS[kind], "once", served.queries[-1])
    assert timeless(disturbed) == timeless(undisturbed)


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_but_faults_is_an_outage(served: Faulty, kind: str) -> None:
    await served.ask("cor")
    record = await served.ask("cor", KINDS[kind], PLACES[2], served.queries[0])
    assert (record["outcome"], record["answers"], record["evidence"]) == ("kg_unavailable", [], [])
    assert record["usage"]["llm_calls"] == 0


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"delay"}))
async def test_a_graph_that_cannot_be_opened_is_an_outage(served: Faulty, kind: str) -> None:
    served._proxy.faults = lambda request: KINDS[kind]
    record = await kgqa.aask("Who?", topics=["Ann"], kg=f"{served._proxy.url}&run={kind}", model="offline")
    assert (record["outcome"], record["answers"]) == ("kg_unavailable", [])
    assert record["trace"][-1]["outcome"] == "kg_unavailable"


@pytest.mark.parametrize("method", METHODS)
async def test_what_a_model_that_errs_takes_instead_is_no_answer(served: Faulty, method: str) -> None:
    """After a time-out what it judges to be enough may stand; what it only guesses, or has seen, does not.

    Where the proof times out as well, the right answer is less than grounded.
    """
    undisturbed = await served.ask(method, errors=ASTRAY)
    for query in served.queries:
        passing = await served.ask(method, KINDS["half"], "always", query, errors=ASTRAY)
        assert judged(passing, undisturbed) in ("right", "unproven", "kg_unavailable")
        late = await served.ask(method, KINDS["too long"], "always", query, errors=ASTRAY)
        if any(entry.get("failure") == "KGTimeout" for entry in late["trace"]):
            judged_enough = ("grounded", "grounded_inference") if method != "agent" else ()
            honest = late["outcome"] in ("kg_unavailable", *judged_enough)
            assert honest or judged(late, undisturbed) == "unproven"
