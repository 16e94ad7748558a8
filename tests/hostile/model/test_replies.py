# ruff: noqa: RUF001
"""Whatever a model says to a prompt, a valid reply comes out or one line about it, soon; nothing runs."""

import json
import subprocess
import sys

import pytest

from kgqa.models.parsing import BadReply, parse_reply
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.model.parsing_child import good
from kgqa.tests.hostile.model.replies import huge, static
from kgqa.tests.support.frontier import pruning
from kgqa.tests.unit.prompts.samples import PROMPTS, WORKED, chain, hop

PRUNE = pruning("?", chain("Ulm"), (hop("a"), hop("b"), hop("c")), 3)


def test_the_corpus_is_large_and_every_prompt_meets_it() -> None:
    assert len({text for _, text in [*static(), *huge()]}) >= 250
    assert {type(worked) for worked in WORKED} == {*PROMPTS}
    for worked in WORKED:
        parse_reply(good(worked), worked)


def test_no_reply_of_the_corpus_breaks_or_runs_anything(tried: Tried) -> None:
    run = [sys.executable, "-P", "-m", "kgqa.tests.hostile.model.parsing_child"]
    child = subprocess.run(run, capture_output=True, text=True, timeout=110, check=True)
    told = json.loads(child.stdout)
    assert told["wrong"] == []
    assert told["slowest"] < 1
    assert told["acts"] == ["compile", "exec"]  # the canary's own, after the last reply
    tried(inputs=told["tried"])


@pytest.mark.parametrize(
    "listed",
    ["[１]", "[١]", "[Ⅱ]", "[1, ２]", "[...]", "[<numbers>]", "[numbers...]", "[1, …]", "[1-3]"],
)
def test_an_item_that_no_repair_can_read_does_not_leave_a_shorter_list(listed: str) -> None:
    for text in (f'{{"relations": {listed}}}', f"{{'relations': {listed},}}"):
        with pytest.raises(BadReply):
            parse_reply(text, PRUNE)


@pytest.mark.parametrize(
    "listed", ["[1 2]", "[1,,2]", "[1; 2]", "[1，2]", "[1, 2,]", "[+1, 2]", "[1, // best\n 2]"]
)
def test_a_list_is_repaired_where_nothing_is_lost(listed: str) -> None:
    reply = parse_reply(f'{{"relations": {listed}}}', PRUNE)
    assert reply.relations == [1, 2]


@pytest.mark.parametrize(
    "text", ['<think>{"relations": [1]}', '<think>no</think><think>{"relations": [1]} or']
)
def test_a_thought_that_does_not_end_is_no_reply(text: str) -> None:
    with pytest.raises(BadReply):
        parse_reply(text, PRUNE)
