"""How well a chain says a question: order of words, number of hops, directions."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from kgqa.kg.terms import Hop
from kgqa.priors.encoder import CachedEncoder
from kgqa.retrieval.wording import QuestionWording, comparison_texts, open_wording
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.perfect import DATA, questions

Chain = tuple[Hop, ...]


@pytest.fixture
def memo() -> CachedEncoder:
    return MEMO


def hop(name: str) -> Hop:
    return Hop(f"http://t/{name.removeprefix('^')}", forward=not name.startswith("^"))


def chain(*names: str) -> Chain:
    return tuple(hop(name) for name in names)


def chains_of(*names: str, hops: int = 2) -> list[Chain]:
    """Return all chains of relations, of one hop up to ``hops``."""
    return [chain(*each) for length in range(1, hops + 1) for each in product(names, repeat=length)]


def best(question: str, chains: Sequence[Chain], memo: CachedEncoder) -> list[str]:
    scores = QuestionWording(question, memo.encode).chains(chains)
    return [f"{'' if each.forward else '^'}{each.words}" for each in chains[int(np.argmax(scores))]]


FAMILY = chains_of("parents", "spouse", "children", "religion", "place_of_death")
MADE = ("directed_by", "written_by", "starred_actors")
OF_A_FILM = [
    *chains_of(*MADE, "has_genre", "release_year", hops=1),
    *(chain(one, f"^{two}") for one, two in product(MADE, MADE)),
]
OF_A_PERSON = [
    *(chain(f"^{one}") for one in MADE),
    *(chain(f"^{one}", two) for one, two in product(MADE, (*MADE, "has_genre", "release_year"))),
]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what is the religion of the wife of [ENT]?", ["spouse", "religion"]),
        ("[ENT] 's wife 's religion ?", ["spouse", "religion"]),
        ("who is the child of [ENT] 's husband?", ["spouse", "children"]),
        ("where did [ENT] 's mother die?", ["parents", "place_of_death"]),
        ("what religion is [ENT] 's husband?", ["spouse", "religion"]),
        ("who is the husband of [ENT]?", ["spouse"]),
        ("what is the place of death of [ENT]?", ["place_of_death"]),
    ],
)
def test_hops_are_said_outwards_from_the_entity(question: str, said: list[str], memo: CachedEncoder) -> None:
    assert best(question, FAMILY, memo) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("who wrote the movie [ENT]?", ["written_by"]),
        ("when was [ENT] released?", ["release_year"]),
        ("the director of [ENT] also directed which movies?", ["directed_by", "^directed_by"]),
    ],
)
def test_what_is_asked_of_a_film(question: str, said: list[str], memo: CachedEncoder) -> None:
    assert best(question, OF_A_FILM, memo) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("which movies did [ENT] write?", ["^written_by"]),
        ("who acted in the movies directed by [ENT]?", ["^directed_by", "starred_actors"]),
        ("the films written by [ENT] were in which genres?", ["^written_by", "has_genre"]),
    ],
)
def test_what_is_asked_of_a_film_maker(question: str, said: list[str], memo: CachedEncoder) -> None:
    assert best(question, OF_A_PERSON, memo) == said


@pytest.mark.parametrize(
    ("question", "company"), [("who lives in [ENT]?", 0), ("who else lives in [ENT]?", 1)]
)
def test_going_straight_back_is_for_questions_of_company(
    question: str, company: bool, memo: CachedEncoder
) -> None:
    """The second hops differ in nothing but where they go."""
    onwards, back = QuestionWording(question, memo.encode).chains(
        [(hop("lives_in"), Hop("http://x/lives_in", forward=False)), chain("lives_in", "^lives_in")]
    )
    assert (back > onwards + 0.2) if company else (onwards > back + 0.2)


def test_two_hops_by_way_of_an_unnamed_node_are_said_as_one(memo: CachedEncoder) -> None:
    chains = [
        chain("people.person.profession"),
        chain("people.person.place_of_birth"),
        chain("sports.pro_athlete.teams", "sports.sports_team_roster.team"),
        chain("sports.pro_athlete.teams", "sports.sports_team_roster.from"),
        chain("people.person.nationality", "location.country.capital"),
    ]
    said = ["sports.pro_athlete.teams", "sports.sports_team_roster.team"]
    assert best("what team does [ENT] play for?", chains, memo) == said


def test_a_hop_is_looked_for_after_those_before_it(memo: CachedEncoder) -> None:
    wording = QuestionWording("what is the religion of the wife of the child of [ENT]?", memo.encode)
    offered = chain("religion", "spouse", "children", "gender")
    assert np.argmax(wording.hops([((), offered)])[0]) == 2
    assert np.argmax(wording.hops([(chain("children"), offered)])[0]) == 1
    assert np.argmax(wording.hops([(chain("children", "spouse"), offered)])[0]) == 0


def test_words_may_be_left_for_hops_to_come(memo: CachedEncoder) -> None:
    wording = QuestionWording("what is the religion of the wife of [ENT]?", memo.encode)
    (goes_on,), (over,) = wording.hops([((), chain("spouse"))])[0], wording.chains([chain("spouse")])
    assert goes_on > over + 0.2


@pytest.mark.parametrize("question", ["what is [ENT]?", "[ENT]", "", "1984?"])
def test_without_words_to_go_by_the_shorter_chain_is_better(question: str, memo: CachedEncoder) -> None:
    one, two = QuestionWording(question, memo.encode).chains([chain("spouse"), chain("spouse", "spouse")])
    assert one == pytest.approx(two + 1, abs=1e-5)


def test_the_same_hop_twice_needs_two_words(memo: CachedEncoder) -> None:
    chains = chains_of("parents", "spouse")
    assert best("who is the mother of [ENT]?", chains, memo) == ["parents"]
    assert best("who is the mother of the mother of [ENT]?", chains, memo) == ["parents", "parents"]


def test_with_the_arrow_is_better_than_against_it(memo: CachedEncoder) -> None:
    forward, inverse = QuestionWording("who is the mayor of [ENT]?", memo.encode).chains(
        [chain("mayor"), chain("^mayor")]
    )
    assert 0.01 < forward - inverse < 0.1


def test_a_question_without_its_entity_is_read_from_the_end(memo: CachedEncoder) -> None:
    assert best("what is the religion of the wife of henry?", FAMILY, memo) == ["spouse", "religion"]


def test_names_of_other_topics_are_no_words(memo: CachedEncoder) -> None:
    offered = chains_of("spouse", "parents", "other", hops=1)
    scores = [
        QuestionWording(question, memo.encode).chains(offered)
        for question in ("who is the wife of [ENT]?", "who is the wife of [ENT] [OTHER]?")
    ]
    assert np.argmax(scores[1]) == 0
    assert scores[0] == pytest.approx(scores[1], abs=0.2)


def test_a_question_is_encoded_once_in_few_texts() -> None:
    batches: list[list[str]] = []

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        batches.append(list(texts))
        return np.ones((len(texts), 1), np.float32)

    wording = QuestionWording("who is the other half of the eldest son of [ENT]?", encode)
    assert [len(batch) for batch in batches] == [8]
    assert batches[0][-1] == "who is the other half of the eldest son of it?"
    wording.hops([((), chain("spouse"))])[0]
    wording.chains([chain("spouse")])
    assert batches[1:] == [["spouse"], ["spouse"]]


def test_a_chain_scores_the_same_whichever_are_compared_with_it(memo: CachedEncoder) -> None:
    question = "what is the religion of the wife of the child of [ENT]?"
    chains = chains_of("religion", "spouse", hops=3)
    together = QuestionWording(question, memo.encode).chains(chains).tolist()
    alone = QuestionWording(question, memo.encode)
    assert [alone.chains([each]).item() for each in reversed(chains)] == together[::-1]


def test_what_a_question_was_compared_with_is_not_compared_again(
    memo: CachedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, offered = "who is the wife of the child of [ENT]?", chain("spouse", "children")
    first = open_wording(question, memo.encode).hops([((), offered)])[0]
    monkeypatch.setattr(QuestionWording, "_encode_hops", None)
    assert open_wording(question, memo.encode).hops([((), offered[::-1])])[0].tolist() == first.tolist()[::-1]
    with pytest.raises(TypeError):  # the same relation, called otherwise
        open_wording(question, memo.encode).hops([((), [replace(offered[0], name="partner")])])[0]


def test_nothing_offered_gives_no_scores_and_no_hops_score_nothing(memo: CachedEncoder) -> None:
    wording = QuestionWording("who is the wife of [ENT]?", memo.encode)
    assert wording.hops([((), ())])[0].shape == wording.chains([]).shape == (0,)
    assert wording.chains([(), chain("spouse")]).tolist()[0] == 0


def test_a_relation_is_compared_by_its_last_parts() -> None:
    assert comparison_texts("people.deceased_person.place_of_death") == (
        "deceased person place of death",
        "place of death",
    )
    assert comparison_texts("has_genre") == ("genre",)
    assert comparison_texts("of") == ("of",)
    assert comparison_texts("...") == ("...",)


@given(st.text(max_size=80), st.lists(st.sampled_from(["spouse", "^spouse", "a.b.c_d"]), max_size=4))
def test_any_question_gives_finite_scores(text: str, names: list[str]) -> None:
    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([[len(each) % 3 + 1, 1.0] for each in texts], np.float32).reshape(-1, 2)

    scores = QuestionWording(text, encode).chains([chain(*names)])
    assert np.isfinite(scores).all()


@pytest.mark.skipif(not (DATA / "pathquestion").is_dir(), reason="the data folder is not there")
def test_two_hop_questions_are_told_from_all_other_chains_of_their_relations(memo: CachedEncoder) -> None:
    """No graph helps here: all 182 chains of the 13 relations compete."""
    asked = [
        each
        for each in questions("pathquestion/pq-2h")
        if each["split"] == "train" and each["split_group"] == "train"
    ]
    names = sorted({name for each in asked for name in each["gold_path"]})
    some = asked[:: len(asked) // 30][:30]
    chains = chains_of(*names)
    right = sum(best(_masked(each), chains, memo) == list(each["gold_path"]) for each in some)
    assert right >= 0.7 * len(some)


def _masked(question: dict[str, Any]) -> str:
    (topic,) = question["topic_entities"]
    return str(question["question"]).replace(topic["name"], "[ENT]")
