"""What a record says to people: three lines, and HTML in which everything is text."""

import json
from collections.abc import Callable
from copy import copy, deepcopy
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from kgqa.runtime.record import zero_spend
from kgqa.runtime.record_text import (
    MAX_PATHS_DRAWN,
    Answered,
    has_sentence,
    say_alternatives,
    say_language,
    say_reading,
    say_record,
)

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></svg><iframe src=//evil>",
    "&lt;b&gt; ' onload='x",
    "two\nlines\u202eand\x00 more",
)


def ref(name: str | None) -> dict[str, Any]:
    return {"id": "http://t/x", "name": name} if name else {"id": None, "name": None}


def hop(head: str | None, relation: str, tail: str | None, forward: bool = True) -> dict[str, Any]:
    return {"head": ref(head), "relation": relation, "forward": forward, "tail": ref(tail)}


def record(**other: Any) -> Answered:
    return Answered(
        {
            "id": "1",
            "question": "Which currency is used where Lima is the capital?",
            "method": "compose",
            "topics": [ref("Lima")],
            "reading": None,
            "answers": [ref("Sol")],
            "table": None,
            "outcome": "grounded",
            "confidence": 0.5,
            "stopped_by": None,
            "paths": [
                [hop("Lima", "http://t/capital", "Peru", False), hop("Peru", "http://t/currency", "Sol")]
            ],
            "evidence": [],
            "query": None,
            "conditions": [],
            "trace": [],
            "usage": {**zero_spend(), "kg_queries": 3, "seconds": 0.25},
            "config": {"model": "offline"},
            **other,
        }
    )


TRUE = {"id": "true", "name": "yes"}
WIDE = {"columns": ["town", "size"], "rows": [[ref("Ulm"), ref("7")]], "ordered": False, "truncated": False}
CUT = {"columns": ["town"], "rows": [[ref("Ulm")]], "ordered": False, "truncated": True}


