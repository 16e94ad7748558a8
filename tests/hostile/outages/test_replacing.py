"""What is built anew under its readers, and whatever is killed meanwhile: nothing lost, mixed, or left over.

With KGQA_EVERY_KILL=1 there are 200 kills and 50 replacements; else some of each kind.
"""

import asyncio
import json
import os
import random
import shutil
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.request import urlopen

import pytest

from kgqa.kg.opening import open_graph
from kgqa.priors.blueprints import LIBRARY_STORE
from kgqa.priors.encoder import BUNDLED_ENCODER
from kgqa.priors.exemplars import EXEMPLAR_STORE, build_exemplars
from kgqa.priors.training_questions import read_training_questions
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.outages.commands import Disk, _server, wait_for
from kgqa.tests.hostile.outages.reading_child import marks, read_libraries, read_stores, write_marked
from kgqa.tests.support import towns
from kgqa.tests.support.servers.langgraph import missing
from kgqa.tests.unit.priors.blueprints.conftest import words

EVERY = bool(os.environ.get("KGQA_EVERY_KILL"))
READERS = 4
REPLACEMENTS = 50 if EVERY else 4

pytestmark = pytest.mark.timeout(3_600 if EVERY else 300)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def read_meanwhile(
    disk: Disk, read: Callable[[Path, Path, int], None], replace: Callable[[int], None]
) -> Counter[str]:
    """Replace something under readers; return what these have seen."""
    readers = [
        _server.Process(target=read, args=(disk.folder, disk.folder / f"seen{n}", n)) for n in range(READERS)
    ]
    try:
        for reader in readers:
            reader.start()
        for n in range(1, REPLACEMENTS + 1):
            replace(n)
        (disk.folder / "stop").touch()
        for reader in readers:
            reader.join(60)
            assert reader.exitcode == 0
    finally:
        for reader in readers:
            reader.kill()
    return sum(
        (Counter(json.loads((disk.folder / f"seen{n}").read_text())) for n in range(READERS)), Counter()
    )


def left_over(folder: Path) -> list[str]:
    """Return what is neither a head, nor in the one build that it names, nor a file that a command keeps."""
    found = []
    for _, folders, files in os.walk(folder):
        builds = sorted(name for name in folders if name.startswith("build-"))
        found += builds if len(builds) > 1 or (builds and not any(f.endswith(".json") for f in files)) else []
        found += [name for name in (*folders, *files) if name.startswith(".kgqa-")]
        found += [name for name in files if name.endswith((".new", ".part"))]
    return found


def test_a_store_is_replaced_under_its_readers(
    disk: Disk, tried: Tried, record_property: Callable[[str, object], None]
) -> None:
    def replace(n: int) -> None:
        status, said = disk.run(
            "kg", "load", write_marked(disk.folder / "m.nt", f"m{n}").name, "--out", "graph"
        )
        assert status == 0, said

    replace(0)
    first = open_graph([disk.folder / "graph"])
    seen = read_meanwhile(disk, read_stores, replace)
    assert set(seen) == {"read"} and seen["read"] > REPLACEMENTS, seen
    assert asyncio.run(marks(first)) == {"m0"}  # who has opened it first looks for a name last
    assert asyncio.run(marks(open_graph([disk.folder / "graph"]))) == {f"m{REPLACEMENTS}"}
    del first
    replace(0)
    assert left_over(disk.folder / "graph") == []
    record_property("reads", seen["read"])
    tried(faults=REPLACEMENTS)


def test_exemplars_are_replaced_under_their_readers(
    disk: Disk, tried: Tried, record_property: Callable[[str, object], None]
) -> None:
    def replace(n: int) -> None:
        asked = read_training_questions(map(towns.question, range(1 + n % towns.TOWNS)))
        build_exemplars(asked, disk.folder / "solved", words, BUNDLED_ENCODER)

    replace(0)
    seen = read_meanwhile(disk, read_libraries, replace)
    assert set(seen) == {"read"} and seen["read"] > REPLACEMENTS, seen
    replace(0)
    assert left_over(disk.folder / "solved") == []
    record_property("reads", seen["read"])
    tried(faults=REPLACEMENTS)


@dataclass(frozen=True)
class Killed:
    """A command that is killed, how often in all, and what has to hold whenever it was."""

    arguments: tuple[str, ...]
    kills: int
    holds: Callable[[Disk], object]
    prepare: Callable[[Disk, int], object] = lambda disk, n: None


def _store_is_whole(disk: Disk) -> None:
    assert len(asyncio.run(marks(open_graph([disk.folder / "graph"]), foreign=False))) == 1


def _library_is_whole(disk: Disk) -> None:
    opened = LIBRARY_STORE.open(disk.folder / "library", BUNDLED_ENCODER)
    assert all(map(opened.read, LIBRARY_STORE.files))


def _exemplars_are_whole(disk: Disk) -> None:
    opened = EXEMPLAR_STORE.open(disk.folder / "solved", BUNDLED_ENCODER)
    assert all(map(opened.read, EXEMPLAR_STORE.files))


