"""Fills the drawings and the tables of options into the pages of the methods: ``make docs``.

A page has the name of its method. What stands between ``<!-- drawing -->`` or ``<!-- options -->``
and ``<!-- end -->`` is made from the code.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.cli.methods import default_of, meaning_of
from kgqa.graphs import METHODS, context_of, graph_of
from kgqa.session.context import Context

if TYPE_CHECKING:
    from collections.abc import Iterable

DOCS = Path(__file__).parent


def filled(method: str, page: str) -> str:
    """Give the page of a method with its drawing and its options as the code has them."""
    blocks = {"drawing": drawing(method), "options": options(method)}
    for name, block in blocks.items():
        pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        page = pattern.sub(lambda found, block=block: f"{found[1]}{block}\n{found[2]}", page)
    return page


def drawing(method: str) -> str:
    """Draw the graph of a method as Mermaid."""
    drawn = graph_of(method).get_graph().draw_mermaid().split("graph TD;", 1)[1]
    lines = [line.strip() for line in drawn.splitlines() if line.strip()]
    return "\n".join(["```mermaid", "graph TD;", *lines, "```"])


def options(method: str) -> str:
    """Tabulate the options that a method has beside those of all methods."""
    fields = context_of(method).model_fields
    own = {name: field for name, field in fields.items() if name not in Context.model_fields}
    rows: Iterable[str] = (
        f"| `{name}` | `{default_of(field)}` | {meaning_of(field)} |" for name, field in own.items()
    )
    return "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])


def main() -> None:
    """Write every page anew."""
    for method in METHODS:
        page = DOCS / f"{method}.md"
        page.write_text(filled(method, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
