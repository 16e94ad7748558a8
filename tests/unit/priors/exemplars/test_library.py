import json
import math
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.priors.artifact_store import SourceFile
from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars import ExemplarLibrary, build_exemplars, read_exemplar_header
from kgqa.priors.hop_model import WORD_SHARE
from kgqa.priors.slots import Slot
from kgqa.priors.training_questions import read_training_questions
from kgqa.tests.support.builds import built, open_exemplars
from kgqa.tests.unit.priors.blueprints.conftest import words
from kgqa.tests.unit.priors.exemplars.conftest import ANN, BOB, LINES, line

FILES = ("exemplars.json", "records.jsonl", "model.npz")


def opened(folder: Path) -> ExemplarLibrary:
    return open_exemplars(folder, words, "words")


def test_the_nearest_come_first_and_the_same_question_is_as_near_as_can_be(
    exemplars: ExemplarLibrary,
) -> None:
    best, *_ = exemplars.nearest("who married [ENT]?", 3)
    assert (best.exemplar.question, best.similarity) == ("who married [ENT]?", 1.0)
    assert (str(best.exemplar.chain[0]), best.exemplar.weight) == ("spouse", 2)
    assert len(exemplars.nearest("who married [ENT]?", 99)) == 6


def test_similarity_is_of_the_vectors_and_of_the_words(exemplars: ExemplarLibrary) -> None:
    near = {near.exemplar.question: near.similarity for near in exemplars.nearest("who was born?", 9)}
    # runs that two of the six questions have, and how many: of what is asked, and of the second
    asked = weights(who=2, was=3, born=2)
    second = weights(who=2, was=3, ent=6, was_ent=3)
    cosine = sum(asked[run] * second[run] for run in asked.keys() & second.keys())
    cosine /= math.hypot(*asked.values()) * math.hypot(*second.values())
    vectors = 2 / math.sqrt(3 * 5)  # two words of three, and of five
    expected = WORD_SHARE * cosine + (1 - WORD_SHARE) * vectors
    assert near["who was [ENT]'s wife then?"] == pytest.approx(expected, abs=1e-5)


def weights(**questions: int) -> dict[str, float]:
    return {run: math.log(7 / (1 + df)) + 1 for run, df in questions.items()}


def test_of_equally_near_ones_that_of_more_questions_comes_first(tmp_path: Path) -> None:
    asked = [line("who is Ann?", "z"), line("who is Bob?", "z", topics=[BOB]), line("who is Ann?", "a")]
    build_exemplars(read_training_questions(asked), tmp_path / "ties", words, "words")
    found = opened(tmp_path / "ties").nearest("who is [ENT]?", 2)
    assert [(str(near.exemplar.chain[0]), near.exemplar.weight) for near in found] == [("z", 2), ("a", 1)]


def test_words_tell_apart_what_the_encoder_does_not(tmp_path: Path) -> None:
    asked = [
        line(f"who {verb} the {first} of the {then} of Ann?", first)
        for verb in ("is", "was")
        for first, then in (("son", "wife"), ("wife", "son"))
    ]
    build_exemplars(read_training_questions(asked), tmp_path / "order", words, "words")
    for first, then in (("son", "wife"), ("wife", "son")):  # all one to counts of words
        question = f"who became the {first} of the {then} of [ENT]?"
        found = opened(tmp_path / "order").nearest(question, 2)
        assert {str(near.exemplar.chain[0]) for near in found} == {first}


def test_hops_are_log_probabilities_of_each_position(exemplars: ExemplarLibrary) -> None:
    first, second, last = exemplars.hops("in which land was [ENT] born?")
    assert set(first) == {Slot(name) for name in ("born_in", "film", "made", "spouse")} | {
        Slot("spouse", False)
    }
    assert set(second) == {Slot("within"), None}
    assert last == {None: 0.0}
    for scores in (first, second):
        assert sum(map(math.exp, scores.values())) == pytest.approx(1, abs=1e-5)
    assert max(first, key=lambda slot: first[slot]) == Slot("born_in")
    assert max(second, key=lambda slot: second[slot]) == Slot("within")


def test_hops_after_the_end_of_a_chain_are_not_learned(exemplars: ExemplarLibrary) -> None:
    _, second, _ = exemplars.hops("who married [ENT]?")
    assert second[None] > math.log(0.9)


def test_what_is_asked_is_learned(tmp_path: Path) -> None:
    count = "SELECT (COUNT(?x) AS ?n) { <http://x/e/Ann> <http://x/r/film> ?x }"
    asked = [
        line("how many films has Ann made?", "film", sparql=count),
        line("which films has Ann made?", "film"),
    ]
    build_exemplars(read_training_questions(asked), tmp_path / "asked", words, "words")
    found = opened(tmp_path / "asked").asked("how many songs has [ENT] made?")
    assert sum(found.values()) == pytest.approx(1, abs=1e-5)
    assert found[QuestionIntent("count")] > 0.8 > found[QuestionIntent()] > 0


def test_one_question_is_enough(tmp_path: Path) -> None:
    build_exemplars(read_training_questions(LINES[:1]), tmp_path / "one", words, "words")
    found = opened(tmp_path / "one")
    assert found.hops("?") == ({Slot("spouse"): 0.0}, {None: 0.0})
    assert found.asked("?") == {QuestionIntent(): 1.0}


