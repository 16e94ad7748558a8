"""Puts the page together: one file that needs nothing else, and no network."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kgqa.evaluation.report import tables
from kgqa.evaluation.report.ablation import contribution_tables, find_ablations
from kgqa.evaluation.report.groups import DatasetGroup, group_by_dataset
from kgqa.evaluation.report.plots import draw_plots
from kgqa.evaluation.report.plots.drawing import RUN_COLOURS
from kgqa.evaluation.report.published import published_tables
from kgqa.evaluation.report.questions import pack_questions
from kgqa.evaluation.report.run_folder import RunFolder, read_run

WEB = Path(__file__).with_name("web")

SCRIPT_FILES = ("record.js", "list.js", "page.js")


def build_page(folders: Sequence[Path], datasets: Sequence[Path] = ()) -> str:
    """Make the page of some runs; the same folders give the same page, to the byte.

    Args:
        folders: run folders, in the order in which they are shown.
        datasets: where datasets are now, if not where the runs have found them.

    Raises:
        ReportError, DatasetError, ResultsError: in one line, if a folder is no run or a file cannot be read.
    """
    runs = [read_run(folder) for folder in dict.fromkeys(folders)]
    groups = group_by_dataset(runs, datasets)
    environment = Environment(
        loader=FileSystemLoader(WEB),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"pretty": _format_json, "parts": _split_at_breaks}
    style, *scripts = ((WEB / name).read_text(encoding="utf-8") for name in ("page.css", *SCRIPT_FILES))
    script = '"use strict";\n(() => {\n' + "\n".join(scripts) + "})();\n"
    return environment.get_template("page.html").render(
        style=style,
        script=script,
        policy=_content_policy(style, script),
        head_facts=_page_header(runs),
        sections=[_dataset_section(f"d{number}", group) for number, group in enumerate(groups, start=1)],
        payload=pack_questions(groups),
        colours=RUN_COLOURS,
    )


def _content_policy(style: str, script: str) -> str:
    """Allow this script and this style and nothing else, least of all the network."""
    hashes = (hashlib.sha256(content.encode()).digest() for content in (script, style))
    allowed_script, allowed_style = (f"'sha256-{base64.b64encode(one).decode()}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed_script}; style-src {allowed_style}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _page_header(runs: Sequence[RunFolder]) -> dict[str, str]:
    """Return what the head of the page says of all runs: versions, times, seeds."""
    started = sorted(_distinct_texts(_format_time(run.about.get("started")) for run in runs))
    return {
        "Runs": str(len(runs)),
        "Started": " to ".join(dict.fromkeys(started[:1] + started[-1:])),
        "kgqa": ", ".join(_distinct_texts(run.about.get("kgqa") for run in runs)),
        "Seeds": ", ".join(_distinct_texts(run.about.get("seed") for run in runs)),
        "Graph": ", ".join(_distinct_texts(run.about.get("graph") for run in runs)),
    }


def _format_time(started: object) -> object:
    """Write a time to the minute, in UTC; what is no time stays as it is."""
    try:
        return f"{datetime.fromisoformat(str(started)).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return started


def _distinct_texts(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value is not None))


def _dataset_section(id: str, group: DatasetGroup) -> dict[str, Any]:
    ablations = find_ablations(group.runs)
    return {
        "id": id,
        "group": group,
        "tables": [
            tables.run_table(group.runs),
            *tables.own_tables(group.runs),
            *tables.comparison_tables(group.runs),
            *contribution_tables(ablations),
            *published_tables(group),
            *tables.method_tables(group.runs),
        ],
        "plots": draw_plots(id, group.runs, ablations),
    }


def _split_at_breaks(text: str) -> list[str]:
    """Return the parts of a name without spaces that a line may break between."""
    return re.split(r"(?<=[,:=/_])", text)


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
