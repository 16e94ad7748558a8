"""Which runs are the full configuration and which have a part less, told by run.json."""

import json
from pathlib import Path

import pytest

from kgqa.evaluation.report.ablation import Ablation, contribution_tables, find_ablations
from kgqa.evaluation.report.groups import group_by_dataset
from kgqa.evaluation.report.run_folder import read_run
from kgqa.graphs import context_of
from kgqa.tests.unit.evaluation.report.conftest import Folder


def found(*folders: Path) -> list[Ablation]:
    (group,) = group_by_dataset([read_run(folder) for folder in folders])
    return find_ablations(group.runs)


def numbers(one: Ablation) -> dict[str, list[int]]:
    return {variant.name: [entry.number for entry in variant.runs] for variant in one.variants}


def configured(path: Path, **options: object) -> Path:
    """Change the options that a run was given."""
    about = json.loads((path / "run.json").read_text())
    about["config"] |= options
    (path / "run.json").write_text(json.dumps(about))
    return path


@pytest.fixture
def full(folder: Folder) -> Path:
    return folder("far")


@pytest.fixture
def without(folder: Folder) -> Path:
    """A run without backtracking, which has a question less right and fails once."""
    return folder("near")


def test_an_option_switched_off_is_a_part_and_its_loss_is_what_it_contributes(
    full: Path, without: Path
) -> None:
    (one,) = found(without, full)
    (variant,) = one.variants
    assert [entry.number for entry in one.full] == [2]
    assert variant.name == "without backtracking"
    assert variant.about.startswith("keep alternatives on the stack")
    assert (variant.comparison.n, variant.comparison.differences["hits_at_1"].value) == (5, 2 / 5)


def test_a_variant_is_named_by_all_that_it_changes(folder: Folder, full: Path, without: Path) -> None:
    runs = [
        configured(folder("far", name="deep"), depth=2, budget={"llm_calls": 9}),
        configured(folder("far", name="both"), filtering=False, backtracking=False),
        configured(folder("far", name="off"), filtering=False),
    ]
    (one,) = found(*runs, full, without)
    assert (one.name, [entry.number for entry in one.full]) == ("full", [4])
    assert numbers(one) == {
        "budget.llm_calls=9, depth=2": [1],
        "without backtracking, without filtering": [2],
        "without filtering": [3],
        "without backtracking": [5],
    }


def test_what_all_runs_share_is_no_change(full: Path, without: Path) -> None:
    (one,) = found(configured(full, width=7), configured(without, width=7))
    assert numbers(one) == {"without backtracking": [2]}


ROWS: dict[str, list[dict[str, object]]] = {
    "cor": [{"backtracking": False}, {"filtering": False}, {"depth": 5}],
    "cog": [
        *({"adaptation": False}, {"reranking": False, "safeguard": "none"}, {"refinement": False}),
        *({"guidance": False}, {"weight_step": 0, "weight_global": 0}, {"weight_global": 0}),
        *({"weight_step": 0}, {"tau": 0.7}, {"tau": 1}),
    ],
    "vog": [
        *({"strategy": name, "revisions": 1} for name in ("local", "lookahead", "global")),
        *({"verification": False}, {"bonus_scale": 1.2}, {"alpha": 1.12}, {"reward": "task"}),
        *({"ablate_reward": "quality"}, {"verifiers": "nli"}),
    ],
    "pog_egp": [{"random_exemplars": True}, {"guide_decomposition": False}, {"guide_exploration": False}],
}
"""Options of the rows of CoR's Table 3, CoG's 3 and 7, VoG's 2 and 9 to 13, EGP's 2."""


@pytest.mark.parametrize("preset", [{}, {"preset": "paper"}])
@pytest.mark.parametrize("method", ROWS)
def test_every_row_of_a_paper_has_the_method_or_its_preset_for_full(
    method: str, preset: dict[str, str], folder: Folder
) -> None:
    shared = {"encoder": None} if preset else {}
    runs = []
    for number, row in enumerate([*ROWS[method], {}]):
        options: dict[str, object] = {**preset, **shared, **row}
        run = folder("far", name=f"r{number}")
        about = json.loads((run / "run.json").read_text())
        about["config"] = context_of(method)(kg=("sample",), model="offline", **options).config()
        (run / "run.json").write_text(json.dumps(about))
        runs.append(run)
    (one,) = found(*runs)
    assert (one.name, [entry.number for entry in one.full]) == ("full", [len(runs)])
    assert [variant.runs[0].number for variant in one.variants] == list(range(1, len(runs)))
    (sheet,) = contribution_tables([one])
    assert ("(paper)" in sheet.title) == bool(preset)


