"""Answer queries in words: each kind of part, and that no part of a random query is left unsaid."""

import re

import pytest
from hypothesis import given, settings

from kgqa.kg.dialects import RDF, XSD
from kgqa.kg.phrases import say_relation, say_term
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.proof.verbaliser import say_answers, verbalise
from kgqa.kg.sparql.derived import CLASS, INSTANCE_OF, SCHEMA_KINDS, SUBCLASS
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, kinds_of, value_node
from kgqa.tests.support import proofs

LIMA, PERU = Entity("http://x/1", "Lima"), Entity("http://x/2", "Peru")
COUNTRY = Entity(kinds_of("http://x/Country"), "country")
YEAR = Literal("1821", f"{XSD}gYear")


def hops(*names: str) -> tuple[Hop, ...]:
    return tuple(Hop(f"http://x/{name.removeprefix('^')}", not name.startswith("^")) for name in names)


def branch(topic: Entity, *names: str, end: int = 0, first: int = 1, **other) -> Branch:
    chain = Chain(topic, hops(*names))
    return Branch(chain, (*range(first, first + len(names) - 1), end), **other)


MEMBERS = Branch(Chain(COUNTRY, (Hop(INSTANCE_OF, forward=False),)), (0,))
CAPITAL = branch(LIMA, "^capital")
NEIGHBOURS = branch(PERU, "neighbour")
OF_LIMA = branch(LIMA, "^capital", "officialCurrency")
UNITED = branch(PERU, "neighbour", others=(Chain(LIMA, hops("^twin_town", "country")),))


@pytest.mark.parametrize(("rank", "said"), [(2, "the second largest of"), (5, "the 5th largest of")])
def test_a_rank_is_said(rank: int, said: str) -> None:
    query = AnswerQuery((OF_LIMA,), 0, aggregate=Aggregate("max", rank=rank))
    assert verbalise(query).startswith(said)


def test_what_is_let_pass_where_nothing_is_known_is_said() -> None:
    early = Condition(0, hops("founded"), "<", YEAR, unknown=True)
    said = "things whose capital is Lima and whose founded is before 1821, if any is known"
    assert verbalise(AnswerQuery((CAPITAL,), 0, (early,))) == said


@pytest.mark.parametrize(
    ("branches", "said"),
    [
        ([NEIGHBOURS], "the neighbour of Peru"),
        ([CAPITAL], "things whose capital is Lima"),
        ([OF_LIMA], "the official currency of something whose capital is Lima"),
        ([branch(LIMA, "locatedIn")], "what Lima is located in"),
        ([branch(LIMA, "^locatedIn")], "things that are located in Lima"),
        ([branch(LIMA, "^worksAt")], "things that work at Lima"),
        ([branch(LIMA, "^locatedIn", "locatedIn")], "what (something that is located in Lima) is located in"),
        ([branch(LIMA, "^starred_actors")], "things whose starred actors include Lima"),
        ([branch(LIMA, "^knows")], 'things whose "knows" is Lima'),
        ([branch(LIMA, "^hasParts")], "things whose parts include Lima"),
        ([branch(LIMA)], "Lima"),
        ([Branch(Chain(LIMA), (0,), (Chain(PERU),))], "Lima or Peru"),
        ([branch(value_node(Literal("7")), "^length")], "things whose length is 7"),
        ([branch(value_node(Literal("La Paz")), "^motto")], 'things whose motto is "La Paz"'),
        ([branch(LIMA, "directed_by", "born_in")], 'the "born in" of what Lima is directed by'),
        ([branch(ANY, "capital")], "the capital of anything"),
        ([branch(ANY, "^capital")], "things with any capital"),
        ([MEMBERS], "countries"),
        ([Branch(Chain(CLASS, (Hop(SCHEMA_KINDS[CLASS.id], forward=False),)), (0,))], "classes"),
        ([Branch(Chain(COUNTRY, (Hop(SUBCLASS, forward=False),)), (0,))], "kinds of country"),
        ([Branch(Chain(PERU, (Hop(f"{RDF}type"),)), (0,))], "the type of Peru"),
        ([MEMBERS, NEIGHBOURS], "countries that are neighbours of Peru"),
        ([MEMBERS, branch(LIMA, "country")], "countries of Lima"),
        ([MEMBERS, branch(LIMA, "twinCountry")], "twin countries of Lima"),
        ([MEMBERS, CAPITAL], "countries whose capital is Lima"),
        ([NEIGHBOURS, CAPITAL], "the neighbour of Peru whose capital is Lima"),
        (
            [Branch(Chain(LIMA, hops("^capital", "currency")), (1, 0)), branch(PERU, "neighbour", end=1)],
            "the currency of the neighbour of Peru whose capital is Lima",
        ),
        (
            [OF_LIMA, branch(PERU, "currency")],
            "the official currency of (something whose capital is Lima) that is the currency of Peru",
        ),
        (
            [OF_LIMA, branch(PERU, "neighbour", "currency", first=1)],
            "the official currency of (the neighbour of Peru whose capital is Lima) "
            "that is the currency of the same neighbour",
        ),
        ([UNITED], "the neighbour of Peru or the country of something whose twin town is Lima"),
        (
            [UNITED, CAPITAL],
            "(the neighbour of Peru or the country of something whose twin town is Lima) "
            "whose capital is Lima",
        ),
        (
            [branch(LIMA, "^twin", "twin", fresh=True)],
            "the twin of (something whose twin is Lima) that is not Lima",
        ),
        (
            [Branch(Chain(LIMA, hops("^capital")).constrained_to([PERU]), (0,))],
            "things whose capital is Lima and that are Peru",
        ),
    ],
)
def test_chains_in_words(branches: list[Branch], said: str) -> None:
    assert verbalise(AnswerQuery(tuple(branches), 0)) == said