class Tags(HTMLParser):
    """The names of elements and attributes, and the text between."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_path_to_several_answers_ends_in_their_names() -> None:
    path = [hop("Peru", "http://t/language", None)]
    several = {"paths": [path], "answers": [ref("Quechua"), ref("Spanish")]}
    assert say_record(record(**several)) == "Quechua and Spanish.\n\nPeru -language-> Quechua and Spanish"
    counted = {"paths": [path], "answers": [ref("2")]}
    assert say_record(record(**counted)) == "2.\n\nPeru -language-> ?"


def test_how_a_question_was_read_comes_first() -> None:
    read = record(reading="the currency of\x1b[31m\n Peru")
    assert str(read).splitlines()[:2] == ["Read as: the currency of [31m Peru", "Sol"]
    assert say_record(read).splitlines()[:2] == ["Read as: the currency of [31m Peru.", "Sol."]
    assert read._repr_html_().startswith("<div><p><em>Read as: the currency of [31m Peru</em></p><p>")
    assert "Read as" not in str(record()) + say_record(record()) + record()._repr_html_()


RIVER = {"reading": "the river of Ulm", "paths": [[hop("Ulm", "http://t/river", "Danube")]]}


@pytest.mark.parametrize(
    ("other", "has"),
    [
        ({}, True),
        ({"question": "Welcher Fluss fließt durch Ulm?"}, False),
        ({"trace": [{"translated": "Which river is in Ulm?"}]}, False),
        ({"answers": []}, False),
        ({"answers": [TRUE]}, True),
        ({"answers": [{"id": "false", "name": "no"}]}, False),
        ({"table": WIDE}, False),
        ({"table": CUT}, True),
    ],
)
def test_who_asks_in_another_language_or_for_a_table_is_told_no_sentence(
    other: dict[str, Any], has: bool
) -> None:
    assert has_sentence(record(**other)) == has


@pytest.mark.parametrize(
    ("other", "is_read"),
    [
        ({**RIVER, "sentence": "The river of Ulm is Danube."}, False),
        ({**RIVER, "paths": [], "sentence": "The river of Ulm is Danube."}, False),
        ({"reading": "the currency of something", "sentence": "The currency of Peru is Sol."}, False),
        ({**RIVER, "sentence": None}, True),
    ],
)
def test_a_reading_stands_where_no_sentence_says_it(other: dict[str, Any], is_read: bool) -> None:
    shown = record(**other)
    assert bool(say_reading(shown, in_sentence=True)) == is_read
    assert (shown["sentence"] or "Sol.").removesuffix(".") in say_record(shown)


def test_a_record_prints_in_three_lines() -> None:
    assert str(record()).splitlines() == [
        "Sol",
        "  Lima <-capital- Peru -currency-> Sol",
        "  proved by the graph · compose, offline · confidence 0.50 · 3 graph queries · 0.25 s",
    ]
    path = record()["paths"][0]
    assert str(record(paths=[path] * 3)).splitlines()[1].endswith("-> Sol (and 2 more)")


def test_other_readings_stand_below_the_answer_by_their_numbers() -> None:
    names = [ref(f"Town {number}") for number in range(7)]
    others = [
        {"reading": "what borders Peru", "answers": names, "truncated": False},
        {"reading": "<b>towns</b>", "answers": names[:1], "truncated": True},
    ]
    lines = [
        "or did you mean",
        "[2] what borders Peru: Town 0, Town 1, Town 2, Town 3, Town 4 and 2 more",
        "[3] <b>towns</b>: Town 0 and more",
    ]
    told = record(alternatives=others)
    assert [line.strip() for line in str(told).splitlines()][-3:] == lines
    assert say_record(told).split("\n\n")[-1].splitlines() == lines
    page = Tags(told._repr_html_())
    assert "b" not in page.names
    assert all(line in page.text for line in lines)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"stopped_by": "seconds"}, "No answer found: the limit of seconds was reached."),
        ({"trace": [{"reason": "too unlikely"}]}, "No answer found: too unlikely."),
        (
            {"topics": [], "trace": [{"error": "no entity is called 'Ad'"}, {"node": "answer"}]},
            "No answer found: no entity is called 'Ad'.",
        ),
        (
            {"trace": [{"error": "compose_query: the reply is empty"}, {"error": "b"}, {"error": "c"}, {}]},
            "No answer found: compose_query: the reply is empty (and 2 more failures).",
        ),
        (
            {"trace": [{}, {"error": "the prefix kg: is not declared"}, {"reason": None}]},
            "No answer found: the prefix kg: is not declared.",
        ),
        ({}, "No answer found in the graph."),
        (
            {"outcome": "kg_unavailable", "trace": [{"error": "no such file"}, {"node": "answer"}]},
            "No answer: the knowledge graph is unavailable (no such file).",
        ),
        (
            {"error": "ValueError: odd", "usage": dict.fromkeys(zero_spend()), "topics": []},
            "No answer found: ValueError: odd.",
        ),
    ],
)
def test_a_record_without_answer_says_why(other: dict[str, Any], said: str) -> None:
    without = record(**{"answers": [], "paths": [], "outcome": "none", **other})
    assert str(without).splitlines()[:2] == [said, "  no path of the graph"]
    assert len(str(without).splitlines()) == 3
    assert said in Tags(without._repr_html_()).text


def test_many_answers_are_counted() -> None:
    assert str(record(answers=[ref("Sol")] * 25)).splitlines()[0].endswith("Sol and 5 more")


def test_a_notebook_shows_answer_picture_and_who_decided() -> None:
    conditions = [
        {"words": "in Peru", "query": "?x a ?y", "by": "graph"},
        {"words": "first", "query": None, "by": None},
    ]
    shown = record(conditions=conditions)._repr_html_()
    assert {"strong", "svg", "title"} <= Tags(shown).names
    for text in ("Sol", "decided by the graph: in Peru", "not taken into account: first", "3 graph queries"):
        assert text in Tags(shown).text
    picture = ElementTree.fromstring(shown[shown.index("<svg") : shown.index("</svg>") + 6])
    space = "{http://www.w3.org/2000/svg}"
    assert [text.text for text in picture.iter(f"{space}text")] == [
        "Lima",
        "capital",
        "Peru",
        "currency",
        "Sol",
    ]
    assert len(list(picture.iter(f"{space}rect"))) == 3


def test_of_many_paths_some_are_drawn() -> None:
    shown = record(paths=record()["paths"] * (MAX_PATHS_DRAWN + 3))._repr_html_()
    assert shown.count("<rect") == 3 * MAX_PATHS_DRAWN
    assert "and 3 more paths" in shown


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_graph_or_a_model_says_stays_text(name: str) -> None:
    conditions = [{"words": name, "query": name, "by": "model"}]
    hostile = record(
        question=name,
        reading=name,
        answers=[ref(name)],
        paths=[[hop(name, f"http://t/{name}", None), hop(None, name, name, False)]],
        conditions=conditions,
        config={"model": name},
        error=name,
        trace=[{"reason": name}],
    )
    for shown in (hostile, Answered({**hostile, "answers": []})):
        found = Tags(shown._repr_html_())
        assert found.names == {"div", "p", "em", "strong", "svg", "title", "text", "rect", "path", "small"}
        assert not {name for name in found.attributes if name.startswith("on") or name in ("src", "href")}
        html = shown._repr_html_()
        ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
        assert len(str(shown).splitlines()) == 4


def test_a_record_is_the_same_json() -> None:
    plain = dict(record())
    assert json.loads(json.dumps(record())) == json.loads(json.dumps(plain)) == record()
    assert repr(record()) == repr(plain)


@pytest.mark.parametrize("copied", [copy, deepcopy])
def test_a_copy_of_a_record_shows_itself_too(copied: Callable[[Answered], Answered]) -> None:
    again = copied(record())
    assert (again, str(again), again._repr_html_()) == (record(), str(record()), record()._repr_html_())


def test_another_reading_without_answers_is_said() -> None:
    other = {"reading": "the capital of Peru", "answers": [], "truncated": False}
    assert say_alternatives({"alternatives": [other]})[1] == "[2] the capital of Peru: no answer"


@pytest.mark.parametrize("key", ["translated", "read_as"])
def test_a_translation_is_said_of_earlier_records_too(key: str) -> None:
    said = record(trace=[{"node": "link", "decision": "forward", key: "Who wrote Faust?"}])
    assert say_language(said) == 'translated: "Who wrote Faust?"'
