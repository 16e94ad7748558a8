"""Fills what pages say of the code, made from the code: ``make docs``.

What stands in a page between ``<!-- NAME -->`` and ``<!-- end -->`` is made here: the drawing of a
method's graph, tables of options, the table of methods. A method's page has the method's name.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.cli.methods import option_default, option_help, option_text
from kgqa.graphs import METHODS
from kgqa.kg.dialects import DIALECTS, Dialect
from kgqa.kg.public_endpoints import ENDPOINTS
from kgqa.runtime.budget import Budget
from kgqa.runtime.context import Context
from kgqa.scripts.drawings import captions, describe, draw_svg, read_drawing

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

DOCS = Path(__file__).parent
ROOT = DOCS.parent

SETTINGS = (
    "KGQA_KG",
    "KGQA_MODEL",
    "OPENAI_API_KEY",
    "KGQA_TEMPERATURE",
    "KGQA_MAX_TOKENS",
    "KGQA_TIMEOUT",
    "KGQA_MODEL_ARGUMENTS",
)
"""What changes defaults from outside; pages show them as they are without."""


def pages() -> dict[Path, dict[str, str]]:
    """Return the pages with blocks, and what stands in each block."""
    own = {
        DOCS / f"{name}.md": {"drawing": drawing(name), "options": options(name), **presets(name)}
        for name in (*METHODS, "chat")
    }
    return {
        **own,
        DOCS / "methods.md": {"options": table(Context.model_fields), "budget": table(Budget.model_fields)},
        DOCS / "endpoints.md": {"dialects": dialects()},
        DOCS / "graphs.md": {"endpoints": endpoints()},
        ROOT / "README.md": {"methods": methods()},
    }


def filled(page: Path, blocks: Mapping[str, str]) -> str:
    """Return the text of a page with its blocks as the code has them.

    Raises:
        ValueError: if the page has not each block once.
    """
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        here = re.compile(f"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, times = here.subn(lambda found, block=block: f"{found[1]}{block}\n{found[2]}", text)
        if times != 1:
            raise ValueError(f"{page.name}: one <!-- {name} --> ... <!-- end --> is needed, not {times}")
    return text


def drawing(method: str) -> str:
    """Show the drawing of a method, and say what is not drawn."""
    said = " ".join(captions(read_drawing(method)))
    return f"![{describe(method)}](drawings/{method}.svg)\n\n{said}".rstrip()


def drawings() -> dict[Path, str]:
    """Return the files of the drawings, and what stands in each."""
    return {DOCS / "drawings" / f"{name}.svg": draw_svg(name) for name in (*METHODS, "chat")}


def endpoints() -> str:
    """Tabulate the public endpoints that have a name."""
    rows = (f"| `{e.name}` | `{e.url}` | {e.dialect.name} | {e.limits} |" for e in ENDPOINTS.values())
    return "\n".join(["| name | address | dialect | limits |", "|---|---|---|---|", *rows])


def options(method: str) -> str:
    """Tabulate the options that a method has beside those of every method."""
    context = import_module(f"kgqa.graphs.{method}").graph.builder.context_schema
    kinds = takewhile(lambda kind: kind is not Context, context.__mro__)
    said = {name for kind in kinds for name in kind.__annotations__}
    own = {name: field for name, field in context.model_fields.items() if name in said}
    every = "[what every method takes](methods.md)"
    return f"Beside {every}:\n\n{table(own)}" if own else f"Nothing but {every}."


def presets(method: str) -> dict[str, str]:
    """Tabulate what the presets of a method set, those alike in one column; no block where it has none."""
    context = import_module(f"kgqa.graphs.{method}").graph.builder.context_schema
    columns: dict[str, list[str]] = {}
    for name, values in getattr(context, "PRESETS", {}).items():
        columns.setdefault(json.dumps(values), []).append(f"`{name}`")
    written = [json.loads(column) for column in columns]
    rows = (
        (f"`{name}`", f"`{option_default(field)}`", *(f"`{option_text(each[name])}`" for each in written))
        for name, field in context.model_fields.items()
        if any(name in each for each in written)
    )
    head = " | ".join(["option", "default", *map(", ".join, columns.values())])
    return {"presets": _table(head, rows)} if columns else {}


def table(fields: "Mapping[str, FieldInfo]") -> str:
    """Tabulate options: name, default, meaning."""
    return _table(
        "option | default | meaning",
        ((f"`{name}`", f"`{option_default(field)}`", option_help(field)) for name, field in fields.items()),
    )


def methods() -> str:
    """Tabulate the methods as ``langgraph.json`` describes them, each with its page."""
    served = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    rows = ((f"[`{name}`](docs/{name}.md)", served[name]["description"]) for name in METHODS)
    return _table("method | what it does", rows)


def dialects() -> str:
    """Tabulate what a dialect is made of."""
    every = list(DIALECTS.values())
    says: dict[str, Callable[[Dialect], Iterable[str]]] = {
        "relations begin with": lambda each: [space.iri for space in each.relations] or ["anything"],
        "names": lambda each: each.labels,
        "further names": lambda each: each.aliases,
        "languages, best first": lambda each: [tag or "untagged" for tag in each.languages],
        "types": lambda each: each.types,
        "ids in other graphs": lambda each: [twin.predicate for twin in each.twins] or ["none"],
    }
    rows = (
        (what, *("<br>".join(f"`{text}`" for text in say(each)) for each in every))
        for what, say in says.items()
    )
    return _table(" | ".join(["", *(each.name for each in every)]).strip(), rows)


def _table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Draw a table; a bar in a cell would end it."""
    cells: Iterator[str] = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows)
    return "\n".join([f"| {head} |", "|---" * len(head.split("|")) + "|", *(f"| {row} |" for row in cells)])


def main() -> None:
    """Write every page anew."""
    for name in SETTINGS:
        os.environ.pop(name, None)
    for page, blocks in pages().items():
        page.write_text(filled(page, blocks), encoding="utf-8")
    for file, drawn in drawings().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
