"""Lists the names of a graph's entities: by a scan of the graph, or from a file of an earlier scan."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from kgqa.kg import sparql
from kgqa.kg.dialect import Dialect
from kgqa.kg.executor import Executor
from kgqa.kg.files import read_file
from kgqa.kg.naming import Naming
from kgqa.kg.terms import Entity, Literal, is_id


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a graph's entities.

    Attributes:
        degrees: Number of triples of each entity.
        preferred: The preferred name of each entity that has one.
        others: Further names of entities: labels in other languages, aliases.
    """

    degrees: dict[str, int]
    preferred: dict[str, str]
    others: dict[str, list[str]]

    def write(self, path: Path) -> None:
        """Keep the names in a JSON file."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":")), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Names":
        """Read what `write` kept.

        Raises:
            OSError: if the file cannot be read.
            ValueError: if it is damaged.
        """
        from pydantic import TypeAdapter

        names = TypeAdapter(cls).validate_json(read_file(path), strict=True)
        if not all(is_id(id) for each in (names.degrees, names.preferred, names.others) for id in each):
            raise ValueError("what has a name is no entity")
        return names


def scan(executor: Executor, naming: Naming, dialect: Dialect, relations: Iterable[str]) -> Names:
    """List the names of a graph. Blocks for seconds per million names.

    Relations are no entities, nor are the entities that they have their names from.
    """
    predicates = set(relations)
    degrees = {
        end.id: int(n.value)
        for end, n in executor.query_now(sparql.degrees()).rows
        if isinstance(end, Entity) and isinstance(n, Literal)
    }
    nodes = sorted(id for id in degrees.keys() - predicates if not dialect.is_relation_entity(id))
    listed = _from_ids(dialect, nodes) if naming.local else _from_graph(executor, naming, frozenset(nodes))
    preferred, others = {}, {}
    for id, names in listed.items():
        name = naming.name(id, [(rank, tag, text) for rank, tag, text in names if rank < len(naming.labels)])
        if name:
            preferred[id] = name
        others[id] = [text for text in dict.fromkeys(text for _, _, text in sorted(names)) if text != name]
    return Names(
        {id: degrees[id] for id in nodes}, preferred, {id: kept for id, kept in others.items() if kept}
    )


_Listed: TypeAlias = dict[str, list[tuple[int, str, str]]]


def _from_graph(executor: Executor, naming: Naming, nodes: frozenset[str]) -> _Listed:
    """Give (place of the predicate, language, text) of every name, labels before aliases."""
    places = {predicate: place for place, predicate in enumerate((*naming.labels, *naming.aliases))}
    listed: _Listed = defaultdict(list)
    if places:
        for end, relation, name in executor.query_now(sparql.all_names(tuple(places))).rows:
            if end is not None and end.id in nodes and relation is not None and isinstance(name, Literal):
                listed[end.id].append((places[relation.id], name.language, name.value))
    return dict(sorted(listed.items()))


def _from_ids(dialect: Dialect, nodes: Iterable[str]) -> _Listed:
    named = ((id, dialect.local_label(id)) for id in nodes)
    return {id: [(0, "", name)] for id, name in named if name}
