"""``kgqa score``: what it prints, what a run's folder tells it, and how it refuses."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from kgqa.cli.score import score
from kgqa.evaluation.datasets import load
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.scoring import run_metrics
from kgqa.tests.support.perfect import DATA

GOLD = [
    {"id": "q1", "question": "Which river flows through Ulm?", "topic_entities": [], "split": "test"},
    {"id": "q2", "question": "Which river flows through Bonn?", "topic_entities": [], "split": "test"},
    {"id": "q3", "question": "Where does the Danube end?", "topic_entities": [], "split": "train"},
]
ANSWERS = {"q1": "Danube", "q2": "Rhine", "q3": "Black Sea"}
ULM = {"id": "http://t/e/ulm", "name": "Ulm"}
DANUBE = {"id": "http://t/e/danube", "name": "Danube"}
PATH = [{"head": ULM, "relation": "http://t/r/river", "forward": True, "tail": DANUBE}]


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Score = Callable[..., Ended]
Write = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Score:
    """Run the command in this process and in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(score)

    def ended(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as end:
            app(list(arguments))
        out, err = capsys.readouterr()
        return Ended(int(end.value.code or 0), out, err)

    return ended


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records to a file, one a line."""

    def written(name: str, *records: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return str(path)

    return written


@pytest.fixture
def gold(write: Write) -> str:
    named = [{**each, "answers": [{"id": None, "name": ANSWERS[str(each["id"])]}]} for each in GOLD]
    return write("gold.jsonl", *named)


def record(number: int, *names: str, **more: Any) -> dict[str, Any]:
    answers = [{"id": f"http://t/{name}", "name": name} for name in names]
    return {"id": f"q{number}", "question": "?", "answers": answers, "outcome": "grounded", **more}


@pytest.fixture
def results(write: Write) -> str:
    return write("results.jsonl", record(1, "Danube"), record(2, "Elbe"), record(3, "Black Sea", "Ulm"))


def one_line(ended: Ended) -> str:
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("kgqa: ")
    assert ended.err.count("\n") == 1
    return ended.err


def test_scores_come_with_their_intervals(run: Score, results: str, gold: str) -> None:
    ended = run(results, "--dataset", gold)
    assert (ended.status, ended.err) == (0, "")
    rows = [line.split() for line in ended.out.splitlines()]
    assert ["Hits@1", "66.7", "0.0", "to", "100.0"] in rows
    assert any(row[:2] == ["F1", "55.6"] for row in rows)
    assert "n 3" in ended.out
    assert "legacy" not in ended.out


def test_json_is_the_metrics_and_nothing_else(run: Score, results: str, gold: str) -> None:
    ended = run(results, "--dataset", gold, "--json")
    found = json.loads(ended.out)
    assert found == json.loads(
        json.dumps(run_metrics.measure_results(read_results(results), load(gold).questions, grounded=None))
    )
    assert found["hits_at_1"]["value"] == pytest.approx(2 / 3)


def test_refinement_is_shown_where_the_results_tell_of_it(
    run: Score, write: Write, results: str, gold: str
) -> None:
    assert "refined" not in run(results, "--dataset", gold).out
    trace = [{"node": "diagnose", "signal": "no_gain", "step": 1}]
    path = write("refined.jsonl", record(1, "Danube", trace=trace), record(2, "Elbe", trace=trace), record(3))
    rows = [line.split()[:4] for line in run(path, "--dataset", gold).out.splitlines()]
    assert ["refined", "66.7", "0.0", "to"] in rows
    assert ["re-routed,", "recovered", "50.0", "0.0"] in rows


def test_a_legacy_protocol_is_labelled(run: Score, results: str, gold: str) -> None:
    ended = run(results, "--dataset", gold, "--protocol", "pog")
    assert "legacy protocol pog: " in ended.out
    assert "For comparison with published numbers only." in ended.out
    assert json.loads(run(results, "--dataset", gold, "--protocol", "pog", "--json").out)["legacy"] is True


def test_only_the_part_that_was_asked_for_counts(run: Score, results: str, gold: str) -> None:
    found = json.loads(run(results, "--dataset", gold, "--split", "test", "--json").out)
    assert (found["n"], found["hits_at_1"]["value"]) == (2, 0.5)
    found = json.loads(run(results, "--dataset", gold, "--limit", "1", "--protocol", "pog", "--json").out)
    assert (found["n"], found["correct"], found["unmatched"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("protocol", "words", "n"), [("strict", "do not count", 3), ("pog", "count as wrong", 2)]
)
def test_results_of_other_questions_are_told(
    run: Score, write: Write, gold: str, protocol: str, words: str, n: int
) -> None:
    path = write("results.jsonl", record(1, "Danube"), record(9, "Danube"))
    ended = run(path, "--dataset", gold, "--protocol", protocol, "--json")
    assert ended.err == f"kgqa: 1 results are of no question in gold; they {words}\n"
    assert json.loads(ended.out)["n"] == n


def test_two_results_are_compared_question_by_question(
    run: Score, write: Write, results: str, gold: str
) -> None:
    other = write("other.jsonl", record(1, "Danube"), record(2, "Rhine"), record(3, "Black Sea"))
    compared = json.loads(run(results, "--dataset", gold, "--against", other, "--json").out)["comparison"]
    assert compared["differences"]["hits_at_1"]["value"] == pytest.approx(-1 / 3)
    assert compared["mcnemar"]["only_b"] == 1
    shown = run(results, "--dataset", gold, "--against", other).out
    assert "-33.3" in shown
    assert "both 2, only these 0, only the others 1, neither 0; McNemar p = 1" in shown


def test_what_one_of_two_results_lacks_is_left_out_and_told(
    run: Score, write: Write, results: str, gold: str
) -> None:
    other = write("other.jsonl", record(1, "Danube"), record(9, "Rhine"))
    ended = run(results, "--dataset", gold, "--against", other, "--json")
    assert ended.err == f"kgqa: 1 results in {other} are of no question in gold; they do not count\n"
    compared = json.loads(ended.out)["comparison"]
    assert (compared["n"], compared["missing_a"], compared["missing_b"]) == (1, 0, 2)
    assert compared["differences"]["hits_at_1"]["value"] == 0
    shown = run(results, "--dataset", gold, "--against", other).out
    assert "on the 1 scored questions in both" in shown
    assert "left out: 0 not in these, 2 not in the others" in shown


def test_answers_are_looked_for_on_the_graph(
    run: Score, write: Write, gold: str, turtle: Callable[[str], Path]
) -> None:
    graph = turtle('e:ulm rdfs:label "Ulm" ; r:river e:danube . e:danube rdfs:label "Danube" .')
    query = "SELECT ?answer WHERE { <http://t/e/ulm> <http://t/r/river> ?answer }"
    there = record(1, answers=[DANUBE], query=query)
    elsewhere = record(2, answers=[DANUBE], query=query.replace("river", "mouth"))
    path = write("results.jsonl", there, elsewhere)
    found = json.loads(run(path, "--dataset", gold, "--limit", "2", "--kg", str(graph), "--json").out)
    assert (found["kg_grounded_rate"]["value"], found["kg_grounded_rate_strict"]["value"]) == (1.0, 0.5)


@pytest.fixture
def folder(write: Write) -> str:
    """A run of ours on the first three sample questions of its test part."""
    sample = load("sample")
    asked = sample.select("all", 3)
    gold = [[{"id": answer.id, "name": answer.name} for answer in question.gold] for question in asked]
    records = [
        {"id": question.id, "question": question.text, "answers": answers, "outcome": "grounded"}
        for question, answers in zip(asked, gold, strict=True)
    ]
    write("run/results.jsonl", *records)
    write("run/timings.jsonl", *({"id": question.id, "seconds": 2.0} for question in asked))
    part = {"name": "sample", "format": sample.format, "sha256": sample.digest, "split": "all", "limit": 3}
    head = write("run/run.json", {"dataset": {**part, "questions": 3}, "seed": 7})
    return str(Path(head).parent)


def test_a_folder_of_ours_tells_what_was_asked(run: Score, folder: str) -> None:
    found = json.loads(run(folder, "--json").out)
    assert (found["n"], found["seed"], found["f1"]["value"]) == (3, 7, 1.0)
    assert found["seconds"]["mean"] == 2.0
    assert json.loads(run(folder, "--limit", "5", "--json").out)["missing"] == 2


def test_a_dataset_that_has_changed_since_is_refused(run: Score, folder: str) -> None:
    head = Path(folder) / "run.json"
    head.write_text(head.read_text().replace('"sha256": "', '"sha256": "0'))
    assert "sample is no longer the file of this run; name its questions with --dataset" in one_line(
        run(folder)
    )
    assert run(folder, "--dataset", "sample").status == 0


def test_a_dataset_that_is_elsewhere_is_asked_for(run: Score, folder: str) -> None:
    head = Path(folder) / "run.json"
    head.write_text(head.read_text().replace('"name": "sample"', '"name": "questions"'))
    assert "the questions of this run (questions) are not here; name them with --dataset" in one_line(
        run(folder)
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "run.json: it is no JSON"),
        ("[]", "run.json, a JSON object was expected"),
        ("{}", "run.json, field dataset: "),
        ('{"dataset": 3}', "run.json, field dataset: "),
        ('{"dataset": {"split": 1, "limit": 2}}', "run.json, field dataset.split: "),
        ('{"dataset": {"limit": [1]}}', "run.json, field dataset.limit: "),
        ('{"dataset": {}, "seed": -1}', "run.json, field seed: "),
        ("[" * 99999, "run.json: it is no JSON: nested too deeply"),
    ],
    ids=["empty", "list", "object", "number", "split", "limit", "seed", "deep"],
)
def test_a_folder_with_a_broken_head_is_refused(run: Score, folder: str, content: str, words: str) -> None:
    (Path(folder) / "run.json").write_text(content)
    line = one_line(run(folder))
    assert words in line
    assert line.endswith("; mend it, or score a copy of the results elsewhere\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.jsonl", "--dataset", "gold.jsonl"], "no such file: nowhere.jsonl"),
        (["results.jsonl"], "--dataset is missing: name the file of the questions"),
        (["results.jsonl", "--dataset", "nowhere.json"], "no such question file: nowhere.json"),
        (["results.jsonl", "--dataset", "sample"], "no result in results.jsonl is of a question in sample"),
        (
            ["results.jsonl", "--dataset", "gold.jsonl", "--protocol", "squad"],
            "no protocol is called 'squad'",
        ),
        (["results.jsonl", "--dataset", "gold.jsonl", "--format", "squad"], "squad"),
        (["results.jsonl", "--dataset", "gold.jsonl", "--split", "dev"], "dev"),
        (["results.jsonl", "--dataset", "gold.jsonl", "--limit", "0"], "a limit is at least 1, not 0"),
        (["results.jsonl", "--dataset", "gold.jsonl", "--against", "x"], "no such file: x"),
        (
            ["results.jsonl", "--dataset", "gold.jsonl", "--protocol", "pog", "--against", "results.jsonl"],
            "--against",
        ),
        (["results.jsonl", "--dataset", "gold.jsonl", "--protocol", "pog", "--kg", "sample"], "--kg"),
        (["broken.jsonl", "--dataset", "gold.jsonl"], "broken.jsonl, line 1: field question: is missing"),
    ],
)
@pytest.mark.usefixtures("results", "gold")
def test_bad_input_is_one_clear_line(run: Score, write: Write, arguments: list[str], words: str) -> None:
    write("broken.jsonl", {"answers": []})
    assert words in one_line(run(*arguments))


@pytest.mark.usefixtures("results", "gold")
def test_a_graph_that_is_not_there_has_its_own_status(run: Score) -> None:
    ended = run("results.jsonl", "--dataset", "gold.jsonl", "--kg", "nowhere.nt")
    assert (ended.status, ended.out, ended.err) == (3, "", "kgqa: no such file: nowhere.nt\n")


def test_labels_cannot_command_the_terminal(run: Score, write: Write) -> None:
    gold = [{"question": "a", "ID": "1", "answer": "Ulm", "compositionality_type": "\x1b[2J\u202e"}]
    ended = run(write("r.jsonl", {"question": "a", "results": "Ulm"}), "--dataset", write("g.jsonl", *gold))
    assert ended.status == 0
    assert not {"\x1b", "\u202e"} & set(ended.out)


def test_the_command_line_starts_without_what_scores() -> None:
    heavy = "{'numpy', 'scipy', 'pydantic', 'langchain_core', 'kgqa.evaluation'}"
    code = f"import sys, kgqa.cli.score; sys.exit(bool({heavy} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


PUBLISHED = DATA / "published"


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"needs {PUBLISHED}")
def test_the_published_numbers_of_pog_come_out(run: Score) -> None:
    arguments = (
        str(PUBLISHED / "pog_webqsp_gpt-3.5.jsonl.gz"),
        "--dataset",
        str(PUBLISHED / "webqsp_gold.json.gz"),
    )
    found = json.loads(run(*arguments, "--protocol", "pog", "--json").out)
    assert (found["correct"], found["n"], round(100 * found["hits_at_1"]["value"], 2)) == (1288, 1639, 78.58)
    strict = json.loads(run(*arguments, "--json").out)
    assert (strict["n"], strict["unscored"], strict["missing"]) == (1639, 11, 0)
    assert strict["hits_at_1"]["value"] == pytest.approx(0.697, abs=0.004)
    assert strict["hit_any"]["value"] == pytest.approx(0.724, abs=0.004)