@pytest.mark.parametrize(
    ("attribute", "operator", "value", "said"),
    [
        (["area"], "=", Literal("7"), "whose area is 7"),
        (["area"], "!=", Literal("7"), "with any area other than 7"),
        (["area"], "<", Literal("7"), "whose area is less than 7"),
        (["area"], "<=", Literal("7"), "whose area is at most 7"),
        (["area"], ">", Literal("7"), "whose area is more than 7"),
        (["area"], ">=", Literal("7"), "whose area is at least 7"),
        (["founded"], "<", YEAR, "whose founded is before 1821"),
        (["founding_date"], ">=", YEAR, "whose founding date is not before 1821"),
        (["founding_date"], "year", YEAR, "whose founding date is in 1821"),
        (["foundedIn"], ">", YEAR, "that are founded in something after 1821"),
        (["motto"], "contains", Literal("firme"), 'whose motto contains "firme"'),
        (["capital"], "type", COUNTRY, "whose capital is of the type country"),
        (["area"], "exists", None, "with any area"),
        (["^capital"], "exists", None, "that are capitals of something"),
        (["area"], "not exists", None, "without any area"),
        (["capital"], "not exists", LIMA, "whose capital is not Lima"),
        (["^capital"], "not exists", LIMA, "excluding those that are capitals of Lima"),
        (["locatedIn"], "not exists", LIMA, "excluding those that are located in Lima"),
        (["capital", "area"], ">", Literal("7"), "whose capital is something whose area is more than 7"),
        (["^capital", "name"], "=", Literal("X"), 'that are capitals of something whose name is "X"'),
        ([], "type", LIMA, "that are of the type Lima"),
        ([], "!=", LIMA, "that are other than Lima"),
        ([], ">", Literal("7"), "that are more than 7"),
        ([], "contains", Literal("a b"), 'that contain "a b"'),
    ],
)
def test_conditions_in_words(attribute: list[str], operator: str, value: object, said: str) -> None:
    condition = Condition(0, hops(*attribute), operator, value)
    assert verbalise(AnswerQuery((MEMBERS,), 0, (condition,))) == f"countries {said}"


@pytest.mark.parametrize(
    ("aggregate", "said"),
    [
        (Aggregate("count"), "the number of official currencies of something whose capital is Lima"),
        (Aggregate("max"), "the largest of official currencies of something whose capital is Lima"),
        (
            Aggregate("min", by="date"),
            "the earliest of official currencies of something whose capital is Lima",
        ),
        (
            Aggregate("argmax", hops("rate")),
            "the one with the largest rate among official currencies of something whose capital is Lima",
        ),
        (
            Aggregate("argmin", hops("year"), 1, "date"),
            "those among official currencies of something whose capital is Lima "
            "for which the year of the thing is earliest",
        ),
        (
            Aggregate("argmax", hops("^currency", "area")),
            "the one for which the area of what has it as currency is largest "
            "among official currencies of something whose capital is Lima",
        ),
    ],
)
def test_aggregates_in_words(aggregate: Aggregate, said: str) -> None:
    assert verbalise(AnswerQuery((OF_LIMA,), 0, (), aggregate)) == said


