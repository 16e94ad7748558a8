"""MetaQA, PathQuestion and WorldCup2014: lines of text."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef, GoldPath, Question

One = Callable[..., Question]
Write = Callable[..., Path]


def test_a_line_of_metaqa(one: One) -> None:
    assert one("what films did [Anna Ulm] act in\tThe Ferry|Danube\n", "metaqa") == Question(
        id="metaqa-1",
        text="what films did Anna Ulm act in",
        topics=(EntityRef(None, "Anna Ulm"),),
        readings=((EntityRef(None, "The Ferry"), EntityRef(None, "Danube")),),
    )


@pytest.mark.parametrize(
    ("line", "topic", "text"),
    [
        ("[Anna] acts in what\tX", "Anna", "Anna acts in what"),
        ("[2 Days] is by whom\tX", "2 Days", "2 Days is by whom"),
        ("who directed [[REC]]\tX", "[REC]", "who directed [REC]"),
    ],
)
def test_brackets_mark_the_topic_and_do_not_make_it_json(one: One, line: str, topic: str, text: str) -> None:
    question = one(line, "metaqa")
    assert (question.topics, question.text) == ((EntityRef(None, topic),), text)


def test_a_line_of_metaqa_without_brackets_or_answers(one: One) -> None:
    question = one("who is it\t\n", "metaqa")
    assert (question.topics, question.readings) == ((), ())


def test_a_line_of_pathquestion(one: One) -> None:
    line = "sex of anna_ulm 's child ?\tfemale(male/female/)\tanna_ulm#child#eva#sex#female#<end>#female"
    assert one(line, "pathquestion") == Question(
        id="pathquestion-1",
        text="sex of anna ulm 's child ?",
        topics=(EntityRef("anna_ulm", "anna ulm"),),
        readings=((EntityRef("male", "male"), EntityRef("female", "female")),),
        paths=(GoldPath("anna_ulm", ("child", "sex")),),
        hops=2,
    )


@pytest.mark.parametrize(
    ("column", "names"),
    [
        ("Live(The_Trilogy/Live/)", ["The Trilogy", "Live"]),
        ("Alien_(film)(Alien_(film)/)", ["Alien (film)"]),
        ("AC/DC(AC/DC/Motörhead/)", ["AC/DC", "Motörhead"]),
    ],
)
def test_names_may_have_brackets_and_slashes(one: One, column: str, names: list[str]) -> None:
    question = one(f" who ?\t{column}\tA#__music__track#B", "pathquestion")
    assert [answer.name for answer in question.gold] == names
    assert question.paths == (GoldPath("A", ("__music__track",)),)


def test_a_line_of_brackets_is_refused_at_once(write: Write) -> None:
    path = write(f"who ?\t{'(' * 400_000}\tA#r#B\n")
    start = time.process_time()
    with pytest.raises(DatasetError, match="should look like name"):
        load(path, "pathquestion")
    assert time.process_time() - start < 2


def test_a_line_of_worldcup2014_with_two_branches(one: One) -> None:
    path = "Forward#plays_position_inverse#Al_P#<end>#Al_P*FC_U#plays_in_club_inverse#Al_P#<end>#Al_P"
    line = f"a Forward at FC_U ?\tAl_P\t{path}\tAl_P/Bo_Q/\tAl_P#is_aged#23///FC_U#is_in#Mexico\tForward/FC_U"
    assert one(line, "worldcup") == Question(
        id="worldcup-1",
        text="a Forward at FC U ?",
        topics=(EntityRef("Forward", "Forward"), EntityRef("FC_U", "FC U")),
        readings=((EntityRef("Al_P", "Al P"), EntityRef("Bo_Q", "Bo Q")),),
        paths=(GoldPath("Forward", ("^plays_position",)), GoldPath("FC_U", ("^plays_in_club",))),
        hops=1,
    )


def test_a_line_of_worldcup2014_with_one_path(one: One) -> None:
    question = one("how old is Al_P ?\t23\tAl_P#is_aged#23\t23/\tAl_P#is_aged#23", "worldcup")
    assert question.gold == (EntityRef("23", "23"),)
    assert question.paths == (GoldPath("Al_P", ("is_aged",)),)


def test_windows_lines_and_blank_ones_do_no_harm(write: Write) -> None:
    dataset = load(write("\ufeffwho [A]\tB\r\n\r\nwho [C]\tD\r\n", "qa.txt"))
    assert [question.gold[0].name for question in dataset.questions] == ["B", "D"]
    assert [question.id for question in dataset.questions] == ["metaqa-1", "metaqa-2"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("who [A]\tB\n\n\tC", "line 3, field question: should have at least 1 character"),
        ("who [A]\tB\nwho", "line 2, field answers: is missing"),
        ("who\tb\ta#b#c", 'line 1, field answers: should look like name(name/name/), not "b"'),
        ("who\tb(c/)\ta#b#c", "line 1, field answers: should look like"),
        ("who\tb(b/)\ta#b", 'line 1, field path: should look like entity#relation#entity, not "a#b"'),
        ("who\tb(b/)\t#b#c", "line 1, field path: should look like"),
        ("who\tb\ta#b#c*d\tb/", "line 1, field path: should look like"),
    ],
)
def test_a_wrong_column_is_named(write: Write, text: str, complaint: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load(write(text, "qa.txt"))
    assert str(caught.value).startswith(f"qa.txt, {complaint}")
