"""The constant part of each prompt: its examples are cases, their replies pass, none is a test question."""

import gzip
import hashlib
import json
import os
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from kgqa.models.parsing import parse_reply
from kgqa.prompts.assess_found import ON_THE_WAY
from kgqa.prompts.base import Prompt
from kgqa.prompts.chain import MISSING, THEN
from kgqa.tests.unit.prompts.samples import PROMPTS, WORKED

DATA = Path(os.environ.get("KGQA_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")
HASHES = DATA / "test-question-hashes.txt.gz"

each_prompt = pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)


def always_named(prompt: type[Prompt[Any]]) -> list[str]:
    """The keys of a reply, without those that only some cases name."""
    said = {"offers": (THEN, MISSING), "inner": (ON_THE_WAY,)}
    texts = " ".join(
        text for field, each in said.items() if field in prompt.__dataclass_fields__ for text in each
    )
    by_case = set(re.findall(r'"(\w+)":', texts))
    return [key for key in prompt.reply.model_fields if key not in by_case]


@each_prompt
def test_instructions_hold_nothing_to_fill_in(prompt: type[Prompt[Any]]) -> None:
    assert not re.search(r"\{\s*\w*\s*\}|\{\{|\}\}|\$\{|%[sdr(]", prompt.instructions)


@each_prompt
def test_instructions_name_every_key_of_the_reply_and_no_other(prompt: type[Prompt[Any]]) -> None:
    form = prompt.instructions.partition("Reply with one JSON object: ")[2].partition("\n")[0]
    assert re.findall(r'"(\w+)":', form) == always_named(prompt)


@each_prompt
def test_a_schema_points_nowhere(prompt: type[Prompt[Any]]) -> None:
    assert not re.search(r"\b(above|below)\b", json.dumps(prompt.reply.model_json_schema()))


@each_prompt
def test_every_reply_of_a_worked_example_fits_the_schema(prompt: type[Prompt[Any]]) -> None:
    replies = re.findall(r"^Reply: (\{.*\})$", prompt.instructions, re.MULTILINE)
    assert replies
    for reply in replies:
        said = prompt.reply.model_validate_json(reply).model_fields_set
        whole = "left out" not in prompt.instructions.partition("Reply with one JSON object: ")[2]
        assert said == {*always_named(prompt)} if whole else said <= {*always_named(prompt)}


@each_prompt
def test_every_worked_example_is_tried_here(prompt: type[Prompt[Any]]) -> None:
    tried = [worked for worked in WORKED if type(worked) is prompt]
    assert len(tried) == prompt.instructions.count("\nReply: {")


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.question)
def test_a_worked_example_looks_like_a_case_and_its_reply_passes(worked: Prompt[Any]) -> None:
    _, found, rest = worked.instructions.partition(f"{worked.case()} ")
    assert found
    reply = parse_reply(rest.partition("\n")[0], worked)
    assert getattr(reply, "rationale", "none is asked for")


def fingerprint(question: str) -> str:
    """Hash a question as the list of test questions does."""
    folded = unicodedata.normalize("NFKC", question).casefold()
    return hashlib.sha256(re.sub(r"[^a-z0-9]+", " ", folded).strip().encode()).hexdigest()


def examples(prompt: type[Prompt[Any]]) -> list[str]:
    return [json.loads(text) for text in re.findall(r'Question: ("(?:[^"\\]|\\.)*")', prompt.instructions)]


@pytest.fixture(scope="module")
def hashes() -> frozenset[str]:
    if not HASHES.is_file():
        pytest.skip("no list of test questions; set KGQA_DATA to the folder that holds it")
    with gzip.open(HASHES, "rt", encoding="ascii") as lines:
        return frozenset(lines.read().split())


@each_prompt
def test_no_worked_example_is_a_test_question(prompt: type[Prompt[Any]], hashes: frozenset[str]) -> None:
    assert examples(prompt)
    leaked = [question for question in examples(prompt) if fingerprint(question) in hashes]
    assert not leaked


def test_a_test_question_would_be_found_however_it_is_written(hashes: frozenset[str]) -> None:
    questions = DATA / "freebase" / "webqsp_slice_union.jsonl.gz"
    if not questions.is_file():
        pytest.skip(f"no {questions.name} in the data folder")
    with gzip.open(questions, "rt", encoding="utf-8") as lines:
        asked = json.loads(next(lines))["question"]
    assert fingerprint(f"  {asked.upper()} ?!") in hashes
