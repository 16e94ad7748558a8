"""Training questions, and the relation chains that their queries or gold paths hold (CoG §3.1).

The branches of a query are those that `kgqa.kg.sparql.algebra` reads: they end at the answer, and casts,
classes, names and what only filters or sorts have no part in them. Many queries are read in
several processes: parsing takes some 15 ms a query, and Python keeps a process to one core.
"""

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from kgqa.kg.dialects import DIALECTS, FB, is_ignored
from kgqa.kg.sparql import algebra
from kgqa.kg.sparql.algebra import UnreadableQuery
from kgqa.kg.sparql.parsing import PREFIXES
from kgqa.kg.terms import is_iri, local_name
from kgqa.priors.encoder import thread_count
from kgqa.priors.errors import BlueprintError
from kgqa.priors.masking import mask_names
from kgqa.priors.slots import INVERSE_MARK, Blueprint, Slot


class Topic(NamedTuple):
    """A topic entity as the file gives it: an IRI or the local part of one, and a name."""

    id: str | None
    name: str | None


class RelationPath(NamedTuple):
    """A gold path: where it starts, and its relations; ``^`` before one means against its arrow.

    ``start`` is the id of a topic entity, or None for the only one.
    """

    start: str | None
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question, its topic entities, and what leads to its answers."""

    question: str
    topics: tuple[Topic, ...] = ()
    sparql: str | None = None
    paths: tuple[RelationPath, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the topic entities, to be masked."""
        return tuple(topic.name for topic in self.topics if topic.name)


def read_training_questions(lines: Iterable[Mapping[str, Any]]) -> Iterator[TrainingQuestion]:
    """Read records of the project's own question format.

    >>> topics = [{"id": "http://x/e/Ulm", "name": "Ulm"}]
    >>> line = {"question": "Who is from Ulm?", "topic_entities": topics, "gold_path": ["^born_in"]}
    >>> next(read_training_questions([line])).paths
    (RelationPath(start='http://x/e/Ulm', relations=('^born_in',)),)

    Raises:
        BlueprintError: naming the record that is none.
    """
    for number, line in enumerate(lines, 1):
        try:
            yield _training_question(line)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise BlueprintError(f"record {number} is no question with topic entities and paths") from None


def _training_question(line: Mapping[str, Any]) -> TrainingQuestion:
    topics = tuple(Topic(item.get("id"), item.get("name")) for item in line.get("topic_entities") or ())
    return TrainingQuestion(
        str(line["question"]), topics, line.get("sparql"), tuple(_relation_paths(line, topics))
    )


def _relation_paths(line: Mapping[str, Any], topics: tuple[Topic, ...]) -> Iterator[RelationPath]:
    if branches := line.get("gold_paths"):
        pairs = branches.items() if isinstance(branches, Mapping) else map(_path_of_record, branches)
        yield from (RelationPath(start, tuple(relations)) for start, relations in pairs if relations)
    elif path := line.get("gold_path"):
        yield RelationPath(topics[0].id if topics else None, tuple(path))


def _path_of_record(branch: Mapping[str, Any]) -> tuple[str | None, list[str]]:
    return branch.get("topic"), branch["path"]


QUERIES_PER_PROCESS = 200
"""Queries that a process of its own is worth starting for."""


class QueryBranch(NamedTuple):
    """The slots from a constant (an IRI, or the value of a literal) to the answer."""

    start: str
    slots: tuple[Slot, ...]


BranchesOrReason: TypeAlias = tuple[QueryBranch, ...] | str
"""The branches of a query, or in a few words why it has none."""


def read_branches(query: str) -> BranchesOrReason:
    """Read one query: of several alternatives (UNION, OPTIONAL) the first."""
    try:
        first = algebra.read_chains(query).alternatives[0]
    except UnreadableQuery as error:
        return str(error).partition(":")[0].partition(" ?")[0]
    return tuple(
        QueryBranch(path.start.id, tuple(Slot(local_name(hop.relation), hop.forward) for hop in path.hops))
        for path in first
    )


