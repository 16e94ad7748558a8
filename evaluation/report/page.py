"""Puts the page together: one file that needs nothing else, and no network."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgqa.evaluation.report.ablation import contribution_tables, find_ablations
from kgqa.evaluation.report.groups import DatasetGroup, group_by_dataset
from kgqa.evaluation.report.method_tables import lookahead_tables, refinement_tables, revision_tables
from kgqa.evaluation.report.plots import draw_plots
from kgqa.evaluation.report.plots.canvas import SERIES_COLOURS
from kgqa.evaluation.report.questions import pack_questions
from kgqa.evaluation.report.run_folder import RunFolder, read_run
from kgqa.evaluation.report.run_tables import COMPARISON_COLUMNS, compare_runs, run_table

WEB = Path(__file__).with_name("web")

STYLE_FILES = ("colours", "page", "tables", "plots", "list", "question", "trace", "media")
"""The files of the page's style, in their order."""

SCRIPT_FILES = ("dom", "data", "tables", "paths", "trace", "answers", "filters", "list", "main")
"""The files of the page's script, in their order."""


def build_page(folders: Sequence[Path], datasets: Sequence[Path] = ()) -> str:
    """Make the page of some runs; the same folders give the same page, to the byte.

    Args:
        folders: run folders, in the order in which they are shown.
        datasets: where datasets are now, if not where the runs have found them.

    Raises:
        ReportError: in one line, if a folder is no run or a file cannot be read.
    """
    runs = [read_run(folder) for folder in dict.fromkeys(folders)]
    return _render(runs, group_by_dataset(runs, datasets))


def _render(runs: Sequence[RunFolder], groups: Sequence[DatasetGroup]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(WEB),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"pretty": _format_json, "parts": _split_at_breaks}
    style, script = _join_files(STYLE_FILES, "css"), _join_scripts()
    return environment.get_template("page.html").render(
        style=style,
        script=script,
        policy=_content_policy(style, script),
        head=_page_header(runs),
        sections=[_dataset_section(number, group) for number, group in enumerate(groups, start=1)],
        payload=pack_questions(groups),
        pair_columns=COMPARISON_COLUMNS,
        colours=SERIES_COLOURS,
    )


def _join_scripts() -> str:
    return f'"use strict";\n(() => {{\n{_join_files(SCRIPT_FILES, "js")}}})();\n'


def _join_files(names: Sequence[str], ending: str) -> str:
    return "\n".join((WEB / f"{name}.{ending}").read_text(encoding="utf-8") for name in names)


def _content_policy(style: str, script: str) -> str:
    """Allow this script and this style and nothing else, least of all the network."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _page_header(runs: Sequence[RunFolder]) -> dict[str, str]:
    """Return what the head of the page says of all runs: versions, times, seeds."""
    started = sorted(_distinct_texts(_format_time(run.about.get("started")) for run in runs))
    return {
        "runs": str(len(runs)),
        "versions": ", ".join(_distinct_texts(run.about.get("kgqa") for run in runs)),
        "started": " to ".join(dict.fromkeys(started[:1] + started[-1:])),
        "seeds": ", ".join(_distinct_texts(run.about.get("seed") for run in runs)),
        "graphs": ", ".join(_distinct_texts(run.about.get("graph") for run in runs)),
    }


def _format_time(started: object) -> object:
    """Write a time to the minute, in UTC; what is no time stays as it is."""
    try:
        return f"{datetime.fromisoformat(str(started)).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return started


def _distinct_texts(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value is not None))


def _dataset_section(number: int, group: DatasetGroup) -> dict[str, Any]:
    """Return the part of the page on one dataset."""
    found = find_ablations(group.entries)
    return {
        "id": f"d{number}",
        "group": group,
        "questions": len(group.questions),
        "table": run_table(group.entries),
        "pairs": compare_runs(group),
        "sheets": [
            *contribution_tables(found),
            *refinement_tables(group.entries),
            *revision_tables(group.entries),
            *lookahead_tables(group.entries),
        ],
        "plots": draw_plots(f"d{number}", group.entries, found),
    }


def _split_at_breaks(text: str) -> list[str]:
    """Return the parts of a name without spaces that a line may break between."""
    return re.split(r"(?<=[,:=/_])", text)


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
