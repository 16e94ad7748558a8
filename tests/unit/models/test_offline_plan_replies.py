"""The offline model plans along its interpretation, and answers what comes up on the way."""

from dataclasses import replace

import pytest

from kgqa.kg.terms import Entity, Hop, Literal, Path
from kgqa.models.offline import OfflineModel
from kgqa.models.parsing import check_reply
from kgqa.prompts.base import Prompt, R
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.plans import PlanStep, SearchPlan, parse_plan
from kgqa.prompts.revise_plan import ReviseAhead, ReviseGlobally, ReviseLocally, ReviseMixed
from kgqa.prompts.select_entities import SelectEntities
from kgqa.prompts.select_relations import SelectRelations
from kgqa.prompts.verify_step import VerifyStep
from kgqa.tests.conftest import MEMO

TOWNS = """
e:ulm rdfs:label "Ulm" ; r:mayor e:ada ; r:river e:danube, e:blau .
e:bonn rdfs:label "Bonn" ; r:mayor e:ben ; r:river e:rhine .
e:ada rdfs:label "Ada" ; r:spouse e:cleo ; r:mayor_of e:ulm ; r:deputy e:ben .
e:ben rdfs:label "Ben" ; r:mayor_of e:bonn . e:cleo rdfs:label "Cleo" .
e:ann rdfs:label "Ann" ; r:wedding _:w . _:w r:wedded e:bob . e:bob rdfs:label "Bob" .
e:danube rdfs:label "Danube" ; r:length_km 2850 ; r:mouth e:black_sea .
e:blau rdfs:label "Blau" ; r:length_km 22 ; r:mouth e:danube .
e:rhine rdfs:label "Rhine" ; r:length_km 1233 ; r:mouth e:north_sea .
e:black_sea rdfs:label "Black Sea" . e:north_sea rdfs:label "North Sea" .
"""
MAYOR, MAYOR_OF, RIVER, SPOUSE = (
    Hop(f"http://t/r/{name}") for name in ("mayor", "mayor_of", "river", "spouse")
)
ULM, BONN, ADA = (Entity(f"http://t/e/{name.lower()}", name) for name in ("Ulm", "Bonn", "Ada"))
DANUBE, BLAU = Entity("http://t/e/danube", "Danube"), Entity("http://t/e/blau", "Blau")
SPOUSE_OF_MAYOR = "Who is the spouse of the mayor of Ulm?"
LONGEST = "Which river of Ulm is the longest?"
NOWHERE = Entity("http://t/e/nowhere", "Nowhere")


@pytest.fixture
def model(graph) -> OfflineModel:
    return OfflineModel(graph(TOWNS), MEMO.encode)


async def ask(model: OfflineModel, prompt: Prompt[R]) -> R:
    """Return the reply, held against the prompt's own check."""
    answered = await model.ask(prompt)
    assert check_reply(answered.reply, prompt) is answered.reply
    return answered.reply


async def planned(model: OfflineModel, question: str, *topics: Entity, depth: int = 10) -> SearchPlan:
    return parse_plan(await ask(model, PlanSteps(question, topics, depth)))


async def test_a_plan_has_a_step_for_each_move_and_ends_with_what_the_graph_says(model) -> None:
    plan = await planned(model, SPOUSE_OF_MAYOR, ULM)
    assert [step.search for step in plan.steps] == ["mayor of Ulm", "spouse of the mayor"]
    assert [step.observation for step in plan.steps] == [
        (("Ulm", "mayor", "Ada"),),
        (("Ada", "spouse", "Cleo"),),
    ]
    assert (plan.answers, plan.whether) == (("Cleo",), False)


async def test_a_plan_has_at_most_the_steps_that_it_may_have(model) -> None:
    plan = await planned(model, SPOUSE_OF_MAYOR, ULM, depth=1)
    assert [step.search for step in plan.steps] == ["mayor of Ulm"]


async def test_nodes_without_a_name_are_crossed_in_one_step(model) -> None:
    plan = await planned(model, "Who was wedded at the wedding of Ann?", Entity("http://t/e/ann", "Ann"))
    assert [step.search for step in plan.steps] == ["wedding wedded of Ann"]
    assert plan.steps[0].observation == (("Ann", "wedding wedded", "Bob"),)
    assert plan.answers == ("Bob",)


