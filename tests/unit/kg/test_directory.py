"""Store folders: built whole or not at all, then opened for reading."""

import json

import pytest

from kgqa.kg.errors import KGError, KGMalformed, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.store.directory import build_store
from kgqa.kg.terms import Chain, Entity, Hop

CHAIN = Chain(Entity("http://x/a"), (Hop("http://x/r"),))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "g.ttl"
    path.write_text("<http://x/a> <http://x/r> [], <http://x/b> .")
    return path


async def test_a_store_answers_as_its_files_do(tmp_path, file):
    build_store([file], tmp_path / "store")
    stored, loaded = open_graph([tmp_path / "store"]), open_graph([file])
    assert await stored.follow_chain(CHAIN) == await loaded.follow_chain(CHAIN)
    assert await stored.info() == await loaded.info()
    assert stored.fingerprint == loaded.fingerprint


def test_a_store_can_be_opened_twice(tmp_path, file):
    build_store([file], tmp_path / "store")
    assert open_graph([tmp_path / "store"]).fingerprint == open_graph([str(tmp_path / "store")]).fingerprint


def test_nothing_is_left_beside_a_store(tmp_path, file):
    build_store([file], tmp_path / "store")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.ttl", "store"]


def test_a_failed_build_leaves_nothing(tmp_path, file):
    file.write_text("no RDF")
    with pytest.raises(KGMalformed):
        build_store([file], tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["g.ttl"]


async def test_a_failed_build_keeps_the_store_that_was_there(tmp_path, file):
    build_store([file], tmp_path / "store")
    file.write_text("no RDF")
    with pytest.raises(KGError):
        build_store([file], tmp_path / "store")
    assert len(await open_graph([tmp_path / "store"]).follow_chain(CHAIN)) == 2


async def test_a_store_is_replaced(tmp_path, file):
    build_store([file], tmp_path / "store")
    file.write_text("<http://x/a> <http://x/r> <http://x/c> .")
    build_store([file], tmp_path / "store")
    assert [found.term.id for found in await open_graph([tmp_path / "store"]).follow_chain(CHAIN)] == [
        "http://x/c"
    ]


def test_an_empty_folder_is_taken(tmp_path, file):
    (tmp_path / "store").mkdir()
    build_store([file], tmp_path / "store")
    assert open_graph([tmp_path / "store"])


def test_any_other_folder_is_refused(tmp_path, file):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    for place in (tmp_path / "home", file):
        with pytest.raises(KGUnavailable, match="exists and is no graph store"):
            build_store([file], place)
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 1}', json.dumps({"version": 99})])
def test_damaged_facts(tmp_path, file, text):
    build_store([file], tmp_path / "store")
    (tmp_path / "store" / "kgqa.json").write_text(text)
    with pytest.raises(KGMalformed, match=r"kgqa\.json is damaged|another version"):
        open_graph([tmp_path / "store"])


def test_damaged_store(tmp_path, file):
    build_store([file], tmp_path / "store")
    for path in (tmp_path / "store").glob("build-*/store/*"):
        path.unlink()
    with pytest.raises(KGUnavailable, match="cannot open"):
        open_graph([tmp_path / "store"])


NAMED = """
<http://x/a> <http://x/r> <http://x/b>; <http://www.w3.org/2000/01/rdf-schema#label> "Ada", "Ada L" .
<http://x/b> <http://www.w3.org/2000/01/rdf-schema#label> "Bob"; <http://x/says> "Bob" ;
    <http://www.w3.org/2004/02/skos/core#altLabel> "Rob" .
"""


async def test_only_those_keep_a_name_that_are_told_to(tmp_path, file):
    file.write_text(NAMED)
    build_store([file], tmp_path / "all")
    build_store([file], tmp_path / "some", lambda id, name: id == "http://x/a" and name != "Ada L")
    whole, some = open_graph([tmp_path / "all"]), open_graph([tmp_path / "some"])
    assert await some.names(["http://x/a", "http://x/b"]) == {"http://x/a": "Ada", "http://x/b": None}
    assert [match.entity.id for match in await some.find_entities("Rob") if match.sure] == []
    assert (await whole.info()).triples - (await some.info()).triples == 3
    says = Chain(Entity("http://x/a"), (Hop("http://x/r"), Hop("http://x/says")))
    assert await some.follow_chain(says) == await whole.follow_chain(says)
    assert some.fingerprint != whole.fingerprint
    assert "3 names left out" in (await some.info()).source


