"""Which subgoals and relations a simulated model plans with, rightly and wrongly."""

import pytest

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptFreely, Decompose
from kgqa.prompts.progress import SolvedQuestion
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, question

EXEMPLARS = (
    SolvedQuestion("Which river?", (("born_in", "river"), ("^river",))),
    SolvedQuestion("Who?", (("friend",),)),
)
TWO = (GoldPath("http://t/e/ann", ("parent",)), GoldPath("http://t/e/bonn", ("^born_in",)))


@pytest.fixture
def family(graph):
    return graph(FAMILY)


def adapting(*ids: str) -> AdaptBlueprint:
    return AdaptBlueprint("Who?", tuple(chain(id).topic for id in ids), EXEMPLARS, ("age", "child"))


async def subgoals(about: Question, graph, **errors: float) -> list[str]:
    return (await Interview(about, graph, **errors).ask(Decompose("Who?"))).subgoals


async def branches(about: Question, graph, prompt: AdaptBlueprint, **errors: float) -> list[list[str]]:
    return (await Interview(about, graph, **errors).ask(prompt)).branches


async def test_a_plan_has_a_subgoal_for_each_step_in_words_of_its_relation(family) -> None:
    plan = await subgoals(question("de", "mother born_in country"), family)
    assert plan == ["find the mother", "find the born in", "find the country"]


async def test_steps_to_what_has_no_name_are_one_subgoal_with_the_next(graph) -> None:
    films = graph(
        'e:ann rdfs:label "Ann" ; r:film.actor.film e:m1 . e:m1 r:film.performance.film e:ran . '
        'e:ran rdfs:label "Ran" ; r:film.film.country e:m2 .'
    )
    about = question("ran", "film.actor.film film.performance.film")
    assert await subgoals(about, films) == ["find the film performance film of the film actor film"]
    unnamed = question("m2", "film.actor.film film.performance.film film.film.country")
    assert len(await subgoals(unnamed, films)) == 2


async def test_the_ways_of_all_topics_are_planned_in_their_order(family) -> None:
    about = question("eve", topics=named("bonn", "ann"), paths=TWO)
    assert await subgoals(about, family) == ["find the born in", "find the parent"]


async def test_a_plan_has_no_more_subgoals_than_allowed(family) -> None:
    there_and_back = " ".join(["mother", "child"] * 5)
    assert len(await subgoals(question("ann tim", there_and_back), family)) == 8


@pytest.mark.parametrize("errors", [{"accuracy": 0}, {}])
async def test_a_bad_plan_and_one_without_a_way_is_the_question(family, errors: dict[str, float]) -> None:
    about = question("bonn", "mother born_in" if errors else "", topics=named("ann") if errors else ())
    assert await subgoals(about, family, **errors) == ["Who?"]


async def test_a_blueprint_has_a_branch_for_each_topic_in_the_order_of_the_prompt(family) -> None:
    about = question("eve", topics=named("bonn", "ann"), paths=TWO)
    assert await branches(about, family, adapting("ann", "bonn")) == [["parent"], ["^born_in"]]
    assert await branches(about, family, adapting("bonn", "ann")) == [["^born_in"], ["parent"]]


async def test_a_topic_without_a_way_is_given_another_s_branch(family) -> None:
    about = question("eve", "parent", topics=named("rome", "ann"))
    assert await branches(about, family, adapting("rome", "ann")) == [["parent"], ["parent"]]


async def test_topics_of_one_name_have_a_branch_each(graph) -> None:
    twins = graph('e:a rdfs:label "Ann" ; r:p e:x . e:b rdfs:label "Ann" ; r:q e:x . e:x rdfs:label "X" .')
    paths = (GoldPath("http://t/e/a", ("p",)), GoldPath("http://t/e/b", ("q",)))
    about = question("x", topics=named("a", "b"), paths=paths)
    assert await branches(about, twins, adapting("a", "b")) == [["p"], ["q"]]


async def test_a_topic_that_is_known_by_name_has_its_branch(family) -> None:
    about = question("bonn", topics=(EntityRef(None, "Ann"),), paths=(GoldPath(None, ("mother", "born_in")),))
    assert await branches(about, family, adapting("ann")) == [["mother", "born_in"]]


async def test_relations_are_called_as_the_graph_shows_them(graph) -> None:
    towns = graph('e:ann rdfs:label "Ann" ; r:n%C3%A9e_%C3%A0 e:ulm . e:ulm rdfs:label "Ulm" .')
    about = question("ulm", "http://t/r/n%C3%A9e_%C3%A0")
    assert await branches(about, towns, adapting("ann")) == [["née_à"]]
    assert await subgoals(about, towns) == ["find the née à"]


async def test_a_free_adaptation_is_one_list_without_directions(family) -> None:
    about = question("eve", topics=named("bonn", "ann"), paths=TWO)
    prompt = AdaptFreely("Who?", EXEMPLARS, topics=tuple(chain(id).topic for id in ("bonn", "ann")))
    assert (await Interview(about, family).ask(prompt)).relations == ["born_in", "parent"]


async def test_a_bad_adaptation_is_the_nearest_exemplar_as_far_as_allowed(family) -> None:
    about = question("bonn", "mother born_in")
    assert await branches(about, family, adapting("ann"), accuracy=0) == [["born_in", "river"]]
    both = await branches(about, family, adapting("ann", "bonn"), accuracy=0)
    assert both == [["born_in", "river"], ["^river"]]


async def test_where_no_way_is_known_the_nearest_exemplar_stays(family) -> None:
    about = question("bonn", topics=())
    assert await branches(about, family, adapting("ann")) == [["born_in", "river"]]
    bare = AdaptBlueprint("Who?", (chain("ann").topic,), (), ("age", "child"))
    assert await branches(about, family, bare) == [["age"]]


async def test_a_worse_planner_plans_badly_where_a_better_one_does(family) -> None:
    about = question("bonn", "mother born_in")
    for seed in range(20):
        planned = [
            len(await subgoals(about, family, seed=seed, accuracy=accuracy)) for accuracy in (1, 0.6, 0.3, 0)
        ]
        assert planned == sorted(planned, reverse=True)
        assert (planned[0], planned[-1]) == (2, 1)
