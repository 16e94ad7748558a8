"""When a simulated model calls for a revision (VoG), and what it says to a claim."""

import pytest

from kgqa.evaluation.question import EntityRef
from kgqa.kg.terms import Path
from kgqa.prompts.judge_claim import JudgeClaim
from kgqa.prompts.plans import PlanStep
from kgqa.prompts.select_relations import StepVerdict, VerifyStep
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, named, question
from kgqa.tests.unit.evaluation.simulation.stepping import step, walk

ABOUT = question("rhine", "mother born_in river")
BORN = walk("ann", "mother eve born_in bonn")
RIVER = walk("ann", "mother eve born_in bonn river rhine")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def verdict(family, expected: PlanStep, *facts: Path, about=ABOUT, **errors: float) -> StepVerdict:
    return await Interview(about, family, **errors).ask(VerifyStep("?", expected, 1, facts))


async def test_what_the_facts_say_is_borne_out(family) -> None:
    assert not (await verdict(family, step("Eve born_in Bonn"), BORN)).revise
    assert not (await verdict(family, step("eve born_in BONN", "Ann mother Eve"), BORN)).revise
    assert not (await verdict(family, step("Bonn born_in Eve"), BORN)).revise


@pytest.mark.parametrize("row", ["Eve born_in Ulm", "Eve likes Bonn", "Bob born_in Bonn", "Eve likes ?"])
async def test_what_they_do_not_say_is_put_right(family, row: str) -> None:
    reply = await verdict(family, step(row), BORN)
    assert (reply.revise, reply.observation) == (True, [["Eve", "born_in", "Bonn"]])


async def test_a_name_that_was_left_open_is_any(family) -> None:
    assert not (await verdict(family, step("Eve born_in ?"), BORN)).revise
    assert not (await verdict(family, step("? born_in Bonn"), BORN)).revise


async def test_a_step_that_predicts_nothing_is_borne_out_but_for_the_answers(family) -> None:
    assert not (await verdict(family, step(), BORN)).revise
    reply = await verdict(family, step(), RIVER, BORN)
    assert (reply.revise, reply.observation) == (True, [["Bonn", "river", "Rhine"]])


async def test_answers_that_were_not_predicted_call_for_a_revision(family) -> None:
    assert (await verdict(family, step("Bonn river ?"), RIVER)).revise
    assert (await verdict(family, step("Rhine river ?"), RIVER)).revise
    assert not (await verdict(family, step("Bonn river Rhine"), RIVER)).revise


async def test_one_of_the_answers_is_enough(family) -> None:
    about = question("eve max", "parent")
    both = (walk("ann", "parent eve"), walk("ann", "parent max"))
    assert not (await verdict(family, step("Ann parent Eve"), *both, about=about)).revise


async def test_facts_that_lead_astray_put_nothing_right(family) -> None:
    reply = await verdict(family, step("Eve born_in Bonn"), walk("ann", "friend bob"))
    assert (reply.revise, reply.observation) == (True, [])


async def test_a_node_without_a_name_says_nothing_against_a_prediction(graph) -> None:
    films = graph(
        'e:ann rdfs:label "Ann" ; r:film e:_m . e:_m r:title e:ran ; r:role e:_n . e:ran rdfs:label "Ran" .'
    )
    about = question("ran", "film title")
    crossed = walk("ann", "film _m title ran")
    predicted = PlanStep("", "it", (("Ann", "film title", "Ran"),))
    assert not (await verdict(films, predicted, crossed, walk("ann", "film _m"), about=about)).revise


async def test_a_wrong_verdict_is_the_other_one(family) -> None:
    assert (await verdict(family, step("Eve born_in Bonn"), BORN, judge=1)).revise
    assert not (await verdict(family, step("Eve likes Ulm"), BORN, judge=1)).revise


async def judged(family, word: str, *facts: Path, topics=(), **errors: float):
    about = question("eve", "parent", readings=((EntityRef(None, word),),), topics=named("ann", *topics))
    reply = await Interview(about, family, **errors).ask(JudgeClaim("?", facts))
    return reply.verdict, reply.favour, reply.against


FACTS = (walk("ann", "friend bob"), walk("ann", "parent eve"), walk("ann", "parent max"))


async def test_a_claim_is_judged_by_gold_and_borne_by_the_facts_on_the_way(family) -> None:
    assert await judged(family, "yes", *FACTS) == ("yes", [2, 3], [])
    assert await judged(family, "no", *FACTS) == ("no", [], [2, 3])
    assert await judged(family, "unknown", *FACTS) == ("unknown", [], [])


async def test_facts_that_lead_to_another_topic_bear_it_alone(family) -> None:
    assert await judged(family, "yes", *FACTS, topics=("max",)) == ("yes", [3], [])


async def test_without_facts_on_the_way_nothing_is_known(family) -> None:
    assert await judged(family, "yes", FACTS[0]) == ("unknown", [], [])
    assert await judged(family, "yes", FACTS[0], judge=1) == ("unknown", [], [])


async def test_a_wrong_judgement_is_another(family) -> None:
    said = {(await judged(family, "yes", *FACTS, judge=1, seed=seed))[0] for seed in range(20)}
    assert said == {"no", "unknown"}
