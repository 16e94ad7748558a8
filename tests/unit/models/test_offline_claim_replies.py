"""The offline model says yes or no where a fact joins what a question names, and unknown elsewhere."""

import pytest

from kgqa.kg.terms import Entity, Hop, Literal, Path
from kgqa.models.offline import OfflineModel
from kgqa.models.offline.claim_replies import Claim, polarity
from kgqa.models.offline.question_intent import named_terms
from kgqa.models.parsing import check_reply
from kgqa.prompts.judge_claim import JudgeClaim, Judgement, is_yes_no_question
from kgqa.tests.conftest import MEMO

ULM, BONN, DANUBE = (Entity(f"http://t/e/{name.lower()}", name) for name in ("Ulm", "Bonn", "Danube"))
ADA, NODE = Entity("http://t/e/ada", "Ada Weiss"), Entity("http://t/e/node")
MAYOR, RIVER, NOT_TWINNED, TWINNED = (
    Hop(f"http://t/r/{name}") for name in ("mayor", "river", "not_twinned_with", "twinned_with")
)


@pytest.fixture
def encode():
    return MEMO.encode


async def judged(graph, question: str, *facts: Path, topics: tuple[Entity, ...] = ()) -> Judgement:
    prompt = JudgeClaim(question, facts, topics=topics)
    answered = await OfflineModel(graph('e:ulm rdfs:label "Ulm" .'), MEMO.encode).ask(prompt)
    return check_reply(answered.reply, prompt)


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
    assert is_yes_no_question(question) is asks


def test_a_question_names_topics_and_whatever_has_its_name_in_it() -> None:
    named = {BONN, ADA, ULM, Literal("1990")}
    others = {DANUBE, NODE, Entity("http://t/e/it", "It"), Literal("199")}
    assert named_terms("Is ADA WEISS from Ulm, and was it in 1990?", named | others, {BONN}) == named


def test_names_are_masked_the_longest_first_and_in_the_plural() -> None:
    assert Claim("Is New Ulm near Ulm?", (), {"ulm", "new ulm"}).text == "is it near it"
    assert Claim("Aren't muses kind?", (), {"muse", "is", ""}).text == "are it kind"


@pytest.mark.parametrize(
    ("question", "slots", "clear"),
    [
        ("Do Ada and Ben both like Cy?", [{"ada", "ben"}, {"cy"}], True),
        ("Do Ada, Ben, and the Cy all like it?", [{"ada", "ben", "cy"}], True),
        ("Does Ada like Ben and Cy?", [{"ada"}, {"ben", "cy"}], True),
        ("Is Ada from Ben in Cy?", [{"ada"}, {"ben"}, {"cy"}], True),
        ("Do Ada and Zoe both like Cy?", [{"ada"}, {"cy"}], False),
        ("Does Ada like Ben but not Cy?", [{"ada"}, {"ben"}, {"cy"}], False),
        ("Is Ada taller than Ben?", [{"ada"}, {"ben"}], False),
    ],
)
def test_what_stands_side_by_side_shares_a_slot(question, slots, clear) -> None:
    claim = Claim(question, (), {"ada", "ben", "cy"})
    assert ([set(slot) for slot in claim.slots], claim.clear) == (slots, clear)


def test_a_topic_is_a_thing_whatever_it_is_called() -> None:
    claim = Claim("Is New Ulm on the river?", (ULM, DANUBE), {"new ulm", "ulm", "danube"})
    assert claim.slots == [{"new ulm"}, {DANUBE.id}]
    assert [claim.thing(term) for term in (DANUBE, ULM, BONN)] == [DANUBE.id, None, None]


