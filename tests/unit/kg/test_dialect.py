"""Dialects: names, noise, and which one a graph speaks."""

import pytest

from kgqa.kg.dialects import FB, FOAF, FREEBASE, OWL, PLAIN, RDF, RDFS, WDT, WIKIDATA, detect_dialect


@pytest.mark.parametrize(
    ("relation", "ignored"),
    [
        ("type.object.type", True),
        ("type.object.name", True),
        ("common.topic.alias", True),
        ("common.topic.webpage", True),
        ("common.topic.topic_equivalent_webpage", True),
        ("kg.object_profile.prominent_type", True),
        ("common.topic.notable_types", False),
        ("common.topic.image", False),
        ("freebase.valuenotation.has_value", False),
        ("base.locations.countries.continent", False),
        ("people.person.parents", False),
    ],
)
def test_freebase_noise(relation, ignored):
    assert FREEBASE.ignores(FB + relation) is ignored


@pytest.mark.parametrize("relation", [f"{RDFS}label", f"{RDF}type", f"{OWL}sameAs"])
def test_noise_everywhere(relation):
    assert PLAIN.ignores(relation)
    assert FREEBASE.ignores(relation)


def test_detect():
    assert detect_dialect([f"{RDFS}label", f"{FB}people.person.parents"]) is FREEBASE
    assert detect_dialect(["http://pathquestion.org/r/people.person.parents"]) is PLAIN
    assert detect_dialect([]) is PLAIN


def test_a_few_links_to_another_graph_do_not_change_what_it_is() -> None:
    named = {f"{FOAF}name": 95}
    assert detect_dialect({**named, f"{WDT}P31": 1}) is PLAIN
    assert detect_dialect({**named, f"{WDT}P31": 20}) is WIKIDATA
    assert detect_dialect(dict.fromkeys((*named, f"{WDT}P31"), 0)) is WIKIDATA  # nobody has counted them


def test_labels():
    assert FREEBASE.relation_label(f"{FB}people.person.parents") == "people.person.parents"
    assert PLAIN.relation_label("http://x/r#born_in") == "born_in"
    assert FREEBASE.local_label(f"{FB}m.0abc") is None
    assert PLAIN.local_label("_:b1") is None