def test_build_says_what_was_read(tmp_path: Path) -> None:
    source = SourceFile("mine", "1" * 64, 7)
    built = build_exemplars(
        read_training_questions(LINES), tmp_path / "new", words, "words", sources=[source]
    )
    assert (built.questions, built.exemplars, built.without) == (7, 6, {"no SPARQL and no gold path": 1})
    header = read_exemplar_header(tmp_path / "new")
    assert (header.encoder, header.dimensions, header.sources) == ("words", 256, (source,))
    assert (opened(tmp_path / "new").header.encoder, opened(tmp_path / "new").fingerprint) == (
        "words",
        header.records,
    )


def test_exemplars_are_lines_of_json(folder: Path) -> None:
    lines = [json.loads(each) for each in built(folder, "records.jsonl").read_text().splitlines()]
    assert lines[4] == {
        "question": "who married [ENT]?",
        "chain": ["spouse"],
        "asked": {"kind": "all", "by": "", "back": 0, "union": False},
        "weight": 2,
    }


def test_the_same_questions_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    build_exemplars(read_training_questions(LINES[::-1]), tmp_path / "again", words, "words")
    for name in FILES[1:]:
        assert built(tmp_path / "again", name).read_bytes() == built(folder, name).read_bytes()
    again, first = map(read_exemplar_header, (tmp_path / "again", folder))
    assert replace(again, build=first.build) == first


def test_nothing_of_the_model_is_pickled(folder: Path) -> None:
    with np.load(built(folder, "model.npz"), allow_pickle=False) as arrays:
        assert all(array.dtype.kind in "fiu" for array in arrays.values())


def test_threads_may_share_exemplars(exemplars: ExemplarLibrary) -> None:
    expected, found = exemplars.nearest("who was [ENT]?", 3), []
    threads = [
        threading.Thread(target=lambda: found.append(exemplars.nearest("who was [ENT]?", 3)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_questions_without_chains_make_no_exemplars(tmp_path: Path) -> None:
    with pytest.raises(ExemplarError, match="no question gives an exemplar: each needs a topic entity"):
        build_exemplars(read_training_questions(LINES[-1:]), tmp_path / "none", words, "words")
    assert not (tmp_path / "none").exists()


def test_another_encoder_is_told_to_build_again(folder: Path) -> None:
    with pytest.raises(ExemplarError, match="built with the encoder words, not other; name that"):
        open_exemplars(folder, words, "other")


def test_vectors_of_another_length_are_refused(folder: Path) -> None:
    exemplars = open_exemplars(folder, lambda texts: np.ones((len(texts), 3), np.float32), "words")
    for ask in (lambda: exemplars.nearest("who?", 1), lambda: exemplars.hops("who?")):
        with pytest.raises(ExemplarError, match="gives 3 numbers for a text, the exemplars have 256"):
            ask()


@pytest.mark.parametrize("name", FILES[1:])
def test_exemplars_without_a_file_are_incomplete(folder: Path, name: str) -> None:
    built(folder, name).unlink()
    with pytest.raises(ExemplarError, match="not complete"):
        opened(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("keep", [0, 40, -1])
def test_exemplars_that_were_cut_short_are_damaged(folder: Path, name: str, keep: int) -> None:
    content = built(folder, name).read_bytes().rstrip()
    built(folder, name).write_bytes(content[:keep])
    with pytest.raises(ExemplarError, match="is damaged; build it again"):
        opened(folder)


@pytest.mark.parametrize("change", [{"dimensions": 3}, {"records": "0" * 64}, {"model": "0" * 64}])
def test_a_header_that_does_not_fit_is_damaged(folder: Path, change: dict[str, object]) -> None:
    header = json.loads((folder / "exemplars.json").read_text())
    (folder / "exemplars.json").write_text(json.dumps({**header, **change}))
    with pytest.raises(ExemplarError, match="damaged"):
        opened(folder)


def test_exemplars_of_another_version_are_to_be_built_again(folder: Path) -> None:
    (folder / "exemplars.json").write_text('{"version": 0}')
    with pytest.raises(ExemplarError, match="another version of kgqa"):
        opened(folder)


def test_files_of_other_exemplars_are_damaged(folder: Path, tmp_path: Path) -> None:
    from kgqa.priors.artifact_store import content_digest

    build_exemplars(
        read_training_questions([line("who is Ann?", "a", topics=[ANN])]), tmp_path / "other", words, "words"
    )
    model = built(tmp_path / "other", "model.npz").read_bytes()
    built(folder, "model.npz").write_bytes(model)
    header = json.loads((folder / "exemplars.json").read_text())
    (folder / "exemplars.json").write_text(json.dumps({**header, "model": content_digest(model)}))
    with pytest.raises(ExemplarError, match="damaged"):
        opened(folder)


def test_what_is_no_folder_of_exemplars_is_told_how_to_make_one(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ExemplarError, match="no folder of exemplars; make one: kgqa exemplars build"):
            opened(place)


def test_exemplars_replace_exemplars_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    build_exemplars(read_training_questions(LINES[:1]), folder, words, "words")
    assert len(opened(folder).exemplars) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(ExemplarError, match="is no folder of exemplars; choose another folder"):
        build_exemplars(read_training_questions(LINES), tmp_path / "mine", words, "words")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
