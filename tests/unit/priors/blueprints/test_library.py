import fcntl
import json
import os
import stat
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgqa.priors.artifact_store import SourceFile
from kgqa.priors.blueprints import (
    COPY_THRESHOLDS,
    DEFAULT_COPY_THRESHOLD,
    BlueprintLibrary,
    build_blueprints,
    open_library,
    read_library_header,
    write_copy_threshold,
)
from kgqa.priors.encoder import BUNDLED_ENCODER, Vectors
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import read_training_questions
from kgqa.tests.support.builds import built
from kgqa.tests.unit.priors.blueprints.conftest import LINES, words


def opened(folder: Path) -> BlueprintLibrary:
    return open_library(folder, words, "words")


def test_the_nearest_anchor_gives_its_blueprint(library: BlueprintLibrary) -> None:
    near, far = library.nearest("where was [ENT] born?", 5)
    assert (near.anchor, str(near.blueprint), near.similarity) == (
        "where was [ENT] born?",
        "born_in within",
        1.0,
    )
    # "who was [ENT]'s wife then?" shares one of its five words with these four
    assert (far.anchor, far.similarity) == ("who was [ENT]'s wife then?", round(1 / 20**0.5, 6))


def test_a_library_says_what_it_was_learned_from(folder: Path) -> None:
    header = read_library_header(folder)
    assert (header.questions, header.templates, header.encoder) == (5, 2, "words")
    assert header.without == {"no SPARQL and no gold path": 1}


def test_records_are_lines_of_json(folder: Path) -> None:
    _, spouse = map(json.loads, built(folder, "records.jsonl").read_text().splitlines())
    assert spouse == {
        "question": "who was Bob's wife then?",
        "anchors": [["who was [ENT]'s wife then?", 3]],
        "trees": [[[["^spouse"]], 2], [[["spouse"]], 1]],
    }


def test_the_index_is_a_file_of_faiss(folder: Path) -> None:
    import faiss

    index = faiss.read_index(str(built(folder, "index.faiss")))
    assert (index.ntotal, index.d, index.metric_type) == (2, 256, faiss.METRIC_INNER_PRODUCT)


def test_the_same_questions_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    build_blueprints(read_training_questions(LINES), tmp_path / "again", words, "words")
    for name in ("records.jsonl", "index.faiss"):
        assert built(tmp_path / "again", name).read_bytes() == built(folder, name).read_bytes()
    again, first = map(read_library_header, (tmp_path / "again", folder))
    assert replace(again, build=first.build) == first


def test_adding_in_parts_gives_what_one_build_gives(folder: Path, tmp_path: Path) -> None:
    sources = [SourceFile("a", "1" * 64, 2), SourceFile("b", "2" * 64, 3)]
    build_blueprints(
        read_training_questions(LINES[:2]), tmp_path / "parts", words, "words", sources=sources[:1]
    )
    build_blueprints(
        read_training_questions(LINES[2:]), tmp_path / "parts", words, "words", sources=sources[1:], add=True
    )
    assert opened(tmp_path / "parts").records == opened(folder).records
    assert read_library_header(tmp_path / "parts").sources == tuple(sources)
    assert read_library_header(tmp_path / "parts").without == {"no SPARQL and no gold path": 1}


def test_a_file_is_learned_from_once(folder: Path) -> None:
    again = {"sources": [SourceFile("file", "1" * 64, 1)], "add": True}
    build_blueprints(read_training_questions(LINES[:1]), folder, words, "words", **again)
    with pytest.raises(BlueprintError, match="has learned from file already"):
        build_blueprints(read_training_questions(LINES[:1]), folder, words, "words", **again)


def test_all_questions_can_be_anchors(tmp_path: Path) -> None:
    build_blueprints(read_training_questions(LINES), tmp_path / "all", words, "words", "all")
    best, other = opened(tmp_path / "all").nearest("who wed [ENT]?", 5)
    assert (best.anchor, str(best.blueprint), best.similarity) == ("who wed [ENT]?", "^spouse", 1.0)
    assert other.blueprint.template == "born_in -> within"


def test_questions_without_blueprints_make_no_library(tmp_path: Path) -> None:
    with pytest.raises(BlueprintError, match="no question has a blueprint"):
        build_blueprints(read_training_questions(LINES[-1:]), tmp_path / "none", words, "words")
    assert not (tmp_path / "none").exists()


def test_another_encoder_is_told_to_build_again(folder: Path) -> None:
    with pytest.raises(BlueprintError, match="built with the encoder words, not other; name that"):
        open_library(folder, words, "other")
    with pytest.raises(BlueprintError, match="built with the encoder words"):
        build_blueprints(read_training_questions(LINES), folder, words, "other", add=True)


def test_vectors_of_another_length_are_refused(folder: Path) -> None:
    library = open_library(folder, lambda texts: np.ones((len(texts), 3), np.float32), "words")
    with pytest.raises(BlueprintError, match="build the library again"):
        library.nearest("who?", 1)


def test_the_threshold_is_the_encoders_until_it_is_calibrated(folder: Path) -> None:
    assert opened(folder).tau == DEFAULT_COPY_THRESHOLD == 0.92
    before = opened(folder).fingerprint
    write_copy_threshold(folder, read_library_header(folder), 0.7)
    assert (opened(folder).tau, opened(folder).fingerprint) == (0.7, before)
    build_blueprints(read_training_questions(LINES), folder, words, "words", add=True)
    assert opened(folder).tau == DEFAULT_COPY_THRESHOLD


