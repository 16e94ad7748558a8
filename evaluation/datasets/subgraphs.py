"""Graphs that come with questions, as triples of names: RoG's part of Freebase each, and files of facts.

A node is known by its name alone, which is its IRI and its label. What looks like Freebase's id stays such an
id and has no name: a mediator. What looks like a date or a number, and is nowhere the subject of a fact nor a
topic, is a value. RoG's questions and graphs are written once, as ``questions.jsonl`` and ``graphs.sqlite``:
one graph is had in a millisecond, where a row of its Parquet files takes reading a thousand.
"""

import json
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kgqa.evaluation.datasets.format import DatasetError
from kgqa.kg.dialects import FB, RDFS
from kgqa.kg.terms import one_line

QUESTIONS_FILE, GRAPHS_FILE = "questions.jsonl", "graphs.sqlite"
NODES = "https://kgqa.example/name/"
RELATIONS = "https://kgqa.example/relation/"
ROG_COLUMNS = ("id", "question", "answer", "q_entity", "graph")

_MID = re.compile(r"[mg]\.[0-9a-z_]+")
_VALUE = re.compile(r"-?\d{4}(-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?)?)?|-?\d+(\.\d+)?([eE][+-]?\d+)?")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_ROWS_AT_A_TIME = 32  # of a Parquet file: the graph of one is a megabyte
_LEVEL = 1  # of zlib: a tenth of the size, in the least time

Fact = Sequence[str]


class TripleWriter:
    """Writes facts of names as N-Triples.

    Args:
        subjects: Names that are nodes, though they may look like values.
        relations: What begins the IRI of a relation.
        labelled: Whether a name stands as a label, too; without one, underscores of a name mean spaces.
    """

    def __init__(self, subjects: Iterable[str], relations: str, *, labelled: bool) -> None:
        self._nodes = frozenset(subjects)
        self._relations, self._labelled = relations, labelled

    def write(self, facts: Iterable[Fact]) -> bytes:
        """Write the triples of one graph, each once."""
        terms: dict[str, str] = {}
        relations: dict[str, str] = {}
        lines: dict[str, None] = {}
        for subject, relation, object_ in facts:
            for name in (subject, object_):
                if name not in terms:
                    terms[name] = self._term(name, lines)
            if relation not in relations:
                relations[relation] = f"<{self._relations}{quote(relation, safe='.')}>"
            lines[f"{terms[subject]} {relations[relation]} {terms[object_]} ."] = None
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")

    def _term(self, name: str, lines: dict[str, None]) -> str:
        if _MID.fullmatch(name):
            return f"<{FB}{name}>"
        text = f'"{name.translate(_ESCAPES)}"'
        if name not in self._nodes and _VALUE.fullmatch(name):
            return text
        node = f"<{NODES}{quote(name, safe='', errors='replace')}>"
        if self._labelled:
            lines[f"{node} <{RDFS}label> {text} ."] = None
        return node


def write_facts(source: Path, target: Path) -> None:
    """Write a file of facts, one a line, its parts apart by tabs or by bars (MetaQA), as N-Triples.

    Where they are apart by tabs (PathQuestion, WorldCup2014), names have underscores for spaces.

    ``r_inverse`` is r the other way round, as WorldCup2014 has it.
    """
    facts: list[Fact] = []
    text = source.read_text(encoding="utf-8")
    separator = "\t" if "\t" in text else "|"
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        parts = [part.strip() for part in line.split(separator)]
        if len(parts) != 3 or not all(parts):
            raise DatasetError(f"{source.name}, line {number}: no fact of three parts; fetch the file again")
        subject, relation, object_ = parts
        plain = relation.removesuffix("_inverse")
        facts.append((subject, relation, object_) if plain == relation else (object_, plain, subject))
    subjects = {fact[0] for fact in facts}
    target.write_bytes(TripleWriter(subjects, RELATIONS, labelled=separator == "|").write(facts))


