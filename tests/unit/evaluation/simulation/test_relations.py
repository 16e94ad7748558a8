"""Which relations a simulated model picks, rightly and wrongly."""

from collections import Counter

import pytest

from kgqa.evaluation.question import GoldPath, Question
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, question

COUNTRY = "mother born_in country"


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def test_a_perfect_model_picks_the_hop_of_the_gold_path_at_each_step(family) -> None:
    about = Interview(question("de", COUNTRY), family)
    assert await about.prune("ann") == ["mother"]
    assert await about.prune("ann", "mother") == ["born_in"]
    assert await about.prune("ann", "mother born_in") == ["country"]


async def test_direction_counts(family) -> None:
    about = Interview(question("ann tim", "^mother", topic="eve"), family)
    assert await about.prune("eve") == ["^mother"]


async def test_nothing_is_picked_where_nothing_leads_on(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family)
    assert await about.prune("ann", "mother born_in") == []
    assert await about.prune("ann", "friend") == []
    assert await about.prune("bob") == []


async def test_a_path_without_a_topic_begins_at_the_first(family) -> None:
    about = question("bonn", topics=named("ann"), paths=(GoldPath(None, ("mother", "born_in")),))
    assert await Interview(about, family).prune("ann") == ["mother"]
    assert await Interview(about, family).prune("bob") == []


async def test_each_topic_has_its_own_path(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("parent",)), GoldPath("http://t/e/bonn", ("^born_in",)))
    about = Interview(question("eve", topics=named("ann", "bonn"), paths=paths), family)
    assert await about.prune("ann") == ["parent"]
    assert await about.prune("bonn") == ["^born_in"]


async def test_a_detour_to_the_same_ends_leads_on_as_well(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family)
    assert await about.prune("ann", "^child") == ["born_in"]


async def test_a_detour_to_fewer_ends_but_all_answers_leads_on(family) -> None:
    about = Interview(question("bonn", "parent born_in"), family)  # also leads to Ulm, by way of Max
    assert await about.prune("ann", "mother") == ["born_in"]


async def test_a_gold_path_of_another_graph_is_turned_around_where_that_leads_to_the_answers(family) -> None:
    about = Interview(question("bonn", "^mother born_in"), family)
    assert await about.prune("ann") == ["mother"]


async def test_without_a_path_the_sparql_says_which(family) -> None:
    sparql = (
        "PREFIX e: <http://t/e/> PREFIX r: <http://t/r/> SELECT ?x { ?m r:born_in ?x . e:ann r:mother ?m }"
    )
    about = Interview(question("bonn", sparql=sparql), family)
    assert await about.prune("ann") == ["mother"]
    assert await about.prune("ann", "mother") == ["born_in"]


async def test_sparql_that_leads_nowhere_on_this_graph_is_not_followed(family) -> None:
    sparql = "PREFIX e: <http://t/e/> PREFIX r: <http://t/r/> SELECT ?x { e:ann r:aunt ?x }"
    about = Interview(question("rhine", sparql=sparql), family)
    assert await about.prune("ann", "^child born_in") == ["river"]


@pytest.mark.parametrize("sparql", [None, "no SPARQL", "ASK { ?x ?y ?z }"])
async def test_without_path_and_sparql_a_way_is_searched(family, sparql: str | None) -> None:
    about = Interview(question("tiber", sparql=sparql, topics=named("bob")), family)
    assert await about.prune("bob") == ["mother"]
    assert await about.prune("bob", "mother") == ["born_in"]
    assert await about.prune("bob", "mother born_in") == ["river"]


async def test_of_several_ways_the_one_with_the_fewest_other_ends_is_found(family) -> None:
    about = Interview(question("eve"), family)
    assert await about.prune("ann") == ["^child"]  # parent leads to Max, too; mother comes later


async def test_what_is_further_than_three_hops_is_not_found(family) -> None:
    about = Interview(question("tiber", topics=named("eve")), family)
    assert await about.prune("eve") == []


