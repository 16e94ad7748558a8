"""A hook of mkdocs: gathers the pages of the repository, and the files that they lead to, for the site."""

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("*.md", "docs/*.md", "docs/*.css", "examples/README.md", "data/README.md")
LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)\s#]+)")


def on_config(config: Any) -> Any:
    """Fill the folder that the site is made of; of a link that leads nowhere, mkdocs complains."""
    gather(Path(config["docs_dir"]))
    return config


def gather(folder: Path) -> None:
    """Copy the pages into a folder, each at its place, with the files that they lead to."""
    shutil.rmtree(folder, ignore_errors=True)
    for page in sorted(page for room in PAGES for page in ROOT.glob(room)):

        def lead(found: re.Match[str], page: Path = page) -> str:
            target = (page.parent / found[2]).resolve()
            if (target / "README.md").is_file():
                return f"{found[1]}{found[2].rstrip('/')}/README.md"
            if target.is_file() and target.suffix != ".md" and target.is_relative_to(ROOT):
                _copy(target, folder)
            return found[0]

        text = LINK.sub(lead, page.read_text(encoding="utf-8"))
        _place(page, folder).write_text(text, encoding="utf-8")


def _copy(file: Path, folder: Path) -> None:
    shutil.copyfile(file, _place(file, folder))


def _place(file: Path, folder: Path) -> Path:
    """Return where a file of the repository stands in the folder."""
    place = folder / file.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    return place
