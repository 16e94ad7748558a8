"""Puts the page together: one file that needs nothing else, and no network."""

import base64
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kgqa.evaluation.report import tables
from kgqa.evaluation.report.ablation import contribution_tables, find_ablations
from kgqa.evaluation.report.groups import DatasetGroup, group_by_dataset
from kgqa.evaluation.report.plots import draw_plots
from kgqa.evaluation.report.questions import pack_questions
from kgqa.evaluation.report.run_folder import RunFolder, read_run
from kgqa.evaluation.report.svg import RUN_COLOURS, Plot

WEB = Path(__file__).with_name("web")
MEANING = Path(__file__).with_name("meaning.toml")

SCRIPT_FILES = ("record.js", "list.js", "page.js")

BREAKS = re.compile(r"(?<=[,:=/_])")  # where a line may break in a name without spaces


class Section(NamedTuple):
    """What the page has of one dataset: its runs, tables and plots."""

    id: str
    group: DatasetGroup
    tables: list[tables.Table]
    plots: list[Plot]


class Report(NamedTuple):
    """What a report is of: the runs, and a section for each dataset."""

    runs: list[RunFolder]
    sections: list[Section]


def read_report(folders: Sequence[Path], datasets: Sequence[Path] = ()) -> Report:
    """Read runs, in the order in which they are shown; name ``datasets`` that are not where these found them.

    Raises:
        ReportError, DatasetError, ResultsError: in one line, if a folder is no run or a file cannot be read.
    """
    runs = [read_run(folder) for folder in dict.fromkeys(folders)]
    groups = group_by_dataset(runs, datasets)
    return Report(runs, [_read_section(f"d{number}", group) for number, group in enumerate(groups, start=1)])


def render_page(report: Report) -> str:
    """Make the page of a report; the same runs give the same page, to the byte."""
    environment = Environment(
        loader=FileSystemLoader(WEB),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pretty = partial(json.dumps, ensure_ascii=False, indent=2)
    environment.filters |= {"pretty": pretty, "parts": partial(re.split, BREAKS)}
    style, *scripts = ((WEB / name).read_text(encoding="utf-8") for name in ("page.css", *SCRIPT_FILES))
    script = '"use strict";\n(() => {\n' + "\n".join(scripts) + "})();\n"
    return environment.get_template("page.html").render(
        style=style,
        script=script,
        policy=_content_policy(style, script),
        head_facts=_page_header(report.runs),
        sections=report.sections,
        payload=pack_questions([section.group for section in report.sections]),
        colours=RUN_COLOURS,
        meaning=tomllib.loads(MEANING.read_text(encoding="utf-8")),
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


def _read_section(id: str, group: DatasetGroup) -> Section:
    ablations = find_ablations(group.runs)
    shown = [
        tables.run_table(group.runs),
        *tables.own_tables(group.runs),
        *tables.comparison_tables(group.runs),
        *contribution_tables(ablations),
        *tables.published_tables(group),
        *tables.method_tables(group.runs),
    ]
    return Section(id, group, shown, draw_plots(id, group.runs, ablations))
