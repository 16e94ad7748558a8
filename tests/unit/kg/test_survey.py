"""What is counted and listed of a graph when it is loaded."""

import threading

import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.store import survey
from kgqa.kg.store.directory import build_store, open_store

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def triple(one: str, relation: str, other: str) -> str:
    end = other if other.startswith('"') else f"<http://x/{other}>"
    return f"<http://x/{one}> <http://x/{relation}> {end} ."


@pytest.fixture
def built(tmp_path):
    def build(lines, name="g.nt"):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return build_store([tmp_path / name], tmp_path / "store"), tmp_path / "store"

    return build


def mirrored(facts: int) -> list[str]:
    return [
        line for n in range(facts) for line in (triple(f"a{n}", "r", f"b{n}"), triple(f"b{n}", "s", f"a{n}"))
    ]


def test_pairs_are_counted_to_the_last_fact_where_a_sample_shows_them(built) -> None:
    facts, _ = built([*mirrored(5 * survey.FACTS_SAMPLED), triple("a1", "s", "b1")])
    pair = ("http://x/r", "http://x/s")
    assert facts.both_ways == ((*pair, 500), (*pair[::-1], 500))


def test_two_relations_that_hardly_share_a_fact_are_no_pair(built) -> None:
    facts, _ = built([*mirrored(1), *(triple(f"c{n}", each, f"d{n}") for n in range(2_000) for each in "rs")])
    assert facts.both_ways == ()


def test_values_of_a_relation_do_not_hide_what_is_stated_back(built) -> None:
    values = [triple(f"a{n}", "r", f'"{n}"') for n in range(2_000)]
    facts, _ = built([*values, *mirrored(survey.FACTS_SAMPLED)])
    assert len(facts.both_ways) == 2


def test_of_a_hub_that_states_nothing_back_the_other_side_is_looked_at(built) -> None:
    hub = [triple(f"h{n}", "r", "hub") for n in range(300)]
    for suffix in range(20):  # wherever the hub is among the objects of the store
        if built([line.replace("hub", f"hub{suffix}") for line in hub] + mirrored(200))[0].both_ways == ():
            pytest.fail(f"hub{suffix} hid the pair")


async def test_what_is_counted_of_a_folder_is_what_the_file_has(built, tmp_path) -> None:
    lines = [*mirrored(3), triple("a1", "q", '"x"'), f'<http://x/a1> {LABEL} "One, \\"two\\"\\nthree"@en .']
    facts, folder = built([*lines, f'<http://x/r> {LABEL} "relation" .', "_:x <http://x/r> _:y ."])
    stored, loaded = open_graph([folder]), open_graph([tmp_path / "g.nt"])
    assert await stored.info() == await loaded.info()
    assert (facts.entities, facts.named) == (8, 1)
    assert await stored.both_ways() == await loaded.both_ways()
    found = (await stored.find_entities('one "two" three'))[0]
    assert (found.entity.id, found.score) == (
        (await loaded.find_entities("One two three"))[0].entity.id,
        0.97,
    )


def test_a_triple_in_two_named_graphs_counts_twice(built) -> None:
    quad = "<http://x/a> <http://x/r> <http://x/b> <http://x/g{}> ."
    facts, _ = built([quad.format(1), quad.format(2)], "g.nq")
    assert (facts.triples, facts.predicates) == (2, {"http://x/r": 2})


def test_of_a_large_graph_entities_are_not_counted(built, monkeypatch) -> None:
    monkeypatch.setattr(survey, "MAX_TRIPLES_SURVEYED", 5)
    facts, _ = built(mirrored(3))
    assert (facts.entities, facts.triples, len(facts.both_ways)) == (None, 6, 2)


async def test_a_long_name_is_read(built) -> None:
    long = "long " * 100_000
    _, folder = built(
        [f'<http://x/a{n}> {LABEL} "name {n}" .' for n in range(100)] + [f'<http://x/b> {LABEL} "{long}" .']
    )
    graph = open_graph([folder])
    assert (await graph.find_entities("name 57"))[0].entity.id == "http://x/a57"
    assert (await graph.info()).named == 101


def test_names_that_are_not_read_to_the_end_are_written_no_further(built) -> None:
    facts, folder = built([f'<http://x/a{n}> {LABEL} "name {n}" .' for n in range(20_000)])
    stored, before = open_store(folder), threading.active_count()
    names = survey.read_names(stored.store, facts, facts.dialect, ())
    assert next(names)[1].startswith("name ")
    names.close()
    assert threading.active_count() == before


def test_a_store_of_several_files_is_in_one_piece(built, tmp_path) -> None:
    def pieces(folder):
        return len([*open_store(folder).folder.glob("*.sst")])

    _, one = built(mirrored(3))
    for place in range(3):
        (tmp_path / f"{place}.nt").write_text("\n".join([*mirrored(3), triple(f"a{place}", "q", "b")]) + "\n")
    build_store([tmp_path / f"{place}.nt" for place in range(3)], tmp_path / "several")
    assert pieces(tmp_path / "several") == pieces(one)