def test_questions_for_yes_or_no_in_words() -> None:
    held = Branch(Chain(LIMA, hops("^capital")).constrained_to([PERU]), (0,))
    assert verbalise(AnswerQuery((held,), 0, ask=True)) == "whether Peru is something whose capital is Lima"
    assert verbalise(AnswerQuery((NEIGHBOURS,), 0, ask=True)) == "whether there is the neighbour of Peru"
    assert verbalise(AnswerQuery((MEMBERS,), 0, ask=True)) == "whether there are countries"


def test_what_the_model_picked_is_said_to_be_its_choice() -> None:
    picked = [Pick(0, (LIMA, PERU)), Pick(0, (LIMA,), "the largest"), Pick(0, (LIMA,), "Which is large?")]
    said = [verbalise(AnswerQuery((NEIGHBOURS,), 0, picked=(each,))) for each in picked]
    assert said == [
        "the neighbour of Peru that the model has picked (Lima or Peru)",
        "the neighbour of Peru that the model has picked (the largest)",
        "the neighbour of Peru that the model has picked for the question",
    ]


def test_alternatives_within_alternatives_are_not_all_said() -> None:
    branches = [
        Branch(Chain(LIMA, hops("r", "s")), (at + 1, at), (Chain(PERU, hops("r", "s")),)) for at in range(16)
    ]
    said = verbalise(AnswerQuery(tuple(branches), 0))
    assert " or otherwise" in said
    assert len(said) < 10_000


@settings(proofs.SETTINGS, max_examples=300)
@given(proofs.queries())
def test_no_topic_hop_or_value_of_a_query_is_left_unsaid(query: AnswerQuery) -> None:
    said = verbalise(query)
    words = re.split(r'[\s,()"]+', said)
    assert said and said.isprintable()
    hops = {hop for each in query.branches for chain in each.chains for hop in chain.hops}
    hops |= {hop for each in query.conditions for hop in each.attribute}
    topics = [chain.topic for each in query.branches for chain in each.chains if chain.topic != ANY]
    assert all({say_relation(hop), f"{say_relation(hop)}s"} & {*words} for hop in hops), said
    assert all(say_term(topic) in words or "more" in words for topic in topics), said
    assert all(say_term(each.value) in said for each in query.conditions if each.value), said


TWO = "A and B"


