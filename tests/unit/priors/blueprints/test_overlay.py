import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kgqa.priors.blueprints import LEARNED_FILE, AnchoredBlueprint, BlueprintLibrary, Overlay, open_library
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import BlueprintError, EncoderError
from kgqa.priors.slots import Blueprint
from kgqa.tests.unit.priors.blueprints.conftest import words

BROTHER = Blueprint.parse([["parent", "^parent"], ["gender"]])


def opened(folder: Path, overlay: Path) -> BlueprintLibrary:
    return open_library(folder, words, "words", overlay)


def test_what_is_added_is_found_at_once_and_after_opening_again(folder: Path, tmp_path: Path) -> None:
    library = opened(folder, tmp_path / "overlay")
    library.add("who is the brother of [ENT]?", BROTHER)
    for each in (library, opened(folder, tmp_path / "overlay")):
        best, *others = each.nearest("who is the brother of [ENT]?", 3)
        assert best == ("who is the brother of [ENT]?", BROTHER, 1.0)
        assert len(others) == 2


def test_the_library_below_stays_as_it_is(folder: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    library = opened(folder, tmp_path / "overlay")
    fingerprint = library.fingerprint
    library.add("who?", BROTHER)
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before
    assert library.fingerprint == fingerprint
    assert [path.name for path in (tmp_path / "overlay").iterdir()] == [LEARNED_FILE]


def test_a_template_is_given_once_by_its_nearest_question(folder: Path, tmp_path: Path) -> None:
    library = opened(folder, tmp_path / "overlay")
    library.add("who wed [ENT]?", Blueprint.parse([["spouse"]]))
    first, second = library.nearest("who wed [ENT]?", 5)
    assert (first.anchor, str(first.blueprint)) == ("who wed [ENT]?", "spouse")
    assert second.blueprint.template == "born_in -> within"


def test_what_is_known_is_not_added_again(folder: Path, tmp_path: Path) -> None:
    library = opened(folder, tmp_path / "overlay")
    for _ in range(3):
        library.add("who?", BROTHER)
    library.add("where was [ENT] born?", Blueprint.parse([["born_in", "within"]]))
    assert len((tmp_path / "overlay" / LEARNED_FILE).read_bytes().splitlines()) == 1


def test_where_the_encoder_fails_nothing_is_added(folder: Path, tmp_path: Path) -> None:
    failing = [EncoderError("away")]

    def once_failing(texts: Sequence[str]) -> Vectors:
        if failing and "two?" in texts:
            raise failing.pop()
        return words(texts)

    library = open_library(folder, once_failing, "words", tmp_path / "overlay")
    with pytest.raises(EncoderError):
        library.add("two?", BROTHER)
    library.add("three?", Blueprint.parse([["gender"]]))
    assert [str(each.blueprint) for each in library.nearest("three?", 1)] == ["gender"]
    library.add("two?", BROTHER)
    for each in (library, opened(folder, tmp_path / "overlay")):
        assert each.nearest("two?", 1) == [("two?", BROTHER, 1.0)]
        assert [str(found.blueprint) for found in each.nearest("three?", 1)] == ["gender"]


def test_a_torn_line_counts_for_nothing_and_spoils_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    overlay = Overlay(tmp_path)
    overlay.append(AnchoredBlueprint("one?", BROTHER))
    with (tmp_path / LEARNED_FILE).open("ab") as file:
        file.write(b'{"question": "two?", "bra')
    assert overlay.read() == [AnchoredBlueprint("one?", BROTHER)]
    overlay.append(AnchoredBlueprint("three?", BROTHER))
    assert [learned.question for learned in overlay.read()] == ["one?", "three?"]
    assert "passed over" in caplog.text


@pytest.mark.parametrize(
    "line", ["[]", '{"question": "q?", "branches": []}', '{"question": "q?", "branches": [[""]]}']
)
def test_what_is_no_blueprint_is_passed_over(tmp_path: Path, line: str) -> None:
    (tmp_path / LEARNED_FILE).write_text(f"{line}\n")
    assert Overlay(tmp_path).read() == []


def test_several_processes_may_add_to_one_overlay(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from kgqa.priors.slots import Blueprint;"
        "from kgqa.priors.blueprints import AnchoredBlueprint, Overlay;"
        "o = Overlay(Path(sys.argv[1]));"
        "r = Blueprint.parse([['r']]);"
        "[o.append(AnchoredBlueprint(sys.argv[2] * 300 + str(n), r)) for n in range(50)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "ab"]
    assert [process.wait(60) for process in running] == [0, 0]
    questions = [learned.question for learned in Overlay(tmp_path).read()]
    assert sorted(questions) == sorted(name * 300 + str(n) for name in "ab" for n in range(50))


def test_a_place_that_cannot_be_written_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BlueprintError, match="an overlay of blueprints is a folder"):
        opened(folder, tmp_path / "file")
    (tmp_path / "overlay" / LEARNED_FILE).mkdir(parents=True)
    with pytest.raises(BlueprintError, match="cannot read"):
        opened(folder, tmp_path / "overlay")
    with pytest.raises(BlueprintError, match="cannot write"):
        Overlay(tmp_path / "file" / "below").append(AnchoredBlueprint("q?", BROTHER))
