"""The tables that benchmarks write into pages, and how they are put there."""

import re
from pathlib import Path

import pytest

from kgqa.benchmarks._runs import DOCS, Ask, drawn, put
from kgqa.benchmarks.methods import MODELS, SETTINGS, median, shown
from kgqa.benchmarks.public import METHODS as COMPARED, MODELS as ERRING, SETS, THEIRS
from kgqa.evaluation.scoring.statistics import Interval
from kgqa.graphs import METHODS, context_of


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("model", MODELS)
def test_the_page_has_every_method_in_every_table(setting, model) -> None:
    page = (DOCS / "methods.md").read_text(encoding="utf-8")
    name = f"{setting.name} {model.partition(':')[0]}"
    table = page.partition(f"<!-- {name} -->")[2].partition("<!-- end -->")[0]
    rows = re.findall(r"^\| \[(\w+)\]", table, re.M)
    talk = {"agent", "sparql_qa"} if model == "offline" else set()
    expected = [
        method
        for method in METHODS
        if method not in talk and (model != "offline" or context_of(method).asks_graph)
    ]
    assert rows == expected, "run: make table"


def test_theirs_is_known_of_every_row() -> None:
    published = [method for method in COMPARED if method != "compose"]  # which is ours
    assert set(THEIRS) == {(method, name, model) for method in published for name in SETS for model in ERRING}


def test_a_block_is_put_between_its_mark_and_the_next_end(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- a b -->\nold\n<!-- end -->\nkept\n<!-- c -->\n<!-- end -->\n")
    put(page, {"a b": "new \\1"})
    assert page.read_text() == "<!-- a b -->\nnew \\1\n<!-- end -->\nkept\n<!-- c -->\n<!-- end -->\n"
    with pytest.raises(ValueError, match=r"page\.md: one <!-- d -->"):
        put(page, {"d": "new"})
    assert [file.name for file in tmp_path.iterdir()] == ["page.md"]


def test_a_run_is_asked_as_the_command_takes_it() -> None:
    ask = Ask("sample", ("a.nt", "b.nt"), "cor", "offline", limit=3, options={"depth": "2"})
    said = " ".join(ask.arguments(Path("out")))
    assert "--kg a.nt --kg b.nt --option depth=2" in said
    assert "--limit 3" in said


def test_numbers_are_shown_with_their_interval_where_it_has_a_width() -> None:
    assert shown(Interval(84.21, 80.0, 88.06), 1) == "84.2 (80.0–88.1)"
    assert shown(Interval(0.0, 0.0, 0.0), 0) == "0"
    assert shown(Interval(1234.6, 1200, 1300), 0) == "1,235 (1,200–1,300)"
    assert drawn(("a", "b"), [("x", "1")]) == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_one_slow_question_does_not_move_the_median() -> None:
    found = median([1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 900.0])
    assert found.value == 2
    assert found.low is not None
    assert found.high is not None
    assert 1 <= found.low <= 2 <= found.high <= 3
