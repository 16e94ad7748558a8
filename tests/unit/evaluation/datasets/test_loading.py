"""Files of every kind, good and bad, and the parts of a dataset."""

import gc
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.data import SAMPLE_QUESTIONS
from kgqa.evaluation.datasets import FORMATS, DatasetError, load

Write = Callable[..., Path]

LINE = '{"id": "q1", "question": "wo?", "answers": [{"id": "a", "name": "Å"}]}'
OTHER = LINE.replace("q1", "q2")


def of_id(written: str) -> str:
    return LINE.replace('"q1"', written)


def complaint(source: Any, format: str | None = None) -> str:
    with pytest.raises(DatasetError) as caught:
        load(source, format)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500
    return text


def test_the_sample_questions_have_a_name() -> None:
    dataset = load("sample")
    assert (dataset.name, dataset.format, len(dataset.questions)) == ("sample", "kgqa", 298)
    assert dataset.digest == hashlib.sha256(SAMPLE_QUESTIONS.read_bytes()).hexdigest()
    assert all(question.scored and question.topics and question.paths for question in dataset.questions)
    assert {question.kind for question in dataset.questions} == {
        "chain",
        "comparison",
        "count",
        "intersection",
        "superlative",
    }


def test_a_file_called_sample_is_read_where_it_is_given_as_a_path(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(LINE, "sample").parent)
    assert len(load(Path("sample")).questions) == 1
    assert len(load("sample").questions) == 298


@pytest.mark.parametrize("name", ["own.jsonl", "own.jsonl.gz", "own.JSON", "own.txt", "own"])
@pytest.mark.parametrize(
    "text",
    [
        f"{LINE}\n{OTHER}",
        f"\ufeff{LINE}\r\n\r\n  {OTHER}\r\n",
        f"[{LINE},{OTHER}]",
        f"[\n\t{LINE},\n\t{OTHER}\n]\n",
        json.dumps([json.loads(LINE), json.loads(OTHER)], indent=2),
    ],
)
def test_lines_and_lists_plain_and_gzipped_are_the_same(write: Write, name: str, text: str) -> None:
    path = write(text, name)
    dataset = load(str(path))
    assert (dataset.name, dataset.digest) == ("own", hashlib.sha256(path.read_bytes()).hexdigest())
    assert [(question.id, question.gold[0].name) for question in dataset.questions] == [
        ("q1", "Å"),
        ("q2", "Å"),
    ]


@pytest.mark.parametrize("text", [LINE, json.dumps(json.loads(LINE), indent=1), f"[{LINE}]"])
def test_one_record_is_a_dataset_too(write: Write, text: str) -> None:
    assert [question.id for question in load(write(text)).questions] == ["q1"]


def test_a_separator_inside_a_text_does_not_end_a_line(write: Write) -> None:
    text = LINE.replace("wo?", "wo\u2028und\x85wann?")
    assert load(write(f"{text}\n{OTHER}", "q.jsonl")).questions[0].text == "wo\u2028und\x85wann?"


