"""Describes an entity: its aliases, its types, and the facts around it."""

from collections.abc import Callable, Sequence

from kgqa.kg.dialect import Dialect
from kgqa.kg.executor import Row
from kgqa.kg.naming import Naming
from kgqa.kg.pages import Description, Page
from kgqa.kg.reading import order, true
from kgqa.kg.terms import Entity, Hop, Literal, Term

MakeHop = Callable[[str, bool], Hop]


def describe(
    id: str,
    around: Sequence[Row],
    about: Sequence[Row],
    naming: Naming,
    dialect: Dialect,
    limit: int,
    hop: MakeHop,
) -> Description:
    """Make a description of the rows of `sparql.facts` and `sparql.objects`.

    Args:
        id: The entity.
        around: Rows of (relation, forward, end, label, rank).
        about: Rows of (relation, end, label, rank) for names and types.
        naming: Chooses names.
        dialect: Tells names from types.
        limit: Facts at most.
        hop: Makes a hop of a relation and its direction.
    """
    name = naming.name(id, _names(about, naming.labels))
    return Description(
        Entity(id, name),
        _aliases(about, naming, dialect, name),
        _types(about, naming, dialect),
        _facts(around, naming, limit, hop),
    )


def _names(about: Sequence[Row], predicates: Sequence[str]) -> list[tuple[int, str, str]]:
    """Give (place of the predicate, language, text) of each name."""
    places = {predicate: place for place, predicate in enumerate(predicates)}
    return [
        (places[relation.id], end.language, end.value)
        for relation, end, *_ in about
        if relation is not None and relation.id in places and isinstance(end, Literal)
    ]


def _aliases(about: Sequence[Row], naming: Naming, dialect: Dialect, name: str | None) -> tuple[str, ...]:
    names = _names(about, (*naming.labels, *naming.aliases))
    ordered = sorted((dialect.language_rank(tag), text) for _, tag, text in names if text != name)
    return tuple(dict.fromkeys(text for _, text in ordered))


def _types(about: Sequence[Row], naming: Naming, dialect: Dialect) -> tuple[Entity, ...]:
    types = set(dialect.types)
    mine = [row for row in about if row[0] is not None and row[0].id in types]
    named = naming.apply((end, label, rank) for _, end, label, rank in mine)
    return tuple(sorted((term for term in named.values() if isinstance(term, Entity)), key=order))


def _facts(around: Sequence[Row], naming: Naming, limit: int, hop: MakeHop) -> Page[tuple[Hop, Term]]:
    named = naming.apply((end, label, rank) for _, _, end, label, rank in around)
    facts = {
        (hop(relation.id, true(forward)), named[end]): None
        for relation, forward, end, _, _ in around
        if relation is not None and end is not None
    }
    first = sorted(facts, key=lambda fact: (not fact[0].forward, fact[0].relation, fact[1].id))[:limit]
    kept = sorted(first, key=lambda fact: (not fact[0].forward, fact[0].relation, order(fact[1])))
    return Page(tuple(kept), len(facts) > limit)
