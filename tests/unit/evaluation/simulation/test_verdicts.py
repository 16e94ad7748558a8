"""How a simulated model judges chains, rightly and wrongly."""

from collections import Counter

import pytest

from kgqa.evaluation.question import EntityRef, GoldPath
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, question


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def test_a_chain_goes_forward_along_the_path_and_stops_at_its_end(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family)
    assert (await about.verify("ann", "mother")).decision == "forward"
    verdict = await about.verify("ann", "mother born_in")
    assert (verdict.decision, verdict.take) == ("stop", "all")


async def test_a_chain_that_leads_astray_turns_back(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family)
    assert (await about.verify("ann", "friend")).decision == "backtrack"
    assert (await about.verify("ann", "friend mother")).decision == "backtrack"
    assert (await about.verify("ann", "mother age")).decision == "backtrack"


async def test_a_chain_that_holds_the_answers_by_chance_turns_back(family) -> None:
    about = Interview(question("eve", "mother"), family)
    assert (await about.verify("ann", "friend mother")).decision == "backtrack"
    assert (await about.verify("ann", "parent")).decision == "backtrack"


async def test_another_way_to_exactly_the_answers_stops(family) -> None:
    about = Interview(question("eve", "mother"), family)
    assert (await about.verify("ann", "^child")).decision == "stop"
    about = Interview(question("ulm", "likes"), family)
    assert (await about.verify("ann", "friend born_in")).decision == "stop"


async def test_answers_among_others_are_filtered(family) -> None:
    about = Interview(question("eve", "parent"), family)
    assert (await about.verify("ann", "parent")).decision == "filter"


async def test_what_meets_the_condition_is_left_to_the_filter(family) -> None:
    for entity in (0, 1):
        about = Interview(question("eve", "parent"), family, entity=entity)
        verdict = await about.verify("ann", "parent")
        assert (verdict.decision, verdict.chosen) == ("filter", [])


async def test_without_filtering_all_are_the_answer(family) -> None:
    for entity in (0, 1):  # and no choice of entities can be wrong
        about = Interview(question("eve", "parent"), family, entity=entity)
        verdict = await about.verify("ann", "parent", filtering=False)
        assert (verdict.decision, verdict.take) == ("stop", "all")


async def test_where_no_candidate_has_a_name_the_way_goes_on_or_back(family) -> None:
    about = question("bonn", "mother born_in")
    for judge in (0, 1):
        decisions = [
            (await Interview(about, family, judge=judge).verdict_on(chain("ann", path), ())).decision
            for path in ("mother", "friend", "mother born_in")
        ]
        right = ["forward", "backtrack", "backtrack"]
        assert decisions == (right if not judge else ["backtrack", "forward", "forward"])


async def test_the_first_of_two_topics_is_filtered_too_so_that_the_second_may_fail(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("parent",)), GoldPath("http://t/e/bonn", ("^born_in",)))
    about = Interview(question("eve", topics=named("ann", "bonn"), paths=paths), family)
    verdict = await about.verify("ann", "parent")
    assert (verdict.decision, verdict.chosen) == ("filter", [])  # the second says which


async def test_what_comes_back_to_the_topic_is_left_out_where_the_gold_leaves_it_out(family) -> None:
    siblings = Interview(question("tim", "mother ^mother"), family)
    verdict = await siblings.verify("ann", "mother ^mother")
    assert (verdict.decision, verdict.take) == ("stop", "others")
    children = Interview(question("tim ann", "mother ^mother"), family)
    assert (await children.verify("ann", "mother ^mother")).take == "all"


async def test_the_topic_itself_is_taken_by_its_number(family) -> None:
    about = Interview(question("ann", "mother ^mother"), family)
    verdict = await about.verify("ann", "mother ^mother")
    assert (verdict.decision, verdict.take, verdict.chosen) == ("stop", "some", [1])


