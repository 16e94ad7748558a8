"""Languages: of a text, of a graph's names, and of the names that are shown."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, strategies as st

from kgqa.kg import languages
from kgqa.kg.languages import (
    detect_language,
    foreign_to,
    function_words,
    language_name,
    name_shares,
    names_shown_in,
    preferred_languages,
    stem_words,
)
from kgqa.kg.linking.linker import Linker
from kgqa.kg.linking.name_index import EntityNames, NameIndex
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.kg.text import fold, split_words
from kgqa.tests.support.countries import LANGUAGES, named_in

Open = Callable[[str], SparqlGraph]

QUESTIONS = {
    "en": "Which bridges over the Danube were built before 1900?",
    "de": "Welche Brücken über die Donau wurden vor 1900 gebaut?",
    "fr": "Quels ponts sur le Danube ont été construits avant 1900 ?",
    "es": "¿Qué puentes sobre el Danubio se construyeron antes de 1900?",
    "ru": "Какие мосты через Дунай построены до 1900 года?",
    "zh": "多瑙河上有哪些桥梁建于1900年之前？",
    "ja": "1900年以前にドナウ川に架けられた橋はどれですか？",
    "ar": "ما هي الجسور التي بنيت على نهر الدانوب قبل عام 1900؟",
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_the_language_of_a_question_is_detected(language: str) -> None:
    assert detect_language(QUESTIONS[language]) == language


@pytest.mark.parametrize(
    "question",
    [
        "Is Ben a child of Ada?",
        "who met Bob?",
        "who stars in Ella Enchanted?",
        "Where was Gabriel García Márquez born?",
        "what language is the movie Tentação in?",
        "who wrote Les Misérables?",
    ],
)
def test_a_question_in_english_with_names_from_elsewhere_is_of_no_other_language(question: str) -> None:
    assert detect_language(question) in ("", "en")


@pytest.mark.parametrize("text", ["", " \n", "1984", "Malta", "?!", "\ud800"])
def test_a_text_that_says_too_little_is_of_no_language(text: str) -> None:
    assert detect_language(text) == ""


def test_a_language_is_called_by_its_english_name_or_its_code() -> None:
    assert [language_name(code) for code in ("de", "zh", "eo")] == ["German", "Chinese", "Eo"]


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "Länder", "Land"),
        ("de", "Abteilungen", "Abteilung"),
        ("fr", "capitales", "capitale"),
        ("es", "capitales", "capital"),
        ("ru", "Германии", "Германия"),
    ],
)
def test_inflected_forms_share_their_stem(language: str, one: str, other: str) -> None:
    assert stem_words(one, language) == stem_words(other, language) != stem_words("Danube", language)


def test_stems_are_those_of_one_thread_whatever_others_do() -> None:
    words = ["Länder", "Abteilungen", "Städte", "Brücken"] * 50
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda word: stem_words(word, "de"), words))
    assert found == [stem_words(word, "de") for word in words]


def test_a_language_that_nobody_has_listed_has_no_function_words_and_no_stems() -> None:
    assert function_words("eo") == frozenset()
    assert stem_words("Landoj tie", "eo") == ("landoj", "tie")


def test_names_without_a_tag_are_in_the_language_of_all_of_them() -> None:
    places = ("Leitung", "Lager", "Büro")
    german = [f"{place} der Abteilung für Entwicklung und Einkauf" for place in places]
    more = ["Die Brücken über den großen Fluss", "Alle Häuser am alten Markt und ihre Besitzer"]
    assert name_shares({"": 1.0}, [*german, *more], "hasMember partOf") == {"de": 1.0}


def test_names_that_say_too_little_are_in_the_language_of_the_relations() -> None:
    assert name_shares({"": 2}, ["A-17", "Ilz"], "hasSupplier isMemberOf areaOfExpertise") == {"en": 1.0}


def test_shares_go_by_the_tags_and_regions_and_scripts_are_no_languages() -> None:
    tags = {"de-AT": 1, "de": 1, "fr": 1, "zh-Hant": 1}
    assert name_shares(tags, [], "") == {"de": 0.5, "fr": 0.25, "zh": 0.25}


def test_a_question_in_the_language_of_some_names_needs_no_other() -> None:
    shares = {"fr": 0.6, "en": 0.38, "de": 0.02}
    assert [foreign_to(shares, each) for each in ("de", "en", "")] == ["", "", ""]


@pytest.mark.parametrize(
    ("shares", "language"),
    [({"fr": 0.6, "en": 0.4}, "en"), ({"fr": 0.9, "en": 0.1}, "fr"), ({"": 1.0}, ""), ({}, "")],
)
def test_names_are_in_english_where_half_as_many_are_else_in_their_commonest_language(
    shares: dict[str, float], language: str
) -> None:
    assert foreign_to(shares, "es") == language


def test_names_of_the_question_come_before_those_of_the_user_and_the_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "fr_CA.UTF-8")
    languages._user_language.cache_clear()
    languages._preferred.cache_clear()
    try:
        with names_shown_in("de"):
            assert preferred_languages(("en", "")) == ("de", "fr", "en", "")
        with names_shown_in(None):
            assert preferred_languages(("en", "")) == ("en", "")
        assert preferred_languages(("en", "")) == ("fr", "en", "")
    finally:
        languages._user_language.cache_clear()
        languages._preferred.cache_clear()


ASKED = [
    ("Was ist die Hauptstadt von Österreich?", "at"),
    ("Wie heißt die Hauptstadt der Schweiz?", "ch"),
    ("Welche Stadt ist Deutschlands Hauptstadt?", "de"),
    ("Quelle est la capitale de l'Autriche ?", "at"),
    ("奥地利的首都是什么？", "at"),
    ("Какова столица Германии?", "de"),
    ("スイスの首都はどこですか？", "ch"),
    ("ما هي عاصمة النمسا؟", "at"),
    ("What is the capital of Austria?", "at"),
]


@pytest.mark.parametrize(("question", "id"), ASKED)
async def test_names_of_any_language_are_linked(graph: Open, question: str, id: str) -> None:
    mentions = await graph(named_in(*LANGUAGES)).link(question)
    assert [mention.matches[0].entity.id for mention in mentions] == [f"http://t/e/{id}"]


def index_of(*names: str) -> NameIndex:
    pairs = {f"http://x/{place}": name for place, name in enumerate(names)}
    return EntityNames({id: {Hop("http://x/r"): 1} for id in pairs}, pairs, {}).index()


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("de", "Welche Abteilungen gehören zur Forschung?", ["Abteilung", "Forschung"]),
        ("de", "Wer leitet die Europäischen Kommissionen?", ["Europäische Kommission"]),
        ("de", "Wer schrieb „Die“?", ["Die"]),
        ("ja", "「は」を書いたのは誰ですか？", ["は"]),
        ("zh", "谁管理北京大学？", ["北京大学"]),
    ],
)
def test_a_linker_of_a_language_knows_its_function_words_and_forms(
    language: str, question: str, expected: list[str]
) -> None:
    names = ("Abteilung", "Forschung", "Europäische Kommission", "Die", "は", "北京", "北京大学")
    mentions = Linker(index_of(*names), [], language).link(question)
    assert [mention.matches[0].entity.name for mention in mentions] == expected


def test_every_character_of_a_script_without_spaces_is_a_word() -> None:
    assert fold("北京 Überlingen") == "北 京 uberlingen"
    assert [word.text for word in split_words("フランスの首都")] == ["フランス", "の", "首", "都"]


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet="北京大学 aÜ1・のカがー가", max_size=12))
def test_words_of_a_text_are_those_of_its_folded_form(text: str) -> None:
    assert fold(" ".join(word.text for word in split_words(text))) == fold(text)


async def test_names_are_shown_in_the_language_asked_for_whoever_asked_before(graph: Open) -> None:
    opened, austria = graph(named_in("en", "de", "fr")), Entity("http://t/e/at")
    chain = Chain(austria, (Hop("http://t/r/capital"),))
    shown = []
    for language in ("de", "en", "fr", "", "de", "ru"):
        with names_shown_in(language):
            (visit,) = await opened.visit_chains([chain])
            (match, *_) = await opened.find_entities("Austria")
            shown.append((visit.ends.items[0].term.name, match.entity.name))
    assert shown == [
        ("Wien", "Österreich"),
        ("Vienna", "Austria"),
        ("Vienne", "Autriche"),
        ("Vienna", "Austria"),
        ("Wien", "Österreich"),
        ("Vienna", "Austria"),
    ]


async def test_the_languages_of_names_are_counted_once_and_by_no_meter(graph: Open) -> None:
    opened = graph(named_in("de", "fr"))
    assert await opened.name_languages() == {"de": 0.5, "fr": 0.5}
    assert await opened.name_languages() is await opened.name_languages()


async def test_names_made_of_iris_are_in_the_language_of_the_relations(graph: Open) -> None:
    opened = graph("e:a r:isMemberOf e:b . e:b r:hasSupplier e:c ; r:areaOfExpertise e:d .")
    assert await opened.name_languages() == {"en": 1.0}


async def test_classes_and_values_are_found_in_inflected_forms(graph: Open) -> None:
    opened = graph(
        'e:Dept a rdfs:Class ; rdfs:label "Abteilung"@de . '
        'e:a a e:Dept ; rdfs:label "Einkauf"@de ; r:art "Großhandel" . '
        'e:b a e:Dept ; rdfs:label "Vertrieb"@de ; r:art "Großhandel" .'
    )
    mentions = await opened.link("Welche Abteilungen leben vom Wesen des Großhandels?")
    assert [(each.text, each.matches[0].entity.name) for each in mentions] == [
        ("Abteilungen", "Abteilung"),
        ("Großhandels", "Großhandel"),
    ]


async def test_function_words_of_the_language_are_no_misspelt_values(graph: Open) -> None:
    opened = graph('e:a rdfs:label "Wald"@de ; r:tier "Elche", "Welsch" . e:b r:tier "Elche", "Welsch" .')
    assert [each.text for each in await opened.link("Welche Tiere hat der Wald?")] == ["Wald"]
