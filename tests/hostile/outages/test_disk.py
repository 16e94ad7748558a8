"""A disk that is full: one line, what was written stays, and the same command goes on when there is room."""

import json
import sqlite3
from pathlib import Path

import pytest

from kgqa.kg.opening import open_graph
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.outages.commands import NO_DISK, Disk
from kgqa.tests.support import towns


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    return Disk(tmp_path_factory.mktemp("disk"))


EVAL = ("eval", "--dataset", "towns.jsonl", "--kg", "towns.ttl", "--model", "simulated:accuracy=0.7")


def whole(path: Path) -> list[str]:
    """The ids of records; each line is one."""
    return [json.loads(line)["id"] for line in path.read_bytes().splitlines()] if path.exists() else []


def test_a_run_goes_on_wherever_the_disk_was_full(disk: Disk, tried: Tried) -> None:
    assert disk.run(*EVAL, "--out", "wanted")[0] == 0
    wanted = disk.folder / "wanted"
    size = (wanted / "results.jsonl").stat().st_size
    out, had = disk.folder / "run", -1
    rooms = (500, 1_500, size // 2, size - 1, size)
    for room in rooms:
        ended, said = disk.run(*EVAL, "--out", "run", room=room)
        if room < size:
            assert (ended, said.count("\n")) == (2, 1), (room, said)
            assert "what is recorded stays" in said and "cannot use" in said
        now = whole(out / "results.jsonl")
        assert len(now) == len(set(now)) >= had
        had = len(now)
        assert not (out / "metrics.json").exists() or room >= size
    assert disk.run(*EVAL, "--out", "run")[0] == 0
    assert (out / "results.jsonl").read_bytes() == (wanted / "results.jsonl").read_bytes()
    assert not list(out.glob(".kgqa-*"))
    tried(faults=len(rooms), questions=towns.TOWNS, records=towns.TOWNS)


def test_metrics_that_find_no_room_are_made_by_the_same_command(disk: Disk) -> None:
    out = disk.folder / "unmeasured"
    assert disk.run(*EVAL, "--out", "unmeasured")[0] == 0
    metrics = (out / "metrics.json").read_bytes()
    (out / "metrics.json").unlink()
    disk.refused(*EVAL, "--out", "unmeasured", room=1_000)
    assert not (out / "metrics.json").exists() and len(whole(out / "results.jsonl")) == towns.TOWNS
    assert disk.run(*EVAL, "--out", "unmeasured")[0] == 0
    assert (out / "metrics.json").read_bytes() == metrics


def test_what_is_built_is_there_as_a_whole_or_not_at_all(disk: Disk, tried: Tried) -> None:
    import pyoxigraph as ox

    store = ox.Store()
    store.load(path=str(disk.folder / "towns.ttl"))
    store.dump(str(disk.folder / "towns.nt"), ox.RdfFormat.N_TRIPLES, from_graph=ox.DefaultGraph())
    builds = [
        (("kg", "load", "towns.ttl", "--out", "graph"), 3, (600, 3_000)),
        (("kg", "filter", "towns.nt", "--out", "thin.nt"), 3, (400,)),
        (("kg", "filter", "towns.nt", "--out", "thin.nt.gz"), 3, (400,)),
        (("blueprints", "build", "--dataset", "towns.jsonl", "--out", "library"), 2, (400,)),
        (("exemplars", "build", "--dataset", "towns.jsonl", "--out", "solved"), 2, (400,)),
        (("report", "wanted", "--out", "report.html"), 2, (400,)),
    ]
    if not (disk.folder / "wanted").exists():
        disk.run(*EVAL, "--out", "wanted")
    for command, status, rooms in builds:
        before = disk.names
        for room in rooms:
            disk.refused(*command, room=room, status=status)
            assert disk.names == before, command
        if command[0] == "exemplars" or command[-1].endswith(".gz"):  # as blueprints, as what is not packed
            continue
        assert disk.run(*command)[0] == 0
        built = disk.folder / command[-1]
        content = built.read_bytes() if built.is_file() else None
        disk.refused(*command, room=rooms[0], status=status)
        assert disk.names == before | {command[-1]}
        assert content is None or built.read_bytes() == content
    assert open_graph([disk.folder / "graph"]).fingerprint
    tried(faults=2 * len(builds))


def test_what_finds_no_room_where_it_is_printed_is_one_line(disk: Disk, tried: Tried) -> None:
    asked = ("ask", "Which sea?", "--kg", "towns.ttl", "--topic", "Town 1", "--model", "offline")
    commands = [(*asked, "--format", "json"), ("methods",), ("kg", "info", "towns.ttl", "--json")]
    for command in commands:
        ended, said = disk.run(*command, out="/dev/full")
        assert (ended, said.count("\n")) == (2, 1), said
        assert "No space left on device" in said
    tried(faults=len(commands))


def test_a_home_without_room_costs_no_question(disk: Disk, tried: Tried) -> None:
    """What is learned from the sample's questions finds no room for its files."""
    asked = (
        "ask",
        "What is the capital of Mongolia?",
        "--model",
        "offline",
        "--method",
        "cog",
        "--format",
        "json",
    )
    homes = (b"size=300k",)
    for home in homes:
        assert answers(disk, home, *asked) == ["Ulan Bator"]
        said = (disk.folder / "err").read_text().splitlines()
        assert all(line.startswith("vectors are not kept: ") for line in said)
    tried(faults=len(homes), questions=len(homes), records=len(homes))


def answers(disk: Disk, home: bytes, *asked: str) -> list[str]:
    """Ask where KGQA_HOME is such a disk."""
    status, said = disk.run(*asked, home=home)
    if status == NO_DISK:
        pytest.skip("needs leave to mount a disk in memory")
    assert status == 0, said
    return [each["name"] for each in json.loads((disk.folder / "out").read_text())["answers"]]


def test_a_graph_that_finds_no_room_in_a_home_is_read(disk: Disk, tried: Tried) -> None:
    """Wherever its load stops: the triples, the names, or what says that it is whole."""
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = (f'<http://t/e/{n}> {label} "Town {n}" .\n' for n in range(40_000))
    sea = "<http://t/e/1> <http://t/r/sea> <http://t/e/s> .\n<http://t/e/s> " + label + ' "Sea" .\n'
    (disk.folder / "towns.nt").write_text("".join(lines) + sea)
    asked = (
        "ask",
        "Which sea?",
        "--kg",
        "towns.nt",
        "--topic",
        "Town 1",
        "--model",
        "offline",
        "--format",
        "json",
    )
    homes = (b"size=100k", b"size=6m")
    for home in homes:
        assert answers(disk, home, *asked) == ["Sea"]
    tried(faults=len(homes), questions=len(homes), records=len(homes))


def test_a_cache_without_room_costs_no_question(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What SQLite says of a full disk is no reason to lose a reply."""
    from kgqa.models.cache import SqliteCache

    cache = SqliteCache(disk.folder / "cache")
    monkeypatch.setattr(sqlite3, "connect", _full)
    assert cache.lookup("a", "b") is None
    cache.update("a", "b", [])
    cache.discard("a")


def _full(*_: object, **__: object) -> sqlite3.Connection:
    raise sqlite3.OperationalError("database or disk is full")
