"""The shipped sample graph and its questions: complete, consistent, and what a build gives."""

import doctest
import gzip
import json
from collections import Counter, defaultdict
from functools import cache
from typing import Any

import pytest
from pyoxigraph import NamedNode, RdfFormat, Store

from kgqa.data import (
    SAMPLE_GRAPH,
    SAMPLE_QUESTIONS,
)
from kgqa.scripts.sample import graph
from kgqa.scripts.sample.facts import people
from kgqa.scripts.sample.graph import BASE, RDF_TYPE, RDFS_LABEL, SKOS_ALT_LABEL
from kgqa.scripts.sample.questions import draft

NAMING = {RDF_TYPE, RDFS_LABEL, SKOS_ALT_LABEL}
MEDIATOR_RELATIONS = (
    "currency_usage",
    "decay_record",
    "historical_record",
    "holiday_observance",
    "language_usage",
)


@pytest.fixture(scope="module")
def store() -> Store:
    graph = Store()
    graph.bulk_load(gzip.decompress(SAMPLE_GRAPH.read_bytes()), format=RdfFormat.N_TRIPLES)
    return graph


@pytest.fixture(scope="module")
def mediators(store: Store) -> set[NamedNode]:
    nodes = {quad.object for quad in store if isinstance(quad.object, NamedNode)}
    return {node for node in nodes if node.value.startswith(f"{BASE}n/")}


@cache
def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines()]


def ids(question):
    return {answer["id"] for answer in question["answers"]}


def gold_paths(question):
    single = [{"topic": question["topic_entities"][0]["id"], "path": question.get("gold_path")}]
    return question.get("gold_paths", single)


def walk(store, topic, path):
    frontier = {NamedNode(topic)}
    for hop in path:
        relation = NamedNode(f"{BASE}r/{hop.lstrip('^')}")
        if hop.startswith("^"):
            frontier = {q.subject for n in frontier for q in store.quads_for_pattern(None, relation, n)}
        else:
            frontier = {q.object for n in frontier for q in store.quads_for_pattern(n, relation, None)}
    return {node.value for node in frontier}


def ends(store, question):
    return [walk(store, gold["topic"], gold["path"]) for gold in gold_paths(question)]


def of_kind(*kinds):
    return [question for question in questions() if question["kind"] in kinds]


