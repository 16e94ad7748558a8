"""What runs are called, and what tells them apart."""

from pathlib import Path
from typing import Any

from kgqa.evaluation.report.groups import differing_settings, name_runs
from kgqa.evaluation.report.run_folder import RunFolder


def run(
    folder: str = "a", *, model: str = "m", method: str = "cor", seed: int = 0, **options: Any
) -> RunFolder:
    about = {
        "config": {"method": method, "model": model, "hash": folder, **options},
        "dataset": {},
        "seed": seed,
    }
    return RunFolder(Path(folder), about, (), None)


def test_only_what_is_not_the_same_in_all_runs_is_an_option() -> None:
    runs = [
        run(depth=3, budget={"llm_calls": 9, "tokens": 1}),
        run(depth=3, budget={"llm_calls": 5, "tokens": 1}),
    ]
    assert differing_settings(runs) == [{"budget.llm_calls": "9"}, {"budget.llm_calls": "5"}]


def test_an_option_of_one_method_only_is_no_difference() -> None:
    assert differing_settings([run(depth=3), run(method="io")]) == [{}, {}]


def test_a_name_says_what_is_not_usual() -> None:
    runs = [run("a", filtering=True), run("b", filtering=True, model="n"), run("c", filtering=False)]
    assert [name.full for name in name_runs(runs)] == ["cor · m", "cor · n", "cor · m · filtering=false"]
    assert [name.short for name in name_runs(runs)] == ["m", "n", "filtering=false · m"]
    assert [name.variant for name in name_runs(runs)] == ["cor", "cor", "cor · filtering=false"]


def test_of_a_preset_a_name_says_what_the_preset_does_not_set() -> None:
    paper = {"preset": "paper", "adaptation": "free", "tau": 0.92, "depth": 4, "top_k": 9}
    runs = [
        *(run("a", method="cog", **paper | {"tau": tau}) for tau in (0.9, 0.9)),
        *(run("b", method="cog", **paper), run("c", depth=3)),
        run("d", method="cog", **paper | {"top_k": 8}),
    ]
    named = ["cog · tau=0.9", "cog", "cor · depth=3", "cog · top_k=8"]
    assert [name.variant for name in name_runs(runs)][1:] == named


def test_runs_that_nothing_tells_apart_are_told_apart_by_their_folders() -> None:
    assert [name.full for name in name_runs([run("x/a"), run("x/b")])] == ["cor (a)", "cor (b)"]


def test_a_seed_is_an_option_but_no_name() -> None:
    runs = [run("a", seed=1), run("b", seed=2)]
    assert differing_settings(runs) == [{"seed": "1"}, {"seed": "2"}]
    assert [name.full for name in name_runs(runs)] == ["cor (a)", "cor (b)"]
