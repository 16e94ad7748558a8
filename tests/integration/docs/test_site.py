"""The docs as a site: built strictly, every link leads somewhere, and nothing comes from another host."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import kgqa
from kgqa.tests.support.browser import browsing, missing

ROOT = Path(kgqa.__file__).parent


def build(folder: Path, *, pages: bool = True) -> "subprocess.CompletedProcess[str]":
    """Build the site below a folder; from the pages that are there already unless ``pages``."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("build/", f"{folder}/")
    text = text.replace("scripts/pages.py", str(ROOT / "scripts" / "pages.py"))
    text = text if pages else re.sub(r"hooks:\n.*\n", "", text)
    (folder / "mkdocs.yml").write_text(text, encoding="utf-8")
    words = [
        sys.executable,
        "-P",
        "-m",
        "mkdocs",
        "build",
        "--config-file",
        str(folder / "mkdocs.yml"),
    ]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(words, capture_output=True, text=True, timeout=100, env=settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("docs")
    (path / "pages").mkdir()
    built = build(path)
    assert (built.returncode, "WARNING" in built.stderr) == (0, False), built.stderr
    return path


@contextmanager
def served(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_every_page_is_in_the_site(folder: Path) -> None:
    pages = {page.relative_to(ROOT) for room in ("docs", ".") for page in (ROOT / room).glob("*.md")}
    made = {file.relative_to(folder / "site") for file in (folder / "site").rglob("*.html")}
    expected = {page.with_suffix(".html") for page in pages} - {Path("README.html")} | {Path("index.html")}
    assert expected - made == set()
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [str(page) for page in pages if f": {page}\n" not in text] == []  # it can be navigated to


@pytest.mark.parametrize(
    "broken",
    [
        "[x](docs/nowhere.md)",
        "[x](docs/cor.md#nowhere)",
        "![x](docs/drawings/nowhere.svg)",
        "[x](nowhere.py)",
    ],
)
def test_a_link_that_leads_nowhere_ends_the_build(broken: str, folder: Path) -> None:
    page = folder / "pages" / "README.md"
    whole = page.read_text(encoding="utf-8")
    try:
        page.write_text(f"{whole}\n{broken}\n", encoding="utf-8")
        built = build(folder, pages=False)
    finally:
        page.write_text(whole, encoding="utf-8")
    assert built.returncode != 0
    assert "nowhere" in built.stdout + built.stderr


@pytest.mark.skipif(bool(missing()), reason=str(missing()))
def test_pages_show_all_they_have_without_another_host(folder: Path) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    with served(folder / "site") as url, browsing() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type == "error" else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{url}/docs/cor.html")
        drawing = page.get_by_alt_text(re.compile("^The nodes of cor: link"))
        assert drawing.evaluate("image => image.complete && image.naturalWidth") > 200
        broken = "all => all.filter(each => each.getClientRects().length > 1).map(each => each.innerText)"
        assert page.locator("td:first-child code").evaluate_all(broken) == []
        page.goto(f"{url}/index.html")
        search = page.locator(".md-search__input").first
        search.focus()
        page.get_by_text("Type to start searching").wait_for(timeout=60_000)  # what is typed before is lost
        search.press_sequentially("relation-chain stack")
        page.locator(".md-search-result__item").first.wait_for(timeout=60_000)
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Methods", exact=True).first.click()
        page.wait_for_url("**/docs/methods.html")
        assert page.locator("h1").count() == 1
    assert complaints == []
    assert [each for each in asked if not each.startswith((url, "data:", "blob:"))] == []