def read_all_branches(queries: Iterable[str]) -> dict[str, BranchesOrReason]:
    """Read many queries, each once, in ``KGQA_THREADS`` processes if that is worth it.

    Raises:
        BlueprintError: if a process ends early.
    """
    distinct = list(dict.fromkeys(queries))
    processes = min(thread_count(), len(distinct) // QUERIES_PER_PROCESS)
    if processes < 2:
        return {query: read_branches(query) for query in distinct}
    parts = [distinct[place::processes] for place in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        answers = list(pool.map(_read_in_process, parts))
    return {
        query: found
        for part, answer in zip(parts, answers, strict=True)
        for query, found in zip(part, answer, strict=True)
    }


def _read_in_process(queries: Sequence[str]) -> list[BranchesOrReason]:
    """Read queries in a process of their own."""
    ended = subprocess.run(
        (sys.executable, "-P", "-m", "kgqa.priors.query_reader"),
        input="".join(f"{json.dumps(query)}\n" for query in queries),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if ended.returncode:
        last = (ended.stderr.splitlines() or [f"status {ended.returncode}"])[-1]
        raise BlueprintError(f"a process that reads queries ended early: {last}")
    return [_branches_from_json(json.loads(line)) for line in ended.stdout.splitlines()]


def _branches_from_json(read: str | list[tuple[str, list[str]]]) -> BranchesOrReason:
    if isinstance(read, str):
        return read
    return tuple(QueryBranch(start, tuple(map(Slot.parse, slots))) for start, slots in read)


def branches_to_json(found: BranchesOrReason) -> str | list[tuple[str, list[str]]]:
    """Write what was read as JSON can hold it."""
    return found if isinstance(found, str) else [(start, [*map(str, slots)]) for start, slots in found]


NO_QUERY_OR_PATH = "no SPARQL and no gold path"
NO_RELATION_LEFT = "no relation is left of the gold paths"
UNKNOWN_RELATION = "a relation that is not among those given"
OFF_SCHEMA = "a relation outside of the schema, such as a user's own"


@dataclass(frozen=True, slots=True)
class BlueprintLesson:
    """A question, as it is and masked, and its blueprint, or in a few words why it has none."""

    question: str
    masked: str
    blueprint: Blueprint | str


def extract_lessons(
    examples: Iterable[TrainingQuestion], relations: Collection[str] | None = None
) -> Iterator[BlueprintLesson]:
    """Extract the blueprint of each example, in their order.

    Args:
        examples: the questions.
        relations: local names; a blueprint with any other relation is left out.

    Raises:
        BlueprintError: if queries cannot be read at all.
    """
    given = list(examples)
    read = read_all_branches(example.sparql for example in given if example.sparql)
    for example in given:
        question = example.question.encode("utf-8", "replace").decode()  # half of a pair is no character
        found = extract_blueprint(example, read.get(example.sparql or "", NO_QUERY_OR_PATH))
        if isinstance(found, Blueprint):
            found = _rejection_reason(found, relations) or found
        yield BlueprintLesson(question, mask_names(question, example.names), found)


def extract_blueprint(example: TrainingQuestion, read: BranchesOrReason) -> Blueprint | str:
    """Return the blueprint of a question, from its query as ``read``, else from its gold paths.

    The shortest branch of each topic entity comes first, in the order of the file, then
    their other branches, then those of other constants.
    """
    branches = (
        (gold_branches(example) or NO_RELATION_LEFT) if isinstance(read, str) and example.paths else read
    )
    if isinstance(branches, str):
        return branches
    return Blueprint(tuple(branch.slots for branch in _order_branches(branches, example)))


def gold_branches(example: TrainingQuestion) -> tuple[QueryBranch, ...]:
    """Return the gold paths of a question as branches, without those that no search follows."""
    return tuple(filter(None, map(_gold_branch, example.paths)))


def _rejection_reason(blueprint: Blueprint, relations: Collection[str] | None) -> str | None:
    """Say why a blueprint is of no use elsewhere, None if it is."""
    if is_off_schema(blueprint.slots):
        return OFF_SCHEMA
    known = relations is None or all(slot.relation in relations for slot in blueprint.slots)
    return None if known else UNKNOWN_RELATION


def is_off_schema(slots: Iterable[Slot]) -> bool:
    """Return whether any relation is outside of the schema of its graph, such as a user's own."""
    names = [slot.relation for slot in slots]
    freebase = [f"{FB}{name}" for name in names if name.count(".") > 1]  # domain, type and property
    return any(dialect.is_off_schema(name) for dialect in DIALECTS.values() for name in freebase)


def _gold_branch(path: RelationPath) -> QueryBranch | None:
    """Read a gold path; None where it takes a relation that no search follows."""
    slots = []
    for text in path.relations:
        relation = text.removeprefix(INVERSE_MARK).strip()
        if not relation or _is_ignored_relation(relation):
            return None
        slots.append(Slot(_local_relation_name(relation), not text.startswith(INVERSE_MARK)))
    return QueryBranch(path.start or "", tuple(slots)) if slots else None


def _local_relation_name(relation: str) -> str:
    """Return the local name of an IRI, or of a name with a prefix (``wdt:P22``)."""
    prefix, colon, rest = relation.partition(":")
    return rest if colon and rest and prefix in PREFIXES else local_name(relation)


def _is_ignored_relation(relation: str) -> bool:
    return is_ignored(relation if is_iri(relation) else f"{FB}{relation}")


def _order_branches(branches: Iterable[QueryBranch], example: TrainingQuestion) -> list[QueryBranch]:
    topics = [local_name(topic.id) for topic in example.topics if topic.id]
    seen: set[str] = set()
    keyed: list[tuple[int, int, QueryBranch]] = []
    for branch in branches:
        start = local_name(branch.start) if branch.start else ""
        place = topics.index(start) if start in topics else len(topics)
        rank = 2 if start not in topics else int(start in seen)
        seen.add(start)
        keyed.append((rank, place, branch))
    return [branch for _, _, branch in sorted(keyed, key=lambda each: each[:2])]