async def test_without_filtering_what_returns_is_left_out_unless_it_is_gold(family) -> None:
    about = Interview(question("bonn", "mother ^mother ^friend"), family)
    assert (await about.verify("ann", "mother ^mother", filtering=False)).decision == "backtrack"
    about = Interview(question("eve max", "parent ^parent parent"), family)
    verdict = await about.verify("ann", "parent ^parent parent", filtering=False)
    assert (verdict.decision, verdict.take) == ("stop", "all")


async def test_answers_that_are_reachable_only_in_part_are_taken(family) -> None:
    about = Interview(question("eve ida", "mother"), family)
    verdict = await about.verify("ann", "mother")
    assert (verdict.decision, verdict.take) == ("stop", "all")
    about = Interview(question("eve ida", "parent"), family)
    assert (await about.verify("ann", "parent")).decision == "filter"


@pytest.mark.parametrize(
    ("answer", "path", "take"),
    [("2", "parent", "count"), ("60", "parent age", "smallest"), ("61", "parent age", "largest")],
)
async def test_what_is_computed_from_the_ends_is_taken_so(family, answer: str, path: str, take: str) -> None:
    verdict = await Interview(question(answer, path), family).verify("ann", path)
    assert (verdict.decision, verdict.take) == ("stop", take)


async def test_a_number_that_several_topics_lead_to_is_computed_at_the_last(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("parent",)), GoldPath("http://t/e/bonn", ("^born_in",)))
    about = Interview(question("1", topics=named("ann", "bonn"), paths=paths), family)
    first = await about.verify("ann", "parent")
    assert (first.decision, first.take) == ("stop", "all")
    eve = [c for c in (await family.follow_chain(chain("bonn", "^born_in"))).items if c.term.name == "Eve"]
    last = await about.verdict_on(chain("bonn", "^born_in"), eve, met=[chain("ann", "parent")])
    assert (last.decision, last.take) == ("stop", "count")


async def test_a_path_that_leads_to_no_answer_has_no_end(family) -> None:
    about = Interview(question("rome", "mother born_in", topics=()), family)
    assert (await about.verify("ann", "mother born_in")).decision == "backtrack"


async def test_a_wrong_verdict_is_any_other(family) -> None:
    about = question("bonn", "mother born_in")
    found: Counter[str] = Counter()
    for seed in range(90):
        verdict = await Interview(about, family, seed=seed, judge=1).verify("ann", "mother")
        found[verdict.decision] += 1
    assert set(found) == {"stop", "filter", "backtrack"}
    assert min(found.values()) > 15


async def test_a_wrong_verdict_is_one_of_those_offered(family) -> None:
    about = question("bonn", "mother born_in")
    for seed in range(20):
        interview = Interview(about, family, seed=seed, judge=1)
        assert (await interview.verify("ann", "mother", filtering=False)).decision in {"stop", "backtrack"}


async def test_wrong_entities_are_as_many_others(family) -> None:
    for seed in range(20):
        about = Interview(question("ann", "mother ^mother"), family, seed=seed, entity=1)
        verdict = await about.verify("ann", "mother ^mother")
        assert (verdict.decision, verdict.take, verdict.chosen) == ("stop", "some", [2])


async def test_of_answers_without_others_a_part_is_taken(family) -> None:
    about = Interview(question("eve max", "parent"), family, entity=1)
    verdict = await about.verify("ann", "parent")
    assert (verdict.take, len(verdict.chosen)) == ("some", 1)


async def test_the_only_candidate_cannot_be_mistaken(family) -> None:
    about = Interview(question("eve", "mother"), family, entity=1)
    assert (await about.verify("ann", "mother")).take == "all"


async def test_of_several_readings_each_is_right(family) -> None:
    readings = (named("eve", "max"), (EntityRef(None, "Eve"),))
    about = Interview(question("eve", "mother", readings=readings), family)
    assert (await about.verify("ann", "mother")).decision == "stop"
    about = Interview(question("eve", "parent", readings=readings), family)
    assert (await about.verify("ann", "parent")).decision == "stop"
