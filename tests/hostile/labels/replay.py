"""Holds records against the files of the graph that they were made on: by rdflib alone, by no code of kgqa.

python replay.py records.jsonl graph.nt.gz ...      # prints what is wrong, a line for each fault
"""

import gzip
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import rdflib

rdflib.NORMALIZE_LITERALS = False  # a record has a value as the graph writes it

FROM_GRAPH = {"grounded", "grounded_inference", "grounded_unverified"}
NO_PATHS = {"draft", "sparql_qa"}
"""Whose model has written the query: there is nothing that the search has followed."""

MAX_TRACED = 50  # answers whose facts a record carries at least
ONE_ROW = re.compile(r"\s*(?:PREFIX\s+\S*\s+<[^>]*>\s*)*(?:ASK\b|SELECT\s*\(\s*COUNT\b)", re.IGNORECASE)
COUNT = re.compile(r"\bSELECT\s*\(\s*COUNT\b", re.IGNORECASE)
CUT = re.compile(r"\b(?:LIMIT|OFFSET)\s+\d", re.IGNORECASE)
ASKS_A_NUMBER = re.compile(r"\bhow\b|\bnumber|\bcount|\btotal|\bamount", re.IGNORECASE)
HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)

Node = Any  # of rdflib


def load(files: Iterable[Path]) -> rdflib.Graph:
    """Read N-Triples or Turtle, each also gzipped."""
    graph = rdflib.Graph()
    for file in files:
        text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        graph.parse(data=text, format="nt" if ".nt" in file.name else "turtle")
    return graph


def faults(record: Mapping[str, Any], graph: rdflib.Graph) -> list[str]:
    """Return what is wrong with what a record claims of its answers."""
    return list(_faults(record, graph))


def _faults(record: Mapping[str, Any], graph: rdflib.Graph) -> Iterator[str]:
    outcome, query = record["outcome"], record["query"]
    ids = [answer["id"] for answer in record["answers"]]
    if len(ids) != len({*ids}) and outcome in FROM_GRAPH:
        yield "an answer is listed twice"
    if query is not None and not _are_same(run(query, graph), ids):
        yield "the query gives other answers"
    if outcome == "grounded":
        yield from _undecided(record)
    if outcome in FROM_GRAPH:
        for fact in record["evidence"]:
            if not any(_is_node(o, fact["tail"]["id"]) for o in _objects(graph, fact)):
                yield f"no such fact: {fact}"
        if record["method"] not in NO_PATHS:
            yield from _unproved(record, graph)


