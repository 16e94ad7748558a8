"""The progress bar of a graph that is loaded."""

import io

import pytest
from rich.console import Console

from kgqa.cli.kg import loading_bar


@pytest.mark.parametrize(("share", "says"), [(0.3, "reading"), (1.0, "indexing names")])
def test_a_terminal_shows_what_is_done(share: float, says: str) -> None:
    file = io.StringIO()
    with loading_bar(Console(file=file, force_terminal=True, width=80, color_system=None)) as watch:
        watch(share)
    assert says in file.getvalue().split("\r")[-2]


def test_nothing_is_shown_where_nobody_looks() -> None:
    file = io.StringIO()
    with loading_bar(Console(file=file)) as watch:
        watch(0.5)
    assert file.getvalue().strip() == ""