def test_the_bundled_encoder_has_a_threshold_of_its_own(tmp_path: Path) -> None:
    build_blueprints(read_training_questions(LINES), tmp_path / "bundled", words, BUNDLED_ENCODER)
    assert open_library(tmp_path / "bundled", words, BUNDLED_ENCODER).tau == COPY_THRESHOLDS[BUNDLED_ENCODER]


def test_the_fingerprint_tells_libraries_apart(folder: Path, tmp_path: Path) -> None:
    build_blueprints(read_training_questions(LINES[1:]), tmp_path / "other", words, "words")
    assert opened(folder).fingerprint != opened(tmp_path / "other").fingerprint


def test_threads_may_share_a_library(library: BlueprintLibrary) -> None:
    expected, found = library.nearest("who wed [ENT]?", 2), []
    threads = [
        threading.Thread(target=lambda: found.append(library.nearest("who wed [ENT]?", 2))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_a_blueprint_is_added_to_an_overlay_only(library: BlueprintLibrary) -> None:
    with pytest.raises(BlueprintError, match="without one"):
        library.add("who?", Blueprint.parse([["r"]]))


@pytest.mark.parametrize("name", ["records.jsonl", "index.faiss"])
def test_a_library_without_a_file_is_incomplete(folder: Path, name: str) -> None:
    built(folder, name).unlink()
    with pytest.raises(BlueprintError, match="not complete"):
        opened(folder)


@pytest.mark.parametrize("name", ["records.jsonl", "index.faiss", "blueprints.json"])
@pytest.mark.parametrize("keep", [0, 40, -1])
def test_a_library_that_was_cut_short_is_damaged(folder: Path, name: str, keep: int) -> None:
    content = built(folder, name).read_bytes().rstrip()
    built(folder, name).write_bytes(content[:keep])
    with pytest.raises(BlueprintError, match="is damaged; build it again") as error:
        opened(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("[]", "damaged"),
        ('{"version": 3}', "damaged"),
        ('{"version": 2}', "another version of kgqa"),
        ('{"version": 4}', "another version of kgqa"),
        ("\ud800".encode("utf-16", "surrogatepass").decode("latin-1"), "damaged"),
    ],
)
def test_a_header_that_is_none_is_told(folder: Path, header: str, problem: str) -> None:
    (folder / "blueprints.json").write_text(header, encoding="latin-1")
    with pytest.raises(BlueprintError, match=problem):
        opened(folder)


def test_a_header_that_names_other_files_is_damaged(folder: Path) -> None:
    header = json.loads((folder / "blueprints.json").read_text())
    for change in ({"dimensions": 3}, {"records": "0" * 64}, {"index": "0" * 64}):
        (folder / "blueprints.json").write_text(json.dumps({**header, **change}))
        with pytest.raises(BlueprintError, match="damaged"):
            opened(folder)


def test_what_is_no_library_is_told_how_to_make_one(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing", Path("\0")):
        with pytest.raises(BlueprintError, match="no blueprint library; make one: kgqa blueprints build"):
            opened(place)


def test_a_library_replaces_a_library_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    build_blueprints(read_training_questions(LINES[:1]), folder, words, "words")
    assert len(opened(folder).records) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(BlueprintError, match="is no blueprint library; choose another folder"):
        build_blueprints(read_training_questions(LINES), tmp_path / "mine", words, "words")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["library", "mine"]


def test_a_build_that_fails_leaves_the_library_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = opened(folder).records

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kgqa.builds.os.replace", full)
    with pytest.raises(BlueprintError, match="No space left on device"):
        build_blueprints(read_training_questions(LINES[:1]), folder, words, "words")
    assert opened(folder).records == before
    assert [path.name for path in tmp_path.iterdir()] == ["library"]


def test_of_two_builds_in_one_place_the_last_stays(folder: Path) -> None:
    old = read_library_header(folder)

    def slowly(texts: Sequence[str]) -> Vectors:
        if read_library_header(folder) == old:
            build_blueprints(read_training_questions(LINES[:2]), folder, words, "words")
        return words(texts)

    build_blueprints(read_training_questions(LINES), folder, slowly, "words")
    assert (read_library_header(folder).questions, len(opened(folder).records)) == (5, 2)
    assert len(list(folder.glob("build-*"))) == 1


def test_of_two_that_add_at_once_one_is_told_to_repeat_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other comes in the last moment: when nothing is left to do but to take its place."""
    flock, others = fcntl.flock, [LINES[:2]]

    def late(lock: int, how: int) -> None:
        if stat.S_ISDIR(os.fstat(lock).st_mode) and others:
            build_blueprints(read_training_questions(others.pop()), folder, words, "words", add=True)
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(BlueprintError, match="built anew meanwhile; repeat the command"):
        build_blueprints(read_training_questions(LINES[2:]), folder, words, "words", add=True)
    assert (read_library_header(folder).questions, len(others)) == (7, 0)
    assert len(list(folder.glob("build-*"))) == 1


def test_a_library_that_was_replaced_is_not_added_to_nor_calibrated(folder: Path) -> None:
    old = read_library_header(folder)

    def slowly(texts: Sequence[str]) -> Vectors:
        if read_library_header(folder) == old:
            build_blueprints(read_training_questions(LINES[:2]), folder, words, "words")
        return words(texts)

    with pytest.raises(BlueprintError, match="built anew meanwhile; repeat the command"):
        build_blueprints(read_training_questions(LINES[2:]), folder, slowly, "words", add=True)
    with pytest.raises(BlueprintError, match="built anew meanwhile; repeat the command"):
        write_copy_threshold(folder, old, 0.7)
    assert (opened(folder).header.questions, opened(folder).header.tau) == (2, None)
