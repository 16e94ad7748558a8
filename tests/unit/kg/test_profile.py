"""What is known of a graph before it is asked: its profile, and the names and relations that come of it."""

import asyncio
import re
import string
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.kg.dialects import is_readable
from kgqa.kg.opening import open_graph
from kgqa.kg.profile.naming import find_naming, find_unnamed
from kgqa.kg.profile.profile import UNTYPED, ClassProfile, Profile, ProfileSummary, PropertyProfile
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.store.directory import build_store, open_store
from kgqa.kg.terms import Chain, Entity, Literal, Term

Open = Callable[[str], SparqlGraph]

E, R = "http://t/e/", "http://t/r/"
FOAF, XSD = "http://xmlns.com/foaf/0.1/", "http://www.w3.org/2001/XMLSchema#"

SHOP = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix dct: <http://purl.org/dc/terms/> .
<http://x/> a owl:Ontology ; dct:creator e:zoe .
r:Supplier a owl:Class ; rdfs:label "Supplier"@en , "Lieferant"@de ; rdfs:comment "Who delivers."@en ;
    rdfs:isDefinedBy <http://x/> ; r:icon "s.svg" .
r:Tool a owl:Class ; rdfs:label "Tool" ; rdfs:subClassOf r:Thing ; rdfs:isDefinedBy <http://x/> ;
    r:icon "t.svg" .
r:from a owl:ObjectProperty ; rdfs:label "delivered by" ; rdfs:domain r:Tool ; rdfs:range r:Supplier .
e:s1 a r:Supplier ; rdfs:label "Acme" ; r:city "Ulm" ; r:code "A1" .
e:s2 a r:Supplier ; rdfs:label "Bolt" ; r:city "Ulm" ; r:code "B2" .
e:s3 a r:Supplier ; rdfs:label "Cog" ; r:city "Bonn" ; r:code "C3" .
e:t1 a r:Tool ; rdfs:label "saw" ; r:from e:s1 , e:s2 ; r:weight 7 ;
    r:price [ r:amount 2.5 ; r:currency "EUR" ] .
