"""The case study of VoG (Figure 9), as examples/ has it: a wrong plan is put right by the graph."""

import re
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.cli.options import read_options
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import check_grounding
from kgqa.examples import vog
from kgqa.kg.opening import open_graph
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.support.planned import entries, nodes, shown

README = Path(vog.__file__).with_name("README.md").read_text(encoding="utf-8")


async def play(**options: Any) -> kgqa.Record:
    model = ScriptedModel(vog.remembers_wrong)
    return await kgqa.aask(
        vog.QUESTION, kg=str(vog.GRAPH), topics=vog.TOPICS, method="vog", model=model, **options
    )


def drawn(record: kgqa.Record) -> dict[str | None, list[str | None]]:
    """Return each path as the names on the way, by its topic."""
    return {path[0]["head"]["name"]: [step["tail"]["name"] for step in path] for path in record["paths"]}


async def test_a_plan_that_names_the_wrong_country_is_put_right() -> None:
    record = await play()
    assert entries(record, "plan")[0]["answers"] == ["Netherlands"]
    assert (shown(record), record["outcome"]) == (["Germany"], "grounded")


async def test_the_answer_is_proved_from_both_topics() -> None:
    assert drawn(await play()) == {
        "Nijmegen": ["Weeze Airport", "Germany"],
        "France": [None, "Germany"],
    }


async def test_the_paths_stand_up_on_the_graph() -> None:
    record: Any = await play()
    answers = tuple(EntityRef(answer["id"], answer["name"]) for answer in record["answers"])
    result = Result("1", record["question"], answers, record["outcome"], record=record)
    assert await check_grounding([result], open_graph([vog.GRAPH])) == {"1": True}


@pytest.mark.parametrize(("offered", "ends"), [(True, [(8, 0)]), (False, [(8, 8), (8, 0)])])
async def test_borders_are_crossed_within_the_first_step(offered: bool, ends: list[tuple[int, int]]) -> None:
    record = await play(cross_mediators=offered)
    first = [entry for entry in entries(record, "expand") if entry["step"] == 1]
    assert [(entry["ends"], entry["unnamed"]) for entry in first] == ends
    assert entries(record, "filter")[0]["chosen"] == 8


async def test_only_the_step_that_predicts_an_airport_which_is_not_there_is_revised() -> None:
    record = await play()
    signals = {entry["step"]: entry["signals"] for entry in entries(record, "verify")}
    assert signals == {
        1: {"model": None, "nli": None},  # it has found what it predicted
        2: {"model": True, "nli": True},
        3: {"model": None, "nli": None},  # the end of the plan asks for the answer
    }
    assert {entry["step"] for entry in entries(record, "choose_arm")} == {2}


async def test_arms_are_tried_in_turn_until_one_says_the_same_as_another() -> None:
    record = await play()
    assert [entry["arm"] for entry in entries(record, "choose_arm")] == ["local", "lookahead"]
    assert entries(record, "appraise")[-1]["taken"] == "lookahead"


async def test_arms_are_tried_in_turn_until_a_plan_is_good_enough() -> None:
    record = await play(repeat_revisions=True)
    arms = [entry["arm"] for entry in entries(record, "choose_arm")]
    assert arms == ["local", "lookahead", "global"]
    *refused, taken = entries(record, "appraise")
    assert not any(entry["accepted"] for entry in refused)
    assert (taken["accepted"], taken["before"]) == (True, ["Netherlands"])
    followed = entries(record, "answer")[0]["plan"]
    assert (followed["answers"], followed["arm"]) == (["Germany"], "global")


@pytest.mark.parametrize("strategy", ["local", "lookahead", "global"])
@pytest.mark.parametrize("verifiers", ["model", "nli", "and"])
async def test_each_arm_puts_the_plan_right_whoever_verifies(strategy: str, verifiers: str) -> None:
    record = await play(strategy=strategy, verifiers=verifiers)
    assert (shown(record), record["outcome"]) == (["Germany"], "grounded")
    assert {entry["arm"] for entry in entries(record, "choose_arm")} == {strategy}


async def test_without_verification_the_wrong_country_is_answered_from_memory() -> None:
    record = await play(verification=False)
    assert (record["answers"], record["outcome"]) == ([{"id": None, "name": "Netherlands"}], "parametric")
    assert nodes(record) == ["link", "plan", "answer"]


async def test_without_a_revision_the_wrong_country_is_found_in_the_graph() -> None:
    """The name was met on the way, and nobody has checked whether it has to do with France."""
    record = await play(max_revisions=0, conclude=False)
    assert (shown(record), record["outcome"]) == (["Netherlands"], "grounded_unverified")
    assert [each["words"] for each in record["conditions"] if each["by"] is None] == ["France"]


async def test_at_the_end_what_both_topics_lead_to_is_the_answer_whatever_the_plan_says() -> None:
    record = await play(max_revisions=0)
    assert entries(record, "answer")[0]["plan"]["answers"] == ["Netherlands"]
    assert (shown(record), record["outcome"]) == (["Germany"], "grounded")


async def test_the_readme_tells_what_each_option_does() -> None:
    rows = re.findall(r"^\| (?:no option|`(\w+=\w+)`) \| (\d+) \| (\w+ \(\w+\)) \|$", README, re.MULTILINE)
    assert len(rows) >= 4
    for options, calls, said in rows:
        record = await play(**read_options(options.split()))
        found = f"{', '.join(map(str, shown(record)))} ({record['outcome']})"
        assert (str(record["usage"]["llm_calls"]), found) == (calls, said)