@pytest.mark.parametrize(
    ("topic", "names", "last", "answers", "said"),
    [
        (PERU, ["capital"], "", "Lima", "The capital of Peru is Lima"),
        (PERU, ["capital"], "", TWO, "The capitals of Peru are A and B"),
        (PERU, ["place_of_birth"], "", TWO, "The places of birth of Peru are A and B"),
        (PERU, ["year"], "", "1821", "The year of Peru is 1821"),
        (PERU, ["starred_actors"], "", TWO, "The starred actors of Peru are A and B"),
        (PERU, ["starred_actors"], "", "A", "The starred actor of Peru is A"),
        (PERU, ["hasTopping"], "", TWO, "The toppings of Peru are A and B"),
        (LIMA, ["^starred_actors"], "", TWO, "A and B have Lima as their starred actor"),
        (PERU, ["children"], "", "A", "The child of Peru is A"),
        (PERU, ["people_born_here"], "", TWO, "The people born here of Peru are A and B"),
        (PERU, ["languagesSpoken"], "", TWO, "Peru's languages spoken are A and B"),
        (PERU, ["playsForCountry"], "", TWO, "Peru plays for country A and B"),
        (PERU, ["^playsForCountry"], "", TWO, "A and B play for country Peru"),
        (PERU, ["treats"], "", TWO, None),
        (PERU, ["founded"], "", "1821", None),
        (PERU, ["starring"], "", "A", None),
        (PERU, ["in_language"], "", "A", "The language of Peru is A"),
        (PERU, ["currencyUsed"], "", "A", "Peru's currency used is A"),
        (PERU, ["places_lived"], "", TWO, "Peru's places lived are A and B"),
        (LIMA, ["^capital"], "", "Peru", "Peru has Lima as capital"),
        (LIMA, ["^capital"], "", TWO, "A and B have Lima as their capital"),
        (LIMA, ["^treats"], "", "A", 'A is the one whose "treats" is Lima'),
        (LIMA, ["^founded"], "", TWO, "A and B are the ones whose founded is Lima"),
        (value_node(Literal("La Paz")), ["^motto"], "", "A", 'A has "La Paz" as motto'),
        (LIMA, ["livesIn"], "", TWO, "Lima lives in A and B"),
        (LIMA, ["^livesIn"], "", "A", "A lives in Lima"),
        (LIMA, ["^livesIn"], "", TWO, "A and B live in Lima"),
        (LIMA, ["directed_by"], "", TWO, "Lima is directed by A and B"),
        (LIMA, ["^directed_by"], "", TWO, "A and B are directed by Lima"),
        (LIMA, ["was_born_in"], "", "A", "Lima was born in A"),
        (LIMA, ["^was_born_in"], "", TWO, "A and B were born in Lima"),
        (LIMA, ["born_in"], "", "A", "Lima is born in A"),
        (LIMA, ["^died_in"], "", TWO, "A and B died in Lima"),
        (LIMA, ["^locatedIn"], "", "A", "A is located in Lima"),
        (PERU, ["locatedInCountry"], "", "A", "Peru is located in country A"),
        (PERU, ["ageAtDeath"], "", "61", "The age at death of Peru is 61"),
        (LIMA, ["memberOf"], "", "A", "Lima is member of A"),
        (
            LIMA,
            ["^capital", "currency"],
            "Peru",
            "Sol",
            "The currency of Peru, whose capital is Lima, is Sol",
        ),
        (
            LIMA,
            ["director", "^director"],
            "Nolan",
            TWO,
            "A and B are the ones whose director is the director of Lima",
        ),
        (
            PERU,
            ["capital", "neighbour", "livesIn"],
            "Chad",
            "A",
            "Chad, the neighbour of the capital of Peru, lives in A",
        ),
        (PERU, ["neighbour", "currency"], "", TWO, "The currencies of the neighbour of Peru are A and B"),
        (PERU, ["neighbour", "currency"], "", "A", "The currency of the neighbour of Peru is A"),
        (PERU, ["child", "livesIn"], "", TWO, "The children of Peru live in A and B"),
        (PERU, ["child", "^livesIn"], "", "A", "A is the one that lives in the child of Peru"),
        (PERU, ["child", "^livesIn"], "", TWO, "A and B are the ones that live in the child of Peru"),
        (LIMA, ["^capital", "currency"], "", "A", "The currency of things whose capital is Lima is A"),
        (LIMA, ["^livesIn", "livesIn"], "Ann", "A", "Ann, which lives in Lima, lives in A"),
        (LIMA, ["^directed_by", "livesIn"], "Ann", "A", "Ann, directed by Lima, lives in A"),
        (LIMA, ["starred_actors", "livesIn"], "Ann", "A", "Ann, the starred actor of Lima, lives in A"),
        (
            LIMA,
            ["^capital", "currencyUsed"],
            "",
            "A",
            "The currency used of things whose capital is Lima is A",
        ),
        (PERU, ["playedBy"], "", "A", "Peru is played by A"),
        (PERU, ["twinTown"], "", TWO, "The twin towns of Peru are A and B"),
        (PERU, ["dogBreed"], "", TWO, "The dog breeds of Peru are A and B"),
        (PERU, ["madeOf"], "", "A", "Peru is made of A"),
        (LIMA, ["^capital", "livesIn"], "", TWO, "Things whose capital is Lima live in A and B"),
        (LIMA, ["^capital", "^capital", "currency"], "", "A", None),
    ],
)
def test_what_a_chain_leads_to_in_a_sentence(
    topic: Entity, names: list[str], last: str, answers: str, said: str | None
) -> None:
    query = AnswerQuery((Branch(Chain(topic, hops(*names)), (*range(1, len(names)), 0)),), 0)
    assert say_answers(query, answers, last=last, several=answers == TWO) == said


LARGE = Condition(0, hops("area"), ">", Literal("7"))
PICK = Pick(0, (LIMA,), "the largest")