async def test_of_several_heads_it_is_not_told_which_leads_where(model) -> None:
    plan = await planned(model, "What is the mouth of the rivers of Ulm?", ULM)
    assert set(plan.steps[1].observation) == {("?", "mouth", "Black Sea"), ("?", "mouth", "Danube")}


async def test_several_topics_go_on_in_the_same_steps(model) -> None:
    plan = await planned(model, "Which river is longer, that of Bonn or that of Ulm?", BONN, ULM)
    assert plan.answers == ("Danube",)
    plan = await planned(model, "Are Ulm and Bonn rivers?", ULM, BONN)
    assert len(plan.steps) == 1 and plan.whether


async def test_a_plan_counts_where_the_question_does(model) -> None:
    assert (await planned(model, "How many rivers does Ulm have?", ULM)).answers == ("2",)


async def test_a_plan_gives_only_the_ends_that_are_asked_for(model) -> None:
    assert (await planned(model, LONGEST, ULM)).answers == ("Danube",)


async def test_where_nothing_leads_anywhere_the_question_is_searched_for(model) -> None:
    plan = await planned(model, "Who is it?", NOWHERE)
    assert [step.search for step in plan.steps] == ["Who is it?"]
    assert plan.answers == ()
    assert len((await planned(model, " ", NOWHERE)).steps) == 1


async def test_a_question_for_yes_or_no_is_planned_along_what_joins_the_things_it_names(model) -> None:
    plan = await planned(model, "Is Ada the mayor of Ulm?", ULM)
    assert [step.search for step in plan.steps] == ["mayor of Ulm"]
    assert (plan.answers, plan.whether) == (("yes",), True)
    assert (await planned(model, "Are Ada and Ben both mayors of Ulm?", ULM)).answers == ()
    plan = await planned(model, "Is Ada the enemy of Ulm?", ULM)
    assert (plan.answers, plan.whether) == ((), True)


def selecting(
    question: str, frontier: tuple[Path, ...], *hops: Hop, heads: tuple[int, ...] = (0,)
) -> SelectRelations:
    step = PlanStep("", "mayor")
    return SelectRelations(
        question, step, frontier, tuple(RelationCandidate(hop, heads) for hop in hops), topics=(ULM,)
    )


async def test_the_relation_of_the_way_is_followed_and_its_mirror_with_it(model) -> None:
    prompt = selecting("Who is the mayor of Ulm?", (Path(ULM),), RIVER, MAYOR_OF.inverse, MAYOR)
    assert (await ask(model, prompt)).relations == [2, 3]
    assert (await ask(model, replace(prompt, topics=()))).relations == [2, 3]


async def test_the_way_goes_on_from_heads_that_it_has_come_by(model) -> None:
    on_way, astray = Path(ULM).then(MAYOR_OF.inverse, ADA), Path(ULM).then(RIVER, DANUBE)
    prompt = selecting(SPOUSE_OF_MAYOR, (astray, on_way), SPOUSE, MAYOR, heads=(1,))
    assert (await ask(model, prompt)).relations == [1]
    assert (
        await ask(model, selecting(SPOUSE_OF_MAYOR, (astray, on_way), SPOUSE, heads=(0,)))
    ).relations == []


async def test_a_topic_that_was_left_is_not_left_again(model) -> None:
    frontier = (Path(ULM).then(MAYOR, ADA), Path(ULM))
    prompt = selecting(SPOUSE_OF_MAYOR, frontier, SPOUSE, MAYOR, heads=(0, 1))
    assert (await ask(model, prompt)).relations == [1]


async def test_a_question_for_yes_or_no_goes_on_to_all_that_it_names_and_no_further(model) -> None:
    question = "Do the Blau and the Danube both flow through the town on a river, Ulm?"
    plan = await planned(model, question, BLAU)
    assert len(plan.steps) == 2
    back = replace(selecting(question, (Path(BLAU).then(RIVER.inverse, ULM),), RIVER, MAYOR), topics=(BLAU,))
    assert (await ask(model, back)).relations == [1]
    assert len((await planned(model, "Is the Danube a river of Ulm?", ULM, DANUBE)).steps) == 1


