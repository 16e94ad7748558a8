"""The sample knowledge graph and its questions.

The files are read by name; nothing here needs the source packages:

    >>> SAMPLE_GRAPH.name, SAMPLE_QUESTIONS.name
    ('sample.nt.gz', 'questions.jsonl.gz')

``make sample`` builds them anew in a checkout of the repository. ``README.md`` beside this file
names every source with its licence and lists the relations.
"""

from pathlib import Path

SAMPLE_NAME = "sample"  # what the graph that comes with kgqa is called wherever a graph is named

SAMPLE_GRAPH: Path = Path(__file__).with_name("sample.nt.gz")
"""Gzipped N-Triples: countries, cities, airports, languages, currencies, elements."""

SAMPLE_QUESTIONS: Path = Path(__file__).with_name("questions.jsonl.gz")
"""Gzipped JSON lines: questions about the sample graph, with answers and gold paths."""

CONDITION_QUESTIONS: Path = Path(__file__).with_name("conditions.jsonl.gz")
"""Gzipped JSON lines: questions about it with conditions on values, with their answer queries."""

UNANSWERABLE_QUESTIONS: Path = Path(__file__).with_name("unanswerable.jsonl.gz")
"""Gzipped JSON lines: questions that it cannot answer."""

QUESTIONS_WITHOUT_TOPIC: Path = Path(__file__).with_name("without_topic.jsonl.gz")
"""Gzipped JSON lines: questions about it that name no topic, with their answer queries."""

__all__ = [
    "CONDITION_QUESTIONS",
    "QUESTIONS_WITHOUT_TOPIC",
    "SAMPLE_GRAPH",
    "SAMPLE_NAME",
    "SAMPLE_QUESTIONS",
    "UNANSWERABLE_QUESTIONS",
]
