"""Benchmarks by name, from a local server that behaves like the Hugging Face hub, by its own client."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import huggingface_hub.constants  # noqa: F401  it keeps the addresses of the environment that it is imported in
import pytest

from kgqa.cli import main as command
from kgqa.evaluation.datasets import fetching, load
from kgqa.tests.support import rog
from kgqa.tests.support.servers.hub import COMMIT, Hub, serving

FIRST, SECOND = (name for name in rog.files() if "test-" in name)


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Kgqa = Callable[..., Ended]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "KGQA_GITHUB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "data" / "webqsp"


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(Hub(rog.files())) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


@pytest.fixture
def kgqa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Kgqa:
    """Run the command in this process."""
    monkeypatch.chdir(tmp_path)

    def ended(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["kgqa", *arguments])
        status = 0
        try:
            command.main()
        except SystemExit as end:
            status = int(end.code or 0)
        return Ended(status, *capsys.readouterr())

    return ended


def refused(ended: Ended) -> str:
    """Return the one line that a failed command says."""
    assert ended.status == 2
    assert ended.err.startswith("kgqa: ")
    assert ended.err.count("\n") == 1
    return ended.err


def large(bytes_: int) -> bytes:
    """Return a file of RoG that is about so large."""
    noise = random.Random(0).randbytes(bytes_ // 2).hex()
    return rog.parquet([{**rog.ROWS[0], "choices": [], "answer": ["Ash Water", noise]}])


def leftovers(home: Path) -> list[Path]:
    return list(home.rglob("*.part"))


def downloads(hub: Hub) -> list[tuple[str, str | None]]:
    """Return what was asked for of large files: path and range."""
    return [(path.removeprefix("/cdn/"), span) for how, path, span in hub.asked if path.startswith("/cdn/")]


def test_licence_sources_and_checksums_are_shown_and_recorded(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    ended = kgqa("data", "get", "webqsp")
    assert ended.status == 0
    lines = [line.strip() for line in ended.out.splitlines()]
    checksums = {name: hashlib.sha256(hub.files[name]).hexdigest() for name in (FIRST, SECOND)}
    assert lines.index("licence: cc-by-4.0") < min(n for n, line in enumerate(lines) if "verified" in line)
    for name, checksum in checksums.items():
        assert f"{name}: {len(hub.files[name]):,} bytes, sha256 {checksum}, verified" in lines
        assert (home / name).read_bytes() == hub.files[name]
    assert "published: https://huggingface.co/datasets/rmanluo/RoG-webqsp" in lines
    assert any("Luo et al. (2024)" in line for line in lines)
    record = json.loads((home / "source.json").read_text())
    assert {name: known["checksum"] for name, known in record["files"].items()} == checksums
    assert (record["licence"], record["revision"]) == ("cc-by-4.0", COMMIT)
    assert leftovers(home) == []


def test_what_is_here_is_verified_and_not_asked_for_again(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    kgqa("data", "get", "webqsp")
    asked = len(hub.asked)
    again = kgqa("data", "get", "webqsp")
    assert (again.status, len(hub.asked)) == (0, asked)
    assert "licence: cc-by-4.0" in again.out and "verified" in again.out
    (home / FIRST).write_bytes(b"x" * len(hub.files[FIRST]))  # damaged
    assert kgqa("data", "get", "webqsp").status == 0
    assert (home / FIRST).read_bytes() == hub.files[FIRST]
    assert [path for path, _ in downloads(hub)] == [FIRST, SECOND, FIRST]


def test_a_part_is_fetched_for_itself(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    assert kgqa("data", "get", "webqsp:train").status == 0
    assert "train" in downloads(hub)[0][0] and len(downloads(hub)) == 1
    assert [question.id for question in load("webqsp:train").questions] == ["T-1"]
    listed = json.loads(kgqa("data", "list", "--json").out)
    here = {part["name"]: part["here"] for part in listed[0]["parts"]}
    assert here == {"webqsp": False, "webqsp:validation": False, "webqsp:train": True}


def started(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "kgqa.cli.main", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(there: Callable[[], bool]) -> None:
    for _ in range(600):
        if there():
            return
        time.sleep(0.05)
    pytest.fail("it took more than 30 s")


def test_a_download_that_was_killed_goes_on_where_it_ended(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    hub.files[FIRST] = large(1 << 20)
    hub.slow = 0.01
    with started("data", "get", "webqsp") as process:
        wait_for(lambda: sum(path.stat().st_size for path in leftovers(home)) > 100_000)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    (partial,) = leftovers(home)
    came = partial.stat().st_size
    assert 100_000 < came < len(hub.files[FIRST])
    assert not (home / FIRST).exists()
    hub.slow = 0.0
    assert kgqa("data", "get", "webqsp").status == 0
    assert downloads(hub) == [(FIRST, None), (FIRST, f"bytes={came}-"), (SECOND, None)]
    assert (home / FIRST).read_bytes() == hub.files[FIRST]
    assert leftovers(home) == []


def test_a_broken_connection_is_gone_on_with_at_once(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    hub.files[FIRST] = large(1 << 18)
    hub.cut_after = 1 << 16
    assert kgqa("data", "get", "webqsp").status == 0
    assert downloads(hub)[:2] == [(FIRST, None), (FIRST, f"bytes={1 << 16}-")]
    assert (home / FIRST).read_bytes() == hub.files[FIRST]


def test_a_server_that_cannot_send_a_rest_sends_all_again(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    hub.files[FIRST] = large(1 << 18)
    hub.cut_after, hub.ranges = 1 << 16, False
    assert kgqa("data", "get", "webqsp").status == 0
    assert (home / FIRST).read_bytes() == hub.files[FIRST]


def test_what_is_left_of_another_content_is_not_mixed_with_it(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    checksum = hashlib.sha256(hub.files[FIRST]).hexdigest()
    left = home / Path(FIRST).parent / f".{Path(FIRST).name}.{checksum[:12]}.part"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"of something else")
    assert kgqa("data", "get", "webqsp").status == 0
    assert (home / FIRST).read_bytes() == hub.files[FIRST]


def test_a_wrong_checksum_is_one_line_and_the_file_is_not_kept(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    hub.stated[SECOND] = "0" * 64
    line = refused(kgqa("data", "get", "webqsp"))
    found = hashlib.sha256(hub.files[SECOND]).hexdigest()
    assert f"{SECOND} is not what was published: its checksum is {found}, not {'0' * 64}" in line
    assert not (home / SECOND).exists() and leftovers(home) == []
    assert (home / FIRST).exists()  # what was right stays
    assert "not here yet" in refused(kgqa("eval", "--dataset", "webqsp", "--out", "run"))


def test_what_is_published_and_no_benchmark_is_one_line_that_says_what_to_do(hub: Hub, kgqa: Kgqa) -> None:
    hub.files[FIRST] = b"<html>moved</html>" * 200
    for arguments in (["data", "get", "webqsp"], ["eval", "--dataset", "webqsp", "--out", "run"]):
        ended = kgqa(*arguments)
        assert ended.status == 2
        assert "cannot be read" in ended.err and "kgqa data get --update" in ended.err
        assert ended.err.count("\n") == 1


@pytest.mark.parametrize("address", ["localhost:99", "hub.example/mirror"])
def test_a_mirror_that_is_no_address_is_shown(
    address: str, home: Path, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", address)
    ended = kgqa("data", "get", "webqsp")
    assert ended.status == 2
    assert ended.err.startswith(f"kgqa: cannot reach {address} (") and "HF_ENDPOINT" in ended.err
    assert ended.err.count("\n") == 1


def test_a_change_at_the_publisher_is_told(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    kgqa("data", "get", "webqsp")
    before = hashlib.sha256(hub.files[FIRST]).hexdigest()
    digest = load("webqsp").digest
    hub.files[FIRST] = large(1 << 12)
    after = hashlib.sha256(hub.files[FIRST]).hexdigest()
    assert "changed" not in kgqa("data", "get", "webqsp").out
    ended = kgqa("data", "get", "webqsp", "--update")
    assert f"{FIRST} has changed: it was {before}, and is {after} now" in ended.out
    assert load("webqsp").digest != digest


def test_a_gated_repository_says_what_to_do_and_a_token_lets_in(
    hub: Hub, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_of_a_test"
    assert "do so there, and set HF_TOKEN" in refused(kgqa("data", "get", "webqsp"))
    monkeypatch.setenv("HF_TOKEN", hub.token)
    assert kgqa("data", "get", "webqsp").status == 0


def test_a_name_that_leads_elsewhere_is_not_written(hub: Hub, home: Path, kgqa: Kgqa) -> None:
    hub.files["data/test-/../../../../../out.parquet"] = hub.files[FIRST]
    assert kgqa("data", "get", "webqsp").status == 0
    assert {path.name for path in home.parent.parent.parent.rglob("*.parquet")} == {
        Path(FIRST).name,
        Path(SECOND).name,
    }


def test_a_server_that_sends_more_than_it_says_is_left(
    hub: Hub, home: Path, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SECONDS_BETWEEN_ATTEMPTS", 0.0)
    hub.longer = 10
    assert "bytes came, not" in refused(kgqa("data", "get", "webqsp"))
    assert leftovers(home) == []


def test_a_hub_without_the_repository_is_one_line(hub: Hub, kgqa: Kgqa) -> None:
    assert "does not give rmanluo/RoG-cwq" in refused(kgqa("data", "get", "cwq"))
    hub.files = {"README.md": b""}
    assert "rmanluo/RoG-webqsp has no data/test-*.parquet any more" in refused(kgqa("data", "get", "webqsp"))


def test_nobody_there_is_one_line_that_names_ways_out(
    hub: Hub, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    line = refused(kgqa("data", "get", "webqsp"))
    assert "cannot reach 127.0.0.1:9" in line and "HF_ENDPOINT" in line and "--from" in line
    for mirror in ("127.0.0.1:9", "[::1"):
        monkeypatch.setenv("KGQA_GITHUB", f"http://{mirror}")
        line = refused(kgqa("data", "get", "qald10"))
        assert "cannot reach" in line and mirror in line and "KGQA_GITHUB" in line


def test_offline_is_one_line_and_what_is_here_is_read(hub: Hub, kgqa: Kgqa) -> None:
    with started("data", "get", "webqsp", HF_HUB_OFFLINE="1") as process:
        out, err = process.communicate()
    assert process.returncode == 2
    assert b"HF_HUB_OFFLINE forbids to fetch it; unset it, or name a folder" in err and err.count(b"\n") == 1
    kgqa("data", "get", "webqsp")
    with started("data", "get", "webqsp", HF_HUB_OFFLINE="1") as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"4 questions" in out


def test_a_disk_without_room_is_told_before_anything_comes(
    hub: Hub, home: Path, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(home.parent.parent.parent)._replace(free=5000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    assert "make room, or set KGQA_HOME to a folder on another disk" in refused(kgqa("data", "get", "webqsp"))
    assert downloads(hub) == []


def test_what_came_from_a_folder_is_of_no_commit(hub: Hub, home: Path, kgqa: Kgqa, tmp_path: Path) -> None:
    for name, data in rog.files().items():
        (tmp_path / "mirror" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mirror" / name).write_bytes(data)
    assert kgqa("data", "get", "webqsp", "--from", "mirror").status == 0
    assert kgqa("data", "get", "webqsp:train").status == 0
    assert all("mirror" not in path for _, path, _ in hub.asked)


def test_a_folder_may_stand_for_the_publisher(
    home: Path, kgqa: Kgqa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for name, data in rog.files().items():
        (tmp_path / "mirror" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mirror" / name).write_bytes(data)
    assert kgqa("data", "get", "webqsp", "--from", "mirror").status == 0
    assert len(load("webqsp").questions) == 4
    assert "has no data/test-*.parquet" in refused(kgqa("data", "get", "cwq", "--from", "."))
    assert "only a browser can fetch" in refused(kgqa("data", "get", "metaqa"))


def test_a_file_of_github_is_held_to_its_known_checksum(
    home: Path, kgqa: Kgqa, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"data/qald_10/qald_10.json": b'{"questions": []}'}
    with serving(Hub(files, repository="KGQA/QALD-10")) as served:
        monkeypatch.setenv("KGQA_GITHUB", served.url)
        assert "qald_10.json is not what was published" in refused(kgqa("data", "get", "qald10"))
    assert list(home.parent.rglob("qald_10.json")) == []


@pytest.mark.parametrize("name", ["nothing", "webqsp:dev"])
def test_a_name_that_there_is_not_is_one_line(name: str, home: Path, kgqa: Kgqa) -> None:
    assert "kgqa: " in refused(kgqa("data", "get", name))


def asked_over(kgqa: Kgqa, out: str, *options: str) -> Mapping[str, Mapping[str, object]]:
    ended = kgqa("eval", "--dataset", "webqsp", "--model", "simulated:accuracy=1", "--out", out, *options)
    assert (ended.status, ended.err) == (0, "")
    records = (json.loads(line) for line in (Path(out) / "results.jsonl").read_text().splitlines())
    return {record["id"]: record for record in records}


def names(record: Mapping[str, object]) -> set[str]:
    answers = record["answers"]
    assert isinstance(answers, list)
    return {answer["name"] for answer in answers}


def test_a_run_by_name_asks_each_question_over_its_own_graph(hub: Hub, kgqa: Kgqa) -> None:
    kgqa("data", "get", "webqsp")
    first = asked_over(kgqa, "run", "--method", "cor", "--limit", "2")
    assert names(first["Q-1"]) == {"Ash Water"} and names(first["Q-2"]) == {"Ida Thorn", "Ben Marsh"}
    records = asked_over(kgqa, "run", "--method", "cor")  # goes on
    assert names(records["Q-3"]) == {'Cora "Lo" Vane/Hill'}
    assert records["Q-4"]["answers"] == [] and records["Q-4"]["outcome"] == "none"
    head = json.loads(Path("run/run.json").read_text())
    assert head["config"]["kg"] == ["own"] and head["dataset"]["sha256"] == load("webqsp").digest
    assert {json.dumps(record["config"]) for record in records.values()} == {json.dumps(head["config"])}
    metrics = json.loads(Path("run/metrics.json").read_text())
    assert metrics["hits_at_1"]["value"] == 0.75 and metrics["kg_grounded_rate_strict"]["value"] == 0.75
    assert asked_over(kgqa, "again", "--method", "cor") == records


def test_a_run_by_name_that_was_killed_goes_on_and_is_the_same(hub: Hub, kgqa: Kgqa) -> None:
    kgqa("data", "get", "webqsp")
    model = "simulated:accuracy=1,latency=0.4"
    options = ["--dataset", "webqsp", "--model", model, "--method", "cor", "--concurrency", "1"]
    results = Path("run/results.jsonl")
    with started("eval", *options, "--out", "run") as process:
        wait_for(lambda: results.exists() and results.stat().st_size > 0)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    before = results.read_text()
    assert 0 < before.count("\n") < 4
    for out in ("run", "whole"):
        assert kgqa("eval", *options, "--out", out).status == 0
    assert results.read_text() == Path("whole/results.jsonl").read_text()
    assert results.read_text().startswith(before.rpartition("\n")[0])


def test_all_graphs_make_one_that_a_run_and_a_question_are_asked_over(hub: Hub, kgqa: Kgqa) -> None:
    kgqa("data", "get", "webqsp")
    ended = kgqa("data", "graph", "webqsp", "--out", "union")
    assert ended.status == 0 and "triples of webqsp: union" in ended.out
    records = asked_over(kgqa, "run", "--method", "cor", "--kg", "union")
    assert names(records["Q-1"]) == {"Ash Water"}
    asked = kgqa("ask", "which river runs through Oakmere?", "--kg", "union", "--model", "offline")
    assert asked.out.splitlines()[1] == "Ash Water"


def test_a_benchmark_without_a_graph_wants_one_to_be_named(home: Path, kgqa: Kgqa) -> None:
    said = refused(kgqa("eval", "--dataset", "qald10", "--out", "run"))
    assert "qald10 comes without a graph" in said and "name one with --kg" in said
    assert "sample comes without a graph" in refused(
        kgqa("eval", "--dataset", "sample", "--kg", "own", "--out", "run")
    )
