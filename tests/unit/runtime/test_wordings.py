"""Other words for prompts: a folder of files stands in for the constant texts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.api import make_context
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.infer_from_evidence import AnswerBriefly, AnswerDirectly
from kgqa.runtime import wordings
from kgqa.runtime.wordings import WordingError, own_wordings, read_wordings, write_wordings
from kgqa.tests.unit.prompts.samples import PROMPTS

Fill = Callable[..., str]


@pytest.fixture
def fill(tmp_path: Path) -> Fill:
    """Make a folder of files, by their names without the suffix."""

    def make(**files: str | bytes) -> str:
        folder = tmp_path / "words"
        folder.mkdir()
        for name, text in files.items():
            (folder / f"{name}.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(folder)

    return make


def knowing() -> ScriptedModel:
    return ScriptedModel(lambda prompt: {"answers": ["Ulm"]})


def test_every_prompt_has_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "words"
    assert write_wordings(folder) == len(list(folder.iterdir())) == len(own_wordings())
    assert own_wordings().keys() == {*(prompt.name for prompt in PROMPTS), "act"}
    assert read_wordings(str(folder)) == own_wordings()


async def test_a_file_stands_in_for_the_text_of_its_prompt(fill: Fill) -> None:
    folder, model = fill(answer_briefly="Say it.\nReply as JSON."), knowing()
    record = await kgqa.aask("Where?", method="io", model=model, prompts=folder)
    await kgqa.aask("Where?", method="io", model=model)
    first, second = model.prompts
    assert (first.instructions, second.instructions) == (
        "Say it.\nReply as JSON.",
        AnswerBriefly.instructions,
    )
    assert first == second  # what is asked, and how the reply is read, stay as they are
    assert record["answers"][0]["name"] == "Ulm"
    assert record["config"]["prompts"] == folder


async def test_a_prompt_without_a_file_has_our_words(fill: Fill) -> None:
    model = knowing()
    await kgqa.aask("Where?", method="io", model=model, prompts=fill(decompose="Plan it."))
    assert model.prompts[0].instructions == AnswerBriefly.instructions


def test_the_hash_covers_the_words(fill: Fill, tmp_path: Path) -> None:
    folder, other = fill(answer_briefly="Say it."), tmp_path / "other"
    write_wordings(other)

    def hash_of(**options: Any) -> str:
        return str(make_context("io", {"model": "offline", **options}).config()["hash"])

    assert len({hash_of(), hash_of(prompts=folder), hash_of(prompts=str(other))}) == 3
    before = hash_of(prompts=folder)
    Path(folder, "answer_briefly.txt").write_text("Say it!")
    assert hash_of(prompts=folder) == before  # a process reads them once
    wordings._read_once.cache_clear()
    assert hash_of(prompts=folder) != before


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "has no prompts; make a folder of them: kgqa prompts export"),
        ({"verify": "Check."}, "no prompt is called 'verify'; there are: act, adapt_blueprint"),
        ({"decompose": " \n"}, "decompose.txt is empty"),
        ({"decompose": b"\xff\xfe"}, "decompose.txt is no text; write it as UTF-8"),
        ({"decompose": "x" * 100_001}, "more than 100,000 bytes"),
    ],
)
async def test_files_that_cannot_be_used_are_told_in_one_line(
    fill: Fill, files: dict[str, Any], words: str
) -> None:
    folder = fill(**files)
    with pytest.raises(WordingError) as told:
        read_wordings(folder)
    assert words in str(told.value)
    assert "\n" not in str(told.value)
    record = await kgqa.aask("Where?", method="io", model=knowing(), prompts=folder)
    assert record["outcome"] == "model_unavailable"
    assert words in record["trace"][0]["error"]


def test_what_is_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(WordingError, match=r"cannot read the prompts in .*missing: No such file"):
        read_wordings(str(tmp_path / "missing"))
    (tmp_path / "folder" / "decompose.txt").mkdir(parents=True)
    with pytest.raises(WordingError, match="cannot read the prompts in"):
        read_wordings(str(tmp_path / "folder"))
    with pytest.raises(WordingError, match="is there already; name a new folder"):
        write_wordings(tmp_path)


def test_a_prompt_in_other_words_is_a_copy() -> None:
    prompt = AnswerDirectly("Where?")
    other = prompt.reworded("Say it.")
    assert (prompt.instructions, other.instructions) == (AnswerDirectly.instructions, "Say it.")
    assert other.case() == prompt.case()
