"""What VoG does with a second look where its plan has run dry."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.simulation import ErrorRates
from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.models.scripted import Line
from kgqa.nodes.look_again import MAX_SECOND_LOOKS
from kgqa.runtime.record import Record
from kgqa.tests.support.guided import Failing
from kgqa.tests.support.method_fixtures import AskVoG
from kgqa.tests.support.planned import TOWNS, entries, nodes, plan, playing, revision, shown, take
from kgqa.tests.unit.evaluation.simulation.public import answered

LOOKS_AGAIN: dict[str, Any] = {"retry_search": True}

ALSO = "\ne:ulm <http://www.w3.org/2004/02/skos/core#altLabel> 'Ulma'@en ."


def rather(*wanted: str) -> Callable[[Any], Line]:
    """Choose the first of these relations that is offered, if any is."""

    def line(prompt: Any) -> Line:
        offered = [offer.hop.words for offer in prompt.offers if offer.hop.forward]
        return take(*[name for name in wanted if name in offered][:1])(prompt)

    return line


def looks(record: Record) -> list[int | None]:
    """Return the step that each look went back to; None for one that did not."""
    return [entry.get("step") for entry in entries(record, "look_again")]


async def test_a_plan_that_nothing_proves_is_tried_by_what_was_not_followed(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["Ulm"]), select_relations=rather("child", "lives_in")
    )
    record = await vog(model, **LOOKS_AGAIN)
    assert (shown(record), record["outcome"], looks(record)) == (["Ulm"], "grounded", [1, None])
    without = await vog(model)
    assert (shown(without), without["outcome"], looks(without)) == (["Ulm"], "parametric", [])


async def test_the_first_look_is_from_the_nodes_without_a_name_that_were_crossed_last(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada partner Finn", answers=["Finn"]),
        select_relations=rather("marriage", "year", "partner"),
    )
    record = await vog(model, **LOOKS_AGAIN)
    assert (shown(record), record["outcome"], looks(record)) == (["Finn"], "grounded", [1, None])
    asked = [prompt for prompt in model.prompts if prompt.name == "select_relations"]
    assert [prompt.frontier[0].end.name for prompt in asked] == ["Ada", None, None]
    assert [offer.hop.words for offer in asked[-1].offers if offer.hop.forward] == ["partner"]


async def test_a_look_that_finds_nothing_goes_one_step_further_back(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", "Ulm river Danube", answers=["Danube"]),
        select_relations=rather("child", "lives_in", "river"),
    )
    record = await vog(model, **LOOKS_AGAIN)
    assert (shown(record), record["outcome"], looks(record)) == (["Danube"], "grounded", [2, 1, None])
    assert [step["relation"][-8:] for step in record["paths"][0]] == ["lives_in", "/r/river"]
    assert "revise" not in nodes(record)


async def test_a_question_is_looked_at_again_a_few_times_at_most(vog: AskVoG) -> None:
    kg = 'e:ada rdfs:label "Ada"@en . ' + "".join(
        f'e:ada r:rel{at} e:x{at} . e:x{at} rdfs:label "X{at}"@en . ' for at in range(MAX_SECOND_LOOKS + 5)
    )
    model = playing(plan_steps=plan("Ada pet Rex", answers=["Rex"]), select_relations={"relations": [1]})
    record = await vog(model, kg=kg, **LOOKS_AGAIN)
    assert looks(record) == [*[1] * MAX_SECOND_LOOKS, None]
    assert record["outcome"] == "parametric"
    followed = [entry["chosen"][0] for entry in entries(record, "prune")]
    assert len(set(followed)) == len(followed) == MAX_SECOND_LOOKS + 1
    rounds = 2 * (MAX_SECOND_LOOKS + 1)
    assert record["usage"]["llm_calls"] == 1 + rounds


async def test_where_all_was_followed_there_is_no_place_to_look_from(vog: AskVoG) -> None:
    kg = 'e:ada rdfs:label "Ada"@en ; r:sees e:ben . e:ben rdfs:label "Ben"@en .'
    record = await vog(playing(plan_steps=plan("Ada pet", answers=["Rex"])), kg=kg, **LOOKS_AGAIN)
    assert entries(record, "look_again")[0]["reason"] == "no place is left to look from again"
    assert nodes(record).count("retrieve_relations") == 1


async def test_where_the_model_wants_no_relation_it_is_not_asked_the_same_again(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("a", "b", answers=["Rex"]),
        select_relations={"relations": []},
        revise_ahead=revision("a", "b", answers=["Rex"]),
    )
    assert looks(await vog(model, **LOOKS_AGAIN)) == [None]


@pytest.mark.parametrize(("answer", "kg"), [("Ulm", TOWNS), ("Ulma", TOWNS + ALSO), ("2", TOWNS)])
async def test_what_is_proved_by_any_name_or_counted_is_not_looked_at_again(
    vog: AskVoG, answer: str, kg: str
) -> None:
    wanted = "child" if answer == "2" else "lives_in"
    model = playing(plan_steps=plan(f"Ada {wanted}", answers=[answer]), select_relations=take(wanted))
    record = await vog(model, kg=kg, **LOOKS_AGAIN)
    assert entries(record, "look_again") == [
        {"node": "look_again", "decision": "stop", "reason": "an answer is proved"}
        | ({"looked_up": 1} if answer == "Ulma" else {})
    ]
    assert record["outcome"] == "grounded"


async def test_yes_or_no_is_judged_at_once(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["yes"], whether=True),
        select_relations=take("lives_in"),
        judge_claim={"verdict": "no", "favour": [], "against": [1]},
    )
    assert looks(await vog(model, **LOOKS_AGAIN)) == []


async def test_what_was_observed_before_a_look_still_proves_an_answer(vog: AskVoG) -> None:
    def revises(prompt: Any) -> Line:
        return {"revise": "Ulm" in map(str, (path.end for path in prompt.facts))}

    model = playing(
        plan_steps=plan("Ada pet Rex", answers=["Rex"]),
        select_relations=rather("child", "lives_in"),
        verify_step=revises,
        revise_locally=revision("Ada child Ben", answers=["Ben"]),
    )
    record = await vog(model, threshold=0, **LOOKS_AGAIN)
    assert (shown(record), record["outcome"], looks(record)) == (["Ben"], "grounded_inference", [1, None])
    facts = [prompt.facts for prompt in model.prompts if prompt.name == "verify_step"]
    assert [{str(path.end) for path in paths} for paths in facts] == [{"Ben", "Cleo"}, {"Ulm"}]


async def test_a_plan_that_was_cut_short_is_not_taken_up_at_a_step_it_has_no_more(vog: AskVoG) -> None:
    model = playing(
        plan_steps=plan("Ada child", "children lives_in", answers=["Rex"]),
        select_relations=rather("child", "lives_in"),
        verify_step=lambda prompt: {"revise": prompt.number == 2},
        revise_locally=revision("Ada lives_in Ulm", answers=["Rex"]),
    )
    record = await vog(model, threshold=0, **LOOKS_AGAIN)
    assert looks(record)[0] == 1


async def test_a_look_that_times_out_goes_on_to_the_next(vog: AskVoG, turtle: Callable[[str], Path]) -> None:
    slow = Failing(
        open_graph([turtle(TOWNS)]),
        "follow_relation",
        KGTimeout("slow"),
        lambda arguments: "marriage" in str(arguments),
    )
    model = playing(
        plan_steps=plan("Ada lives_in Ulm", answers=["Ulm"]),
        select_relations=rather("child", "marriage", "lives_in"),
    )
    record = await vog(model, kg=slow, **LOOKS_AGAIN)
    assert looks(record) == [1, 1, None]
    assert (shown(record), record["outcome"]) == ([], "kg_unavailable")  # evidence is missing


async def test_looks_end_with_the_budget(vog: AskVoG) -> None:
    policies: dict[str, Any] = {
        "plan_steps": plan("Ada lives_in Ulm", answers=["Ulm"]),
        "select_relations": rather("child", "marriage", "lives_in"),
    }
    whole = await vog(playing(**policies), **LOOKS_AGAIN)
    assert (whole["outcome"], whole["stopped_by"]) == ("grounded", None)
    for calls in range(whole["usage"]["llm_calls"]):
        model = playing(**policies)
        record = await vog(model, budget={"llm_calls": calls}, **LOOKS_AGAIN)
        assert len(model.prompts) == record["usage"]["llm_calls"] == calls
        assert record["stopped_by"] == "llm_calls"


async def test_more_is_proved_with_second_looks_by_a_model_that_chooses_badly(
    turtle: Callable[[str], Path],
) -> None:
    ada, danube = EntityRef("http://t/e/ada", "Ada"), EntityRef("http://t/e/danube", "Danube")
    way = GoldPath("http://t/e/ada", ("lives_in", "river"))
    asked = Question("1", "Which river is where Ada lives?", (ada,), ((danube,),), (way,))
    graph = open_graph([turtle(TOWNS)])
    right = {False: 0, True: 0}
    for seed in range(16):
        for retry_search in right:
            clumsy = ErrorRates(accuracy=0.5, recall=0, plan=1, seed=seed)
            proved = {"method": "vog", "allow_parametric": False, "retry_search": retry_search}
            [(_, score)] = await answered([asked], graph, clumsy, **proved)
            right[retry_search] += score.hit_any > 0
    assert right[True] > 1.5 * right[False] > 0
