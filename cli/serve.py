"""``kgqa serve``: the server with its page, and the graph opened before the first question."""

import asyncio
import json
import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli import options, output

if TYPE_CHECKING:
    from kgqa.runtime.context import Context

PACKAGE = Path(__file__).parents[1]

DEFAULT_PORT = 2024

RUNS_AT_A_TIME = 10

OWN_METHODS = "kgqa_own_methods"

QUIET = {"LANGSMITH_TRACING": "false", "LANGGRAPH_NO_VERSION_CHECK": "true", "LOG_LEVEL": "ERROR"}
"""What LangGraph's server is told where nobody has said otherwise: call nobody, and log failures alone."""


def serve(
    kg: options.Graph = None,
    model: options.Model = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="A method of your own to serve beside ours, as module:graph or file.py:graph (repeatable)."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; others need keys.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help=f"Where; else {DEFAULT_PORT}, or what is free.")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve a page to ask and to watch, and the LangGraph API behind it, until Ctrl-C.

    Graph and model are those that are asked where nobody names another.
    Keys, limits and where steps are kept are set in the environment; see docs/serving.md.
    """
    if any(find_spec(name) is None for name in ("langgraph_api", "langgraph_runtime_inmem", "starlette")):
        output.fail("the server is not installed; bring it with: pip install 'kgqa[studio]'")
    given: dict[str, Any] = {name: value for name, value in {"kg": kg, "model": model}.items() if value}
    if kg:
        _make_default("KG", kg[0] if len(kg) == 1 else json.dumps(kg))
    if model:
        _make_default("MODEL", model)
    own = _load_methods(method or [])
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    chosen = _choose_port(host, port)
    context = _make_context(given)
    with output.errors_in_one_line(ValueError):
        typer.echo(f"opening {', '.join(context.config()['kg'])} …", err=True)
        asyncio.run(_open(context))
    reached = host if host not in {"0.0.0.0", "::"} else "localhost"  # noqa: S104
    address = f"http://{f'[{reached}]' if ':' in reached else reached}:{chosen}/"
    threading.Thread(target=_announce, args=(reached, chosen, address, open_page), daemon=True).start()
    _run(host, chosen, own)


def _load_methods(named: list[str]) -> dict[str, Any]:
    """Return an entry for each method of the operator's own, as those of ``graphs`` in ``langgraph.json``.

    LangGraph's server takes a graph out of a module: they have one to themselves. One that cannot be loaded
    ends the command with one line.
    """
    from kgqa.graphs import graph_of, headline_of, load_method

    with output.errors_in_one_line(ValueError):
        names = [load_method(options.read_method(each)) for each in named]
    module = sys.modules[OWN_METHODS] = ModuleType(OWN_METHODS)
    vars(module).update({name: graph_of(name) for name in names})
    return {name: {"path": f"{OWN_METHODS}:{name}", "description": headline_of(name)} for name in names}


def server_settings(own: dict[str, Any]) -> dict[str, Any]:
    """Return ``langgraph.json`` with modules for files, so that it holds in any folder; and own methods."""
    said: dict[str, Any] = json.loads((PACKAGE / "langgraph.json").read_text(encoding="utf-8"))
    graphs = {name: {**graph, "path": _as_module(graph["path"])} for name, graph in said["graphs"].items()}
    return {
        "graphs": own | graphs,
        "auth": {**said["auth"], "path": _as_module(said["auth"]["path"])},
        "http": {**said["http"], "app": _as_module(said["http"]["app"])},
        "checkpointer": said["checkpointer"],
    }


def _as_module(path: str) -> str:
    """Return a file of ours and a name in it, as a module and the name.

    >>> _as_module("./graphs/cor.py:graph")
    'kgqa.graphs.cor:graph'
    """
    file, _, name = path.rpartition(":")
    return f"kgqa.{'.'.join(Path(file).with_suffix('').parts)}:{name}" if file.startswith("./") else path


def _make_default(name: str, value: str) -> None:
    """Make this the server's default: of a list of allowed ones that has it, put it first."""
    os.environ[f"KGQA_{name}"] = value
    allowed = list(filter(None, map(str.strip, os.environ.get(f"KGQA_ALLOW_{name}", "").split(","))))
    if value in allowed:
        os.environ[f"KGQA_ALLOW_{name}"] = ",".join(dict.fromkeys([value, *allowed]))


def _make_context(given: dict[str, Any]) -> "Context":
    """Return the options of a question; end with one line where they, or the server's limits, are wrong."""
    from kgqa.api import make_context
    from kgqa.graphs import METHODS
    from kgqa.runtime.server_limits import NotServed, activate_limits
    from kgqa.serving.settings import read_authenticator, read_datasets, read_limits

    try:
        read_authenticator(os.environ)
        read_datasets(os.environ)
        activate_limits(read_limits(os.environ))
        return make_context(METHODS[0], given)
    except (ValueError, NotServed) as error:
        output.fail(error)


async def _open(context: "Context") -> None:
    """Open what the first question would wait for; a question that costs nothing shows what that is."""
    from kgqa.api import make_input
    from kgqa.graphs import METHODS, graph_of
    from kgqa.models.registry import is_offline
    from kgqa.runtime.resources import open_resources

    await open_resources(context)
    if is_offline(context.model):
        await graph_of(METHODS[0]).ainvoke(make_input("What is this?"), context=context)


def _choose_port(host: str, port: int | None) -> int:
    """Return a port that nobody listens on; end with one line where there is none to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tried in (port,) if port else (DEFAULT_PORT, 0):
        with socket.socket(family) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((host, tried))
                return int(listener.getsockname()[1])
            except OSError as error:
                problem = error
    output.fail(f"cannot listen on {host}:{port or DEFAULT_PORT}: {problem.strerror}; name another --port")


def _announce(host: str, port: int, address: str, open_page: bool) -> None:
    """Say where the page is, once it is."""
    while True:
        with suppress(OSError):
            socket.create_connection((host, port), timeout=1).close()
            break
        time.sleep(0.1)
    typer.echo(f"kgqa is at {address} (Ctrl-C ends it)")
    if open_page:
        webbrowser.open(address)


def _run(host: str, port: int, own: dict[str, Any]) -> None:
    """Run the server until it is told to end, or its terminal is closed: it writes down what it knows."""
    import logging

    if signal.getsignal(hangup := getattr(signal, "SIGHUP", signal.SIGTERM)) is signal.SIG_DFL:
        signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))
    run_server = import_module("langgraph_api.cli").run_server
    logging.getLogger("langgraph_api.cli").setLevel(logging.WARNING)  # its welcome has another page
    run_server(
        host,
        port,
        n_jobs_per_worker=RUNS_AT_A_TIME,
        allow_blocking=True,
        **server_settings(own),
    )
