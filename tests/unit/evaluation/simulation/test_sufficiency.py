"""How a simulated model judges the chains of CoG: as those of CoR, with findings and what to go on from."""

from collections import Counter

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Entity, Literal
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, PROGRESS, Interview, chain, question

PATHS = ("mother", "friend", "parent", "mother born_in", "parent born_in", "friend mother", "^child", "likes")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


@pytest.mark.parametrize(
    ("answers", "path"), [("bonn", "mother born_in"), ("eve", "parent"), ("2", "parent"), ("bonn", "")]
)
async def test_it_decides_as_on_the_chains_of_cor(family, answers: str, path: str) -> None:
    about = Interview(question(answers, path), family)
    for at in PATHS:
        verdict, found = await about.verify("ann", at), await about.suffices(chain("ann", at))
        assert (found.decision, found.take) == (verdict.decision, verdict.take)


async def test_what_meets_the_condition_is_named_with_the_verdict(family) -> None:
    about, at = question("eve", "parent"), chain("ann", "parent")
    ends = (await family.follow_chain(at)).items
    right = await Interview(about, family).suffices(at)
    assert (right.decision, [ends[number - 1].term.name for number in right.chosen]) == ("filter", ["Eve"])
    wrong = await Interview(about, family, entity=1).suffices(at)
    assert (wrong.decision, len(wrong.chosen), {*wrong.chosen} & {*right.chosen}) == ("filter", 1, set())


async def test_where_candidates_were_cut_nothing_is_named_with_the_verdict(family) -> None:
    about, at = Interview(question("eve", "parent"), family), chain("ann", "parent")
    ends = (await family.follow_chain(at)).items
    for candidates, truncated in ((ends, True), (ends * 60, False)):
        verdict = await about.ask(CheckSufficiency("?", at, candidates, PROGRESS, truncated=truncated))
        assert (verdict.decision, verdict.chosen) == ("filter", [])


async def test_what_is_on_the_way_establishes_something_and_what_leads_astray_nothing(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family)
    assert (await about.suffices(chain("ann", "mother"))).finding == "reached mother"
    assert (await about.suffices(chain("ann", "mother born_in"))).finding == "reached born_in"
    assert (await about.suffices(chain("ann", "friend"))).finding == ""


async def test_it_goes_on_from_all_candidates(family) -> None:
    assert (
        await Interview(question("bonn", "parent born_in"), family).suffices(chain("ann", "parent"))
    ).keep == []


async def test_a_wrong_verdict_is_any_other_and_what_leads_astray_establishes_nothing_still(family) -> None:
    about = question("bonn", "mother born_in")
    found: Counter[str] = Counter()
    for seed in range(90):
        reply = await Interview(about, family, seed=seed, judge=1).suffices(chain("ann", "friend"))
        assert reply.finding == ""
        found[reply.decision] += 1
    assert set(found) == {"stop", "filter", "forward"}
    assert min(found.values()) > 15


async def test_a_wrong_choice_of_entities_goes_on_from_one_that_leads_astray(family) -> None:
    about = question("bonn", "parent born_in")
    for seed in range(10):
        reply = await Interview(about, family, seed=seed, entity=1).suffices(chain("ann", "parent"))
        assert (reply.decision, reply.keep) == ("forward", [2])  # Max


async def test_of_candidates_that_all_lead_on_half_are_kept(family) -> None:
    about = question("bonn ulm", "parent born_in")
    kept = set()
    for seed in range(20):
        reply = await Interview(about, family, seed=seed, entity=1).suffices(chain("ann", "parent"))
        kept.add(tuple(reply.keep))
    assert kept == {(1,), (2,)}


async def test_the_only_candidate_cannot_be_mistaken_and_no_literal_is_kept(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family, entity=1)
    assert (await about.suffices(chain("ann", "mother"))).keep == []
    literal = (Candidate(Literal("60")), *(await family.follow_chain(chain("ann", "mother"))).items)
    reply = await about.ask(CheckSufficiency("?", chain("ann", "mother"), literal, PROGRESS))
    assert (reply.decision, reply.keep) == ("forward", [])


async def test_from_candidates_that_are_not_all_shown_none_is_kept(family) -> None:
    about = Interview(question("bonn", "parent born_in"), family, entity=1)
    assert (await about.suffices(chain("ann", "parent"), truncated=True)).keep == []
    many = tuple(Candidate(Entity(f"http://t/e/n{number}", f"N{number}")) for number in range(101))
    reply = await about.ask(CheckSufficiency("?", chain("ann", "parent"), many, PROGRESS))
    assert (reply.decision, reply.keep) == ("forward", [])


async def test_at_most_twenty_candidates_are_looked_at_for_one_that_leads_astray(graph, monkeypatch) -> None:
    roads = "".join(f'e:n{n} rdfs:label "N{n}" ; r:to e:ulm . e:ann r:by e:n{n} . ' for n in range(60))
    towns = graph(f'{roads} e:ann rdfs:label "Ann" . e:ulm rdfs:label "Ulm" .')
    about = Interview(question("ulm", "by to"), towns, entity=1)
    held = []
    follow = towns.follow_chain
    monkeypatch.setattr(
        towns, "follow_chain", lambda at: (held.append(at) if at.constraints else None) or follow(at)
    )
    assert len((await about.suffices(chain("ann", "by"))).keep) == 30
    assert len(held) == 20


async def test_the_only_answer_taken_wrongly_is_another(family) -> None:
    about = Interview(question("ann", "mother ^mother"), family, entity=1)
    reply = await about.suffices(chain("ann", "mother ^mother"))
    assert (reply.decision, reply.take, reply.chosen, reply.keep) == ("stop", "some", [2], [])
