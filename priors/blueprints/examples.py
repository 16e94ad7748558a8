"""What blueprints are learned from: questions with their SPARQL or their gold paths."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kgqa.priors.blueprints.errors import BlueprintError


class Topic(NamedTuple):
    """A topic entity as the file gives it: an IRI or the local part of one, and a name."""

    id: str | None
    name: str | None


class GoldPath(NamedTuple):
    """A gold path: where it starts, and its relations; ``^`` before one means against its arrow.

    ``start`` is the id of a topic entity, or None for the only one.
    """

    start: str | None
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its topic entities, and what leads to its answers."""

    question: str
    topics: tuple[Topic, ...] = ()
    sparql: str | None = None
    paths: tuple[GoldPath, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the topic entities, to be masked."""
        return tuple(topic.name for topic in self.topics if topic.name)


def examples(lines: Iterable[Mapping[str, Any]]) -> Iterator[Example]:
    """Read records of the project's own question format.

    >>> topics = [{"id": "http://x/e/Ulm", "name": "Ulm"}]
    >>> line = {"question": "Who is from Ulm?", "topic_entities": topics, "gold_path": ["^born_in"]}
    >>> next(examples([line])).paths
    (GoldPath(start='http://x/e/Ulm', relations=('^born_in',)),)

    Raises:
        BlueprintError: naming the record that is none.
    """
    for number, line in enumerate(lines, 1):
        try:
            yield _example(line)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise BlueprintError(f"record {number} is no question with topic entities and paths") from None


def _example(line: Mapping[str, Any]) -> Example:
    topics = tuple(Topic(item.get("id"), item.get("name")) for item in line.get("topic_entities") or ())
    return Example(str(line["question"]), topics, line.get("sparql"), tuple(_paths(line, topics)))


def _paths(line: Mapping[str, Any], topics: tuple[Topic, ...]) -> Iterator[GoldPath]:
    if branches := line.get("gold_paths"):
        pairs = branches.items() if isinstance(branches, Mapping) else map(_branch, branches)
        yield from (GoldPath(start, tuple(relations)) for start, relations in pairs if relations)
    elif path := line.get("gold_path"):
        yield GoldPath(topics[0].id if topics else None, tuple(path))


def _branch(branch: Mapping[str, Any]) -> tuple[str | None, list[str]]:
    return branch.get("topic"), branch["path"]
