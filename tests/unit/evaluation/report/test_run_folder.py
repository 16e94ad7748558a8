"""Reading run folders."""

from pathlib import Path

import pytest

from kgqa.evaluation.report.run_folder import ReportError, read_run
from kgqa.evaluation.result import ResultsError
from kgqa.tests.unit.evaluation.report.conftest import Folder


def refused(folder: Path) -> str:
    """Return the one line that a folder is refused with."""
    with pytest.raises((ReportError, ResultsError)) as error:
        read_run(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_complete_run_has_everything(folder: Folder) -> None:
    run = read_run(folder("far"))
    assert (run.method, run.model, run.finished) == ("cor", "scripted", True)
    assert (run.done, run.planned) == (6, 6)
    assert run.metrics is not None
    assert run.results[3].usage["seconds"] == 0.3


def test_a_run_that_goes_on_is_unfinished(folder: Folder) -> None:
    path = folder("far", first=2, measured=False)
    with (path / "results.jsonl").open("a") as results:
        results.write('{"id": "q3", "quest')
    run = read_run(path)
    assert (run.done, run.planned, run.finished, run.metrics) == (2, 6, False, None)


def test_a_run_that_has_just_begun_has_no_results(folder: Folder) -> None:
    path = folder("far", measured=False)
    (path / "results.jsonl").unlink()
    assert read_run(path).results == ()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere").endswith(
        "is no run: it has no run.json; give folders that kgqa eval wrote"
    )


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("run.json", "[]", "run.json, a JSON object was expected"),
        ("run.json", "{", "run.json: it is no JSON"),
        ("run.json", "[" * 100_000, "run.json: it is no JSON"),
        ("run.json", '{"config": 3, "dataset": {}}', "field config"),
        ("run.json", '{"config": {}}', "field dataset"),
        ("run.json", '{"config": {"hash": 1}, "dataset": {}}', "run.json, field config.hash: "),
        ("run.json", '{"config": {}, "dataset": {}, "seed": "abc"}', "run.json, field seed: "),
        ("run.json", '{"config": {}, "dataset": {}, "seed": -1}', "run.json, field seed: "),
        ("run.json", '{"config": {}, "dataset": {"limit": [1]}}', "run.json, field dataset.limit: "),
        ("run.json", '{"config": {}, "dataset": {"split": 1}}', "run.json, field dataset.split: "),
        ("metrics.json", "[]", "metrics.json, a JSON object was expected"),
        ("metrics.json", '{"n": "x"}', "metrics.json, field n: "),
        ("metrics.json", '{"hits_at_1": {"value": "x"}}', "metrics.json, field hits_at_1.value: "),
        ("metrics.json", '{"hits_at_1": {"value": 1e999}}', "1e999 is too large a number"),
        ("metrics.json", '{"llm_calls": {"mean": %s}}' % 10**400, "metrics.json, field llm_calls.mean: "),
        ("metrics.json", '{"breakdowns": {"hops": {"1": {"n": []}}}}', "field breakdowns.hops.1.n: "),
        ("metrics.json", '{"refinement": {"rate": 3}}', "metrics.json, field refinement.rate: "),
        (
            "metrics.json",
            '{"refinement": {"outcomes": {"x": {"right": -1}}}}',
            "field refinement.outcomes.x.right: ",
        ),
        ("metrics.json", '{"revision": {"entropy": 2}}', "metrics.json, field revision.entropy: "),
        (
            "metrics.json",
            '{"revision": {"strategies": {"x": {"chosen": {"mean": -1}}}}}',
            "field revision.strategies.x.chosen.mean: ",
        ),
        ("metrics.json", '{"blueprints": {"x": {"questions": "1"}}}', "field blueprints.x.questions: "),
        ("metrics.json", "NOPE", "metrics.json: it is no JSON"),
        ("results.jsonl", "[3]\n", "results.jsonl, record 1"),
        ("timings.jsonl", '{"id": "q1", "seconds": "long"}\n', "timings.jsonl, line 1"),
    ],
)
def test_a_broken_file_is_named(folder: Folder, file: str, content: str, words: str) -> None:
    path = folder("far")
    (path / file).write_text(content)
    assert words in refused(path)
