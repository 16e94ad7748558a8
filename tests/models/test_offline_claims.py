"""The offline model says yes or no where a fact joins what a question names, and unknown elsewhere."""

import pytest

from kgqa.kg.terms import Entity, Hop, Literal, Path
from kgqa.models.offline import OfflineModel
from kgqa.models.offline.claims import stance
from kgqa.models.offline.whether import Named, is_whether
from kgqa.models.parsing import checked
from kgqa.priors.encoder import open_encoder
from kgqa.prompts.judge_claim import JudgeClaim, Judgement

ULM, BONN, DANUBE = (Entity(f"http://t/e/{name.lower()}", name) for name in ("Ulm", "Bonn", "Danube"))
ADA, NODE = Entity("http://t/e/ada", "Ada Weiss"), Entity("http://t/e/node")
MAYOR, RIVER, NOT_TWINNED, TWINNED = (
    Hop(f"http://t/r/{name}") for name in ("mayor", "river", "not_twinned_with", "twinned_with")
)


@pytest.fixture
def encode():
    return open_encoder().encode


async def judged(graph, question: str, *facts: Path, topics: tuple[Entity, ...] = ()) -> Judgement:
    prompt = JudgeClaim(question, facts, topics=topics)
    answered = await OfflineModel(graph('e:ulm rdfs:label "Ulm" .'), open_encoder().encode).ask(prompt)
    return checked(answered.reply, prompt)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Is Ulm on the Danube?", True),
        ("does Ada live in Ulm", True),
        (" Weren't they twinned?", True),
        ("Can towns be twinned?", True),
        ("Can you tell me where Ulm is?", False),
        ("Is the Rhine or the Danube longer?", False),
        ("Is it a town and where is it?", False),
        ("Which town is it?", False),
        ("Issue of what?", False),
        ("", False),
    ],
)
def test_what_asks_for_yes_or_no_is_told_by_how_it_begins(question: str, asks: bool) -> None:
    assert is_whether(question) is asks


def test_a_question_names_topics_and_whatever_has_its_name_in_it() -> None:
    named = Named("Is ADA WEISS from Ulm, and was it in 1990?", {BONN})
    assert all(term in named for term in (BONN, ADA, ULM, Literal("1990")))
    assert not any(term in named for term in (DANUBE, NODE, Entity("http://t/e/it", "It"), Literal("199")))


def test_names_are_masked_the_longest_first() -> None:
    named = Named("Is New Ulm near Ulm?", ())
    assert named.unnamed([ULM, Entity("http://t/e/new", "New Ulm"), NODE]) == "is it near it"


@pytest.mark.parametrize(
    ("claim", "moves", "said"),
    [
        ("is it the mayor of it", ["mayor"], True),
        ("does it treat it", ["treats"], True),
        ("does it treat it", ["does not treat"], False),
        ("is it not twinned with it", ["not twinned with"], True),
        ("can it be used in it", ["contraindicated in"], False),
        ("is it contraindicated in it", ["contraindicated in"], True),
        ("is it not contraindicated in it", ["contraindicated in"], False),
        ("does it inhibit it", ["activates"], False),
        ("does it activate it", ["inhibits"], False),
        ("does it cause it", ["treats"], None),
        ("is it the river of the mayor of it", ["mayor", "river"], True),
        ("does it treat it", ["treats", "symptom of"], None),
        ("do it transmit it", ["transmitted by", "kind of"], True),
        ("do it transmit it", ["kind of"], None),
        ("is it the mayor of it", [], None),
    ],
)
def test_relations_say_a_claim_its_opposite_or_neither(encode, claim, moves, said) -> None:
    assert stance(claim, moves, encode) is said


async def test_a_fact_that_joins_the_things_named_says_yes_in_either_direction(graph) -> None:
    reply = await judged(
        graph, "Is Ada Weiss the mayor of Ulm?", Path(ULM).then(MAYOR, ADA), Path(ULM).then(RIVER, DANUBE)
    )
    assert (reply.verdict, reply.favour, reply.against) == ("yes", [1], [])
    back = await judged(graph, "Is Ada Weiss the mayor of Ulm?", Path(ADA).then(MAYOR.inverse, ULM))
    assert back.verdict == "yes"


async def test_a_fact_about_something_else_says_nothing(graph) -> None:
    reply = await judged(
        graph, "Is Bonn on the Danube?", Path(ULM).then(RIVER, DANUBE).then(RIVER.inverse, ULM)
    )
    assert (reply.verdict, reply.favour) == ("unknown", [])


async def test_a_denial_says_no_and_beside_its_opposite_nothing_is_known(graph) -> None:
    question, denied = "Is Ulm twinned with Bonn?", Path(ULM).then(NOT_TWINNED, BONN)
    assert (await judged(graph, question, denied)).against == [1]
    both = await judged(graph, question, denied, Path(BONN).then(TWINNED, ULM))
    assert (both.verdict, both.favour, both.against) == ("unknown", [2], [1])


async def test_a_node_without_a_name_is_crossed(graph) -> None:
    path = Path(ULM).then(Hop("http://t/r/office"), NODE).then(MAYOR, ADA)
    assert (await judged(graph, "Is Ada Weiss the mayor of Ulm?", path)).verdict == "yes"


async def test_facts_drawn_alike_have_one_number(graph) -> None:
    once, again = Path(ULM).then(RIVER, DANUBE), Path(BONN).then(TWINNED, ULM).then(RIVER, DANUBE)
    reply = await judged(
        graph, "Is the Danube a river of Ulm?", once, again, Path(DANUBE).then(RIVER.inverse, ULM)
    )
    assert reply.favour == [1, 2]


async def test_without_facts_it_is_unknown(graph) -> None:
    assert (await judged(graph, "Is Ada the mayor of Ulm?", topics=(ULM,))).verdict == "unknown"
