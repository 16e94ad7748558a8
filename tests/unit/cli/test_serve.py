"""``kgqa serve``: what is told before anything is served, and what the server is told."""

import socket
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kgqa.cli import new, serve
from kgqa.cli.main import app
from kgqa.graphs import METHODS, graph_of, headline_of
from kgqa.runtime import server_limits
from kgqa.runtime.context import Context
from kgqa.runtime.server_limits import NotServed


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start nothing; environment and limits are as before afterwards."""
    monkeypatch.setattr(serve, "_run", lambda host, port, own: None)
    monkeypatch.setattr(serve, "_announce", lambda *told: None)
    monkeypatch.setattr(server_limits, "_active", server_limits._active)
    for name in ("KGQA_KG", "KGQA_MODEL", "KGQA_ALLOW_KG", "KGQA_ALLOW_MODEL", "KGQA_API_KEYS", *serve.QUIET):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def refused(*arguments: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["serve", *arguments])
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("opening")]
    assert len(lines) == 1, ended.output
    return ended.exit_code, lines[0]


def test_what_to_install_is_said_where_the_server_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    assert refused() == (2, "kgqa: the server is not installed; bring it with: pip install 'kgqa[studio]'")


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, said = refused("--port", str(port))
    assert status == 2
    assert said.startswith(f"kgqa: cannot listen on 127.0.0.1:{port}: ")
    assert said.endswith("; name another --port")


def test_without_a_port_a_free_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(serve, "DEFAULT_PORT", taken.getsockname()[1])
        assert serve._choose_port("127.0.0.1", None) not in {0, serve.DEFAULT_PORT}


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--kg", "/nowhere/films.ttl"), 3, "/nowhere/films.ttl"),
        (("--kg", "sample", "--model", "nobody:nothing"), 4, "nobody"),
    ],
)
def test_what_cannot_be_opened_is_said_before_it_is_served(
    arguments: tuple[str, ...], status: int, said: str
) -> None:
    ended, line = refused(*arguments)
    assert ended == status
    assert line.startswith("kgqa: ") and said in line


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("KGQA_API_KEYS", "short", "KGQA_API_KEYS: key 1 is too short"),
        ("KGQA_DATASETS", "films.ttl", "KGQA_DATASETS: write ids and graphs as JSON, such as"),
        ("KGQA_ALLOW_KG", "other.ttl", "option kg: 'films.ttl' is not served here; name one of: other.ttl"),
    ],
)
def test_settings_that_do_not_go_together_are_said(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    status, line = refused("--kg", "films.ttl")
    assert (status, said in line) == (2, True)


def test_of_the_graphs_that_are_allowed_the_one_that_is_named_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KGQA_ALLOW_KG", "other.ttl, sample")
    ended = CliRunner().invoke(app, ["serve", "--kg", "sample", "--model", "offline"])
    assert ended.exit_code == 0, ended.output
    assert server_limits.active_limits().kg == (("sample",), ("other.ttl",))


def test_several_files_are_one_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [str(tmp_path / name) for name in ("a.ttl", "b.ttl")]
    for file in files:
        Path(file).write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    monkeypatch.setenv("KGQA_API_KEYS", "alice:a-key-of-alice-0123")
    ended = CliRunner().invoke(app, ["serve", "--kg", files[0], "--kg", files[1], "--model", "offline"])
    assert ended.exit_code == 0, ended.output
    assert ended.stderr == f"opening {', '.join(files)} …\n"
    assert Context().kg == tuple(files)
    with pytest.raises(NotServed, match=r"name one of: .*a\.ttl and .*b\.ttl"):
        Context(kg=files[0])


def test_methods_of_ones_own_are_served_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new.method("served_walk")
    served: list[dict[str, Any]] = []
    monkeypatch.setattr(serve, "_run", lambda host, port, own: served.append(serve.server_settings(own)))
    ended = CliRunner().invoke(app, ["serve", "--method", "served_walk/served_walk.py:graph"])
    assert ended.exit_code == 0, ended.output
    graphs = served[0]["graphs"]
    assert {*METHODS, "chat", "served_walk"} <= graphs.keys()
    module, name = graphs["served_walk"]["path"].split(":")
    assert vars(import_module(module))[name] is graph_of("served_walk")
    assert graphs["served_walk"]["description"] == headline_of("served_walk")


@pytest.mark.parametrize("named", ["nowhere.py:graph", "no_such_module:graph", "json:dumps", "cot_of_mine"])
def test_a_method_that_cannot_be_loaded_is_told_before_anything_is_opened(named: str) -> None:
    status, line = refused("--method", named)
    assert (status, named.partition(":")[0] in line) == (2, True)


def test_what_langgraph_json_names_is_there_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = serve.server_settings({})
    assert set(METHODS) <= set(settings["graphs"])
    named = [graph["path"] for graph in settings["graphs"].values()]
    for path in (*named, settings["http"]["app"]):
        module, name = path.split(":")
        assert hasattr(import_module(module), name)
    assert settings["auth"]["path"] == "kgqa.serving.auth:auth"
