"""link: which entities does a question mention?"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.kg.linking.linker import Linker
from kgqa.kg.linking.name_index import EntityNames

NAMES = [
    "Tom Hanks", "Tom", "Hanks", "The Battery", "Battery", "Drama", "drama", "She's All That", "She",
    "How to Be",
    "Hush!", "Hush", "louis c.k.", "Frederica of Mecklenburg-Strelitz", "nationality", "Mexico",
    "Tigres UANL",
    "Forward", "movies", "The Film", "New York", "York", "Death of a Salesman", "ginger rogers", "film",
    "Ada Lovelace", "(500) Days of Summer", "Days of Summer", "Zürich", "in", "1984",
]  # fmt: skip


@pytest.fixture(scope="module")
def linker():
    pairs = [(f"http://x/{place}", name) for place, name in enumerate(NAMES)]
    index = EntityNames(dict.fromkeys(dict(pairs), 1), dict(pairs), {}).index()
    return Linker(index, ["starred_actors", "has_genre"])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what movies did Tom Hanks act in?", ["Tom Hanks"]),
        ("What is Tom Hanks's nationality?", ["Tom Hanks"]),
        ("what is tom hanks' nationality", ["Tom Hanks"]),
        ("who acted in The Battery?", ["The Battery"]),
        ("who acted in the Battery?", ["Battery"]),
        (
            "which nationality is frederica of mecklenburg-strelitz 's couple ?",
            ["Frederica of Mecklenburg-Strelitz"],
        ),
        ("name a player who plays at Forward position at the club Tigres UANL ?", ["Forward", "Tigres UANL"]),
        ("what film genre is She's All That?", ["She's All That"]),
        ("who acted in the movie How to Be?", ["How to Be"]),
        ("what is the primary language in Hush!?", ["Hush!"]),
        ("which films can be described by louis c.k.?", ["louis c.k."]),
        ("who lives in New York?", ["New York"]),
        ("what films are about ginger rogers", ["ginger rogers"]),
        ("what films are drama", ["drama"]),
        ("Drama films by Tom Hanks", ["Drama", "Tom Hanks"]),
        ('who wrote "film"?', ["film"]),
        ("who wrote «Death of a Salesman»?", ["Death of a Salesman"]),
        ("who wrote (500) Days of Summer?", ["(500) Days of Summer"]),
        ("what was released in 1984?", ["1984"]),
        ("Who was born in Zurich?", ["Zürich"]),
        ("who knew Ada Lovelase?", ["Ada Lovelace"]),
        ("who knew ada lovelase?", ["Ada Lovelace"]),
        ("who wrote Hanks?", ["Hanks"]),
        ("", []),
        ("who is it?", []),
        ("???", []),
    ],
)
def test_link(linker, question, expected):
    assert [mention.matches[0].entity.name for mention in linker.link(question)] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What are the top producers of uranium?", ["uranium"]),
        ("Under which ISO code is the currency of Peru traded?", ["Peru"]),
        ("how do I get to the top", ["TOP"]),
        ("which flights leave TOP", ["TOP"]),
        ("Which of the noble gases did William Ramsay discover?", ["Noble gases", "William Ramsay"]),
        ("what films did wiliam ramsay star in", ["William Ramsay"]),
    ],
)
def test_codes_terms_and_relation_words(question, expected):
    names = ["TOP", "uranium", "ISO", "Peru", "Noble gases", "William Ramsay", "Star!"]
    pairs = [(f"http://x/{place}", name) for place, name in enumerate(names)]
    linker = Linker(EntityNames({}, dict(pairs), {}).index(), ["iso_code", "produces"])
    assert [mention.matches[0].entity.name for mention in linker.link(question)] == expected


def test_mentions_carry_their_place(linker):
    question = "what movies did Tom Hanks act in?"
    (mention,) = linker.link(question)
    assert question[mention.start : mention.end] == mention.text == "Tom Hanks"


def test_equally_named_entities_are_all_given():
    pairs = [("http://x/1", "Paris"), ("http://x/2", "Paris")]
    index = EntityNames({"http://x/1": 1, "http://x/2": 9}, dict(pairs), {}).index()
    (mention,) = Linker(index, []).link("where is Paris?")
    assert [match.entity.id for match in mention.matches] == ["http://x/2", "http://x/1"]


def test_meaning_decides_last():
    def encode(texts):
        return np.array([[1.0, 0.0] if text in ("ocean", "waves") else [0.0, 1.0] for text in texts])

    pairs = [("http://x/1", "Ocean"), ("http://x/2", "Hill")]
    index = EntityNames(dict.fromkeys(dict(pairs), 1), dict(pairs), {}).index(encode)
    (mention,) = Linker(index, []).link("what is in the waves")
    assert (mention.text, mention.matches[0].entity.name, mention.matches[0].how) == (
        "waves",
        "Ocean",
        "embedding",
    )


@given(st.text(max_size=80))
def test_any_question_gives_sorted_mentions_that_do_not_overlap(question):
    pairs = [("http://x/1", "Tom Hanks"), ("http://x/2", "a b"), ("http://x/3", "0")]
    mentions = Linker(EntityNames({}, dict(pairs), {}).index(), []).link(question)
    assert all(left.end <= right.start for left, right in pairwise(mentions))
    assert all(question[mention.start : mention.end] == mention.text for mention in mentions)
    assert all(mention.matches for mention in mentions)


async def test_link_through_the_graph(make_graph):
    graph = make_graph(
        ':e1 rdfs:label "Tom Hanks" ; :born_in :e2 . :e2 rdfs:label "Born" . :born_in rdfs:label "Born In" .'
    )
    (mention,) = await graph.link("where was Tom Hanks born in?")
    assert mention.matches[0].entity.id == "http://x/e1"
