"""The commands of ``docs/endpoints.md``, on a small dump: they are taken from the page and run."""

import asyncio
import configparser
import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

import kgqa
from kgqa.kg.dialects import FB, OWL, WD
from kgqa.kg.opening import open_graph
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import oxigraph, virtuoso
from kgqa.tests.support.servers.processes import free_port, running

PAGE = Path(kgqa.__file__).parent / "docs" / "endpoints.md"
DUMP = DATA / "freebase" / "freebase_grasp_slice.nt.gz"

FEW_BUFFERS = {"NumberOfBuffers": "4000", "MaxDirtyBuffers": "3000", "DisableUnixSocket": "1"}

pytestmark = pytest.mark.skipif(not DUMP.exists(), reason=f"needs {DUMP.name}")


def block(name: str) -> str:
    """Return the code that stands under a mark of the page."""
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found, name
    return found[1]


@dataclass(frozen=True)
class Machine:
    """A machine of a reader: a folder in which the commands of the page are run, with ports of its own."""

    folder: Path
    sql: int
    http: int

    def told(self, name: str) -> str:
        """Return a block of the page for this machine."""
        data, client = str(self.folder / "data"), f"{virtuoso.CLIENT} 127.0.0.1:{self.sql}"
        text = block(name).replace("/data/freebase", data).replace(f"{virtuoso.CLIENT} 1111", client)
        return (
            text.replace(":8890", f":{self.http}").replace("-l 100000000", "-l 6000").replace("-P 8", "-P 2")
        )

    def run(self, name: str) -> str:
        """Run a block of the page; gives what it says."""
        path = os.pathsep.join(
            [str(self.folder / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]]
        )
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", self.told(name)],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        # a check warns, and says so by 1, where a busy machine makes the server slow
        assert ended.returncode <= ("kg check" in self.told(name)), ended.stdout + ended.stderr
        return ended.stdout


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    folder = tmp_path_factory.mktemp("machine")
    (folder / "bin").mkdir()
    command = folder / "bin" / "kgqa"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kgqa.cli.main "$@"\n')
    command.chmod(0o755)
    shutil.copy(DUMP, folder / "freebase-rdf-latest.gz")
    mapping = f"<{FB}m.0f8l9c> <{OWL}sameAs> <{WD}Q142> .\n"
    (folder / "fb2w.nt.gz").write_bytes(gzip.compress(mapping.encode()))
    return Machine(folder, free_port(), free_port())


@pytest.fixture(scope="module")
def filtered(machine: Machine) -> list[str]:
    """Filter the dump; gives what was said of each part."""
    return machine.run("filter").splitlines()


@pytest.fixture(scope="module")
def served(machine: Machine, filtered: list[str]) -> Iterator[str]:
    """Load the filtered dump into Virtuoso; gives the address of the graph."""
    if reason := virtuoso.missing():
        pytest.skip(reason)
    ini = configparser.ConfigParser()
    ini.optionxform = str  # type: ignore[assignment,method-assign]
    ini.read_string(machine.told("ini"))
    ini["Parameters"].update(FEW_BUFFERS, ServerPort=f"127.0.0.1:{machine.sql}")
    with (machine.folder / "virtuoso.ini").open("w") as file:
        ini.write(file)
    url = f"http://127.0.0.1:{machine.http}/sparql"
    start = [virtuoso.SERVER, "+configfile", "virtuoso.ini", "+foreground"]
    with running(start, machine.folder, f"{url}?query=ASK%7B%7D"):
        client = [virtuoso.CLIENT, f"127.0.0.1:{machine.sql}", "dba", "dba", *virtuoso.QUIET]
        subprocess.run(client, input=machine.told("register"), text=True, check=True, capture_output=True)
        said = machine.run("load")
        assert "0 Rows." in said.splitlines()[-1], said
        yield f"{url}?default-graph-uri={quote('http://freebase.com/', safe='')}"
    for database in machine.folder.glob("*.db"):
        database.unlink()


def test_each_part_of_the_dump_is_filtered(machine: Machine, filtered: list[str]) -> None:
    assert len(filtered) == 4
    assert all(line.startswith("freebase: kept ") and line.endswith(" 0 malformed") for line in filtered)
    assert len(list((machine.folder / "data").glob("*.nt.gz"))) == 5


def test_the_endpoint_is_well(machine: Machine, served: str) -> None:
    said = machine.run("check").splitlines()
    assert said[-1].startswith("kgqa can use it")  # on a slow machine with a warning
    assert any("queries: all " in line for line in said)
    assert any("100,000 rows are put in order" in line for line in said)


def test_its_entities_are_found_by_ids_of_wikidata(served: str) -> None:
    [match] = asyncio.run(open_graph([served]).find_entities("Q142"))
    assert match.entity.id == f"{FB}m.0f8l9c"


def test_everyone_may_read_and_nobody_write(served: str) -> None:
    update = 'INSERT DATA { GRAPH <http://freebase.com/> { <urn:a> <urn:b> "c" } }'
    assert httpx.post(served, data={"update": update}).status_code >= 400
    assert httpx.post(served, data={"query": update}).status_code >= 400


def test_oxigraph_serves_what_was_filtered(machine: Machine, filtered: list[str]) -> None:
    if reason := oxigraph.missing():
        pytest.skip(reason)
    load, serve = block("oxigraph").splitlines()
    graph = machine.folder / "graph.nt"
    graph.write_bytes(
        b"".join(gzip.decompress(path.read_bytes()) for path in machine.folder.glob("data/*.nt.gz"))
    )
    program = str(oxigraph._program())
    subprocess.run([program, *load.split()[1:]], cwd=machine.folder, check=True, capture_output=True)
    port = free_port()
    command = [program, *serve.replace("7878", str(port)).split()[1:]]
    with running(command, machine.folder, f"http://127.0.0.1:{port}/query"):
        assert open_graph([f"http://127.0.0.1:{port}/query"]).dialect == "freebase"