def _records_are_whole(disk: Disk) -> None:
    """See that no record went, and none is there twice."""
    file, known = disk.folder / "run" / "results.jsonl", disk.folder / "known"
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    ids = [json.loads(line)["id"] for line in lines if line.endswith(b"\n")]
    before = json.loads(known.read_text()) if known.exists() else []
    assert len(ids) == len(set(ids)) and set(before) <= set(ids)
    known.write_text(json.dumps(ids), encoding="utf-8")


def _report_is_whole(disk: Disk) -> None:
    assert (disk.folder / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    for file in (disk.folder / "tables").iterdir():
        assert file.read_bytes().endswith(b"\n"), file


def _mark_anew(disk: Disk, n: int) -> None:
    write_marked(disk.folder / "m.nt", f"m{n}")


def _run_anew(disk: Disk, n: int) -> None:
    """Give each run a graph that nobody has loaded yet, large enough to be kept as a folder."""
    shutil.rmtree(disk.folder / "run", ignore_errors=True)
    (disk.folder / "known").unlink(missing_ok=True)
    filler = (f"<http://t/f{n}/{i}> <http://t/r/filler> <http://t/f/{'x' * 80}> ." for i in range(16_000))
    (disk.folder / "filler.nt").write_text("\n".join(filler), encoding="utf-8")


def _often(share: float) -> int:
    return round(200 * share) if EVERY else 1 + round(5 * share)


LOAD = ("kg", "load", "m.nt", "--out", "graph")
EVAL = ("eval", "--dataset", "towns.jsonl", "--kg", "towns.ttl", "--model", "simulated:accuracy=0.7")
KILLED = {
    "load": Killed(LOAD, _often(0.3), _store_is_whole, _mark_anew),
    "blueprints": Killed(
        ("blueprints", "build", "--dataset", "towns.jsonl", "--out", "library"),
        _often(0.1),
        _library_is_whole,
    ),
    "exemplars": Killed(
        ("exemplars", "build", "--dataset", "towns.jsonl", "--out", "solved"),
        _often(0.1),
        _exemplars_are_whole,
    ),
    "eval": Killed((*EVAL, "--kg", "filler.nt", "--out", "run"), _often(0.25), _records_are_whole, _run_anew),
    "report": Killed(
        ("report", "wanted", "--out", "report.html", "--tables", "tables"), _often(0.15), _report_is_whole
    ),
}


@pytest.mark.parametrize("name", KILLED)
def test_whatever_is_killed_loses_nothing_and_what_is_left_of_it_goes(
    disk: Disk, name: str, tried: Tried, record_property: Callable[[str, object], None]
) -> None:
    killed, chance = KILLED[name], random.Random(name)
    _mark_anew(disk, 0)
    _run_anew(disk, 0)
    if name == "report":
        assert disk.run(*EVAL, "--out", "wanted")[0] == 0
    began = time.monotonic()
    status, said = disk.run(*killed.arguments)
    seconds = time.monotonic() - began
    assert status == 0, said
    kills, n, left = 0, 0, 0
    while kills < killed.kills:
        n += 1
        killed.prepare(disk, n)
        died = True
        while died and kills < killed.kills:  # the command goes on, and is killed again
            process = disk.start(*killed.arguments)
            time.sleep(chance.uniform(0, seconds))
            kill(process)
            status, said = disk.ended(process)
            assert status in (0, -signal.SIGKILL), said
            died = status != 0
            kills += died
            killed.holds(disk)
            left += died and bool(left_over(disk.folder))
            died = died and chance.random() < 0.5
        status, said = disk.run(*killed.arguments)
        assert status == 0, said
        killed.holds(disk)
        assert left_over(disk.folder) == []
    record_property("left_over_until_then", left)
    tried(faults=kills)


@pytest.mark.skipif(bool(missing()), reason=str(missing()))
def test_a_server_that_is_killed_holds_nothing_any_more(disk: Disk, tried: Tried) -> None:
    _mark_anew(disk, 0)
    assert disk.run(*LOAD)[0] == 0
    chance, kills = random.Random(1), 0
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    serve = ("serve", "--kg", "graph", "--model", "offline", "--port", str(port))

    def answers() -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{port}/ok", timeout=5) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    began = time.monotonic()
    process = disk.start(*serve)
    wait_for(answers, 120)
    seconds = time.monotonic() - began
    for n in range(1, 1 + _often(0.1)):
        _mark_anew(disk, n)
        assert disk.run(*LOAD)[0] == 0  # under the server, or beside one that begins
        kill(process)
        kills += disk.ended(process)[0] == -signal.SIGKILL
        _store_is_whole(disk)
        process = disk.start(*serve)
        time.sleep(chance.uniform(0, seconds))
    wait_for(answers, 120)
    kill(process)
    kills += disk.ended(process)[0] == -signal.SIGKILL
    assert disk.run(*LOAD)[0] == 0
    assert left_over(disk.folder) == []
    tried(faults=kills)


def kill(process: ForkServerProcess) -> None:
    """Kill a process; one that has ended does not mind."""
    if process.pid and process.exitcode is None:
        os.kill(process.pid, signal.SIGKILL)