@pytest.mark.parametrize(
    ("query", "answers", "said"),
    [
        (AnswerQuery((branch(LIMA),), 0), "Lima", None),
        (AnswerQuery((MEMBERS,), 0), TWO, "The countries are A and B"),
        (AnswerQuery((MEMBERS, CAPITAL), 0), "A", "A is the country whose capital is Lima"),
        (AnswerQuery((MEMBERS, CAPITAL), 0), TWO, "A and B are the countries whose capital is Lima"),
        (AnswerQuery((MEMBERS, NEIGHBOURS), 0), "A", "A is the country that is the neighbour of Peru"),
        (
            AnswerQuery((MEMBERS, branch(PERU, "borders")), 0),
            "A",
            "A is the country that is one of the borders of Peru",
        ),
        (
            AnswerQuery((CAPITAL,), 0, (LARGE,)),
            "A",
            "A is the one whose capital is Lima and whose area is more than 7",
        ),
        (
            AnswerQuery((NEIGHBOURS,), 0, (LARGE,)),
            TWO,
            "A and B are the neighbours of Peru whose area is more than 7",
        ),
        (
            AnswerQuery((CAPITAL, branch(PERU, "^playsFor")), 0),
            TWO,
            "A and B are the ones whose capital is Lima and that play for Peru",
        ),
        (AnswerQuery((OF_LIMA, NEIGHBOURS), 0), TWO, None),
        (AnswerQuery((MEMBERS,), 0, picked=(PICK,)), TWO, None),
        (AnswerQuery((MEMBERS, branch(PERU, "country")), 0), "A", "The country of Peru is A"),
        (AnswerQuery((MEMBERS, branch(PERU, "country")), 0), TWO, "The countries of Peru are A and B"),
        (
            AnswerQuery((MEMBERS, branch(PERU, "located_in_country")), 0),
            "A",
            "A is the country that Peru is located in",
        ),
        (
            AnswerQuery((CAPITAL, branch(PERU, "located_in")), 0),
            "A",
            "A is the one that Peru is located in and whose capital is Lima",
        ),
        (
            AnswerQuery((NEIGHBOURS,), 0, aggregate=Aggregate("count")),
            "2",
            "The number of neighbours of Peru is 2",
        ),
        (AnswerQuery((OF_LIMA,), 0, aggregate=Aggregate("count")), "2", None),
        (
            AnswerQuery((branch(PERU, "year"),), 0, aggregate=Aggregate("max")),
            "1821",
            "The largest of years of Peru is 1821",
        ),
        (
            AnswerQuery((MEMBERS,), 0, aggregate=Aggregate("argmax", hops("area"))),
            "A",
            "A is the one with the largest area among countries",
        ),
        (
            AnswerQuery((MEMBERS,), 0, aggregate=Aggregate("argmin", hops("year"))),
            TWO,
            "A and B are the ones with the smallest year among countries",
        ),
        (AnswerQuery((MEMBERS,), 0, ask=True), "yes", "Yes: there are countries"),
        (AnswerQuery((NEIGHBOURS,), 0, ask=True), "yes", "Yes: there is the neighbour of Peru"),
    ],
)
def test_what_else_is_asked_for_in_a_sentence(query: AnswerQuery, answers: str, said: str | None) -> None:
    assert say_answers(query, answers, several=answers == TWO) == said


@pytest.mark.parametrize(
    ("hop", "said"),
    [
        ("^capital", "Peru has Lima as capital"),
        ("capital", "The capital of Lima is Peru"),
        ("borders", "Lima borders Peru"),
        ("^locatedIn", "Peru is located in Lima"),
        ("livesIn", "Lima lives in Peru"),
    ],
)
def test_a_yes_in_a_sentence(hop: str, said: str) -> None:
    chain = Chain(LIMA, hops(hop)).constrained_to([PERU])
    assert (
        say_answers(AnswerQuery((Branch(chain, (0,)),), 0, ask=True), "yes", several=False) == f"Yes: {said}"
    )


def test_what_leads_to_others_than_its_topic_alone_is_said_as_what_leads_to_all() -> None:
    query = AnswerQuery((Branch(Chain(PERU, hops("contains")), (0,), fresh=True),), 0)
    assert say_answers(query, TWO, several=True) is None


def test_who_is_left_out_is_said_in_the_sentence() -> None:
    chain = Chain(Entity("http://x/Ann", "Ann"), (Hop("http://x/parent"), Hop("http://x/child")))
    query = AnswerQuery((Branch(chain, (1, 2), fresh=True),), 2)
    assert (
        say_answers(query, "Bob", last="Tim", several=False)
        == "The child of Tim, the parent of Ann, is Bob, apart from Ann"
    )
