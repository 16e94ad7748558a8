"""What there is to know about a kind of graph: how it writes names, ids and types, and what is noise."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal as Choice
from urllib.parse import unquote

from kgqa.kg.terms import Entity, Literal, Term, local_name


@dataclass(frozen=True)
class Namespace:
    """IRIs that begin alike, and how they are written without their beginning.

    Attributes:
        iri: Their beginning.
        ids: What follows it (a regular expression).
        prefixes: What may stand in its place, the one that is shown first.
        words: What a relation is called, where its id is that of an entity whose name goes for ``{}``.
    """

    iri: str
    ids: str
    prefixes: tuple[str, ...] = ("",)
    words: str = ""

    def local(self, iri: str) -> str | None:
        """Give what follows the beginning; None for an IRI of another namespace."""
        rest = iri.removeprefix(self.iri)
        return rest if rest != iri and re.fullmatch(self.ids, rest) else None

    def whole(self, text: str) -> str | None:
        """Give the IRI that is written like this; None if none of this namespace is."""
        for prefix in (self.iri, *self.prefixes):
            if text.startswith(prefix) and re.fullmatch(self.ids, text.removeprefix(prefix)):
                return self.iri + text.removeprefix(prefix)
        return None


class Labels(tuple[str, ...]):
    """Label predicates, best first, and the languages that names are asked for in: none stands for all."""

    languages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Twin:
    """A predicate from an entity to its id in a graph of another kind.

    Attributes:
        predicate: Its IRI.
        ids: The IRIs of the other graph that it stands for (a regular expression).
        literal: How it writes them (a template of that expression); empty for the IRI itself.
    """

    predicate: str
    ids: str
    literal: str = ""


@dataclass(frozen=True)
class Dialect:
    """How one kind of graph writes names, types and noise.

    Attributes:
        name: What ``kgqa kg info`` shows.
        relations: Namespaces of the relations that only such a graph has.
        entities: Namespace of its entities.
        slashed: Ids may be written as paths: ``/m/03_r3`` for ``m.03_r3``.
        marks: Relations of which any large graph of this kind has at least one.
        labels: Predicates of the preferred name, best first.
        aliases: Predicates of further names.
        types: Predicates from an entity to its types.
        languages: Language tags of names, best first; others come after, by tag.
        polyglot: Most nodes have names in a hundred languages or more: those in others are not asked for.
        ignored: Relations that no search walks: whole IRIs,
        ignored_prefixes: beginnings of IRIs,
        ignored_parts: pieces of IRIs,
        noise: and words that a relation is called by (a regular expression).
        off_schema_prefixes: Beginnings of relations outside of the schema: users' own, and
            retired ones. A search may walk them.
        twins: Predicates to ids in graphs of other kinds.
        unlabelled: In a graph without any label: name an entity by the local
            part of its IRI, or not at all.
        opaque: Local parts that never serve as a name (a regular expression): where such a
            node has none, it is a mediator.
    """

    name: str
    labels: tuple[str, ...]
    aliases: tuple[str, ...]
    types: tuple[str, ...]
    relations: tuple[Namespace, ...] = ()
    entities: Namespace | None = None
    slashed: bool = False
    marks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en", "")
    polyglot: bool = False
    ignored: tuple[str, ...] = ()
    ignored_prefixes: tuple[str, ...] = ()
    ignored_parts: tuple[str, ...] = ()
    noise: str = r"(?!)"
    off_schema_prefixes: tuple[str, ...] = ()
    twins: tuple[Twin, ...] = ()
    unlabelled: Choice["local", "none"] = "local"
    opaque: str = r"(?!)"

    @cached_property
    def _silent(self) -> frozenset[str]:
        return frozenset((*self.labels, *self.aliases, *self.ignored))

    def ignores(self, relation: str, words: str = "") -> bool:
        """Tell whether a search leaves out a relation, which the graph calls by some words."""
        return (
            relation in self._silent
            or relation.startswith(self.ignored_prefixes)
            or any(part in relation for part in self.ignored_parts)
            or bool(words and re.search(self.noise, words, re.IGNORECASE))
        )

    def is_off_schema(self, relation: str) -> bool:
        """Tell whether the relation is known to be outside of the schema."""
        return relation.startswith(self.off_schema_prefixes)

    def relation_label(self, relation: str) -> str:
        """Give the relation without its namespace."""
        for space in self.relations:
            if local := space.local(relation):
                return space.prefixes[0] + local
        return unquote(local_name(relation))

    def relation_entity(self, relation: str) -> str | None:
        """Give the entity whose name a relation has; None where relations are named by their IRIs."""
        for space in self.relations:
            if space.words and self.entities and (local := space.local(relation)):
                return self.entities.iri + local
        return None

    def is_relation_entity(self, id: str) -> bool:
        """Tell whether an entity is there to name a relation."""
        local = self.entities.local(id) if self.entities else None
        return bool(local) and any(s.words and re.fullmatch(s.ids, local or "") for s in self.relations)

    def relation_words(self, relation: str, name: str | None) -> str:
        """Give what a relation is shown by, where its entity has this name or none."""
        found = (
            space.words.format(name) for space in self.relations if space.words and space.local(relation)
        )
        return (name and next(found, None)) or self.relation_label(relation)

    def relation_iris(self, text: str) -> tuple[str, ...]:
        """Give the relations that an id, prefixed or bare, may stand for, the likeliest first."""
        found = (space.whole(self._dotted(text)) for space in self.relations)
        return tuple(dict.fromkeys(filter(None, found)))

    def entity_iri(self, text: str) -> str | None:
        """Give the entity that an id, prefixed or bare, stands for; None if it is none of this kind."""
        return self.entities.whole(self._dotted(text)) if self.entities else None

    def _dotted(self, text: str) -> str:
        return text[1:].replace("/", ".") if self.slashed and text.startswith("/") else text

    def twins_of(self, iri: str) -> tuple[tuple[str, Term], ...]:
        """Give the (predicate, object) by which this graph may know an entity of another one.

        Whatever is the subject of one of them is that entity.
        """
        found = ((twin, re.fullmatch(twin.ids, iri)) for twin in self.twins)
        return tuple(
            (twin.predicate, Literal(match.expand(twin.literal)) if twin.literal else Entity(iri))
            for twin, match in found
            if match
        )

    def local_label(self, id: str) -> str | None:
        """Make a name from an IRI, or None where there is none to make."""
        local = local_name(id)
        if id.startswith(("_:", "nodeID:")) or re.fullmatch(self.opaque, local):
            return None
        return unquote(local).replace("_", " ").strip() or None

    def best(self, names: Iterable[tuple[int, str, str]]) -> str | None:
        """Choose the preferred of an entity's names.

        Args:
            names: (place in ``labels``, language tag, text) of each.
        """
        ranked = [(rank, self.language_rank(tag), text) for rank, tag, text in names if text]
        return min(ranked)[2] if ranked else None

    def language_rank(self, tag: str) -> tuple[int, str]:
        """Order languages: those asked for, their regional forms, the others by tag."""
        tag = tag.lower()
        if tag in self.languages:
            return self.languages.index(tag), ""
        base = tag.partition("-")[0]
        if base in self.languages:
            return len(self.languages) + self.languages.index(base), tag
        return 2 * len(self.languages), tag
