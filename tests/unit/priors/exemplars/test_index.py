import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.priors.artifact_store import read_lines, write_lines
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars import (
    EXEMPLAR_STORE,
    build_exemplars,
    gather_exemplars,
    read_exemplar_header,
    read_exemplars,
    read_solution_index,
)
from kgqa.priors.slots import Slot
from kgqa.priors.solutions import (
    DEFAULT_MIN_SIMILARITY,
    LABEL_SHARE,
    MIN_SIMILARITIES,
    RecalledSolution,
    Solution,
    SolutionIndex,
    encode_templates,
    index_solutions,
    merge_solutions,
)
from kgqa.priors.training_questions import Topic, read_training_questions
from kgqa.tests.support.builds import built, open_solution_index
from kgqa.tests.unit.priors.blueprints.conftest import words
from kgqa.tests.unit.priors.exemplars.conftest import ANN, BOB, BOTH, LINES, line

ANN_TOPIC, BOB_TOPIC = Topic(ANN["id"], "Ann"), Topic(BOB["id"], "Bob")


def solutions(*lines: object, **labels: str) -> list[Solution]:
    kinds = {ANN_TOPIC: labels.get("ann"), BOB_TOPIC: labels.get("bob")}
    known = {topic: label for topic, label in kinds.items() if label}
    return list(gather_exemplars(read_training_questions(lines), known).solutions)  # type: ignore[arg-type]


def shown(found: Sequence[RecalledSolution]) -> list[str]:
    return [each.solution.question for each in found]


@pytest.fixture
def index(folder: Path) -> SolutionIndex:
    return open_solution_index(folder, words, "words")


def test_topics_give_way_to_their_categories_and_all_branches_are_kept() -> None:
    asked = line("which films has Ann made with Bob?", topics=[ANN, BOB], **BOTH)
    (found,) = solutions(asked, ann="actor")
    assert found.template == "which films has [actor] made with [entity]?"
    assert found.branches == ((Slot("film"),), (Slot("made"),))


def test_the_first_relation_of_a_chain_says_what_a_topic_is_that_nobody_knows() -> None:
    path = ("people.person.parents", "film.actor.film")
    (found,) = solutions(line("what of Ann?", *path))
    assert found.template == "what of [person]?"
    (found,) = solutions(line("what of Ann?", *path), ann="queen")
    assert found.template == "what of [queen]?"
    (found,) = solutions(line("what of Ann?", f"^{path[0]}"))
    assert found.template == "what of [entity]?"


def test_questions_of_one_template_and_one_way_are_one_solution() -> None:
    asked = [
        line("who is Bob?", "self", topics=[BOB]),
        line("who is Ann?", "self"),
        line("Who is  Ann", "self"),
        line("who is Ann?", "kin"),
    ]
    found = [(each.question, str(each.branches[0][0]), each.questions) for each in solutions(*asked)]
    assert found == [("Who is  Ann", "self", 1), ("who is Ann?", "kin", 1), ("who is Ann?", "self", 2)]


def test_only_what_is_of_this_very_question_alone_is_its_own() -> None:
    one = Solution("t", ((Slot("a"),),), "Who is Ann?")
    assert one.is_of("who is ANN")
    assert not one.is_of("who is Bob?")
    two = Solution("t", ((Slot("a"),),), "Who is Ann?", 2)
    assert not two.is_of("who is ANN")


def test_the_most_similar_come_first_and_each_way_of_solving_once(index: SolutionIndex) -> None:
    found = index.recall("?", "who was born or married [entity]?", pool=20, shown=9, similarity=0)
    assert shown(found)[0] == "who married Ann?"
    ways = [each.solution.branches for each in found]
    assert len(set(ways)) == len(ways) == 5
    likes = [each.similarity or 0 for each in found]
    assert likes == sorted(likes, reverse=True)


def test_a_question_is_no_exemplar_of_itself(index: SolutionIndex) -> None:
    asked = "where was Ann born?"
    assert asked in shown(index.recall("?", "where was [entity] born?", pool=9, shown=9, similarity=0))
    assert asked not in shown(index.recall("Where was ANN born", "where was [entity] born?", pool=9, shown=9))


def test_its_own_solution_takes_no_place_in_the_pool(index: SolutionIndex) -> None:
    template = "where was [entity] born?"
    assert len(index.recall("where was Ann born?", template, pool=1, shown=1, similarity=0)) == 1


