"""Names of nodes, and descriptions of entities, made from the rows of queries."""

from collections.abc import Callable, Collection, Iterable, Sequence

from kgqa.kg.dialects import GIVEN_AND_FAMILY, Dialect, LabelPredicates, is_readable
from kgqa.kg.graph import Row
from kgqa.kg.pages import Description, Page
from kgqa.kg.sparql.decoding import is_true, read_integer, sort_key
from kgqa.kg.terms import Entity, Hop, Literal, Term, is_value_id, local_name, one_line, plain_term
from kgqa.kg.text import in_words

MAX_NAME_CHARS = 1_000
"""Characters of a name at most: a record names a node many times. It is found by all of its name."""


class Naming:
    """The dialect's naming on one graph.

    Label predicates that the graph lacks are not asked for. Entities without a name
    get a readable one from their IRI, if the dialect allows it.

    Attributes:
        labels: Label predicates of the graph, best first.
        aliases: Alias predicates of the graph.
        local: True where all names come from IRIs.
        family: For each label predicate of given names the one of family names.
        terms: Ids of classes and relations, which their IRIs name where nothing else does.
    """

    def __init__(self, dialect: Dialect, predicates: Iterable[str]) -> None:
        present = set(predicates)
        self._dialect = dialect
        self.labels = LabelPredicates(label for label in dialect.labels if label in present)
        self.labels.languages = dialect.languages if dialect.polyglot else ()
        self.aliases = tuple(alias for alias in dialect.aliases if alias in present)
        self.terms: Collection[str] = ()
        self.local = not self.labels and dialect.unlabelled != "none"
        self.family = {one: two for one, two in GIVEN_AND_FAMILY if {one, two} <= {*self.labels}}
        rank = self.labels.index
        self._family_ranks = {rank(one): rank(two) for one, two in self.family.items()}

    def apply(self, found: Iterable[tuple[Term | None, Term | None, Term | None]]) -> dict[Term, Term]:
        """Return each term with its name, in order of first appearance.

        Args:
            found: (term, label or None, place of the label's predicate or None) of each row.
        """
        names: dict[Term, list[tuple[int, str, str]]] = {}
        for term, label, rank in found:
            if term is None:
                continue
            listed = names.setdefault(term, [])
            if isinstance(label, Literal):
                listed.append((read_integer(rank), label.language, label.value))
        return {
            term: Entity(term.id, self.name(term.id, listed)) if isinstance(term, Entity) else term
            for term, listed in names.items()
        }

    def name(self, id: str, names: Iterable[tuple[int, str, str]]) -> str | None:
        """Return the preferred of an entity's names, or the one its IRI gives, cut where it is too long.

        A name of nothing that can be seen is none.
        """
        known = [] if self.local else list(names)
        if is_value_id(id):
            name = plain_term(Entity(id)).name or ""
        elif len(known) == 1 and known[0][2].isascii() and known[0][2].isprintable():
            name = known[0][2].strip() and known[0][2]
        else:
            seen = [each for each in known if one_line(each[2], MAX_NAME_CHARS)]
            name = self._dialect.best(self._whole(seen) if self.family else seen) or ""
        if not name and (self.local or (self._dialect.unlabelled == "each" and is_readable(local_name(id)))):
            name = self._dialect.local_label(id) or ""
        if not name and id in self.terms:
            name = in_words(local_name(id))
        return (name if len(name) <= MAX_NAME_CHARS else name[: MAX_NAME_CHARS - 1] + "…") or None

    def _whole(self, names: Sequence[tuple[int, str, str]]) -> Iterable[tuple[int, str, str]]:
        """Put family names after given names."""
        by_rank = {rank: text for rank, _, text in sorted(names, reverse=True)}
        for rank, tag, text in names:
            family = by_rank.get(self._family_ranks.get(rank, -1))
            yield rank, tag, f"{text} {family}" if family else text


def make_description(
    id: str,
    around: Sequence[Row],
    about: Sequence[Row],
    naming: Naming,
    dialect: Dialect,
    limit: int,
    hop: Callable[[str, bool], Hop],
) -> Description:
    """Make a description of the rows ``around`` an entity (`queries.facts`) and ``about`` it (`objects`)."""
    places = {predicate: place for place, predicate in enumerate((*naming.labels, *naming.aliases))}
    names = [
        (places[relation.id], end.language, end.value)
        for relation, end, *_ in about
        if relation is not None and relation.id in places and isinstance(end, Literal)
    ]
    name = naming.name(id, [each for each in names if each[0] < len(naming.labels)])
    aliases = sorted((dialect.language_rank(tag), text) for _, tag, text in names if text != name)
    of_types = [row[1:] for row in about if row[0] is not None and row[0].id in dialect.types]
    typed = naming.apply((end, label, rank) for end, label, rank in of_types).values()
    named = naming.apply((end, label, rank) for _, _, end, label, rank in around)
    facts = {
        (hop(relation.id, is_true(forward)), named[end]): None
        for relation, forward, end, _, _ in around
        if relation is not None and end is not None
    }
    first = sorted(facts, key=lambda fact: (not fact[0].forward, fact[0].relation, fact[1].id))[:limit]
    kept = sorted(first, key=lambda fact: (not fact[0].forward, fact[0].relation, sort_key(fact[1])))
    return Description(
        Entity(id, name),
        tuple(dict.fromkeys(text for _, text in aliases)),
        tuple(sorted((term for term in typed if isinstance(term, Entity)), key=sort_key)),
        Page(tuple(kept), len(facts) > limit),
    )
