"""A question with its gold, whatever file it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kgqa.kg.proof.query import AnswerQuery

Rows: TypeAlias = list[list[str | None]] | bool
"""What a query gives: the ids of the cells of a SELECT, null for an empty one; what an ASK says."""


@dataclass(frozen=True, slots=True)
class EntityRef:
    """A topic entity or an answer as a file gives it: an id, a name, or both.

    The id is written as in the file: an IRI, a Freebase mid (``m.03_r3``), a Wikidata
    id (``Q42``), or the value of a literal. ``aliases`` are other names that are as right.
    """

    id: str | None
    name: str | None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldPath:
    """The relations from a topic entity to the answers, as the file names them.

    ``^`` before a relation means against its arrow. The topic is an id, or None for
    the question's only topic.
    """

    topic: str | None
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a dataset.

    ``readings`` are the sets of gold answers, one for each parse of the question that
    the file has; a metric takes the reading that fits best. A question with no gold
    answer in any reading is not scored. Several ``paths`` are branches: the answers
    are what all of them lead to.
    """

    id: str
    text: str
    topics: tuple[EntityRef, ...] = ()
    readings: tuple[tuple[EntityRef, ...], ...] = ()
    paths: tuple[GoldPath, ...] = ()
    sparql: str | None = None
    query: AnswerQuery | None = None  # what gives the answers: branches, conditions, an aggregate
    hops: int | None = None  # hops of the longest gold path
    intermediate: int | None = None  # entities side by side between topics and answers (`intermediates`)
    kind: str | None = None  # the compositionality type, or whatever the file sorts its questions by
    level: str | None = None  # the level of generalisation (GrailQA)
    splits: Mapping[str, str] = field(default_factory=dict)  # its part, by the name of the split
    rows: Rows | None = None  # the table that is gold; its first column is in ``readings``
    ordered: bool = False  # whether these rows are in an order that is asked for
    other_topics: tuple[tuple[EntityRef, ...], ...] = ()
    """The same topics as other kinds of graph know them; `align_topics` takes what a graph needs."""

    @property
    def gold(self) -> tuple[EntityRef, ...]:
        """The answers of all readings, each once, in the order of the file."""
        return tuple(dict.fromkeys(answer for reading in self.readings for answer in reading))

    @property
    def asks_rows(self) -> bool:
        """Whether its gold is a table: rows that the file has, or that its query gives."""
        return self.rows is not None or (bool(self.sparql) and not self.scored)

    @property
    def scored(self) -> bool:
        """Whether there is gold to score an answer by."""
        return any(self.readings)