def test_what_is_less_alike_than_the_threshold_is_left_out(index: SolutionIndex) -> None:
    every = index.recall("?", "who married [entity]?", pool=20, shown=8, similarity=-1)
    best = index.recall("?", "who married [entity]?", pool=20, shown=8, similarity=0.9)
    assert 0 < len(best) < len(every)
    assert index.similarity == DEFAULT_MIN_SIMILARITY
    assert [each for each in every if (each.similarity or 0) >= DEFAULT_MIN_SIMILARITY] == index.recall(
        "?", "who married [entity]?", pool=20, shown=8
    )


def test_no_more_are_shown_than_asked_for_and_no_more_looked_at_than_the_pool(index: SolutionIndex) -> None:
    template = "who was [entity]?"
    assert len(index.recall("?", template, pool=20, shown=2, similarity=0)) == 2
    assert len(index.recall("?", template, pool=3, shown=8, similarity=0)) <= 3


def test_a_topic_of_unknown_category_finds_templates_with_categories() -> None:
    kept = solutions(line("where was Ann born?", "born_in"), ann="very famous lady")
    found = index_of(kept).recall("?", "where was [entity] born?", pool=1, shown=1)
    assert (shown(found), found[0].similarity) == (
        ["where was Ann born?"],
        pytest.approx((1 - LABEL_SHARE) ** 0.5, abs=1e-6),
    )


def test_templates_are_alike_by_their_words_and_by_their_labels() -> None:
    asked = "where was [queen] born?"
    others = [asked, "where was [old queen] born?", "where was [river] born?", "where did [queen] sit?"]
    own, *vectors = encode_templates([asked, *others], words)
    assert vectors[0].tolist() == own.tolist()
    plain, same = words(["where was [entity] born?", "where did [entity] sit?"])
    labels = words(["queen", "old queen", "river"])
    expected = [
        1,
        1 - LABEL_SHARE + LABEL_SHARE * labels[0] @ labels[1],
        1 - LABEL_SHARE + LABEL_SHARE * labels[0] @ labels[2],
        (1 - LABEL_SHARE) * plain @ same + LABEL_SHARE,
    ]
    assert [own @ each for each in vectors] == pytest.approx(expected, abs=1e-6)


