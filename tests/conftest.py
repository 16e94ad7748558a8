"""What all tests share: tiny graphs, a home of their own, and no one's keys."""

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.priors.encoder import CachedEncoder, open_encoder
from kgqa.runtime.server_limits import Limits, activate_limits

# Tests run in several processes: threads of one would wait busily for cores that another has.
os.environ["KGQA_THREADS"] = "1"
os.environ["LC_ALL"] = "C.UTF-8"  # names are shown in the language of the user, too

# What tests make lives about as long as they do: to look for garbage takes a twentieth of their time.
gc.set_threshold(200_000, 20, 50)

# Where they are ignored from the start (nohup, a job in the background), the commands that tests start would
# ignore them too; a handler is not inherited.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

pytest_plugins = [
    "kgqa.tests.support.servers.fixtures",
    "kgqa.tests.support.kg_fixtures",
    "kgqa.tests.support.model_fixtures",
    "kgqa.tests.support.method_fixtures",
    "kgqa.tests.support.run_fixtures",
]

MEMO = CachedEncoder(open_encoder)
"""The bundled encoder: a text is encoded once, however many tests have it."""

PREFIXES = """
@prefix e: <http://t/e/> .
@prefix r: <http://t/r/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def pytest_collection_finish() -> None:
    """Spare the garbage collector all modules and tests: it takes half a second to go through them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests, and what they set up once, out of the user's caches; the sample is prepared once."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGQA_HOME", str(shared / "kgqa-home"))
        yield


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests away from keys and settings."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "KGQA_MODEL",
        "KGQA_KG",
        "KGQA_CACHE",
    ):
        monkeypatch.delenv(name, raising=False)
    activate_limits(Limits())  # what a server's modules have set when they were imported


@pytest.fixture
def turtle(tmp_path: Path) -> Callable[[str], Path]:
    """Write Turtle with the prefixes e:, r: and rdfs: to a file."""

    def write(text: str, name: str = "graph.ttl") -> Path:
        path = tmp_path / name
        path.write_text(PREFIXES + text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def graph(turtle: Callable[[str], Path]) -> Callable[[str], SparqlGraph]:
    """Open a graph of a few lines of Turtle."""
    return lambda text: open_graph([turtle(text)])
