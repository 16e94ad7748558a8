"""Whatever entities are called, and whatever is asked for, names are found in time."""

import time

import pytest

from kgqa.kg.dialects import DIALECTS
from kgqa.kg.linking.linker import Linker
from kgqa.kg.linking.name_index import EntityNames, NameIndex
from kgqa.kg.linking.name_table import MAX_BEARERS
from kgqa.kg.naming import MAX_NAME_CHARS, Naming
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Hop
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.graph.graph import BLANKS, HUGE, MISTAKABLE, NAMES, ODD, RELATIONS, E, hostile_graph

IDS = MISTAKABLE[:4]
"""Names that are ids of others, or of nobody."""

LATE = 20.0
"""Seconds of the processor that one look-up never takes; on a slow machine the slowest takes a fourth."""

QUESTIONS = (
    "\u201c" * 30_000,
    "\u2018" * 30_000,
    "'" * 30_000,
    '"a' * 30_000,
    "'A" * 30_000,
    "\u00ab" * 30_000,
    "Who is Ada" + "!" * 30_000,
    "Ada " * 30_000,
    "\u00c4d\u0301a\u0308 " * 10_000,
    " ".join(["\u0416" * 500] * 200),
    "A." * 30_000,
    "\ufdfa" * 10_000,
    "Ada" + "\u0301" * 30_000,
    "the " * 30_000,
)


def test_a_name_that_a_node_gets_from_its_iri_costs_no_look_at_others() -> None:
    naming = Naming(DIALECTS["plain"], [])
    assert naming.local
    assert naming.name(f"{E}Ada_Lovelace", iter(lambda: pytest.fail("labels are looked at"), None)) == (
        "Ada Lovelace"
    )


FACT = {Hop(f"{E}r"): 1}


def index(called: list[str]) -> NameIndex:
    ids = [f"{E}n{place}" for place in range(len(called))]
    return EntityNames(dict.fromkeys(ids, FACT), dict(zip(ids, called, strict=True)), {}).index()


@pytest.mark.parametrize("alone", [True, False], ids=["among everyday names", "among hostile names"])
def test_no_text_takes_long_to_look_up(alone: bool, tried: Tried) -> None:
    names = index(["Ada", "Ben", "Ulm"] if alone else list(NAMES))
    linker, texts = Linker(names, RELATIONS), (*QUESTIONS, *NAMES)
    for text in texts:
        start = time.process_time()
        names.find(text)
        linker.link(f"Who knows {text}?")
        assert time.process_time() - start < LATE, text[:40]
    tried(inputs=len(texts))


def test_a_name_of_thousands_is_that_of_the_best_known(tried: Tried) -> None:
    many = 50_000
    ids = [f"{E}n{place:05}" for place in range(many)]
    facts = {id: {Hop(f"{E}r"): 2 if id == ids[777] else 1} for id in ids}
    names = EntityNames(facts, dict.fromkeys(ids, "Ada"), {ids[9]: ["ADA!"]}).index()
    assert [match.entity.id for match in names.find("Ada", 3)] == [ids[777], ids[0], ids[1]]
    [mention] = Linker(names, []).link("Who is Ada?")
    assert (mention.matches[0].entity.id, len(mention.matches)) == (ids[777], MAX_BEARERS)
    assert names.find("ADA!", 2)[0].entity.id == ids[9]
    tried(inputs=many)


def test_names_that_fold_to_one_are_told_apart() -> None:
    spelt = [f"Ada{'!' * (place % 50)}{'?' * (place // 50)}" for place in range(5_000)]
    names = index(spelt)
    for place in (0, 2_500, 4_999):
        assert names.find(spelt[place], 1)[0].entity.id == f"{E}n{place}"


async def test_every_hostile_name_finds_its_entity(
    tmp_path_factory: pytest.TempPathFactory, tried: Tried
) -> None:
    path = tmp_path_factory.mktemp("hostile") / "graph.nt"
    path.write_bytes(hostile_graph())
    graph = open_graph([path])
    lost = []
    for place, name in enumerate(NAMES):
        found = await graph.find_entities(name, 50)
        if name not in BLANKS and f"{E}n{place}" not in {match.entity.id for match in found}:
            lost.append(name)
    assert lost == list(IDS), "what is written like an id is looked up as one"
    for iri in ODD:
        assert [match.entity.id for match in await graph.find_entities(iri)][:1] == [iri]
    tried(inputs=len(NAMES) + len(ODD))


async def test_a_name_is_cut_and_nothing_seen_is_no_name(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("hostile") / "graph.nt"
    path.write_bytes(hostile_graph())
    graph = open_graph([path])
    ids = {name: f"{E}n{place}" for place, name in enumerate(NAMES)}
    names = await graph.names(list(ids.values()))
    assert [names[ids[blank]] for blank in BLANKS] == [None] * len(BLANKS)
    assert names[ids[HUGE[0]]] == "x" * (MAX_NAME_CHARS - 1) + "…"
    assert all(len(name or "") <= MAX_NAME_CHARS for name in names.values())
