"""How ``kgqa kg info`` draws a graph."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from rich.cells import cell_len

from kgqa.cli.show_profile import MAX_CLASSES, MAX_PROPERTIES, show_profile
from kgqa.kg.pages import GraphInfo
from kgqa.kg.profile.cards import make_cards
from kgqa.kg.profile.profile import (
    UNTYPED,
    ClassProfile,
    Profile,
    ProfileSummary,
    PropertyProfile,
    Wording,
)
from kgqa.kg.terms import Literal, local_name

INFO = GraphInfo("tools.ttl", "plain", 90, 30, 2, 21, (("http://x/price", 9), ("http://x/made", 7)))

Draw = Callable[..., str]


def x(name: str) -> str:
    return f"http://x/{name}"


def tools(*properties: PropertyProfile, **fields: Any) -> ClassProfile:
    return ClassProfile(x("Tool"), members=1200, read=10, properties=properties, **fields)


@pytest.fixture
def draw(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Draw:
    monkeypatch.setenv("COLUMNS", "80")

    def draw(*classes: ClassProfile, **summary: Any) -> str:
        profile = Profile(classes, summary=ProfileSummary(**summary))
        show_profile(INFO, profile.summary, make_cards(profile, classes, local_name), local_name)
        return capsys.readouterr().out

    return draw


def test_a_class_is_drawn_with_its_properties(draw: Draw) -> None:
    maker = PropertyProfile(x("made_by"), having=10, facts=10, ends={x("Maker"): 10})
    price = PropertyProfile(
        x("price"), having=9, facts=9, datatypes={x("decimal"): 9}, least=Literal("1"), most=Literal("20")
    )
    drawn = draw(tools(maker, price, naming=(x("title"),), identifiers=(x("sku"),))).splitlines()
    assert drawn[-3:] == [
        "Tool · 1,200 members · named by title · told apart by sku",
        "  -made_by->                 100%  Maker",
        "  price                       90%  number: 1 … 20",
    ]


def test_what_nodes_between_have_is_folded_into_their_owner(draw: Draw) -> None:
    amount, country = PropertyProfile(x("amount"), 9, 9), PropertyProfile(x("country"), 9, 9, {x("Land"): 9})
    drawn = draw(tools(PropertyProfile(x("price"), 9, 9, {UNTYPED: 9}, inner=(amount, country))))
    assert drawn.splitlines()[-1] == "  -price->                    90%  amount, -country-> Land"


def test_classes_and_properties_are_bounded(draw: Draw) -> None:
    properties = [PropertyProfile(x(f"p{n}"), 1, 1) for n in range(MAX_PROPERTIES + 2)]
    drawn = draw(*(ClassProfile(x(f"C{n}"), 9, 9, properties=properties) for n in range(MAX_CLASSES + 3)))
    assert drawn.count("... and 2 more (--json gives all)") == MAX_CLASSES
    assert drawn.endswith("\n... and 3 more classes (--json gives all)\n")


def test_nodes_without_a_name_are_counted_and_not_drawn(draw: Draw) -> None:
    drawn = draw(tools(), ClassProfile(x("Price"), 9, 9, is_named=False))
    assert "9 nodes have no name: Price 9\n" in drawn
    assert "Price · " not in drawn


def test_terminology_and_languages_take_a_line_each(draw: Draw) -> None:
    drawn = draw(tools(), terminology=(x("domain"), x("range")), languages={"en": 0.25, "de": 0.75})
    assert "terminology, which no question walks through: domain, range\n" in drawn
    assert "names by language: de 75%, en 25%\n" in drawn


def test_a_graph_without_a_profile_is_drawn_by_its_relations(draw: Draw) -> None:
    assert [line.split() for line in draw().splitlines()[-2:]] == [
        ["http://x/price", "9"],
        ["http://x/made", "7"],
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=200))
def test_nothing_is_wider_than_the_terminal(draw: Draw, text: str) -> None:
    name, value = Wording((Literal(text),)), Literal(text)
    own = PropertyProfile(x("p"), 1, 1, {x("Tool"): 1}, {x("text"): 1}, 1, (value,), is_enumeration=True)
    drawn = draw(tools(own, wording=name), languages={"": 1.0})
    assert max(map(cell_len, drawn.splitlines())) <= 80
    assert all(char.isprintable() for line in drawn.split("\n") for char in line)
