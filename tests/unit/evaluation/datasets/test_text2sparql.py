"""The question files of the TEXT2SPARQL challenge: YAML with several languages, and lines of JSON."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef

YAML = """\
---
dataset:
  id: https://challenge.example/2025/huts/
  prefix: huts
questions:
  - id: 1
    question:
      en: How many huts are there?
      de: Wie viele Hütten gibt es?
    query:
      sparql: |
        SELECT (COUNT(?h) AS ?n) { ?h a <http://x/Hut> }
    features: [SELECT, COUNT]
  - id: 2
    question: {en: "Which huts, by beds?"}
    query: {sparql: "SELECT ?h ?b { ?h <http://x/beds> ?b } ORDER BY DESC(?b)"}
    features: [SELECT, ORDER, RESULT_ORDER_MATTERS]
"""


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_question_is_asked_in_each_language(tmp_path: Path) -> None:
    found = load(write(tmp_path, "huts.yml", YAML))
    assert (found.name, found.format) == ("huts", "text2sparql")
    assert [(each.id, each.text) for each in found.questions] == [
        ("huts:1-en", "How many huts are there?"),
        ("huts:1-de", "Wie viele Hütten gibt es?"),
        ("huts:2-en", "Which huts, by beds?"),
    ]
    assert [each.ordered for each in found.questions] == [False, False, True]
    assert found.questions[0].sparql == "SELECT (COUNT(?h) AS ?n) { ?h a <http://x/Hut> }"
    assert [each.id for each in found.select("split_language=de")] == ["huts:1-de"]


def test_rows_of_a_line_are_gold_and_their_first_column_the_answers(tmp_path: Path) -> None:
    line = {"id": "h:1", "question": "Huts?", "features": ["SELECT"], "sparql": "SELECT ?h ?b { ?h ?p ?b }"}
    asked = {**line, "id": "h:2", "features": ["ASK"], "rows": [["false"]]}
    table = {**line, "rows": [["http://x/a", "3"], ["http://x/a", "4"], ["b", None]]}
    file = write(tmp_path, "huts.jsonl", "\n".join(map(json.dumps, (table, asked))))
    first, second = load(file).questions
    assert first.rows == table["rows"]
    assert first.readings == ((EntityRef("http://x/a", None), EntityRef("b", "b")),)
    assert (second.rows, second.readings) == (False, ((EntityRef("false", "false"),),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dataset: [", "huts.yml: not readable as YAML: while parsing"),
        ("questions: []", "huts.yml: field dataset: is missing"),
        ("- " * 5000 + "x", "huts.yml: not readable as YAML: maximum recursion depth exceeded"),
        (YAML.replace("sparql: |", "text: |"), "huts.yml: field questions.0.query.sparql: is missing"),
        (
            YAML.replace("sparql: |", "sparql: 2020-01-01 #|").replace("        SELECT (", "#"),
            "huts.yml: field ",
        ),
        (
            YAML.replace('"SELECT ?h ?b { ?h <http://x/beds> ?b } ORDER BY DESC(?b)"', "2020-01-01"),
            "huts.yml: field",
        ),
        (YAML.replace("id: 2", "id: 1"), "huts.yml, record 3, field id: 'huts:1-en' is not unique"),
    ],
)
def test_what_is_no_file_of_the_challenge_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DatasetError) as error:
        load(write(tmp_path, "huts.yml", text))
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(text=st.text(max_size=60), place=st.integers(0, len(YAML)))
def test_any_text_is_read_or_told_in_one_line(tmp_path: Path, text: str, place: int) -> None:
    for damaged in (text, YAML[:place] + text, YAML[:place] + text + YAML[place:]):
        try:
            load(write(tmp_path, "any.yml", damaged.encode("utf-8", "replace").decode()))
        except DatasetError as error:
            assert len(str(error).splitlines()) == 1