async def test_another_way_is_followed_where_the_believed_one_is_not_offered(model) -> None:
    at_mayor = Path(ULM).then(MAYOR, ADA)
    unheard_of, deputy = (Hop(f"http://t/r/{name}") for name in ("unheard_of", "deputy"))
    offered = selecting(SPOUSE_OF_MAYOR, (at_mayor,), unheard_of, deputy, MAYOR_OF)
    assert (await ask(model, offered)).relations == [2]  # the last leads back to where the question begins


async def test_where_nothing_is_believed_three_relations_are_followed_nearest_in_words_first(model) -> None:
    hops = [Hop(f"http://t/r/{name}") for name in ("height", "currency", "colour", "head_of_town")]
    prompt = replace(selecting("Who is the head of the town?", (Path(NOWHERE),), *hops), topics=(NOWHERE,))
    reply = await ask(model, prompt)
    assert (reply.relations[0], len(reply.relations)) == (4, 3)


async def test_entities_are_narrowed_in_the_last_step_only(model) -> None:
    prompt = SelectEntities(LONGEST, PlanStep("", "river of Ulm"), "...", (BLAU, DANUBE), 2, topics=(ULM,))
    reply = await ask(model, prompt)
    assert (reply.keep, reply.chosen) == ("some", [2])
    earlier = await ask(model, replace(prompt, step=PlanStep("", "town of it")))
    every = await ask(model, replace(prompt, question="What are the rivers of Ulm?"))
    assert (earlier.keep, every.keep) == ("all", "all")


async def test_ends_that_are_asked_for_but_not_shown_leave_all(model) -> None:
    prompt = SelectEntities(LONGEST, PlanStep("", "river of Ulm"), "...", (BLAU,), 2, topics=(ULM,))
    assert (await ask(model, prompt)).keep == "all"


async def test_only_a_step_beside_the_way_is_revised(model) -> None:
    facts = (Path(ULM).then(MAYOR, ADA),)
    plan = await planned(model, SPOUSE_OF_MAYOR, ULM)
    assert not (await ask(model, VerifyStep(SPOUSE_OF_MAYOR, plan.steps[0], 1, facts))).revise
    wrong = await ask(
        model, VerifyStep(SPOUSE_OF_MAYOR, PlanStep("", "river of Ulm"), 1, facts, topics=(ULM,))
    )
    assert (wrong.revise, wrong.observation) == (True, [["Ulm", "mayor", "Ada"]])
    late = await ask(model, VerifyStep(SPOUSE_OF_MAYOR, PlanStep("", "river of Ulm"), 9, facts))
    assert (late.revise, late.observation) == (True, [])


async def test_nothing_is_revised_where_nothing_is_believed(model) -> None:
    prompt = VerifyStep("Who is it?", PlanStep("", "it"), 1, (Path(NOWHERE),), topics=(NOWHERE,))
    assert not (await ask(model, prompt)).revise


async def test_a_revised_plan_is_that_of_the_belief_whatever_the_arm(model) -> None:
    wrong = SearchPlan((PlanStep("", "river of Ulm"),), ("Danube",))
    facts = (Path(ULM).then(RIVER, DANUBE),)
    revisions = (
        ReviseLocally(SPOUSE_OF_MAYOR, wrong, 1, facts),
        ReviseGlobally(SPOUSE_OF_MAYOR, wrong, 1, facts),
        ReviseAhead(SPOUSE_OF_MAYOR, wrong, 1, facts, frontier=facts, offers=(), topics=(ULM,)),
        ReviseMixed(SPOUSE_OF_MAYOR, wrong, 1, facts, frontier=facts, offers=(), topics=(ULM,)),
    )
    for prompt in revisions:
        reply = await ask(model, prompt)
        assert (reply.first, parse_plan(reply)) == (1, await planned(model, SPOUSE_OF_MAYOR, ULM))


async def test_a_literal_is_predicted_and_nothing_after_it(model) -> None:
    plan = await planned(model, "What is the length in km of the Rhine?", Entity("http://t/e/rhine", "Rhine"))
    assert plan.steps[-1].observation == (("Rhine", "length_km", "1233"),)
    assert plan.answers == (Literal("1233").value,)