def test_a_graph_in_which_nobody_keeps_a_name_is_not_built(tmp_path, file):
    file.write_text(NAMED)
    with pytest.raises(KGUnavailable, match="no entity"):
        build_store([file], tmp_path / "none", lambda id, name: False)
    assert not (tmp_path / "none").exists()


async def test_what_relations_state_both_ways_is_kept(tmp_path, file):
    file.write_text("<http://x/a> <http://x/r> <http://x/b> . <http://x/b> <http://x/s> <http://x/a> .")
    facts = build_store([file], tmp_path / "store")
    assert facts.both_ways and facts.entities == 2
    assert await open_graph([tmp_path / "store"]).both_ways() == await open_graph([file]).both_ways()


def named(mark):
    return (
        f'<http://x/{mark}> <http://www.w3.org/2000/01/rdf-schema#label> "Ada" ; <http://x/says> "{mark}" .\n'
        f"<http://x/{mark}> <http://x/r> <http://x/b> ."
    )


def built_twice(tmp_path, file, *places):
    """Build two stores of the same names and other ids."""
    for mark, place in zip("pq", places, strict=True):
        file.write_text(named(mark))
        build_store([file], tmp_path / place)


async def test_names_are_those_of_the_store_that_was_opened(tmp_path, file):
    file.write_text(named("p"))
    build_store([file], tmp_path / "store")
    graph = open_graph([tmp_path / "store"])
    file.write_text(named("q"))
    build_store([file], tmp_path / "store")
    assert [match.entity.id for match in await graph.find_entities("Ada")] == ["http://x/p"]
    rows = (await graph.select("SELECT ?o { ?s <http://x/says> ?o }")).rows
    assert [row[0].value for row in rows] == ["p"]
    assert [match.entity.id for match in await open_graph([tmp_path / "store"]).find_entities("Ada")] == [
        "http://x/q"
    ]


async def test_names_of_a_store_that_is_open_are_known_wherever_its_folder_went(tmp_path, file):
    built_twice(tmp_path, file, "store", "other")
    graph = open_graph([tmp_path / "store"])
    (tmp_path / "store").rename(tmp_path / "moved")
    (tmp_path / "other").rename(tmp_path / "store")
    assert [match.entity.id for match in await graph.find_entities("Ada")] == ["http://x/p"]
    assert [match.entity.id for match in await open_graph([tmp_path / "store"]).find_entities("Ada")] == [
        "http://x/q"
    ]


async def test_files_of_two_stores_are_refused(tmp_path, file):
    built_twice(tmp_path, file, "one", "two")
    (one,), (two,) = ((tmp_path / name).glob("build-*") for name in ("one", "two"))
    (two / "names.sqlite").replace(one / "names.sqlite")
    with pytest.raises(
        KGMalformed, match="of another store than the triples beside it; build the store again"
    ):
        await open_graph([tmp_path / "one"]).find_entities("Ada")
    (one / "store").rename(tmp_path / "elsewhere")
    (two / "store").rename(one / "store")
    with pytest.raises(KGMalformed, match="files of two builds; build the store again"):
        open_graph([tmp_path / "one"])


def test_a_store_of_a_former_version_is_replaced(tmp_path, file):
    folder = tmp_path / "store"
    (folder / "store").mkdir(parents=True)
    (folder / "names.sqlite").touch()
    (folder / "kgqa.json").write_text('{"version": 4}')
    with pytest.raises(KGMalformed, match="another version of kgqa; build it again"):
        open_graph([folder])
    build_store([file], folder)
    assert open_graph([folder])
    (build,) = folder.glob("build-*")
    assert (folder / "store").resolve() == build / "store"
    assert (folder / "names.sqlite").resolve() == build / "names.sqlite"


def test_what_a_killed_build_left_is_no_store_and_is_built_over(tmp_path, file):
    (tmp_path / "store" / "build-0123456789abcdef").mkdir(parents=True)
    with pytest.raises(KGUnavailable, match="is a folder, but not one that"):
        open_graph([tmp_path / "store"])
    build_store([file], tmp_path / "store")
    assert len(list((tmp_path / "store").glob("build-*"))) == 1
