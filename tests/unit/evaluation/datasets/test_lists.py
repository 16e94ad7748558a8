"""Questions as people list them: lines of text, tables, JSON, with ids or without."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.runtime.state import initial_state, question_id

Write = Callable[..., Path]

WHO, WHAT = "Who directed Low Tide, and why?", "What is it?"


def read(write: Write, text: Any, name: str, format: str) -> tuple[Question, ...]:
    dataset = load(write(text, name))
    assert (dataset.format, dataset.name) == (format, "q")
    return dataset.questions


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.txt", f"{WHO}\n\n  {WHAT}\r\n"),
        ("q.txt.gz", f"\ufeff{WHO}\n{WHAT}"),
        ("q", f"{WHO}\n{WHAT}\n"),
        ("q.json", json.dumps([WHO, WHAT])),
        ("q.json", json.dumps([WHO, WHAT], indent=1)),
        ("q.json", json.dumps([{"question": WHO}, {"question": WHAT}])),
        ("q.jsonl", f"{json.dumps({'question': WHO})}\n{json.dumps({'question': WHAT, 'id': None})}"),
        ("q.csv", f'question\n"{WHO}"\n{WHAT}\n'),
        ("q.csv", f'Question,Note\n"{WHO}",first\n{WHAT}\n'),
        ("q.csv", f"note;question\nx;{WHO}\n;{WHAT}\n"),
        ("q.csv", f'"note, if any",question\nx,"{WHO}"\n,{WHAT}\n'),
        ("q.csv", f'"{WHO}"\n"{WHAT}"\n'),
        ("q.tsv", f"question\tnote\n{WHO}\tx\n{WHAT}\n"),
    ],
)
def test_questions_are_listed_in_any_way(write: Write, name: str, text: str) -> None:
    questions = read(write, text, name, "list")
    assert [question.text for question in questions] == [WHO, WHAT]
    assert not any(question.scored for question in questions)


def test_an_id_is_made_of_the_text_and_is_that_of_a_record(write: Write) -> None:
    (first, second, third) = read(write, f"{WHO}\n{WHAT}\n{WHO}\n", "q.txt", "list")
    assert first.id == question_id(WHO) == initial_state({"question": WHO})["record_id"]
    assert (second.id, third.id) == (question_id(WHAT), f"{first.id}-3")
    (moved,) = read(write, f"{WHO}\n", "q.txt", "list")
    assert moved.id == first.id


def test_columns_of_a_table_are_what_they_are_called(write: Write) -> None:
    table = (
        "ID,Question,Topics,Answers,split,comment\n"
        '7,"Who directed ""Low Tide"",\nin 1987?",Low Tide | Q42,Ida Thorn|http://x.org/Ben,test,no\n'
        ",What is it?,,,,\n"
    )
    first, second = read(write, table, "q.csv", "kgqa")
    assert first == Question(
        id="7",
        text='Who directed "Low Tide",\nin 1987?',
        topics=(EntityRef(None, "Low Tide"), EntityRef("Q42", None)),
        readings=((EntityRef(None, "Ida Thorn"), EntityRef("http://x.org/Ben", None)),),
        splits={"split": "test"},
    )
    assert second == Question(id=question_id("What is it?"), text="What is it?")


@pytest.mark.parametrize(
    "record",
    [
        {"question": WHO, "answers": ["Ida Thorn"]},
        {"question": WHO, "answers": "Ida Thorn"},
        {"question": WHO, "answer": "Ida Thorn"},
        {"question": WHO, "answer": ["Ida Thorn"]},
        {"question": WHO, "id": None, "answers": [{"name": "Ida Thorn"}]},
    ],
)
def test_answers_may_be_text_and_ids_missing(write: Write, record: dict[str, Any]) -> None:
    (question,) = read(write, [record], "q.json", "kgqa")
    assert (question.id, question.gold) == (question_id(WHO), (EntityRef(None, "Ida Thorn"),))


def test_an_id_that_is_given_twice_is_still_a_mistake(write: Write) -> None:
    with pytest.raises(DatasetError, match=r"q.csv, line 3, field id: 'a' is not unique, line 2 has it"):
        load(write("id,question\na,x\na,y\n", "q.csv"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "question,id\nwho, why, when?,1\n",
            "q.csv, line 2: 4 cells, where 2 columns are named; put a",
        ),
        ("question,id\n,1\n", "q.csv, line 2: no question in this row"),
        ("question,id\n", "q.csv: no questions in it"),
        ("frage,id\nwho?,1\n", "q.csv, line 1: no column is called question, but 'frage,id'; name the"),
        ("id;text\n1;who?\n", "q.csv, line 1: no column is called question, but 'id;text'; name the"),
        ('question,id\n"who,1\n', "q.csv, line 2: no row of a table: unexpected end of data"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_line(write: Write, text: str, said: str) -> None:
    with pytest.raises(DatasetError) as error:
        load(write(text, "q.csv"))
    assert str(error.value).startswith(said)


def test_metaqa_that_begins_with_a_quoted_name_is_no_json(write: Write) -> None:
    dataset = load(write('["Low" Tide] was directed by\tIda Thorn\n', "q.txt"))
    assert (dataset.format, dataset.questions[0].topics) == ("metaqa", (EntityRef(None, '"Low" Tide'),))


@pytest.mark.parametrize("name", ["q.csv", "q.txt"])
@pytest.mark.parametrize("text", ["who\ris it?", f"who {'very ' * 40_000}much?", '"who', 'who is "it"?'])
def test_a_text_that_is_no_row_of_a_table_is_a_question(write: Write, name: str, text: str) -> None:
    assert len(read(write, f"{text}\n{WHAT}\n", name, "list")) == 2


def test_an_empty_list_of_answers_is_of_any_format(write: Write) -> None:
    records = [{"question": WHO, "answer": []}, {"question": WHAT, "answer": [" Bob "]}]
    first, second = read(write, "".join(json.dumps(each) + "\n" for each in records), "q.jsonl", "kgqa")
    assert first.id == question_id(WHO)
    assert [answer.name for answer in second.gold] == ["Bob"]


def test_a_field_that_is_wrong_is_called_as_the_file_calls_it(write: Write) -> None:
    record = {"question": WHO, "answers": ["x"], "topics": [{"mid": "m.1"}]}
    with pytest.raises(DatasetError, match=r"field topics\.0: needs an id or a name"):
        load(write(json.dumps(record), "q.jsonl"))
