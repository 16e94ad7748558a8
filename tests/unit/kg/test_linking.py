"""link: which entities does a question mention?"""

import asyncio
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.kg.linking.linker import Linker
from kgqa.kg.linking.name_index import EntityNames, NameIndex
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Hop

FACT = {Hop("http://x/r"): 1}

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
    index = EntityNames(dict.fromkeys(dict(pairs), FACT), dict(pairs), {}).index()
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
    index = EntityNames({"http://x/1": FACT, "http://x/2": {Hop("http://x/r"): 9}}, dict(pairs), {}).index()
    (mention,) = Linker(index, []).link("where is Paris?")
    assert [match.entity.id for match in mention.matches] == ["http://x/2", "http://x/1"]


def test_meaning_decides_last():
    def encode(texts):
        return np.array([[1.0, 0.0] if text in ("ocean", "waves") else [0.0, 1.0] for text in texts])

    pairs = [("http://x/1", "Ocean"), ("http://x/2", "Hill")]
    index = EntityNames(dict.fromkeys(dict(pairs), FACT), dict(pairs), {}).index(encode)
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


PLACES = [
    "United States of America", "United States", "President of the United States", "Germany",
    "German Language", "Mitt Romney", "World War II", "Vienna", "Austria", "Government", "Columbia", "Ulm",
    "AFC Ajax", "Danube", "John F. Kennedy", "William Howard Taft", "China",
]  # fmt: skip


@pytest.fixture(scope="module")
def places():
    pairs = {f"http://x/{place}": name for place, name in enumerate(PLACES)}
    facts = {id: {} if name == "Government" else FACT for id, name in pairs.items()}
    return Linker(EntityNames(facts, pairs, {}).index(), ["country.form_of_government"])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # all fair spans where nothing is capitalised, and no classes
        ("does the danube flow through ulm or vienna?", ["Danube", "Ulm", "Vienna"]),
        ("who plays for afc ajax from germany?", ["AFC Ajax", "Germany"]),
        ("what government does germany have?", ["Germany"]),
        ("what degrees does romney have?", ["Mitt Romney"]),
        ("what is taft famous for?", ["William Howard Taft"]),
        ("who was killed after jfk?", ["John F. Kennedy"]),
        # peoples, their languages, and abbreviations
        ("what do germans drink?", ["Germany"]),
        ("where do people speak german?", ["German Language"]),
        ("what language do germans speak?", ["Germany"]),
        ("how many chinese are there?", ["China"]),
        ("who fought against the us in ww2?", ["United States of America", "World War II"]),
        ("Who did the US fight in WWII?", ["United States of America", "World War II"]),
        ("Who was US president in World War 2?", ["President of the United States", "World War II"]),
        # what only says where something is, and parts of what is quoted
        ("What can be seen in Vienna, Austria?", ["Vienna"]),
        ("What can be seen in Vienna, Austria and Ulm?", ["Vienna", "Austria", "Ulm"]),
        ('Who sang "Vienna Lights" in Ulm?', ["Ulm"]),
    ],
)
def test_topics_of_questions_in_lower_case_and_of_short_names(places, question, expected):
    assert [mention.matches[0].entity.name for mention in places.link(question)] == expected


TOPICS = [
    "Warner", "Ann Lee", "Bremen", "Bremen Bears", "2010 Iron Cup", "Iron Cup", "Ireland", "Eastern Europe",
    "Europe", "United States", "United States Mint", "Silver Lion Awards", "Kelso 49ers", "Rain-Man",
    "Thomas 'Ace' Miller", "AT&T Hall", "Leonardo da Vinci", "Miller",
    "William Hazlitt", "2011-12 League", "Siege of Kinsale", "Friends of the Ulster Club", "Kelso Club Leith",
]  # fmt: skip


