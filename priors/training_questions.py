"""Training questions, and the relation chains that their queries or gold paths hold (CoG §3.1).

The branches of a query are those that `kgqa.kg.sparql.path_extraction` reads.
"""

import gzip
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from kgqa.files import GZIP_MAGIC, gunzip, read_file
from kgqa.kg.dialects import DIALECTS, FB, is_ignored
from kgqa.kg.sparql import path_extraction
from kgqa.kg.sparql.guard import with_whole_names
from kgqa.kg.sparql.parsing import PREFIXES
from kgqa.kg.terms import is_iri, local_name, one_line, replace_surrogates
from kgqa.priors.errors import BlueprintError, ExemplarError
from kgqa.priors.masking import TOPIC_MASK, mask_names, mask_topic
from kgqa.priors.slots import INVERSE_MARK, Blueprint, Slot, SlotText

MAX_RELATIONS_BYTES = 1 << 28  # bytes of a file of relations at most, as it is and unpacked
NO_QUERY_OR_PATH = "no SPARQL and no gold path"
NO_RELATION_LEFT = "no relation is left of the gold paths"
UNKNOWN_RELATION = "a relation that is not among those given"
NO_RELATION_IN_TEXT = "no relation in the text of the query"
OFF_SCHEMA = "a relation outside of the schema, such as a user's own"


QueryReading = Literal["query", "text"]
"""How the query of a question is read: by its algebra, or its text by a regular expression (CoG §3.1)."""

_PROLOGUE = re.compile(r"\b(?:PREFIX\s+[^\s<]*|BASE)\s*<[^<>]*>", re.IGNORECASE)
_NAME = re.compile(r"<([^<>\s]+)>|(?<![\w\"'@?$])([A-Za-z][\w-]*)?:([A-Za-z_](?:[\w.-]*\w)?)")
_NO_RELATIONS = frozenset({"xsd", "rdf", "rdfs", "owl"})
_W3C = "http://www.w3.org/"
_WIKIDATA_ID = re.compile(r"Q[0-9]+")


class Topic(NamedTuple):
    """A topic entity as the file gives it: an IRI or the local part of one, and a name."""

    id: str | None
    name: str | None


