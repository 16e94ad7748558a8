"""Reasoning paths: a chain with the node that each hop leads to."""

import pytest

from kgqa.kg.terms import Chain, Entity, Hop, Literal, Path, Triple

ULM, ADA, MEDIATOR = Entity("http://x/ulm", "Ulm"), Entity("http://x/ada", "Ada"), Entity("_:m")
BORN_IN, WED, YEAR = Hop("http://x/born_in"), Hop("http://x/wed"), Hop("http://x/year")
PATH = Path(ULM).then(BORN_IN.inverse, ADA).then(WED, MEDIATOR).then(YEAR, Literal("1835"))


def test_a_path_without_steps_is_its_topic() -> None:
    path = Path(ULM)
    assert (path.end, path.nodes, path.triples) == (ULM, (ULM,), ())
    assert path.chain == Chain(ULM)
    assert str(path) == "Ulm"


def test_a_path_ends_where_its_last_hop_leads() -> None:
    assert PATH.end == Literal("1835")
    assert PATH.nodes == (ULM, ADA, MEDIATOR, Literal("1835"))


def test_going_on_leaves_the_path_as_it_is() -> None:
    start = Path(ULM)
    longer = start.then(BORN_IN.inverse, ADA)
    assert (start.steps, longer.steps) == ((), ((BORN_IN.inverse, ADA),))
    assert longer.topic == ULM


def test_the_chain_of_a_path_leaves_its_nodes_open() -> None:
    assert PATH.chain == Chain(ULM, (BORN_IN.inverse, WED, YEAR))
    assert PATH.chain.constraints == ()


def test_facts_are_the_way_the_graph_has_them() -> None:
    assert PATH.triples == (
        Triple(ADA, BORN_IN.relation, ULM),
        Triple(ADA, WED.relation, MEDIATOR),
        Triple(MEDIATOR, YEAR.relation, Literal("1835")),
    )


def test_facts_keep_names() -> None:
    first = PATH.triples[0]
    assert isinstance(first.tail, Entity)
    assert (first.head.name, first.tail.name) == ("Ada", "Ulm")


def test_nothing_goes_on_from_a_literal() -> None:
    with pytest.raises(ValueError, match="not an entity to go on from: '1835'"):
        PATH.then(YEAR.inverse, ADA)


def test_a_literal_is_not_the_head_of_a_fact() -> None:
    path = Path(ULM).then(YEAR.inverse, Literal("1835"))
    with pytest.raises(ValueError, match="not an entity to be the head of a fact: '1835'"):
        _ = path.triples


def test_paths_are_equal_by_ids_whatever_the_names() -> None:
    renamed = Path(Entity(ULM.id)).then(BORN_IN.inverse, Entity(ADA.id, "Ada Lovelace"))
    assert renamed == Path(ULM).then(BORN_IN.inverse, ADA)
    assert len({renamed, Path(ULM).then(BORN_IN.inverse, ADA)}) == 1


def test_paths_by_different_nodes_differ() -> None:
    assert Path(ULM).then(WED, ADA) != Path(ULM).then(WED, MEDIATOR)
    assert Path(ULM).then(WED, ADA) != Path(ULM).then(WED.inverse, ADA)


def test_paths_have_an_order() -> None:
    short, long = Path(ULM), Path(ULM).then(WED, ADA)
    assert sorted([long, Path(ADA), short]) == [Path(ADA), short, long]


def test_a_path_is_drawn_with_ids_where_there_are_no_names() -> None:
    assert str(PATH) == "Ulm <-born_in- Ada -wed-> _:m -year-> 1835"
