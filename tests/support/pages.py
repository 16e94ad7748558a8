"""The page of a report, made at once."""

from collections.abc import Sequence
from pathlib import Path

from kgqa.evaluation.report.page import read_report, render_page


def build_page(folders: Sequence[Path], datasets: Sequence[Path] = ()) -> str:
    return render_page(read_report(folders, datasets))
