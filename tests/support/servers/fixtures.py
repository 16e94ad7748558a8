"""Servers that all tests of a session share: one Virtuoso, one PostgreSQL, and an Oxigraph for each graph."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from kgqa.tests.support.servers import oxigraph, postgres as postgreses, virtuoso as virtuosos

Serve = Callable[[Sequence[Path]], str]
"""Gives the URL at which a graph of these files is asked."""


@pytest.fixture(scope="session")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Serve files by Virtuoso, equal files once; started when first asked for."""
    if reason := virtuosos.missing():
        pytest.skip(reason)
    urls: dict[tuple[Path, ...], str] = {}
    with virtuosos.started(tmp_path_factory.mktemp("virtuoso")) as server:

        def serve(files: Sequence[Path]) -> str:
            if (key := tuple(files)) not in urls:
                urls[key] = server.load(files, f"http://kgqa.test/{len(urls)}/")
            return urls[key]

        yield serve


@pytest.fixture(scope="session")
def oxigraph_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Serve files by Oxigraph's server, equal files once."""
    if reason := oxigraph.missing():
        pytest.skip(reason)
    urls: dict[tuple[Path, ...], str] = {}
    with ExitStack() as servers:

        def serve(files: Sequence[Path]) -> str:
            if (key := tuple(files)) not in urls:
                serving = oxigraph.serving(tmp_path_factory.mktemp("oxigraph"), files)
                urls[key] = servers.enter_context(serving)
            return urls[key]

        yield serve


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL of this session's own."""
    if reason := postgreses.missing():
        pytest.skip(reason)
    with postgreses.started() as address:
        yield address