def test_a_claim_is_borne_out_where_each_is_joined_with_the_others() -> None:
    claim = Claim("Do Ada and Ben both like Cy?", (), {"ada", "ben", "cy"})
    one, two, beside = (frozenset(pair) for pair in (("ada", "cy"), ("ben", "cy"), ("ada", "ben")))
    assert claim.borne_out({one, two})
    assert not claim.borne_out({one, beside})
    assert not Claim("Is it Ada?", (), {"ada"}).borne_out(())
    assert [claim.joins("ada", "cy"), claim.joins("ada", "ben"), claim.joins("cy", "cy")] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("claim", "moves", "said"),
    [
        ("is it the mayor of it", ["mayor"], True),
        ("does it treat it", ["treats"], True),
        ("does it treat it", ["does not treat"], False),
        ("is it not twinned with it", ["not twinned with"], True),
        ("can it be used in it", ["contraindicated in"], False),
        ("can it be used for it", ["does not treat"], False),
        ("is it suitable for it", ["treats"], True),
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
    assert polarity(claim, moves, encode) is said


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


async def test_a_fact_met_in_either_direction_counts_once(graph) -> None:
    once, again = Path(ULM).then(RIVER, DANUBE), Path(BONN).then(TWINNED, ULM).then(RIVER, DANUBE)
    reply = await judged(
        graph, "Is the Danube a river of Ulm?", once, again, Path(DANUBE).then(RIVER.inverse, ULM)
    )
    assert reply.favour == [1]


async def test_without_facts_it_is_unknown(graph) -> None:
    assert (await judged(graph, "Is Ada the mayor of Ulm?", topics=(ULM,))).verdict == "unknown"


FEVER, GOUT, ASPIRIN, BUFEN = (
    Entity(f"http://t/e/{name}", name) for name in ("Fever", "Gout", "Aspirin", "Bufen")
)
TREATS, NOT_TREATS, GROUP, SHAPE = (
    Hop(f"http://t/r/{n}") for n in ("treats", "does_not_treat", "drug_class", "shape")
)
GRAPH = """e:Gout rdfs:label "Gout" . e:Aspirin rdfs:label "Aspirin" ; r:treats e:Fever .
e:Bufen rdfs:label "Bufen" . e:Fever rdfs:label "Fever" ."""
BOTH = Path(BUFEN).then(TREATS, FEVER).then(TREATS.inverse, ASPIRIN)


async def told(graph, question: str, *facts: Path, topics: tuple[Entity, ...] = (BUFEN,)) -> tuple:
    prompt = JudgeClaim(question, facts, topics=topics)
    answered = await OfflineModel(graph(GRAPH), MEMO.encode).ask(prompt)
    reply = check_reply(answered.reply, prompt)
    return reply.verdict, reply.favour, reply.against


async def test_what_joins_other_things_than_the_claim_is_no_evidence(graph) -> None:
    assert await told(graph, "Do Aspirin and Bufen both treat Gout?", BOTH) == ("unknown", [], [])
    assert await told(graph, "Do Aspirin and Bufen both treat measles?", BOTH) == ("unknown", [], [])
    assert await told(graph, "Does Bufen treat Aspirin?", BOTH) == ("unknown", [], [])
    assert await told(graph, "Do Aspirin and Bufen treat the same disease?", BOTH) == ("yes", [1], [])


async def test_each_of_several_things_must_be_borne_out(graph) -> None:
    question, one = "Do Aspirin and Bufen both treat Fever?", Path(BUFEN).then(TREATS, FEVER)
    assert await told(graph, question, one) == ("unknown", [1], [])
    assert await told(graph, question, one, Path(ASPIRIN).then(TREATS, FEVER)) == ("yes", [1, 2], [])
    assert await told(graph, "Do Zed and Bufen both treat Fever?", one) == ("unknown", [1], [])


async def test_one_that_is_denied_is_enough_for_no(graph) -> None:
    denied = Path(BUFEN).then(TREATS, FEVER).then(NOT_TREATS.inverse, ASPIRIN)
    question = "Do Aspirin and Bufen both treat Fever?"
    assert await told(graph, question, Path(BUFEN).then(TREATS, FEVER), denied) == ("no", [1], [2])
    assert (await told(graph, "Does Bufen treat Fever but not Aspirin?", denied))[0] == "unknown"


async def test_nothing_is_denied_by_way_of_something_else(graph) -> None:
    other = Path(BUFEN).then(TREATS, GOUT).then(NOT_TREATS.inverse, ASPIRIN)
    assert await told(graph, "Do Aspirin and Bufen treat the same disease?", other) == ("unknown", [], [])


async def test_of_facts_that_say_the_same_the_shortest_is_told_once(graph) -> None:
    long = BOTH.then(TREATS, GOUT).then(TREATS.inverse, ASPIRIN).then(TREATS, FEVER)
    one, back = Path(BUFEN).then(TREATS, FEVER), Path(FEVER).then(TREATS.inverse, BUFEN)
    assert await told(graph, "Do Aspirin and Bufen both treat Fever?", long, one, back, BOTH) == (
        "yes",
        [4],
        [],
    )


async def test_what_something_is_is_told_by_its_class_and_not_the_other_way_round(graph) -> None:
    kind = Path(BUFEN).then(GROUP, GOUT)
    assert await told(graph, "Is Bufen a Gout?", kind) == ("yes", [1], [])
    assert await told(graph, "Is Bufen a Gout?", Path(GOUT).then(GROUP.inverse, BUFEN)) == ("yes", [1], [])
    assert await told(graph, "Is a Gout a Bufen?", kind) == ("unknown", [], [])
    assert await told(graph, "Is Bufen a Gout?", Path(BUFEN).then(SHAPE, GOUT)) == ("unknown", [], [])