@pytest.fixture(scope="module")
def topics():
    pairs = {f"http://x/{place}": name for place, name in enumerate(TOPICS)}
    return Linker(EntityNames(dict.fromkeys(pairs, FACT), pairs, {}).index(), ["amusement.hall"])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # a piece of a capitalised name that the graph does not have, unless there is nothing else
        ("Which Warner Brothers film has Ann Lee?", ["Ann Lee"]),
        ("Who from North Bremen met Ann Lee?", ["Ann Lee"]),
        ("Who from Bremen met Ann Lee?", ["Bremen", "Ann Lee"]),
        ("Who owns Warner Brothers?", ["Warner"]),
        ("which european union states know ann lee?", ["Ann Lee"]),
        ("who met ann lee in 2011-12?", ["Ann Lee"]),
        ("What did Ann Lee say of Kinsale?", ["Ann Lee", "Siege of Kinsale"]),
        ("which european states know ann lee?", ["Europe", "Ann Lee"]),
        ("who met william hazlit and ann lee?", ["William Hazlitt", "Ann Lee"]),
        # a longer name is no name of what it belongs to
        ("What did Ann Lee say of the Ulster Club?", ["Ann Lee"]),
        ("What did Ann Lee say of the Kelso Club?", ["Ann Lee", "Kelso Club Leith"]),
        # the end of a name before it
        ("When did the winner of the 2010 Iron Cup win the Iron Cup?", ["2010 Iron Cup"]),
        ("When did the team of the Iron Cup win the 2010 Iron Cup?", ["Iron Cup", "2010 Iron Cup"]),
        # a misspelt name begins as the name does
        ("who runs the bremmen bears?", ["Bremen Bears"]),
        ("Who ruled Rireland?", []),
        # peoples and countries in longer names
        ("Which Eastern European country is small?", ["Eastern Europe"]),
        ("Who heads the US Mint?", ["United States Mint"]),
        # plurals, possessives, and several words written as one
        ("who won the silver lion award?", ["Silver Lion Awards"]),
        ("Who beat the Kelso 49er's?", ["Kelso 49ers"]),
        ("who played rainman with ann lee?", ["Rain-Man", "Ann Lee"]),
        ("how many rainmans are there?", ["Rain-Man"]),
        # names with quotation marks inside, or that begin with initials
        ("Who played Thomas 'Ace' Miller?", ["Thomas 'Ace' Miller"]),
        ("What was played in AT&T hall with Ann Lee?", ["AT&T Hall", "Ann Lee"]),
        # where there is nothing else, the beginning of a first name
        ("what did leonard paint?", ["Leonardo da Vinci"]),
        ("what did leonard paint with ann lee?", ["Ann Lee"]),
    ],
)
def test_forms_of_names_and_what_is_none(topics, question, expected):
    assert [mention.matches[0].entity.name for mention in topics.link(question)] == expected


def test_a_verb_is_no_part_of_a_name(topics):
    (mention,) = topics.link("where did the bremen bears win?")
    assert mention.text == "the bremen bears"


def test_other_meanings_come_after_the_first(places):
    (mention,) = places.link("where is german spoken?")
    assert [str(match.entity) for match in mention.matches][:2] == ["German Language", "Germany"]
    assert mention.matches[0].sure
    assert not mention.matches[1].sure


async def test_a_mention_says_what_leads_on_from_each_that_it_may_stand_for(make_graph):
    graph = make_graph(
        ':a rdfs:label "Paris" ; :capital_of :c . :b rdfs:label "Paris" ; :wife :d . :c rdfs:label "C" .'
    )
    (mention,) = await graph.link("whose wife is Paris?")
    hops = {match.entity.id: [hop.words for hop in match.hops] for match in mention.matches}
    assert hops == {"http://x/a": ["capital_of"], "http://x/b": ["wife"]}
    (clear,) = await graph.link("what is C?")
    assert clear.matches[0].hops == ()


class _IndexOfEach:
    """Makes an index for each question, of its last word, as where the names of a graph are not listed."""

    async def index(self, text: str) -> NameIndex:
        name = text.split()[-1]
        return EntityNames({f"http://x/{name}": FACT}, {f"http://x/{name}": name}, {}).index()

    async def values(self) -> None:
        """There are none."""


async def test_questions_that_are_linked_at_once_have_their_own_entities(make_graph, monkeypatch):
    graph = make_graph(":a :r :b .")
    graph._lookup = _IndexOfEach()

    def keep(graph, linking):
        vars(graph)["_linking"] = linking
        time.sleep(0.01)  # until another thread has kept its own

    monkeypatch.setattr(
        SparqlGraph, "_linking", property(lambda graph: vars(graph)["_linking"], keep), raising=False
    )
    names = [f"Town{number}" for number in range(20)]
    linked = await asyncio.gather(*(graph.link(f"who lives in {name}") for name in names))
    found = [[mention.matches[0].entity.name for mention in mentions] for mentions in linked]
    assert found == [[name] for name in names]
