"""Conditions that leave certain candidates, for models that know which these are."""

from kgqa.kg.terms import Entity, Literal
from kgqa.models.decisive import (
    ShownCandidates,
    candidates_to_filter,
    decisive_replies,
    stated_conditions,
)
from kgqa.prompts.apply_conditions import ApplyConditions, StatedConditions
from kgqa.prompts.attributes import KnownAttributes, Mention
from kgqa.tests.unit.prompts.samples import attribute, chain, dates, ends

CHAIN = chain("Dolphins", "player")
PLAYERS = ends("Ann", "Ben", "Cy", "Dora")
ANN, BEN, CY, DORA = (each.term for each in PLAYERS)
KNOWN = KnownAttributes(
    CHAIN,
    (
        attribute(1, "number", PLAYERS, *map(Literal, ("22", "7", "9", "22"))),
        attribute(1, "born", PLAYERS, *dates("1961-05-03", "1970-01-01", "1985-01-01", "1990-02-02")),
        attribute(1, "from", PLAYERS, "Ulm", "Bonn", "Ulm"),
    ),
    ((ANN, Entity("http://x/coach", "Coach")), (BEN, Entity("http://x/star", "Star"))),
    (
        Mention("22", (Literal("22"),)),
        Mention("1961", (Literal("1961"),)),
        Mention("Ulm", (Entity("http://x/Ulm", "Ulm"),)),
    ),
)


def bases(question: str, *wanted: Entity | Literal) -> dict[str, str]:
    return {written(reply): basis for reply, basis in decisive_replies(shown(question), wanted)}


def asked(question: str = "Who?") -> ApplyConditions:
    return ApplyConditions(question, CHAIN, PLAYERS, KNOWN)


def shown(question: str = "Who?") -> ShownCandidates:
    return candidates_to_filter(asked(question))


def first(*wanted: Entity | Literal) -> tuple[str, str] | None:
    found = next(decisive_replies(shown(), wanted), None)
    return (written(found[0]), found[1]) if found else None


def written(reply: StatedConditions) -> str:
    stated = [f"{each.attribute} {each.operator} {each.value}".strip() for each in reply.conditions]
    return ", ".join([*stated, f"{reply.extreme} {reply.by}"] if reply.extreme != "none" else stated)


def test_what_the_question_names_comes_first_and_all_of_it() -> None:
    assert first(ANN) == ("A = 22, B = 1961, C = Ulm", "named")
    assert first(ANN, DORA) == ("A = 22", "named")
    assert bases("Who was born after 1961?", BEN, CY, DORA)["B > 1961"] == "named"
    assert bases("Who?", BEN, CY, DORA)["B > 1961"] == "value"


def test_then_an_extreme_then_any_value() -> None:
    assert first(CY) == ("C = Ulm, smallest A", "extreme")
    assert first(BEN) == ("smallest A", "extreme")
    assert first(DORA) == ("A = 22, largest B", "extreme")


def test_where_nothing_leaves_them_there_is_no_reply() -> None:
    assert first(BEN, DORA) == ("C not exists Ulm", "value")
    assert next(decisive_replies(shown("Who is not from Ulm?"), [BEN, DORA]))[1] == "named"
    nothing = ApplyConditions("Who?", CHAIN, PLAYERS, KnownAttributes(CHAIN))
    assert list(decisive_replies(candidates_to_filter(nothing), [ANN])) == []


def test_every_reply_leaves_those_wanted_and_passes() -> None:
    for reply, _ in decisive_replies(shown(), [CY]):
        asked().check(reply)


def test_types_count_as_named_where_the_question_has_their_words() -> None:
    assert bases("Which star?", BEN)["type Star"] == "named"
    assert bases("Who?", BEN)["type Star"] == "value"


def test_whatever_can_be_stated_passes() -> None:
    for condition in stated_conditions(shown()):
        asked().check(StatedConditions(conditions=[condition]))