@pytest.mark.parametrize("module", [graph, people, draft])
def test_the_examples_of_the_builder_run(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed


def test_the_graph_is_large_and_small_enough(store):
    relations = Counter(quad.predicate.value for quad in store if quad.predicate.value not in NAMING)
    assert sum(relations.values()) >= 100_000
    assert len(relations) >= 30
    assert SAMPLE_GRAPH.stat().st_size < 4_000_000


def test_the_readme_states_the_true_numbers(store, mediators):
    readme = SAMPLE_GRAPH.with_name("README.md").read_text(encoding="utf-8")
    splits = Counter(question["split"] for question in questions())
    assert f"| triples | {len(store):,}," in readme
    assert f"| {len(mediators):,} unnamed nodes" in readme
    assert (
        f"| {len(questions())} ({splits['train']} to learn from, {splits['test']} to test with) |" in readme
    )


def test_the_file_is_canonical():
    lines = gzip.decompress(SAMPLE_GRAPH.read_bytes()).splitlines()
    assert lines == sorted(set(lines))


def test_mediators_have_no_name_and_no_class(store, mediators):
    for node in mediators:
        assert NAMING.isdisjoint(q.predicate.value for q in store.quads_for_pattern(node, None, None))


@pytest.mark.parametrize("relation", MEDIATOR_RELATIONS)
def test_there_are_hundreds_of_each_kind_of_mediator(store, mediators, relation):
    records = {q.object for q in store.quads_for_pattern(None, NamedNode(f"{BASE}r/{relation}"), None)}
    assert len(records) >= 400
    assert records <= mediators


def test_every_mediator_belongs_to_one_owner(store, mediators):
    owners = Counter(q.object for q in store if q.object in mediators)
    assert set(owners.values()) == {1}


def test_every_other_node_has_one_english_name(store, mediators):
    label = NamedNode(RDFS_LABEL)
    nodes = {quad.subject for quad in store} - mediators
    for node in nodes:
        names = [q.object for q in store.quads_for_pattern(node, label, None) if q.object.language == "en"]
        assert len(names) == 1, node


def test_no_relation_leads_to_a_node_without_facts(store):
    objects = {quad.object for quad in store if isinstance(quad.object, NamedNode)}
    assert objects <= {quad.subject for quad in store}


def test_names_come_in_several_languages(store):
    kenya = store.quads_for_pattern(NamedNode(f"{BASE}e/Kenya"), NamedNode(RDFS_LABEL), None)
    assert {q.object.language for q in kenya} >= {"en", "de", "fr", "ja"}


@pytest.mark.parametrize(
    ("head", "relation", "tail"),
    [
        ("Kenya", "capital", "Nairobi"),
        ("Kenya", "borders", "Uganda"),
        ("Radium", "discovered_by", "Marie_Curie"),
        ("Carbon-14", "isotope_of", "Carbon"),
        ("Swahili", "written_in_script", "Latin"),
        ("London_Heathrow_Airport", "serves_city", "London"),
    ],
)
def test_well_known_facts(store, head, relation, tail):
    assert f"{BASE}e/{tail}" in walk(store, f"{BASE}e/{head}", [relation])


def test_enough_questions_of_every_kind():
    counts = Counter(question["kind"] for question in questions())
    assert len(questions()) >= 240
    assert counts["chain"] >= 120
    assert counts["intersection"] >= 30
    assert min(counts["count"], counts["superlative"]) >= 20
    assert counts["comparison"] >= 10
    assert {question["hops"] for question in of_kind("chain")} == {1, 2, 3}


def test_ids_and_wordings_are_unique():
    assert len({question["id"] for question in questions()}) == len(questions())
    assert len({question["question"] for question in questions()}) == len(questions())


def test_every_query_gives_the_answers(store):
    for question in questions():
        values = {solution[0].value for solution in store.query(question["sparql"])}
        assert values == ids(question), question["question"]
        assert 1 <= len(values) <= 40


def test_gold_paths_of_chains_and_intersections_give_the_answers(store):
    for question in of_kind("chain", "intersection"):
        assert set.intersection(*ends(store, question)) == ids(question), question["question"]


def test_gold_paths_of_counts_give_the_number(store):
    for question in of_kind("count"):
        assert {str(len(end)) for end in ends(store, question)} == ids(question), question["question"]


def test_gold_paths_of_superlatives_and_comparisons_reach_the_answer(store):
    for question in of_kind("superlative", "comparison"):
        assert ids(question) <= set.union(*ends(store, question)), question["question"]


def test_hops_are_those_of_the_longest_gold_path():
    for question in questions():
        assert question["hops"] == max(len(gold["path"]) for gold in gold_paths(question))


def test_questions_mention_their_topics_by_a_name_of_theirs(store):
    for question in questions():
        for topic in question["topic_entities"]:
            node, text = NamedNode(topic["id"]), question["question"].casefold()
            names = [
                quad.object.value.casefold()
                for predicate in (RDFS_LABEL, SKOS_ALT_LABEL)
                for quad in store.quads_for_pattern(node, NamedNode(predicate), None)
            ]
            assert any(name in text for name in names), question["question"]


def test_about_half_of_each_kind_is_for_testing():
    for kind in ("chain", "intersection", "count", "superlative", "comparison"):
        splits = Counter(question["split"] for question in of_kind(kind))
        assert set(splits) == {"train", "test"}
        assert 0.3 <= splits["test"] / splits.total() <= 0.7


def test_no_paraphrase_crosses_the_split():
    sides = defaultdict(set)
    for question in questions():
        sides[question["sparql"]].add(question["split"])
    assert all(len(split) == 1 for split in sides.values())
    assert len(sides) < len(questions()), "there are paraphrases"
