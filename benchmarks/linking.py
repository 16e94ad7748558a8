"""How often exactly the topics of a question are found where none is given, for docs/linking.md.

Questions are asked as they are written and in lower case, of the embedded graph and of Oxigraph's server,
by the way that the node `link` goes: mentions, then what their relations say. *Named* are the questions
whose gold topics all have a name in the graph: the others cannot be linked exactly. *Apart* compares sets
without topics that have no name, and without classes, which are conditions on answers here. Nothing was
fitted on test parts. Needs the data folder (KGQA_DATA).

    python -P benchmarks/linking.py [--limit 60] [--part test] [--embedded]
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from kgqa.benchmarks._runs import DOCS, drawn, put
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import Question
from kgqa.kg.dialects import dialect_named
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.priors.encoder import CachedEncoder, Vectors, open_encoder
from kgqa.retrieval.topics import rank_meanings
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import oxigraph

SETS = {
    "WebQSP": ("freebase/freebase_grasp_slice", ["freebase/webqsp_grasp_slice"]),
    "CWQ": ("freebase/freebase_grasp_slice", ["freebase/cwq_grasp_slice"]),
    "QALD-10": ("wikidata/wikidata_slice", ["wikidata/qald10_en_grasp_slice"]),
    "WorldCup": ("worldcup/wc2014", ["worldcup/wc-p1", "worldcup/wc-p2", "worldcup/wc-c"]),
    "MetaQA": ("metaqa/metaqa", [f"metaqa/metaqa-{hops}hop-test-sample" for hops in (1, 2, 3)]),
}
"""The graph and the questions of each."""

LIMIT = 150  # questions of a file, in the table of the page

HEAD = ("questions", "n", "exact", "lower case", "endpoint", "lower case", "named", "exact of these", "apart")


@dataclass(frozen=True)
class Counts:
    """Questions that were linked exactly, those whose topics have names, exact ones of these, and apart."""

    exact: int
    named: int
    exact_named: int
    apart: int


async def count_exact(graph: SparqlGraph, questions: Sequence[Question], lower: bool) -> Counts:
    """Link questions, and compare what is found with their topics."""
    encoder = CachedEncoder(open_encoder)

    async def encode(texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(encoder.encode, texts)

    ids = [topic.id for question in questions for topic in question.topics if topic.id]
    names, classes = await graph.names(ids), await find_classes(graph, ids)
    exact = named = exact_named = apart = 0
    for question in questions:
        text = question.text.lower() if lower else question.text
        mentions = await rank_meanings(text, await graph.link(text), encode)
        gold = {topic.id for topic in question.topics}
        found = {mention.matches[0].entity.id for mention in mentions}
        right = found == gold
        known = all(names.get(id or "") for id in gold)
        exact, named, exact_named = exact + right, named + known, exact_named + (right and known)
        apart += found - classes == {id for id in gold - classes if names.get(id or "")}
    return Counts(exact, named, exact_named, apart)


async def find_classes(graph: SparqlGraph, ids: Sequence[str]) -> set[str | None]:
    """Return those that others are of, by a relation to types."""
    types = dialect_named(graph.dialect).types
    chains = [Chain(Entity(id), (Hop(type, False),)) for id in dict.fromkeys(ids) for type in types]
    visits = await graph.visit_chains(chains, hops=False, sample=1)
    return {chain.topic.id for chain, visit in zip(chains, visits, strict=True) if len(visit.ends)}


def questions_of(files: Sequence[str], part: str, limit: int | None) -> list[Question]:
    """Return the questions of a part that have topics, at most so many of each file."""
    found = []
    for file in files:
        every = load(DATA / f"{file}.jsonl.gz").questions
        of_part = (each for each in every if part in ("all", *each.splits.values()))
        found += [each for each in of_part if each.topics][:limit]
    return found


def row(name: str, part: str, limit: int | None, embedded: bool) -> list[str]:
    """Link the questions of a set everywhere."""
    source, files = SETS[name]
    path, questions = DATA / f"{source}.nt.gz", questions_of(files, part, limit)
    with ExitStack() as servers:
        sources: list[str | Path] = [path]
        if not embedded and oxigraph.missing() is None:
            folder = servers.enter_context(tempfile.TemporaryDirectory())
            sources.append(servers.enter_context(oxigraph.serving(Path(folder), [path])))
        counts = [
            asyncio.run(count_exact(open_graph([each]), questions, lower))
            for each in sources
            for lower in (False, True)
        ]
    shares = [f"{100 * each.exact / len(questions):.1f}" for each in counts]
    shares += ["–"] * (4 - len(shares))
    of_named = f"{100 * counts[0].exact_named / max(1, counts[0].named):.1f}"
    apart = f"{100 * counts[0].apart / len(questions):.1f}"
    return [name, str(len(questions)), *shares, str(counts[0].named), of_named, apart]


def main() -> None:
    """Measure all sets, and draw the table of the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions of a file at most")
    parser.add_argument("--part", default="all", help="the part of the questions: train, test or all")
    parser.add_argument("--embedded", action="store_true", help="leave out the endpoint")
    given = parser.parse_args()
    rows = [row(name, given.part, given.limit, given.embedded) for name in SETS]
    table = drawn(HEAD, rows)
    Console().print(table, markup=False)
    if given.limit == LIMIT and given.part == "all" and not given.embedded:
        put(DOCS / "linking.md", {"linking": table})


if __name__ == "__main__":
    main()
