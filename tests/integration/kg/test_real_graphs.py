"""The gold paths of public question files, replayed on their graphs."""

import gzip
import json
import random
import time

import pytest

from kgqa.kg.dialects import FB, FREEBASE
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support.cases import public

MOST = 1_500
"""Questions per file, a fixed random choice, so that the suite stays quick."""


def questions(data, name, most=MOST):
    with gzip.open(data / f"{name}.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    return rows if len(rows) <= most else random.Random(1).sample(rows, most)


def chain(topic, path, relations):
    return Chain(
        Entity(topic), tuple(Hop(relations + hop.lstrip("^"), not hop.startswith("^")) for hop in path)
    )


async def ends(graph, topic, path, relations, returning=True):
    page = await graph.follow_chain(chain(topic, path, relations))
    assert not page.truncated
    return {found.term.id for found in page if returning or not found.returning}


@pytest.mark.parametrize("name", public("pq-2h", "pq-3h", "pql-2h"))
async def test_pathquestion_gold_paths(data, name):
    graph = open_graph([data / "pathquestion" / f"{name}.nt.gz"])
    for row in questions(data, f"pathquestion/{name}"):
        found = await ends(
            graph, row["topic_entities"][0]["id"], row["gold_path"], "http://pathquestion.org/r/"
        )
        assert found == {answer["id"] for answer in row["answers"]}, row["id"]


@pytest.mark.parametrize("name", public("wc-p1", "wc-p2", "wc-c"))
async def test_worldcup_gold_paths(data, name):
    graph = open_graph([data / "worldcup" / "wc2014.nt.gz"])
    for row in questions(data, f"worldcup/{name}"):
        branches = [
            await ends(graph, branch["topic"], branch["path"], "http://worldcup2014.org/r/")
            for branch in row["gold_paths"]
        ]
        assert set.intersection(*branches) == {answer["id"] for answer in row["answers"]}, row["id"]


@pytest.mark.parametrize("hops", public(1, 2, 3))
async def test_metaqa_gold_paths(data, metaqa, hops):
    for row in questions(data, f"metaqa/metaqa-{hops}hop-train"):
        topic, gold = row["topic_entities"][0]["id"], {answer["id"] for answer in row["answers"]}
        found = await ends(metaqa, topic, row["gold_path"], "http://metaqa.org/r/", returning=False)
        if row["derivable"].startswith("exact"):
            assert found == gold, row["id"]
        elif row["derivable"] == "superset":
            assert found >= gold, row["id"]


async def test_metaqa_paths_can_be_traced(data, metaqa):
    for row in questions(data, "metaqa/metaqa-3hop-train", 100):
        walked = chain(row["topic_entities"][0]["id"], row["gold_path"], "http://metaqa.org/r/")
        wanted = [Entity(answer["id"]) for answer in row["answers"]]
        for path in await metaqa.trace_chain(walked, wanted):
            assert [step.relation for step in path] == [hop.relation for hop in walked.hops]


@pytest.mark.parametrize(
    ("graph", "name", "least"),
    public(
        ("metaqa/metaqa", "metaqa/metaqa-1hop-test-sample", 0.97),
        ("metaqa/metaqa", "metaqa/metaqa-2hop-test-sample", 0.97),
        ("metaqa/metaqa", "metaqa/metaqa-3hop-test-sample", 0.97),
        ("pathquestion/pq-2h", "pathquestion/pq-2h", 0.97),
        ("pathquestion/pq-3h", "pathquestion/pq-3h", 0.97),
        ("worldcup/wc2014", "worldcup/wc-c", 0.97),
    ),
)
async def test_questions_are_linked_to_their_topics(data, metaqa, graph, name, least):
    opened = metaqa if graph == "metaqa/metaqa" else open_graph([data / f"{graph}.nt.gz"])
    rows = questions(data, name, 500)
    right = 0
    for row in rows:
        found = {mention.matches[0].entity.id for mention in await opened.link(row["question"])}
        right += found == {topic["id"] for topic in row["topic_entities"]}
    assert right / len(rows) >= least


HUBS = (
    ("Drama", "^has_genre", "starred_actors", "^starred_actors"),
    ("Drama", "^has_genre", "has_genre", "^has_genre"),
    ("2008", "^release_year", "has_genre", "^has_genre"),
    ("English", "^in_language", "release_year", "^release_year"),
)


@pytest.mark.parametrize("hub", public(*((hub,) for hub in HUBS)))
async def test_chains_through_hubs_do_not_blow_up(metaqa, hub):
    start = time.monotonic()
    page = await metaqa.follow_chain(chain(f"http://metaqa.org/e/{hub[0]}", hub[1:], "http://metaqa.org/r/"))
    await metaqa.extend_chain(chain(f"http://metaqa.org/e/{hub[0]}", hub[1:], "http://metaqa.org/r/"))
    assert len(page) > 10_000
    assert time.monotonic() - start < 15


async def test_a_chain_held_to_many_entities_is_quick(metaqa):
    films = chain("http://metaqa.org/e/Drama", ["^has_genre"], "http://metaqa.org/r/")
    held = films.constrained_to(found.term for found in (await metaqa.follow_chain(films)).items[:500])
    actors = held.then(Hop("http://metaqa.org/r/starred_actors"))
    start = time.monotonic()
    found = [candidate.term for candidate in await metaqa.follow_chain(actors)]
    assert Hop("http://metaqa.org/r/starred_actors", False) in (await metaqa.extend_chain(actors)).items
    paths = await metaqa.trace_chain(actors, found[:50])
    assert time.monotonic() - start < 2
    assert {path[0].head for path in paths} <= set(held.constraints[0].entities)


def test_no_relation_of_a_freebase_gold_path_is_ignored(data):
    names = [f"freebase/{name}" for name in ("webqsp_slice_union", "cwq_slice_union", "grailqa_slice")]
    names += [f"freebase/{name}" for name in ("webqsp_grasp_slice", "cwq_grasp_slice")]
    used = set()
    for name in [*names, "train/webqsp_train", "train/cwq_dev"]:
        for row in questions(data, name, 10_000):
            for path in (row["gold_paths"] or {}).values():
                used |= {hop.lstrip("^") for hop in path}
    assert {relation for relation in used if FREEBASE.ignores(FB + relation)} <= {"common.topic.alias"}