def _undecided(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what nobody has decided of a record that claims that the graph has."""
    query, question, answers = record["query"], record["question"], record["answers"]
    if query is None:
        yield "grounded without a query"
        return
    if not answers:
        yield "grounded without an answer"
    if any(each["by"] != "graph" for each in record["conditions"]):
        yield "a condition that the graph has not decided"
    for topic in record["topics"]:
        if f"<{topic['id']}>" not in query and not _is_in_prefixed(topic["id"], query):
            yield f"a topic is no part of the query: {topic['name']}"
    told = {topic["id"] for topic in record["topics"]}
    for answer in answers:
        if answer["id"] not in told and f"<{answer['id']}>" in query:
            yield f"an answer stands in the query: {answer['name']}"
    if CUT.search(query):
        yield "the query is cut"
    if COUNT.search(query) and not ASKS_A_NUMBER.search(question):
        yield "nobody asks for a number"
    if record["method"] not in NO_PATHS:
        met = {step[side]["id"] for path in record["paths"] for step in path for side in ("head", "tail")}
        parts = " ".join(each["query"] or "" for each in record["conditions"])
        topics = [topic for topic in record["topics"] if topic["id"] not in met]
        lacking = [topic["name"] for topic in topics if topic["id"] not in parts]
        if lacking or not record["paths"]:
            yield f"topics are on no path: {lacking}"
    numbers = all(re.fullmatch(r"[-+]?[\d.]+", answer["id"]) for answer in answers)
    if HOW_MANY.search(question) and not numbers:
        yield "nothing is counted"


def _unproved(record: Mapping[str, Any], graph: rdflib.Graph) -> Iterator[str]:
    """Yield answers that no path leads to, paths that begin elsewhere, and facts that are missing."""
    topics = {topic["id"] for topic in record["topics"]} | {None}
    ends: set[Node] = set()  # a path may go on from the answer, to what is asked of it
    for path in record["paths"]:
        found = follow(path, graph)
        ends.update(*(follow(path[:size], graph) for size in range(1, len(path))), found)
        if not found:
            yield f"a path leads nowhere: {path}"
        if path and path[0]["head"]["id"] not in topics and not _is_any(path[0], record):
            yield f"a path begins at no topic: {path[0]['head']}"
    if not record["answers"] or (record["query"] and ONE_ROW.match(record["query"])):
        return
    if record["answers"][0]["id"] in ("true", "false") or _is_count(record):
        return
    texts = {text for end in ends for text in _texts(end)}
    lacking = [answer["id"] for answer in record["answers"] if answer["id"] not in texts]
    if lacking:
        yield f"{len(lacking)} of {len(record['answers'])} answers are on no path: {lacking[:3]}"
    met = {each["id"] for fact in record["evidence"] for each in (fact["head"], fact["tail"])}
    untold = [answer["id"] for answer in record["answers"][:MAX_TRACED] if answer["id"] not in met]
    ended = record["stopped_by"] or any("failure" in each or "evidence" in each for each in record["trace"])
    if untold and not ended:
        yield f"{len(untold)} answers have no facts: {untold[:3]}"


def _is_any(step: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Return whether a chain sets out from a class, or from anything: a node without a name in the query."""
    if step["relation"] == str(rdflib.RDF.type) and not step["forward"]:
        return True
    return f"[] <{step['relation']}>" in (record["query"] or "")


def _is_count(record: Mapping[str, Any]) -> bool:
    """Return whether the answer is a number that nobody has proved, and that counts something."""
    counted = record["query"] is None and len(record["answers"]) == 1
    return counted and record["answers"][0]["id"].isdecimal()


def run(query: str, graph: rdflib.Graph) -> list[Node]:
    """Return the rows of a query of one column, or whether there are any."""
    found = graph.query(query)
    if found.type == "ASK":
        return [rdflib.Literal(str(bool(found.askAnswer)).lower())]
    return [row[0] for row in found]


def follow(path: Sequence[Mapping[str, Any]], graph: rdflib.Graph) -> set[Node]:
    """Return where a record's path leads: by triples of the graph, by way of the nodes that it names."""
    nodes: set[Node] | None = None
    for step in path:
        relation = rdflib.URIRef(step["relation"])
        if nodes is None:
            start = step["head"]["id"]
            nodes = {rdflib.URIRef(start)} if start else set(_anything(graph, relation, step["forward"]))
        ends = (
            graph.objects(node, relation) if step["forward"] else graph.subjects(relation, node)
            for node in nodes
        )
        nodes = {end for each in ends for end in each if _is_node(end, step["tail"]["id"])}
    return nodes or set()


def _anything(graph: rdflib.Graph, relation: Node, forward: bool) -> Iterator[Node]:
    return (s if forward else o for s, o in graph.subject_objects(relation))


def _objects(graph: rdflib.Graph, fact: Mapping[str, Any]) -> Iterator[Node]:
    return graph.objects(rdflib.URIRef(fact["head"]["id"]), rdflib.URIRef(fact["relation"]))


def _is_node(node: Node, id: str | None) -> bool:
    return id is None or id in _texts(node)


def _texts(node: Node) -> set[str]:
    """Return how a node may be written: a number or a time in more than one way."""
    texts = {str(node)}
    if isinstance(node, rdflib.Literal) and node.datatype is not None:
        value = node.toPython()
        texts |= {str(value), str(rdflib.Literal(value)), str(node).replace("+00:00", "Z")}
    return texts


def _are_same(rows: Sequence[Node], ids: Sequence[str | None]) -> bool:
    """Return whether rows are the answers, all of them and no other."""
    written = [_texts(row) for row in rows]
    told = {text for texts in written for text in texts}
    return {*ids} <= told and all(texts & {*ids} for texts in written)


def _is_in_prefixed(id: str | None, query: str) -> bool:
    """Return whether a query names a node by a prefix."""
    for prefix, start in re.findall(r"PREFIX\s+(\S*:)\s*<([^>]*)>", query, re.IGNORECASE):
        if id and id.startswith(start) and f"{prefix}{id.removeprefix(start)}" in query:
            return True
    return False


def main() -> None:
    """Check a file of records, one JSON object a line."""
    records, *files = map(Path, sys.argv[1:])
    graph = load(files)
    with records.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            for fault in faults(json.loads(line), graph):
                sys.stdout.write(f"record {number}: {fault}\n")


if __name__ == "__main__":
    main()
