"""Puts the page together: one file that needs nothing else, and no network."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgqa.evaluation.report.ablation import ablations
from kgqa.evaluation.report.contributions import contribution_sheets
from kgqa.evaluation.report.groups import Group, grouped
from kgqa.evaluation.report.lookaheads import lookahead_sheets
from kgqa.evaluation.report.pairs import COLUMNS, pairs
from kgqa.evaluation.report.payload import payload
from kgqa.evaluation.report.plots import plots
from kgqa.evaluation.report.plots.svg import SERIES
from kgqa.evaluation.report.refinements import refinement_sheets
from kgqa.evaluation.report.revisions import revision_sheets
from kgqa.evaluation.report.runs import Run, read_run
from kgqa.evaluation.report.table import table

WEB = Path(__file__).with_name("web")

STYLES = ("colours", "page", "tables", "plots", "list", "question", "trace", "media")
"""The files of the page's style, in their order."""

SCRIPTS = ("dom", "data", "tables", "paths", "trace", "answers", "filters", "list", "main")
"""The files of the page's script, in their order."""


def report(folders: Sequence[Path], datasets: Sequence[Path] = ()) -> str:
    """Make the page of some runs; the same folders give the same page, to the byte.

    Args:
        folders: run folders, in the order in which they are shown.
        datasets: where datasets are now, if not where the runs have found them.

    Raises:
        ReportError: in one line, if a folder is no run or a file cannot be read.
    """
    runs = [read_run(folder) for folder in dict.fromkeys(folders)]
    return _rendered(runs, grouped(runs, datasets))


def _rendered(runs: Sequence[Run], groups: Sequence[Group]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(WEB),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"pretty": _pretty, "parts": _parts}
    style, script = _joined(STYLES, "css"), _script()
    return environment.get_template("page.html").render(
        style=style,
        script=script,
        policy=_policy(style, script),
        head=_head(runs),
        sections=[_section(number, group) for number, group in enumerate(groups, start=1)],
        payload=payload(groups),
        pair_columns=COLUMNS,
        colours=SERIES,
    )


def _script() -> str:
    return f'"use strict";\n(() => {{\n{_joined(SCRIPTS, "js")}}})();\n'


def _joined(names: Sequence[str], ending: str) -> str:
    return "\n".join((WEB / f"{name}.{ending}").read_text(encoding="utf-8") for name in names)


def _policy(style: str, script: str) -> str:
    """Allow this script and this style and nothing else, least of all the network."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _head(runs: Sequence[Run]) -> dict[str, str]:
    """Give what the head of the page says of all runs: versions, times, seeds."""
    started = sorted(_each(_when(run.about.get("started")) for run in runs))
    return {
        "runs": str(len(runs)),
        "versions": ", ".join(_each(run.about.get("kgqa") for run in runs)),
        "started": " to ".join(dict.fromkeys(started[:1] + started[-1:])),
        "seeds": ", ".join(_each(run.about.get("seed") for run in runs)),
        "graphs": ", ".join(_each(run.about.get("graph") for run in runs)),
    }


def _when(started: object) -> object:
    """Write a time to the minute, in UTC; what is no time stays as it is."""
    try:
        return f"{datetime.fromisoformat(str(started)).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return started


def _each(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value is not None))


def _section(number: int, group: Group) -> dict[str, Any]:
    """Give the part of the page on one dataset."""
    found = ablations(group.entries)
    return {
        "id": f"d{number}",
        "group": group,
        "questions": len(group.questions),
        "table": table(group.entries),
        "pairs": pairs(group),
        "sheets": [
            *contribution_sheets(found),
            *refinement_sheets(group.entries),
            *revision_sheets(group.entries),
            *lookahead_sheets(group.entries),
        ],
        "plots": plots(f"d{number}", group.entries, found),
    }


def _parts(text: str) -> list[str]:
    """Give the parts of a name without spaces that a line may break between."""
    return re.split(r"(?<=[,:=/_])", text)


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