class RelationPath(NamedTuple):
    """A gold path; ``^`` before a relation means against its arrow."""

    start: str | None  # the id of a topic entity, or None for the only one
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question, its topic entities, and what leads to its answers."""

    question: str
    topics: tuple[Topic, ...] = ()
    sparql: str | None = None
    paths: tuple[RelationPath, ...] = ()


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
            topics = tuple(
                Topic(each.get("id"), each.get("name")) for each in line.get("topic_entities") or ()
            )
            paths = tuple(_relation_paths(line, topics))
            yield TrainingQuestion(str(line["question"]), topics, line.get("sparql"), paths)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise BlueprintError(f"record {number} is no question with topic entities and paths") from None


def _relation_paths(line: Mapping[str, Any], topics: tuple[Topic, ...]) -> Iterator[RelationPath]:
    if branches := line.get("gold_paths"):
        named = isinstance(branches, Mapping)
        pairs = branches.items() if named else [(each.get("topic"), each["path"]) for each in branches]
        yield from (RelationPath(start, tuple(relations)) for start, relations in pairs if relations)
    elif path := line.get("gold_path"):
        yield RelationPath(topics[0].id if topics else None, tuple(path))


def read_relations(path: Path) -> frozenset[str]:
    """Read the local names of relations: the first column of each line, tabs between columns.

    Lines that begin with ``#`` are comments; a gzipped file is unpacked.
    """
    try:
        packed = read_file(path, MAX_RELATIONS_BYTES)
        if path.suffix == ".gz" and not packed.startswith(GZIP_MAGIC):
            raise gzip.BadGzipFile("not a gzipped file")
        text = gunzip(packed, MAX_RELATIONS_BYTES).decode()
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise BlueprintError(f"cannot read the relations in {path}: {error}") from error
    first = (line.partition("\t")[0].strip() for line in text.splitlines() if not line.startswith("#"))
    if not (found := frozenset(local_name(name) for name in first if name)):
        raise BlueprintError(f"{path} names no relation; it needs one a line")
    return found


class QueryBranch(NamedTuple):
    """The slots from a constant (an IRI, or the value of a literal) to the answer."""

    start: str
    slots: tuple[SlotText, ...]


BranchesOrReason: TypeAlias = tuple[QueryBranch, ...] | str  # or in a few words why a query has none


def read_branches(query: str | None) -> BranchesOrReason:
    """Read the query of a question: of several alternatives (UNION, OPTIONAL) the first."""
    if not query:
        return NO_QUERY_OR_PATH
    try:
        first = path_extraction.read_chains(query).alternatives[0]
    except path_extraction.UnreadableQuery as error:
        return error.reason
    return tuple(
        QueryBranch(path.start.id, tuple(Slot(local_name(hop.relation), hop.forward) for hop in path.hops))
        for path in first
    )


def solved_question(question: str, query: str, topics: Sequence[str]) -> TrainingQuestion:
    """Return a question with its query and what it calls the query's starts, in their order.

    Raises:
        ExemplarError: if the query cannot be read, or the question does not name each of them.
    """
    starts = query_starts(query)
    if len(topics) != len(starts):
        listed = ", ".join(map(one_line, starts))
        raise ExemplarError(f"the query sets out from {listed}; give as many topics, in this order")
    if unnamed := [name for name in topics if TOPIC_MASK not in mask_topic(question, name, ())]:
        raise ExemplarError(f"the question does not name {one_line(unnamed[0])!r}")
    return TrainingQuestion(question, tuple(map(Topic, starts, topics)), query)


def query_starts(query: str) -> list[str]:
    """Return the IRIs and values that a query sets out from, in its order.

    >>> query_starts("SELECT ?x { ?x wdt:P1 wd:Q2 . <http://e/ada> wdt:P3 ?x }")
    ['http://www.wikidata.org/entity/Q2', 'http://e/ada']

    Raises:
        ExemplarError: if the query cannot be read.
    """
    branches = read_branches(query)
    if isinstance(branches, str):
        raise ExemplarError(f"the query cannot be learned from: {branches}")
    text = _PROLOGUE.sub(" ", with_whole_names(query))

    def place(start: str) -> int:
        id, name = re.escape(start), re.escape(local_name(start))
        found = re.search(rf"<{id}>|:{name}(?![\w:>-])|(?<![\w:/#?$<-]){id}(?![\w-])", text)
        return found.start() if found else len(text)

    return sorted(dict.fromkeys(branch.start for branch in branches), key=place)


def read_text(query: str, topics: Collection[str] = ()) -> tuple[Slot, ...]:
    """Read the relations that the text of a query names, in its order (CoG §3.1).

    They have no direction. What names an entity, a class or a datatype is left out, as far as its name tells.

    >>> text = "SELECT ?x { ns:m.05 ns:film.actor.film ?y . ?x a ns:film.film ; ns:film.film.directed_by ?z }"
    >>> [str(slot) for slot in read_text(text)]
    ['film.actor.film', 'film.film.directed_by']
    """
    slots = []
    for iri, prefix, rest in _NAME.findall(_PROLOGUE.sub(" ", query)):
        name = local_name(iri) if iri else rest
        is_entity = name in topics or name.count(".") == 1 or _WIKIDATA_ID.fullmatch(name)
        is_datatype = iri.startswith(_W3C) or prefix in _NO_RELATIONS
        if name and not (is_entity or is_datatype or is_ignored(iri or f"{FB}{name}")):
            slots.append(Slot(name))
    return tuple(slots)


@dataclass(frozen=True, slots=True)
class BlueprintLesson:
    """A question, as it is and masked, and its blueprint, or in a few words why it has none."""

    question: str
    masked: str
    blueprint: Blueprint | str


def extract_lessons(
    questions: Iterable[TrainingQuestion],
    relations: Collection[str] | None = None,
    reading: QueryReading = "query",
) -> Iterator[BlueprintLesson]:
    """Extract the blueprint of each question, in their order.

    >>> topics = [{"id": "http://x/e/Ulm", "name": "Ulm"}]
    >>> line = {"question": "Who was born in Ulm?", "topic_entities": topics, "gold_path": ["^born_in"]}
    >>> [lesson] = extract_lessons(read_training_questions([line]))
    >>> lesson.masked, str(lesson.blueprint)
    ('Who was born in [ENT]?', '^born_in')

    With the local names of ``relations``, a blueprint that has any other is left out. By the ``reading``
    "text" a blueprint is one branch without directions, and the question stays unmasked, as in the paper.
    """
    for each in questions:
        text = replace_surrogates(each.question)
        if reading == "text":
            yield BlueprintLesson(text, text, _text_blueprint(each, relations))
            continue
        found = _extract_blueprint(each, read_branches(each.sparql), relations)
        names = [topic.name for topic in each.topics if topic.name]
        yield BlueprintLesson(text, mask_names(text, names), found)


def _text_blueprint(question: TrainingQuestion, relations: Collection[str] | None) -> Blueprint | str:
    topics = {local_name(topic.id) for topic in question.topics if topic.id}
    walked = (slot for branch in gold_branches(question) for slot in branch.slots)
    slots = read_text(question.sparql, topics) if question.sparql else tuple(Slot(s.relation) for s in walked)
    if not slots:
        return NO_RELATION_IN_TEXT if question.sparql else NO_QUERY_OR_PATH
    return Blueprint((slots,)) if _are_known(slots, relations) else UNKNOWN_RELATION


def _extract_blueprint(
    question: TrainingQuestion, read: BranchesOrReason, relations: Collection[str] | None
) -> Blueprint | str:
    """Return the blueprint of a question, from its query as ``read``, else from its gold paths.

    Its branches are in this order: the first of each topic entity (of a query, the shortest) in the order
    of the file, their others, then those of other constants.
    """
    branches = read
    if isinstance(read, str) and question.paths:
        branches = gold_branches(question) or NO_RELATION_LEFT
    if isinstance(branches, str):
        return branches
    topics = [local_name(topic.id) for topic in question.topics if topic.id]
    starts = [local_name(branch.start) if branch.start else "" for branch in branches]

    def rank(place: int) -> tuple[int, int]:
        start = starts[place]
        return (int(start in starts[:place]), topics.index(start)) if start in topics else (2, 0)

    found = Blueprint(tuple(branches[place].slots for place in sorted(range(len(branches)), key=rank)))
    if is_off_schema(found.slots):
        return OFF_SCHEMA
    return found if _are_known(found.slots, relations) else UNKNOWN_RELATION


def _are_known(slots: Iterable[Slot], relations: Collection[str] | None) -> bool:
    return relations is None or all(slot.relation in relations for slot in slots)


def gold_branches(question: TrainingQuestion) -> tuple[QueryBranch, ...]:
    """Return the gold paths of a question as branches, without those that no search follows."""
    return tuple(filter(None, map(_gold_branch, question.paths)))


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
        if not relation or is_ignored(relation if is_iri(relation) else f"{FB}{relation}"):
            return None
        prefix, colon, rest = relation.partition(":")
        is_prefixed = colon and rest and prefix in PREFIXES  # wdt:P22
        slots.append(Slot(rest if is_prefixed else local_name(relation), not text.startswith(INVERSE_MARK)))
    return QueryBranch(path.start or "", tuple(slots)) if slots else None
