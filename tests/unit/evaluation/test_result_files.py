"""Reading results: every published shape, runs that were killed, and files that are broken."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result, ResultsError
from kgqa.evaluation.result_files import read_results
from kgqa.tests.support.perfect import DATA

OURS = {
    "id": "q1",
    "question": "Which river flows through Ulm?",
    "answers": [{"id": "http://t/danube", "name": "Danube"}, {"id": "3", "name": None}],
    "outcome": "grounded",
    "usage": {"llm_calls": 2, "input_tokens": None, "seconds": None},
}
POG = {
    "RawQuestion": "Which river flows through Ulm?",
    "results": '{"A": {"Sufficient": "Yes", "Answer": "Danube"}}',
    "reasoning_chains": [],
    "call_num": 4,
    "total_token": 110,
    "input_token": 100,
    "output_token": 10,
    "time": 2.5,
}
COR = {
    "action": "Stop",
    "id": 7,
    "question": "Which river flows through Ulm?",
    "gold_answer": [{"id": "Q1653", "name": "Danube"}],
    "results": [{"id": "Q1653", "name": "Danube"}, {"id": "", "name": "Iller"}],
    "reasoning_chains": [],
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(*records: Any, name: str = "results.jsonl", end: str = "\n") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(record) for record in records) + end)
        return path

    return written


def only(path: Path) -> Result:
    [result] = read_results(path)
    return result


def test_our_record_is_read(write: Write) -> None:
    result = only(write(OURS))
    assert (result.id, result.question, result.outcome) == ("q1", OURS["question"], "grounded")
    assert result.answers == (EntityRef("http://t/danube", "Danube"), EntityRef("3", None))
    assert result.usage == {"llm_calls": 2, "input_tokens": None, "seconds": None}
    assert (result.text, result.failed, result.record) == (None, False, OURS)


@pytest.mark.parametrize("change", [{"error": "ValueError: x"}, {"outcome": "kg_unavailable"}])
def test_a_question_that_could_not_be_asked_has_failed(write: Write, change: dict[str, str]) -> None:
    assert only(write(OURS | change)).failed


def test_times_are_joined_from_the_file_beside(write: Write) -> None:
    path = write(OURS, OURS | {"id": "q2"})
    write({"id": "q1", "seconds": 1}, {"id": "q1", "seconds": 2.5, "seconds_kg": 0.5}, name="timings.jsonl")
    first, second = read_results(path.parent)
    assert first.usage == {"llm_calls": 2, "input_tokens": None, "seconds": 2.5, "seconds_kg": 0.5}
    assert second.usage["seconds"] is None


def test_the_output_of_pog_is_read(write: Write) -> None:
    result = only(write(POG))
    assert (result.id, result.question, result.outcome) == (None, POG["RawQuestion"], None)
    assert (result.answers, result.text) == ((EntityRef(None, "Danube"),), POG["results"])
    assert result.usage == {"llm_calls": 4, "input_tokens": 100, "output_tokens": 10, "seconds": 2.5}


def test_the_output_of_tog_is_read(write: Write) -> None:
    said = "{Yes}. The triplets are enough, so the answer is {Danube}."
    result = only(write({"question": "Which river?", "results": said, "reasoning_chains": []}))
    assert (result.answers, result.usage["llm_calls"]) == ((EntityRef(None, "Danube"),), None)


def test_the_output_of_cor_is_read(write: Write) -> None:
    result = only(write(COR))
    assert (result.id, result.outcome, result.text) == ("7", "grounded", None)
    assert result.answers == (EntityRef("Q1653", "Danube"), EntityRef(None, "Iller"))


@pytest.mark.parametrize(
    ("action", "results", "outcome"),
    [
        ("Constraint", COR["results"], "grounded"),
        ("generate_directly", COR["results"], "parametric"),
        ("generate_directly", [], "none"),
        ("ERROR", [], "model_unavailable"),
    ],
)
def test_what_cor_says_it_did_is_an_outcome(write: Write, action: str, results: object, outcome: str) -> None:
    assert only(write(COR | {"action": action, "results": results})).outcome == outcome


def test_a_reply_that_never_came_is_no_answer(write: Write) -> None:
    result = only(write(POG | {"results": None}))
    assert (result.answers, result.text) == ((), None)


def test_numbers_and_truth_values_are_answers(write: Write) -> None:
    answers = [{"id": 3, "name": None}, {"id": None, "name": True}, {"name": 2.5}]
    assert only(write(OURS | {"answers": answers})).answers == (
        EntityRef("3", None),
        EntityRef(None, "true"),
        EntityRef(None, "2.5"),
    )


def test_lists_and_gzip_are_read(tmp_path: Path) -> None:
    path = tmp_path / "list.json.gz"
    path.write_bytes(gzip.compress(json.dumps([OURS, POG, COR], indent=1).encode()))
    assert [result.id for result in read_results(path)] == ["q1", None, "7"]


def test_a_folder_of_cor_is_read(write: Write, tmp_path: Path) -> None:
    write(COR, name="predict.jsonl")
    assert only(tmp_path).id == "7"


def test_a_line_that_was_not_written_to_its_end_is_left_out(write: Write) -> None:
    path = write(OURS)
    with path.open("a") as file:
        file.write('{"id": "q2", "question": "Wh')
    assert only(path).id == "q1"


def test_a_last_line_without_its_break_counts_when_it_is_whole(write: Write) -> None:
    assert len(read_results(write(OURS, OURS, end=""))) == 2


def test_a_run_without_results_yet_has_none(write: Write) -> None:
    write({}, name="run.json")
    assert read_results(write(end="")) == []


def test_lone_surrogates_become_question_marks(write: Write) -> None:
    result = only(write(OURS | {"question": "Where is \ud83d?", "id": "\udcff"}))
    assert (result.id, result.question, result.record["id"]) == ("?", "Where is ??", "?")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"question": "x"}, "line 2: field answers (or results, in published outputs): is missing"),
        (OURS | {"question": 3}, "line 2: field question: should be a valid string, not 3"),
        ({"answers": []}, "line 2: field question: is missing"),
        (OURS | {"answers": {}}, "line 2: field answers: should be a valid list, not an object"),
        (OURS | {"answers": ["x"]}, 'line 2: field answers.0: should be an object, not "x"'),
        (
            OURS | {"answers": [{"id": []}]},
            "line 2: field answers.0.id: should be a valid string, not a list",
        ),
        (OURS | {"id": 1.5}, "line 2: field id: should be a valid string, not 1.5"),
        (OURS | {"outcome": 1}, "line 2: field outcome: should be a valid string, not 1"),
        (OURS | {"usage": 1}, "line 2: field usage: should be an object, not 1"),
        (
            OURS | {"usage": {"seconds": -1}},
            "line 2: field usage.seconds: should be greater than or equal to 0, not -1",
        ),
        (
            OURS | {"usage": {"seconds": True}},
            "line 2: field usage.seconds: should be a valid number, not true",
        ),
        (POG | {"time": "soon"}, 'line 2: field time: should be a valid number, not "soon"'),
        (POG | {"results": 3}, "line 2: field results: should be a valid string, not 3"),
        (POG | {"call_num": 10**400}, f"line 2: field call_num: should be a valid number, not 1{'0' * 38}…"),
        (["x"], "line 2: a JSON object was expected"),
    ],
)
def test_a_wrong_record_is_named_by_file_line_and_field(write: Write, record: object, words: str) -> None:
    path = write(OURS, record)
    with pytest.raises(ResultsError) as caught:
        read_results(path)
    assert str(caught.value) == f"{path}, {words}"


def test_a_wrong_time_is_named_too(write: Write) -> None:
    path = write(OURS)
    write({"id": "q1", "seconds": "1"}, name="timings.jsonl")
    with pytest.raises(
        ResultsError, match=r'timings.jsonl, line 1: field seconds: should be a valid number, not "1"'
    ):
        read_results(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no results"),
        (b"hello", "line 1: not JSON"),
        (b'{"a": NaN}\n', "line 1: not JSON: NaN is no JSON value"),
        (b'{"a": 1e999}\n', "line 1: not JSON: 1e999 is too large a number"),
        (b'{"a": \xff}\n', "line 1: not JSON"),
        (b"[1]", "record 1: a JSON object was expected"),
        (b"[" * 100_000, "is not JSON: nested too deeply"),
        (gzip.compress(b"{}\n" * 99, mtime=0)[:-9], "cannot read"),
        (b"\x1f\x8bxx", "cannot read"),
    ],
    ids=["empty", "prose", "nan", "infinite", "bytes", "list", "deep", "cut", "header"],
)
def test_a_file_that_is_no_results_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(content)
    with pytest.raises(ResultsError) as caught:
        read_results(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nowhere.jsonl", "x" * 400, "\0"], ids=["absent", "long", "nul"])
def test_a_file_that_is_not_there_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(ResultsError, match=r"no such file|cannot read"):
        read_results(tmp_path / name)


def test_an_empty_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"holds no results.jsonl and no predict.jsonl"):
        read_results(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(sorted({*OURS, *POG, *COR, "error", "sentence"}))


@given(record=st.sampled_from([OURS, POG, COR]), changes=st.dictionaries(FIELDS, JSON, max_size=4))
@settings(max_examples=150, deadline=None)
def test_fuzzed_records_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, Any], changes: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed-records.jsonl"
    path.write_text(json.dumps(record | changes) + "\n")
    read_or_refused(path)


@given(at=st.integers(0, 2000), put=st.binary(max_size=6), zipped=st.booleans())
@settings(max_examples=150, deadline=None)
def test_fuzzed_files_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, put: bytes, zipped: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed-bytes.jsonl"
    content = "\n".join(map(json.dumps, [OURS, POG, COR])).encode()
    content = gzip.compress(content) if zipped else content
    at %= len(content)
    path.write_bytes(content[:at] + put + content[at + len(put) :])
    read_or_refused(path)


def read_or_refused(path: Path) -> None:
    try:
        for result in read_results(path):
            result.question.encode()
    except ResultsError as error:
        assert "\n" not in str(error)


PUBLISHED = DATA / "published" / "pog_webqsp_gpt-3.5.jsonl.gz"


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"needs {PUBLISHED}")
def test_the_published_output_of_pog_is_read_whole() -> None:
    results = read_results(PUBLISHED)
    assert len(results) == 1639
    assert sum(not result.answers for result in results) <= 2
    assert sum(result.usage["llm_calls"] or 0 for result in results) == 14800
