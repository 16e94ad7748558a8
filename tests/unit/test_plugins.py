"""What a user brings: loaded by name where the user names it, and never for anybody else."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kgqa
from kgqa import graphs, plugins
from kgqa.api import make_context
from kgqa.graphs import context_of, cor, graph_of, headline_of, load_method
from kgqa.plugins import PluginError, load_plugin, names_plugin
from kgqa.runtime.context import OptionError
from kgqa.runtime.server_limits import Limits, activate_limits
from kgqa.tests.support import towns

METHOD = '''\
"""Straight: by the first chain."""
from typing import ClassVar
from kgqa.graphs.cor import EDGES, CoR
from kgqa.runtime.graph_builder import build_graph
import beside

class Straight(CoR):
    method: ClassVar[str] = "straight"

graph = build_graph(Straight, EDGES)
'''

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a module into a folder of its own, with another beside it; return the name of its file."""
    monkeypatch.setattr(graphs, "_own", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    before = {*sys.modules}

    def written(text: str = METHOD, name: str = "straight") -> str:
        (tmp_path / "beside.py").write_text("HERE = 1\n", encoding="utf-8")
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return f"{name}.py"

    yield written
    for module in {*sys.modules} - before:
        if str(tmp_path) in str(getattr(sys.modules[module], "__file__", "")):
            del sys.modules[module]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a package be installed that has called a method so."""

    def entries(group: str) -> dict[str, Any]:
        entry = SimpleNamespace(module="straight", attr="graph")
        return {"installed": entry, "cor": entry} if group == "methods" else {}

    monkeypatch.setattr(plugins, "_entry_points", entries)


@pytest.mark.parametrize("named", ["straight.py:graph", "./straight.py:graph", "straight:graph", "installed"])
async def test_a_method_is_named_by_file_module_or_entry_point(
    named: str, write: Write, installed: None, kg: str
) -> None:
    write()
    record = await kgqa.aask(
        "Into which sea?", method=named, topics=["Town 1"], kg=kg, model=towns.guide(), depth=2
    )
    assert [answer["name"] for answer in record["answers"]] == ["Sea 1"]
    assert (record["method"], record["config"]["method"]) == ("straight", "straight")
    assert headline_of("straight") == "Straight: by the first chain."
    assert "backtracking" in context_of("straight").model_fields
    with pytest.raises(OptionError, match="straight has no option 'wings'"):
        make_context(named, {"wings": 2})


def test_a_file_runs_once_whichever_threads_name_it_first(write: Write) -> None:
    named = write("import time\ntime.sleep(0.05)\nthing = object()\n", "slow")
    with ThreadPoolExecutor(8) as threads:
        found = {*threads.map(lambda _: load_plugin("metrics", f"{named}:thing").thing, range(8))}
    assert len(found) == 1


async def test_a_graph_is_taken_as_it_is(write: Write, kg: str) -> None:
    graph = load_plugin("methods", f"{write()}:graph").thing
    record = await kgqa.aask("?", method=graph, topics=["Town 1"], kg=kg, model=towns.guide())
    assert record["method"] == "straight"
    assert load_method(cor.graph) == "cor"


def test_ours_come_before_those_of_packages(write: Write, installed: None) -> None:
    write()
    assert load_method("cor") == "cor"
    assert list(graphs.all_methods()) == [*graphs.METHODS, "installed"]


@pytest.mark.parametrize(
    "text, named, why",
    [
        (None, "nowhere:graph", "no module is called 'nowhere'; install its package, or name its file"),
        (None, "no/where.py:graph", "no such file: .*where.py; name the file"),
        (METHOD, "straight.py:plan", "straight.py has no 'plan'"),
        ("1 / 0", "straight.py:graph", r"ZeroDivisionError: division by zero \(straight.py, line 1\)"),
        ("import not_there", "straight:graph", "straight cannot be imported: ModuleNotFoundError: No module"),
        ("raise SystemExit(3)", "straight.py:graph", "cannot be imported: SystemExit: 3"),
        (
            "def (",
            "straight.py:graph",
            r"imported: SyntaxError: invalid syntax \(straight.py, line 1\); mend it",
        ),
        ("graph = 1", "straight.py:graph", r"no method of kgqa \(int\): make its graph with build_graph"),
        (
            METHOD.replace('"straight"', '"vog"'),
            "straight.py:graph",
            "calls itself vog, as one of kgqa's own",
        ),
        (METHOD.replace('"straight"', '"My way"'), "straight.py:graph", "has no name: give Straight one"),
        (None, "walk", "no method is called 'walk'; there are: compose, .*; name your own as module:graph"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(
    text: str | None, named: str, why: str, write: Write
) -> None:
    if text is not None:
        write(text)
    with pytest.raises(ValueError, match=why) as told:
        load_method(named)
    assert "\n" not in str(told.value)


def test_a_file_shadows_no_other_module(write: Write) -> None:
    import json

    found = load_plugin("metrics", f"{write('import json as other', 'json')}:other")
    assert found.thing is json
    assert sys.modules["json"] is json


def test_a_file_that_has_changed_is_loaded_as_it_is_now(write: Write) -> None:
    first = load_plugin("metrics", f"{write('depth = 2')}:depth")
    again = load_plugin("metrics", f"{write('depth = 3')}:depth")
    assert (first.thing, again.thing) == (2, 3)
    assert first.fingerprint != again.fingerprint


def test_the_hash_of_a_file_tells_its_content(write: Write, tmp_path: Path) -> None:
    first = load_plugin("methods", f"{write()}:graph").fingerprint
    other = load_plugin("methods", f"{write(METHOD + '# changed', 'changed')}:graph").fingerprint
    assert first and other and first != other


@pytest.mark.parametrize(
    "name", ["webqsp.jsonl", "http://localhost:8890/sparql", "sample", "a:b:c", "C:\\a.nt"]
)
def test_other_names_say_no_place(name: str) -> None:
    assert not names_plugin("datasets", name)


def test_nothing_is_imported_for_who_only_looks_a_method_up(write: Write, tmp_path: Path) -> None:
    named = f"{write('open(0, mode=chr(119))')}:graph"  # it would fail
    for look in (graph_of, context_of, headline_of):
        with pytest.raises(ValueError, match="no method is called"):
            look(named)
    assert not [name for name in sys.modules if name.startswith("straight")]


@pytest.mark.parametrize("named", ["straight.py:graph", "straight:graph", "installed"])
async def test_a_server_imports_nothing_that_is_named(named: str, write: Write, installed: None) -> None:
    write()
    activate_limits(Limits(plugins=False))
    try:
        with pytest.raises(ValueError, match="is not served here; name one of: compose"):
            await kgqa.aask("?", method=named)
        assert (await kgqa.aask("What?", method="cor", topics=["x"], model=towns.guide()))["method"] == "cor"
    finally:
        activate_limits(Limits())
    assert "straight" not in sys.modules


def test_plugin_errors_are_usage_errors() -> None:
    assert issubclass(PluginError, ValueError)