e:t2 a r:Tool ; rdfs:label "axe" ; r:from e:s1 ; r:weight 9 ; r:price [ r:amount 3.5 ; r:currency "EUR" ] .
"""


async def profile_of(graph: Open, text: str) -> Profile:
    return await graph(text).profile()


def known(profile: Profile, class_: str) -> ClassProfile:
    found = profile.find(class_)
    assert found is not None
    return found


def prop(owner: ClassProfile, relation: str) -> PropertyProfile:
    return next(each for each in owner.properties if each.relation == R + relation)


async def test_classes_are_counted_and_called(graph: Open) -> None:
    profile = await profile_of(graph, SHOP)
    supplier = known(profile, f"{R}Supplier")
    assert (supplier.members, supplier.read, supplier.wording.comment) == (3, 3, "Who delivers.")
    assert [(name.value, name.language) for name in supplier.wording.names] == [
        ("Lieferant", "de"),
        ("Supplier", "en"),
    ]


async def test_questions_that_come_together_have_one_profile_made(graph: Open) -> None:
    opened, made = graph(SHOP), list[Profile]()

    def make() -> Profile:
        time.sleep(0.02)  # the others come meanwhile
        made.append(Profile())
        return made[0]

    vars(opened)["_read_profile"] = make
    found = await asyncio.gather(*(opened.profile() for _ in range(8)))
    assert made == [Profile()] and all(each is made[0] for each in found)


async def test_a_property_says_who_has_it_and_where_it_leads(graph: Open) -> None:
    tool = known(await profile_of(graph, SHOP), f"{R}Tool")
    supplied, weight = prop(tool, "from"), prop(tool, "weight")
    assert (supplied.having, supplied.facts, supplied.ends) == (2, 3, {f"{R}Supplier": 3})
    assert (supplied.is_single, weight.is_single, tool.share(weight)) == (False, True, 1.0)
    assert weight.least and weight.most
    assert (weight.least.value, weight.most.value, weight.datatypes) == ("7", "9", {f"{XSD}integer": 2})


async def test_members_with_many_facts_leave_none_out_of_the_others(graph: Open) -> None:
    hubs = " ".join(f"e:h{n} a e:Hub ; r:of {', '.join(f'e:n{k}' for k in range(700))} ." for n in range(3))
    profile = await profile_of(graph, f"{hubs} e:z a e:Late ; r:size 3 .")
    assert prop(known(profile, f"{E}Late"), "size").having == 1
    assert prop(known(profile, f"{E}Hub"), "of").facts == 2100


async def test_few_values_are_all_listed(graph: Open) -> None:
    city = prop(known(await profile_of(graph, SHOP), f"{R}Supplier"), "city")
    assert (city.is_enumeration, [value.value for value in city.values]) == (True, ["Bonn", "Ulm"])


async def test_many_values_are_shown_by_some(graph: Open) -> None:
    text = "".join(f'e:i{n} a r:Item ; rdfs:label "{n}" ; r:text "word {n}" .' for n in range(30))
    item = known(await profile_of(graph, text), f"{R}Item")
    assert (prop(item, "text").is_enumeration, prop(item, "text").distinct) == (False, 30)
    assert len(prop(item, "text").values) == 5


async def test_what_tells_members_apart_is_an_identifier(graph: Open) -> None:
    supplier = known(await profile_of(graph, SHOP), f"{R}Supplier")
    assert supplier.identifiers == (f"{R}code",)


async def test_nodes_without_a_name_are_shown_inside_of_what_leads_to_them(graph: Open) -> None:
    price = prop(known(await profile_of(graph, SHOP), f"{R}Tool"), "price")
    assert [each.relation for each in price.inner] == [f"{R}amount", f"{R}currency"]


async def test_superclasses_without_members_are_classes_too(graph: Open) -> None:
    profile = await profile_of(graph, SHOP)
    assert [each.id for each in profile.subclasses(f"{R}Thing")] == [f"{R}Tool", f"{R}Thing"]
    assert known(profile, f"{R}Thing").members == 0


async def test_classes_that_go_round_in_circles_end(graph: Open) -> None:
    profile = await profile_of(graph, "r:A rdfs:subClassOf r:B . r:B rdfs:subClassOf r:A . e:a a r:A .")
    assert [each.id for each in profile.subclasses(f"{R}B")] == [f"{R}A", f"{R}B"]


async def test_terminology_is_read_and_not_walked(graph: Open) -> None:
    shop = graph(SHOP)
    profile = await shop.profile()
    assert {f"{R}icon", "http://purl.org/dc/terms/creator"} <= {*profile.summary.terminology}
    assert {f"{R}city", f"{R}from"}.isdisjoint(profile.summary.terminology)
    hops = await shop.extend_chain(Chain(Entity(f"{R}Tool")))
    assert not [hop for hop in hops if hop.relation != f"{R}Tool" and "type" not in hop.relation]
    assert [match.how for match in await shop.find_entities("Tool")] == ["class"]


async def test_in_a_graph_of_terms_alone_they_are_walked(graph: Open) -> None:
    text = SHOP.partition("e:s1")[0]
    profile = await profile_of(graph, text)
    assert (profile.summary.terminology, profile.terms) == ((), frozenset())


async def test_without_types_nodes_are_profiled_all_the_same(graph: Open) -> None:
    profile = await profile_of(graph, 'e:a rdfs:label "Ada" ; r:knows e:b . e:b rdfs:label "Ben" .')
    assert [each.id for each in profile.classes] == [UNTYPED]
    assert prop(profile.classes[0], "knows").ends == {UNTYPED: 1}


NAMED = {
    "rdfs:label": ("Report", 'e:i1 <http://purl.org/dc/terms/title> "Report" .'),
    "a name of one's own": (
        "Ada Hill",
        "".join(f'e:i{n} a r:P ; r:fullName "{t}" .' for n, t in enumerate(["Ben", "Ada Hill", "Cy"])),
    ),
    "given and family name": (
        "Ada Hill",
        f'e:i1 a r:P ; <{FOAF}givenName> "Ada" ; <{FOAF}familyName> "Hill" .',
    ),
    "its IRI": ("Ada Hill", 'e:i0 rdfs:label "Ben" ; r:knows e:ada-hill .'),
}


@pytest.mark.parametrize("text", NAMED.values(), ids=NAMED)
async def test_entities_are_found_and_shown_by(graph: Open, text: tuple[str, str]) -> None:
    name, facts = text
    opened = graph(facts)
    found = await opened.find_entities(name)
    assert [(match.entity.name, match.how) for match in found[:1]] == [(name, "exact")]
    assert (await opened.names([found[0].entity.id]))[found[0].entity.id] == name


async def test_a_hash_is_no_name(graph: Open) -> None:
    opened = graph('e:i0 rdfs:label "Ben" ; r:has e:x1f9a66b2ce .')
    assert (await opened.names([f"{E}x1f9a66b2ce"]))[f"{E}x1f9a66b2ce"] is None


async def test_nodes_told_apart_by_a_number_alone_have_no_name(graph: Open) -> None:
    opened = graph(
        'e:a a r:P ; rdfs:label "Ada" . e:visit-of-one a r:V . e:visit-of-1 a r:V . e:visit-of-2 a r:V .'
    )
    assert (await opened.profile()).summary.unnamed == (f"{E}visit-of-",)
    assert set((await opened.names([f"{E}visit-of-1"])).values()) == {None}


async def test_names_in_all_languages_are_counted(graph: Open) -> None:
    profile = await profile_of(
        graph, 'e:a a r:P ; rdfs:label "one"@en , "eins"@de-AT . e:b a r:P ; rdfs:label "b" .'
    )
    assert profile.summary.languages == {"": 1 / 3, "de": 1 / 3, "en": 1 / 3}


async def test_an_iri_with_a_comma_has_its_name(graph: Open) -> None:
    opened = graph('<http://t/e/a,b> rdfs:label "one, two" .')
    assert [match.entity.id for match in await opened.find_entities("one, two")] == ["http://t/e/a,b"]


async def test_a_folder_keeps_the_profile(turtle: Callable[[str], Path], tmp_path: Path) -> None:
    file = turtle(SHOP)
    build_store([file], tmp_path / "store")
    alone, kept = open_graph([file]), open_graph([tmp_path / "store"])
    assert _without_blanks(await kept.profile()) == _without_blanks(await alone.profile())
    assert kept.relations == alone.relations


def _without_blanks(profile: Profile) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(each.id, each.members, tuple(p.relation for p in each.properties)) for each in profile.classes]


async def test_a_damaged_profile_is_told(turtle: Callable[[str], Path], tmp_path: Path) -> None:
    build_store([turtle(SHOP)], tmp_path / "store")
    (open_store(tmp_path / "store").build.path / "profile.json").write_text("{")
    with pytest.raises(Exception, match=r"profile\.json is damaged; build the store again"):
        await open_graph([tmp_path / "store"]).profile()


async def test_some_classes_are_profiled_where_nobody_has_counted(graph: Open) -> None:
    opened = graph(SHOP)
    opened._read_profile = Profile
    profile = await opened.profile([f"{R}Supplier"])
    supplier = known(profile, f"{R}Supplier")
    assert (supplier.members, [each.relation for each in supplier.properties]) == (
        3,
        [f"{R}city", f"{R}code"],
    )


def test_a_summary_adds_to_the_dialect_of_its_kind() -> None:
    from kgqa.kg.dialects import PLAIN

    summary = ProfileSummary(
        naming=(f"{R}title",), terminology=(f"{R}icon",), unnamed=(f"{E}v",), by_iri=True
    )
    dialect = summary.apply(PLAIN)
    assert dialect.labels[-1] == f"{R}title"
    assert dialect.ignores(f"{R}icon") and not PLAIN.ignores(f"{R}icon")
    assert dialect.local_label(f"{E}v1") is None


_locals = st.text(string.ascii_letters + string.digits + "_-.%é", min_size=1, max_size=20)
_texts = st.builds(Literal, st.text(max_size=12))
_facts = st.dictionaries(
    _locals.map(lambda local: E + local.strip("%") + "x"),
    st.dictionaries(
        st.sampled_from([f"{R}name", f"{R}note", f"{R}age"]), st.lists(_texts, min_size=1, max_size=2)
    ),
    max_size=6,
)


@given(_facts)
def test_what_names_a_class_is_a_text_that_most_members_have(
    facts: dict[str, dict[str, Sequence[Term]]],
) -> None:
    for relation in find_naming(facts, []):
        having = [has[relation] for has in facts.values() if relation in has]
        assert len(having) >= 0.9 * len(facts)
        assert all(isinstance(each, Literal) for several in having for each in several)


@given(st.lists(_locals.map(lambda local: E + local.replace("%", "")), unique=True, max_size=6))
def test_how_unnamed_iris_begin_is_how_all_of_them_do(ids: list[str]) -> None:
    begins = find_unnamed(ids)
    if begins:
        assert all(id.startswith(begins) for id in ids) and not re.search(r"[/#]$", begins)


@given(_locals)
def test_what_can_be_read_has_letters(local: str) -> None:
    if is_readable(local):
        assert sum(map(str.isalpha, local)) > sum(map(str.isdigit, local))