def write_rog(files: Sequence[Path], folder: Path, watch: Callable[[int], None] | None = None) -> None:
    """Write questions and graphs of RoG's Parquet files; ``watch`` is told how many questions are written.

    Raises:
        DatasetError: if a file is not as RoG has it.
    """
    subjects = _rog_subjects(files)
    writer = TripleWriter(subjects, FB, labelled=True)
    with (
        closing(sqlite3.connect(folder / GRAPHS_FILE)) as graphs,
        (folder / QUESTIONS_FILE).open("w", encoding="utf-8", errors="replace") as questions,
    ):
        graphs.execute("CREATE TABLE graphs (id TEXT PRIMARY KEY, triples BLOB NOT NULL)")
        for number, row in enumerate(_rog_rows(files, ROG_COLUMNS), 1):
            questions.write(json.dumps(_rog_record(row), ensure_ascii=False) + "\n")
            triples = zlib.compress(writer.write(row["graph"] or ()), _LEVEL)
            try:
                graphs.execute("INSERT INTO graphs VALUES (?, ?)", (row["id"], triples))
            except sqlite3.IntegrityError:
                raise DatasetError(f"the question {one_line(str(row['id']), 80)} is there twice") from None
            if watch:
                watch(number)
        graphs.commit()


def _rog_record(row: dict[str, Any]) -> dict[str, Any]:
    """Make a record of the project's own format of a row; names stand for themselves."""
    return {
        "id": row["id"],
        "question": row["question"],
        "topic_entities": [_rog_item(name) for name in row["q_entity"] or () if name],
        "answers": [_rog_item(name) for name in row["answer"] or () if name],
    }


def _rog_item(name: str) -> dict[str, str | None]:
    return {"id": name if _MID.fullmatch(name) else None, "name": name}


def _rog_subjects(files: Sequence[Path]) -> set[str]:
    """Return what looks like a value and is a node: the subject of a fact, or a topic."""
    found: set[str] = set()
    for row in _rog_rows(files, ("q_entity", "graph")):
        names = {fact[0] for fact in row["graph"] or ()}.union(row["q_entity"] or ())
        found.update(name for name in names if _VALUE.fullmatch(name))
    return found


def _rog_rows(files: Sequence[Path], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise DatasetError("Parquet files need: pip install 'kgqa[hub]'") from None
    for path in files:
        try:
            with parquet.ParquetFile(path) as file:
                if missing := set(columns) - set(file.schema_arrow.names):
                    raise DatasetError(f"{path.name} has no column {sorted(missing)[0]}; is it one of RoG?")
                for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=list(columns)):
                    for row in batch.to_pylist():
                        if any(len(fact) != 3 for fact in row["graph"] or ()):
                            raise DatasetError(f"{path.name}: a fact has not three parts; is it one of RoG?")
                        yield row
        except (pa.ArrowException, OSError) as error:
            raise DatasetError(
                f"{path.name} cannot be read: {one_line(str(error), 200)} Is it what is published? "
                "kgqa data get --update asks the publisher again, --from takes it from a folder"
            ) from None


def read_graph(path: Path, id: str) -> bytes:
    """Return the triples of a question's graph as N-Triples; a DatasetError where there is none."""
    row = _first_row(path, "SELECT triples FROM graphs WHERE id = ?", id)
    if row is None:
        raise DatasetError(f"there is no graph of the question {id!r}")
    return zlib.decompress(row[0])


def any_id(path: Path) -> str:
    """Return the id of a question that has a graph; a DatasetError where none has."""
    row = _first_row(path, "SELECT id FROM graphs LIMIT 1")
    if row is None:
        raise DatasetError(f"{path} holds no graphs")
    return str(row[0])


def _first_row(path: Path, text: str, *values: str) -> tuple[Any, ...] | None:
    try:
        with closing(_connect(path)) as graphs:
            row: tuple[Any, ...] | None = graphs.execute(text, values).fetchone()
            return row
    except sqlite3.Error as error:
        why = f"{path} cannot be read ({error})"
        raise DatasetError(f"{why}; remove {path.parent}, and repeat the command") from None


def read_graphs(path: Path) -> Iterator[bytes]:
    """Return the triples of all graphs, one after the other."""
    with closing(_connect(path)) as graphs:
        for (triples,) in graphs.execute("SELECT triples FROM graphs"):
            yield zlib.decompress(triples)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
