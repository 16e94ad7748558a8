"""What the pages say of the code is what the code does."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

import kgqa
from kgqa.api import make_context
from kgqa.cli import main
from kgqa.cli.options import read_options
from kgqa.graphs import METHODS, graph_of

ROOT = Path(kgqa.__file__).parent
DOCS = ROOT / "docs"
PAGES = sorted(page for room in (".", "docs", "examples", "data") for page in (ROOT / room).glob("*.md"))
FILLED = [
    *(DOCS / f"{name}.md" for name in (*METHODS, "chat", "methods", "endpoints", "graphs")),
    ROOT / "README.md",
]

COMMAND = re.compile(
    r"kgqa ((?:blueprints (?:build|show|calibrate)|exemplars (?:build|show)"
    r"|kg (?:check|filter|info|list|load)|new method|ask|chat|eval|mcp|score|report|calibrate|methods)\b)"
    r"([^\n`#]*)"
)

every_method = pytest.mark.parametrize("method", METHODS)
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def section(method: str, title: str) -> str:
    """Return what stands under a heading of a method's page."""
    return text_of(DOCS / f"{method}.md").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def fill() -> ModuleType:
    """``docs/fill.py``, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("fill", DOCS / "fill.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every_page
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|md|ttl)|[a-z_]+\.py)`", text_of(page))
    assert [name for name in named if not (ROOT / name).exists() and not (page.parent / name).exists()] == []


@pytest.mark.parametrize("page", FILLED, ids=lambda page: page.stem)
def test_drawings_and_options_are_as_the_code_has_them(page: Path, fill: ModuleType) -> None:
    assert text_of(page) == fill.filled(page, fill.pages()[page]), "run: make docs"


def test_every_page_that_is_filled_is_looked_at(fill: ModuleType) -> None:
    assert set(fill.pages()) == set(FILLED)


def test_a_page_without_its_block_is_named(fill: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "cor.md"
    page.write_text("# CoR\n\n<!-- options -->\nold\n<!-- end -->\n")
    assert fill.filled(page, {"options": "new"}) == "# CoR\n\n<!-- options -->\nnew\n<!-- end -->\n"
    with pytest.raises(ValueError, match=r"cor\.md: one <!-- drawing -->"):
        fill.filled(page, {"drawing": "new"})


@every_method
def test_the_pages_of_methods_have_one_form(method: str) -> None:
    page = text_of(DOCS / f"{method}.md")
    head, *_ = page.partition("\n## ")
    assert re.match(r"# \S.*\n\n\w", page)
    assert f"--method {method}" in head
    assert "<!-- drawing -->" in head
    assert re.findall(r"^## (.*)", page, re.M)[:4] == ["Nodes", "Cost", "Options", "Where it differs"]


@every_method
def test_the_architecture_leads_to_each_page(method: str) -> None:
    assert f"(docs/{method}.md)" in text_of(ROOT / "ARCHITECTURE.md")


@every_method
def test_a_page_has_each_node_of_the_graph_in_its_order(method: str) -> None:
    nodes = [name for name in graph_of(method).nodes if name != "__start__"]
    assert re.findall(r"^\| `(\w+)` \|", section(method, "Nodes"), re.M) == nodes


@every_method
def test_a_page_tells_the_cost_in_calls_and_queries(method: str) -> None:
    cost = section(method, "Cost")
    assert "call" in cost
    assert "quer" in cost


@every_method
def test_a_page_tells_where_the_method_differs(method: str) -> None:
    head, rule, *rows = section(method, "Where it differs").partition("\n| ")[2].splitlines()
    columns = [cell.strip() for cell in head.strip("| ").split("|")]
    assert columns[0] == "point"
    assert "here" in columns[-2:]  # before the option that gives the other way
    assert rule == "|---" * len(columns) + "|"
    assert sum(row.startswith("| ") for row in rows) >= 3


@every_method
def test_the_options_of_a_page_are_those_of_its_method(method: str) -> None:
    text = text_of(DOCS / f"{method}.md")
    named = re.findall(r"([\w.]+=[\w.]+)`", text) + re.findall(r"--option ([\w.]+=[\w.]+)", text)
    for pair in named:
        make_context(method, read_options([pair]))
    assert len(named) > 10 or method not in {"cog", "vog"}


@every_page
def test_commands_have_such_options(page: Path) -> None:
    for name, rest in COMMAND.findall(text_of(page)):
        shown = CliRunner().invoke(main.app, [*name.split(), "--help"], env={"COLUMNS": "200"}).output
        assert [option for option in re.findall(r"--[a-z-]+", rest) if option not in shown] == []


@every_page
def test_commands_give_their_method_options_that_it_has(page: Path) -> None:
    for name, rest in COMMAND.findall(text_of(page)):
        method = re.findall(r"--method ([\w./:]+)", rest) or ["cor"]
        if name in {"ask", "eval"} and ":" not in method[0]:  # one of the user's own has options of its own
            make_context(method[0], read_options(re.findall(r"--option ([\w.]+=\S+)", rest)))


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text_of(page)):
        file = page.parent / target if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)", text_of(page), re.M)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}