def test_where_no_run_has_the_usual_value_the_full_one_says_what_it_has(full: Path, folder: Folder) -> None:
    runs = [configured(folder("far", name=f"d{depth}"), depth=depth) for depth in (7, 8)]
    (one,) = found(*runs)
    assert (one.name, numbers(one)) == ("full, depth=7", {"depth=8": [2]})


def test_runs_of_a_preset_are_apart_from_those_of_none(folder: Folder, full: Path, without: Path) -> None:
    runs = [configured(folder(which, name=which + "p"), preset="paper") for which in ("far", "near")]
    plain, preset = found(full, without, *runs)
    assert (numbers(plain), numbers(preset)) == (
        {"without backtracking": [2]},
        {"without backtracking": [4]},
    )


def test_a_run_with_another_encoder_or_library_is_no_variant(
    folder: Folder, full: Path, without: Path
) -> None:
    other = folder("far", name="other")
    (one,) = found(configured(full, encoder="mine"), configured(without, encoder="mine"), other)
    assert [entry.number for entry in one.full] == [1]
    assert numbers(one) == {"without backtracking": [2]}


def test_an_option_that_a_run_does_not_have_has_its_default(full: Path, without: Path) -> None:
    about = json.loads((full / "run.json").read_text())
    del about["config"]["backtracking"]
    (full / "run.json").write_text(json.dumps(about))
    assert numbers(found(full, without)[0]) == {"without backtracking": [2]}


def test_without_the_full_configuration_there_is_no_ablation(folder: Folder, without: Path) -> None:
    assert found(without, configured(folder("far", name="off"), filtering=False)) == []


@pytest.mark.parametrize("head", [{"graph": "town:2"}, {"kgqa": "9"}, {"model": "other:model"}])
def test_runs_on_another_graph_or_model_or_by_another_version_are_no_ablation(
    folder: Folder, full: Path, head: dict[str, str]
) -> None:
    assert found(full, folder("near", **head)) == []


def test_a_method_that_is_not_here_has_no_ablation(full: Path, without: Path) -> None:
    assert found(configured(full, method="zzz"), configured(without, method="zzz")) == []


def test_without_gold_there_is_no_ablation(full: Path, without: Path, dataset: Path) -> None:
    dataset.unlink()
    assert found(full, without) == []


def test_seeds_are_repetitions_and_compared_with_the_same_seed(folder: Folder) -> None:
    model = "simulated:accuracy=0.5"
    runs = [
        folder("far", name="f1", model=f"{model},seed=1", seed=1),
        folder("near", name="n1", model=f"{model},seed=1", seed=1),
        folder("near", name="n2", model=f"{model},seed=2", seed=2),
        folder("far", name="f2", model=f"{model},seed=2", seed=2),
        folder("near", name="n3", model=f"{model},seed=3", seed=3),
    ]
    (one,) = found(*runs)
    (variant,) = one.variants
    assert [entry.number for entry in one.full] == [1, 4]
    assert [[entry.number for entry in side] for side in (variant.full, variant.runs)] == [[1, 4], [2, 3]]
    assert (variant.comparison.n, variant.comparison.mcnemar.only_a) == (5, 2)


def test_the_table_has_the_full_configuration_first(full: Path, without: Path) -> None:
    (sheet,) = contribution_tables(found(without, full))
    assert sheet.title == "What each part of cor contributes, with scripted"
    first, second = (dict(zip(sheet.columns, row.cells, strict=True)) for row in sheet.rows)
    assert (first["Configuration"].text, first["Hits@1"].text) == ("full", "100.0")
    assert first["Contribution, Hits@1"].text == "–"
    assert (second["Configuration"].text, second["Hits@1"].text) == ("without backtracking", "60.0")
    assert (second["Contribution, Hits@1"].text, second["McNemar p"].text) == ("+40.0", "0.500")
    assert (second["Questions"].text, second["Only full / only this"].text) == ("5", "2 / 0")


def test_of_several_seeds_the_table_has_the_mean(folder: Folder) -> None:
    runs = [folder(which, name=f"{which}{seed}", seed=seed) for seed in (1, 2) for which in ("far", "near")]
    (sheet,) = contribution_tables(found(*runs))
    assert [[entry.number for entry in row.runs] for row in sheet.rows] == [[1, 3], [2, 4]]
    shown = dict(zip(sheet.columns, sheet.rows[1].cells, strict=True))["Hits@1"]
    assert (shown.text, shown.detail) == ("60.0", "by seed: 60.0, 60.0")
