"""What a profile's cards say of classes and their properties."""

from collections.abc import Sequence

from kgqa.kg.profile.cards import ClassCard, make_cards
from kgqa.kg.profile.profile import UNTYPED, ClassProfile, Profile, PropertyProfile, Wording
from kgqa.kg.terms import Literal, local_name

XSD = "http://www.w3.org/2001/XMLSchema#"


def x(name: str) -> str:
    return f"http://x/{name}"


def numbers(*values: int) -> tuple[Literal, ...]:
    return tuple(Literal(str(value), f"{XSD}integer") for value in values)


def card(*properties: PropertyProfile, id: str = x("Tool"), names: Sequence[Literal] = ()) -> ClassCard:
    owner = ClassProfile(id, members=10, read=4, wording=Wording(tuple(names)), properties=properties)
    return make_cards(Profile((owner,)), [owner], local_name)[0]


def test_a_class_is_called_in_english_where_it_can_be() -> None:
    names = (Literal("Werkzeug", language="de"), Literal("tool", language="en"))
    assert card(names=names).name == "tool"
    assert card(names=names[:1]).name == "Werkzeug"


def test_a_class_without_a_name_is_called_by_its_iri_in_words() -> None:
    assert [card(id=x(local)).name for local in ("PowerTool", "power_tool")] == ["Power Tool", "power tool"]


def test_nodes_without_a_class_are_said_to_have_none() -> None:
    assert card(id=UNTYPED).name == "(no class)"


def test_a_property_is_called_by_the_name_that_the_graph_gives_it() -> None:
    owner = ClassProfile(x("Tool"), 1, 1, properties=(PropertyProfile(x("P17"), 1, 1),))
    country = Wording((Literal("country", language="en"),))
    [made] = make_cards(Profile((owner,), {x("P17"): country}), [owner], local_name)
    assert made.properties[0].name == "country"


def test_shares_are_those_of_the_members_that_were_read() -> None:
    assert card(PropertyProfile(x("price"), having=3, facts=3)).properties[0].share == 0.75


def test_classes_that_a_property_leads_to_are_ordered_by_how_often() -> None:
    ends = {x("Maker"): 1, x("Shop"): 5, UNTYPED: 9}
    made = card(PropertyProfile(x("from"), 4, 15, ends=ends)).properties[0]
    assert made.leads_to == ("Shop", "Maker", "(no class)")
    assert made.classes == (x("Shop"), x("Maker"), UNTYPED)


def test_an_enumeration_is_listed() -> None:
    values = tuple(map(Literal, ("CHF", "EUR")))
    own = PropertyProfile(
        x("currency"), 4, 4, datatypes={XSD: 4}, distinct=2, values=values, is_enumeration=True
    )
    assert (card(own).properties[0].kind, card(own).properties[0].values) == ("text", "CHF, EUR")


def test_numbers_are_shown_by_their_range() -> None:
    least, most = numbers(3, 40)
    own = PropertyProfile(x("width"), 4, 4, datatypes={XSD: 4}, distinct=30, least=least, most=most)
    assert (card(own).properties[0].kind, card(own).properties[0].values) == ("number", "3 … 40")


def test_other_values_are_shown_by_examples() -> None:
    own = PropertyProfile(x("note"), 4, 4, datatypes={XSD: 4}, distinct=30, values=(Literal("a\nb"),))
    assert card(own).properties[0].values == "a b, …"


def test_what_nodes_without_a_name_have_is_inside_of_what_leads_to_them() -> None:
    amount = PropertyProfile(x("amount"), having=2, facts=2, least=numbers(1)[0], most=numbers(1)[0])
    price = card(PropertyProfile(x("price"), 4, 4, ends={UNTYPED: 4}, inner=(amount,))).properties[0]
    assert [(part.name, part.share, part.values) for part in price.inner] == [("amount", 0.5, "1")]