def test_a_gzipped_file_without_the_ending_is_known(write: Write) -> None:
    assert len(load(write(gzip.compress(LINE.encode()), "q.jsonl")).questions) == 1


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "q.jsonl: the file is empty"),
        (" \n\t\n", "q.jsonl: the file is empty"),
        ("[]", "q.jsonl: no questions in it"),
        ('{"Questions": []}', "q.jsonl: no questions in it"),
        ("42", "q.jsonl: neither JSON nor tab-separated text"),
        ('"text"', "q.jsonl: neither JSON nor tab-separated text"),
        ("null", "q.jsonl: neither JSON nor tab-separated text"),
        ("once upon a time\nthere was", "q.jsonl: neither JSON nor tab-separated text"),
        (
            f"{LINE}\n{OTHER[:-9]}",
            "q.jsonl, line 2: not readable as JSON: EOF while parsing a string (column ",
        ),
        (LINE[:-9], "q.jsonl, line 1: not readable as JSON: EOF"),
        (f"[\n{LINE},\n{LINE[:-1]}\n]", "q.jsonl, line 4: not readable as JSON"),
        (
            f"{LINE}\n\n{of_id('NaN')}",
            "q.jsonl, line 3: not readable as JSON: expected value (column 8)",
        ),
        (
            f"{LINE}\n{of_id('1' * 5000)}",
            "q.jsonl, line 2: not readable as JSON: number out of range",
        ),
        (LINE.replace("wo", "\\ud800"), "q.jsonl, line 1: not readable as JSON"),
        (
            LINE.replace('"Å"', "1e999"),
            "q.jsonl, line 1, field answers.0.name: should be a valid string, not Infinity",
        ),
        ("[" * 100_000, "q.jsonl, line 1: not readable as JSON: recursion limit"),
        ('{"a":' * 100_000, "q.jsonl, line 1: not readable as JSON: recursion limit"),
        (f"{LINE}\n[]", "q.jsonl, line 2, the record should be an object, not a list"),
        (f"{LINE}\n7", "q.jsonl, line 2, the record should be an object, not 7"),
        (
            '[{"a": 1, "b": 2}]',
            "q.jsonl: in no known format; the first record has a, b; known formats are webqsp, ",
        ),
        ("[{}]", "q.jsonl: in no known format; the first record has no fields;"),
        ('[["a", "b"]]', "q.jsonl: in no known format; the first record has ['a', 'b'];"),
        (
            '{"question": "who?", "results": "x"}',
            "q.jsonl: in no known format; the first record has question, results;",
        ),
        (b'{"a": "\0"}', "q.jsonl: not text but binary"),
        (b"\x89PNG\r\n\x1a\n\0\0", "q.jsonl: not UTF-8 text (byte 0)"),
        (LINE.encode("utf-16"), "q.jsonl: not UTF-8 text (byte 0); save it as UTF-8"),
        (LINE.encode("latin-1"), "q.jsonl: not UTF-8 text (byte "),
        (gzip.compress(LINE.encode(), mtime=0)[:-9], "q.jsonl: damaged or incomplete gzip file"),
        (gzip.compress(LINE.encode(), mtime=0)[:12], "q.jsonl: damaged or incomplete gzip file"),
        (gzip.compress(LINE.encode(), mtime=0) + b"more", "q.jsonl: damaged or incomplete gzip file"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03nonsense", "q.jsonl: damaged or incomplete gzip file"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(write: Write, content: str | bytes, expected: str) -> None:
    assert complaint(write(content, "q.jsonl")).startswith(expected)


def test_what_is_no_file_is_said_in_one_line(tmp_path: Path, write: Write) -> None:
    assert complaint(tmp_path / "none.jsonl") == (
        f'no such question file: {tmp_path / "none.jsonl"}; "sample" names the sample questions'
    )
    assert complaint(tmp_path) == f"{tmp_path} is a folder; name a question file"
    assert complaint(write(LINE, "file") / "below").endswith("/below: Not a directory")
    assert complaint("a\0b").startswith("cannot read a b: ")
    assert complaint("a\ud800b").startswith("cannot read a b: ")
    assert complaint("x" * 5000).endswith(": File name too long")


def test_a_name_cannot_break_the_line(write: Write) -> None:
    assert complaint(write("", "a\n\x1b[31mb.jsonl")) == "a [31mb.jsonl: the file is empty"


def test_a_format_that_does_not_fit_is_told_from_the_one_that_does() -> None:
    assert complaint("sample", "webqsp") == (
        "questions.jsonl.gz, line 1, field RawQuestion: is missing (it looks like kgqa, not webqsp)"
    )
    assert complaint("sample", "metaqa").endswith("(it looks like kgqa, not metaqa)")


def test_lines_of_text_are_no_objects(write: Write) -> None:
    assert complaint(write("who [A]\tB", "qa.txt"), "kgqa").startswith(
        "qa.txt, line 1, the record should be an object, not tab-separated text (it looks like metaqa"
    )


def test_an_unknown_format_lists_the_known_ones() -> None:
    assert complaint("sample", "squad") == f"no such format: squad; known formats are {', '.join(FORMATS)}"


def test_every_record_is_read_in_the_format_of_the_first(write: Write) -> None:
    assert complaint(write(f'{LINE}\n{{"qid": 1, "question": "who?"}}', "q.jsonl")) == (
        "q.jsonl, line 2, field id: is missing (it looks like grailqa, not kgqa)"
    )


def test_the_collector_is_on_again_whatever_happens(write: Write) -> None:
    load("sample")
    assert gc.isenabled()
    complaint(write(f"{LINE}\n{LINE}", "q.jsonl"))
    assert gc.isenabled()


def test_a_part_is_a_split_or_the_beginning_of_one() -> None:
    dataset = load("sample")
    test = dataset.select("test")
    assert len(test) == 145
    assert {question.splits["split"] for question in test} == {"test"}
    assert dataset.select("split=test") == test
    assert dataset.select("test", limit=7) == test[:7]
    assert dataset.select("all", 7) == dataset.questions[:7]
    assert dataset.select() == dataset.select(None) == dataset.select("all", 10**6) == dataset.questions


def test_a_split_may_have_another_name(write: Write) -> None:
    lines = [
        {"id": str(n), "question": "q", "answers": [], "split": "test", "split_group": group}
        for n, group in enumerate(("train", "test", "test"))
    ]
    dataset = load(write(lines))
    assert [question.id for question in dataset.select("split_group=test")] == ["1", "2"]
    with pytest.raises(
        DatasetError, match=r"no questions in the split 'dev'; it has all, test, split_group=test, split"
    ):
        dataset.select("dev")


@pytest.mark.parametrize("split", ["dev", "", "=", "split=", "split=dev", "kind=chain"])
def test_a_split_that_is_not_there_lists_those_that_are(split: str) -> None:
    with pytest.raises(
        DatasetError, match=r"^sample has no questions in the split '.*'; it has all, test, train$"
    ):
        load("sample").select(split)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_takes_at_least_one(limit: int) -> None:
    with pytest.raises(DatasetError, match=f"^a limit is at least 1, not {limit}$"):
        load("sample").select("all", limit)


def test_the_table_of_formats_lists_them_all() -> None:
    page = (Path(__file__).parents[4] / "docs" / "data.md").read_text()
    assert all(f"| `{format}` |" in page for format in FORMATS)