def test_several_labels_count_by_their_mean_and_unknown_ones_not_at_all() -> None:
    one, two, unknown = encode_templates(
        ["[queen] of [king]", "[queen] of [entity]", "[x] of [entity]"], words
    )
    king, queen = words(["king", "queen"])
    mean = (king + queen) / np.linalg.norm(king + queen)
    assert one @ two == pytest.approx(1 - LABEL_SHARE + LABEL_SHARE * mean @ queen, abs=1e-6)
    assert np.linalg.norm([one, two, unknown], axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_what_both_learn_from_is_encoded_once(tmp_path: Path) -> None:
    given: list[str] = []

    def encode(texts: Sequence[str]) -> Vectors:
        given.extend(texts)
        return words(texts)

    build_exemplars(
        read_training_questions(LINES), tmp_path / "once", encode, "words", categories={ANN_TOPIC: "lady"}
    )
    assert sorted(given) == sorted(set(given))
    assert len(given) == 5 + 1  # five questions without names, and a label


def index_of(kept: Sequence[Solution], encoder: str = "words") -> SolutionIndex:
    return SolutionIndex(tuple(kept), index_solutions(kept, words), words, encoder, "0" * 64)


def test_the_threshold_is_that_of_the_encoder() -> None:
    (name,) = MIN_SIMILARITIES
    kept = solutions(line("where was Ann born?", "born_in"))
    assert index_of(kept, name).similarity == MIN_SIMILARITIES[name] != DEFAULT_MIN_SIMILARITY


def test_chance_is_the_same_for_the_same_question(index: SolutionIndex) -> None:
    drawn = [index.draw(f"question {at}", pool=20, shown=2) for at in range(9)]
    assert drawn == [index.draw(f"question {at}", pool=20, shown=2) for at in range(9)]
    assert len({tuple(shown(each)) for each in drawn}) > 3
    assert all(each.similarity is None for found in drawn for each in found)


def test_chance_never_draws_the_question_itself(index: SolutionIndex) -> None:
    asked = "in which land was Ann born?"
    assert asked in shown(index.draw("?", pool=99, shown=9))
    assert asked not in shown(index.draw(asked, pool=99, shown=9))


def test_the_index_lies_beside_what_the_offline_model_learns(folder: Path) -> None:
    names = {"exemplars.json", "records.jsonl", "model.npz", "solutions.jsonl", "index.faiss", "in-use"}
    header = read_exemplar_header(folder)
    build = folder / header.build
    assert {path.name for path in build.iterdir()} == names - {"exemplars.json"}
    assert {path.name for path in folder.iterdir()} == {*names, header.build} - {"in-use"}
    assert (header.version, header.templates) == (5, 5)
    assert open_solution_index(folder, words, "words").fingerprint == header.solutions


def test_categories_get_into_the_folder(tmp_path: Path) -> None:
    lines = read_training_questions([line("who is Ann?", "self")])
    build_exemplars(lines, tmp_path / "kinds", words, "words", categories={ANN_TOPIC: "lady"})
    written = json.loads(built(tmp_path / "kinds", "solutions.jsonl").read_text())
    assert written["template"] == "who is [lady]?"


def test_as_published_all_chains_of_a_topic_count_and_templates_are_encoded_as_they_stand(
    tmp_path: Path,
) -> None:
    paths = [{"topic": ANN["id"], "path": path} for path in (["born_in", "land"], ["citizen"])]
    asked = line("of which land is Ann?", topics=[ANN], gold_paths=paths)
    shown_by = {}
    for published in (False, True):
        folder, known = tmp_path / str(published), {ANN_TOPIC: "queen"}
        read = read_training_questions([asked])
        build_exemplars(read, folder, words, "words", categories=known, as_published=published)
        index = open_solution_index(folder, words, "words")
        (found,) = index.recall("?", "of which land is [queen]?", pool=1, shown=1)
        assert found.similarity == pytest.approx(1, abs=1e-6)
        (other,) = index.recall("?", "of which land is [entity]?", pool=1, shown=1, similarity=-1)
        shown_by[published] = [found.solution.branches, other.similarity]
    direct, way = (Slot("citizen"),), (Slot("born_in"), Slot("land"))
    assert [branches for branches, _ in shown_by.values()] == [(direct,), (direct, way)]
    one, two = words(["of which land is [queen]?", "of which land is [entity]?"])
    assert [similarity for _, similarity in shown_by.values()] == pytest.approx(
        [(1 - LABEL_SHARE) ** 0.5, one @ two], abs=1e-6
    )


@pytest.mark.parametrize("name", ["solutions.jsonl", "index.faiss"])
def test_an_index_that_was_cut_short_is_damaged(folder: Path, name: str) -> None:
    content = built(folder, name).read_bytes()
    built(folder, name).write_bytes(content[:-9])
    with pytest.raises(ExemplarError, match="is damaged; build it again"):
        open_solution_index(folder, words, "words")


@pytest.mark.parametrize("change", [{"dimensions": 3}, {"solutions": "0" * 64}, {"index": "0" * 64}])
def test_an_index_that_does_not_fit_its_header_is_damaged(folder: Path, change: dict[str, object]) -> None:
    header = json.loads((folder / "exemplars.json").read_text())
    (folder / "exemplars.json").write_text(json.dumps({**header, **change}))
    with pytest.raises(ExemplarError, match="damaged"):
        open_solution_index(folder, words, "words")


def test_an_index_is_opened_with_its_own_encoder(folder: Path) -> None:
    with pytest.raises(ExemplarError, match="built with the encoder words, not other"):
        open_solution_index(folder, words, "other")


SLOTS = st.builds(Slot, st.sampled_from("abc"), st.booleans())
SOLUTIONS = st.builds(
    Solution,
    st.text(max_size=9),
    st.lists(st.lists(SLOTS, min_size=1, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple),
    st.text(max_size=9),
    st.integers(1, 9),
)


@given(st.lists(SOLUTIONS, max_size=5))
def test_solutions_are_read_as_they_were_written(kept: list[Solution]) -> None:
    assert read_lines(write_lines(kept, Solution), Solution) == tuple(kept)


@given(st.lists(SOLUTIONS, max_size=5))
def test_merging_does_not_depend_on_the_order(kept: list[Solution]) -> None:
    assert merge_solutions(kept) == merge_solutions(kept[::-1])


def test_what_is_read_of_a_folder_later_is_of_the_build_that_was_opened(folder: Path) -> None:
    opened = EXEMPLAR_STORE.open(folder, "words")
    build_exemplars(read_training_questions([line("who is Ann?", "self")]), folder, words, "words")
    assert read_solution_index(opened, words).fingerprint == opened.header.solutions
    assert read_exemplars(opened, words).fingerprint == opened.header.records
    assert open_solution_index(folder, words, "words").fingerprint != opened.header.solutions