async def test_the_way_that_leads_to_most_answers_is_taken(family) -> None:
    paths = (GoldPath(None, ("mother", "born_in")), GoldPath(None, ("parent", "born_in")))
    about = Interview(question("bonn ulm", topics=named("ann"), paths=paths), family)
    assert await about.prune("ann") == ["parent"]


async def test_a_topic_whose_way_leads_to_less_than_anothers_is_left_alone(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("mother",)), GoldPath("http://t/e/tim", ("mother",)))
    less = GoldPath("http://t/e/bob", ("mother",))
    about = question("eve", topics=named("ann", "bob", "tim"), paths=(*paths, less))
    assert await Interview(about, family).prune("bob") == []
    assert await Interview(about, family).prune("tim") == ["mother"]


async def test_a_question_without_gold_has_no_right_relation(family) -> None:
    about = Interview(Question("q", "?", topics=named("ann")), family)
    assert await about.prune("ann") == []


async def asked_often(about: Question, family, times: int, **errors: float) -> Counter[str]:
    """How the picks of many models stand to the right relation, ``mother``."""
    found: Counter[str] = Counter()
    for seed in range(times):
        picks = await Interview(about, family, seed=seed, **errors).prune("ann")
        place = "first" if picks[0] == "mother" else "later" if "mother" in picks else "missing"
        found[place] += 1
        assert len(picks) == (2 if place == "later" else 1)
    return found


async def test_the_first_pick_is_right_and_else_the_second_as_often_as_stated(family) -> None:
    found = await asked_often(question("bonn", "mother born_in"), family, 400, accuracy=0.7, recall=0.25)
    assert 252 < found["first"] < 308  # 280, give or take three standard deviations of 9.2
    assert 16 < found["later"] < 45  # 30
    assert 66 < found["missing"] < 114  # 90


async def test_without_recall_a_wrong_choice_holds_no_way_back(family) -> None:
    about = question("bonn", "mother born_in")
    for seed in range(60):
        picks = await Interview(about, family, seed=seed, accuracy=0, recall=0).prune("ann")
        assert not {"mother", "^child"} & set(picks)


async def test_the_right_relation_is_recalled_after_one_that_is_wrong(family) -> None:
    about = question("bonn", "mother born_in")
    firsts = set()
    for seed in range(60):
        wrong, right = await Interview(about, family, seed=seed, accuracy=0, recall=1).prune("ann", width=4)
        firsts.add(wrong)
        assert right == "mother"
    assert len(firsts) > 2


async def test_one_pick_cannot_be_recalled(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family, accuracy=0, recall=1)
    assert "mother" not in await about.prune("ann", width=1)


async def test_where_only_the_right_relation_is_offered_none_is_wrong(family) -> None:
    about = Interview(question("eve", "^river ^born_in", topic="rhine"), family, accuracy=0)
    assert await about.prune("rhine") == ["^river"]


async def test_where_none_is_right_an_error_picks_one(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family, accuracy=0)
    assert len(await about.prune("ann", "friend")) == 1


async def test_a_less_accurate_model_errs_where_a_more_accurate_one_does(family) -> None:
    about = question("bonn", "mother born_in")
    for seed in range(40):
        by_accuracy = [
            await Interview(about, family, seed=seed, accuracy=accuracy).prune("ann")
            for accuracy in (1, 0.8, 0.5, 0.2, 0)
        ]
        right = [picks == ["mother"] for picks in by_accuracy]
        assert right == sorted(right, reverse=True)
        assert len({tuple(picks) for picks in by_accuracy}) == 2


async def test_the_perfect_model_asks_the_graph_once_a_topic(family, monkeypatch) -> None:
    asked = []
    follow = family.follow_chain
    monkeypatch.setattr(family, "follow_chain", lambda at: asked.append(at) or follow(at))
    about = Interview(question("de", COUNTRY), family)
    for path in ("", "mother", "mother born_in"):
        await about.prune("ann", path)
    assert asked == [chain("ann", COUNTRY)]
