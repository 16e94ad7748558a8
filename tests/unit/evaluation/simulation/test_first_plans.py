"""What a simulated model plans in steps (VoG), rightly and wrongly."""

import pytest

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.simulation import ErrorRates
from kgqa.prompts.plan_steps import PlanSteps, StepsReply
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, question
from kgqa.tests.unit.evaluation.simulation.stepping import rows

FILMS = """
e:ann rdfs:label "Ann" ; r:film e:m1, e:m2 . e:m1 r:title e:ran . e:m2 r:title e:kagemusha .
e:ran rdfs:label "Ran" ; r:country e:japan . e:kagemusha rdfs:label "Kagemusha" ; r:country e:japan .
e:japan rdfs:label "Japan" . e:bob rdfs:label "Bob" ; r:seen e:ran .
"""


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def planned(about: Question, graph, depth: int = 10, **errors: float) -> StepsReply:
    topics = tuple(chain(named.name or "").topic for named in about.topics)
    return await Interview(about, graph, **errors).ask(PlanSteps("Who?", topics, depth))


async def test_a_plan_goes_one_named_node_a_step_and_predicts_what_the_graph_says(family) -> None:
    plan = await planned(question("rhine", "mother born_in river"), family)
    assert rows(plan) == ["Ann mother Eve", "Eve born_in Bonn", "Bonn river Rhine"]
    assert plan.answers == ["Rhine"]
    assert plan.steps[1].search == "the born in of Eve"
    assert not plan.whether


async def test_a_step_crosses_what_has_no_name(graph) -> None:
    plan = await planned(question("japan", "film title country"), graph(FILMS))
    assert len(plan.steps) == 2
    assert set(rows(plan)[0].split(" & ")) <= {"Ann film title Ran", "Ann film title Kagemusha"}
    assert plan.answers == ["Japan"]


async def test_a_relation_against_its_arrow_is_predicted_as_the_graph_has_it(family) -> None:
    plan = await planned(question("ann tim", "^mother", topic="eve", topics=named("eve")), family)
    assert set(rows(plan)[0].split(" & ")) == {"Ann mother Eve", "Tim mother Eve"}
    assert sorted(plan.answers) == ["Ann", "Tim"]


async def test_only_what_leads_to_gold_answers_is_predicted(family) -> None:
    plan = await planned(question("bonn", "parent born_in"), family)
    assert rows(plan) == ["Ann parent Eve", "Eve born_in Bonn"]


async def test_the_ways_of_several_topics_are_gone_at_once(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("mother",)), GoldPath("http://t/e/rhine", ("^river", "^born_in")))
    about = question("eve", topics=named("ann", "rhine"), paths=paths)
    plan = await planned(about, family)
    assert rows(plan) == ["Ann mother Eve & Bonn river Rhine", "Eve born_in Bonn"]


async def test_a_number_is_the_answer_of_a_plan_that_predicts_what_is_counted(family) -> None:
    plan = await planned(question("2", "parent"), family)
    assert (set(rows(plan)[0].split(" & ")), plan.answers) == ({"Ann parent Eve", "Ann parent Max"}, ["2"])


@pytest.mark.parametrize("word", ["yes", "no"])
async def test_a_question_for_yes_or_no_is_told_as_one(family, word: str) -> None:
    about = question("eve", "mother", readings=((EntityRef(None, word),),))
    plan = await planned(about, family)
    assert (rows(plan), plan.answers, plan.whether) == (["Ann mother Eve"], [word], True)
    wrong = await planned(about, family, plan=0)
    assert (wrong.answers, wrong.whether) == (["no" if word == "yes" else "yes"], True)


async def test_a_plan_has_no_more_steps_than_allowed(family) -> None:
    plan = await planned(question("rhine", "mother born_in river"), family, depth=2)
    assert rows(plan) == ["Ann mother Eve", "Eve born_in Bonn"]


async def test_where_no_way_is_known_the_question_is_searched(family) -> None:
    plan = await planned(question("bonn", topics=()), family)
    assert [(step.search, step.observation) for step in plan.steps] == [("Who?", [])]
    assert plan.answers == ["Bonn"]


async def test_a_wrong_plan_predicts_other_relations_and_ends_with_other_answers(family) -> None:
    about = question("rhine", "mother born_in river")
    for seed in range(10):
        plan = await planned(about, family, plan=0, seed=seed)
        relations = {row[1] for step in plan.steps for row in step.observation}
        assert len(plan.steps) == 3
        assert all(step.observation for step in plan.steps)
        assert relations.isdisjoint({"mother", "born in", "born_in", "river"})
        assert plan.answers
        assert "Rhine" not in plan.answers


async def test_plans_go_wrong_as_often_as_said_else_as_often_as_relations_do(family) -> None:
    about = question("bonn", "mother born_in")

    async def right(**errors: float) -> list[bool]:
        return [(await planned(about, family, seed=s, **errors)).answers == ["Bonn"] for s in range(60)]

    assert all(await right(accuracy=0, plan=1))
    assert not any(await right(plan=0))
    assert await right(accuracy=0.5) == await right(plan=0.5)
    assert 15 < sum(await right(plan=0.5)) < 45
    assert ErrorRates(accuracy=0.3).plan is None


async def test_a_graph_of_one_relation_makes_for_a_wrong_plan_still(graph) -> None:
    one = graph('e:ann rdfs:label "Ann" ; r:mother e:eve . e:eve rdfs:label "Eve" .')
    plan = await planned(question("eve", "mother"), one, plan=0)
    assert (rows(plan), plan.answers) == (["Ann thing somebody else"], ["somebody else"])
