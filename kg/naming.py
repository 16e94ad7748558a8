"""Chooses the name of each term from the rows of a query."""

from collections.abc import Iterable, Sequence

from kgqa.kg.conventions import Dialect, Labels
from kgqa.kg.reading import integer
from kgqa.kg.terms import Entity, Literal, Term, one_line

LONGEST = 1_000
"""Characters of a name at most: a record names a node many times. It is found by all of its name."""


class Naming:
    """The dialect's naming on one graph.

    Label predicates that the graph lacks are not asked for. In a graph without
    any, entities get a readable name from their IRI, if the dialect allows it.

    Attributes:
        labels: Label predicates of the graph, best first.
        aliases: Alias predicates of the graph.
        local: True where names come from IRIs.
    """

    def __init__(self, dialect: Dialect, predicates: Iterable[str]) -> None:
        present = set(predicates)
        self._dialect = dialect
        self.labels = Labels(label for label in dialect.labels if label in present)
        self.labels.languages = dialect.languages if dialect.polyglot else ()
        self.aliases = tuple(alias for alias in dialect.aliases if alias in present)
        self.local = not self.labels and dialect.unlabelled == "local"

    def apply(self, found: Iterable[tuple[Term | None, Term | None, Term | None]]) -> dict[Term, Term]:
        """Give each term with its name, in order of first appearance.

        Args:
            found: (term, label or None, place of the label's predicate or None) of each row.
        """
        names: dict[Term, list[tuple[int, str, str]]] = {}
        for term, label, rank in found:
            if term is None:
                continue
            listed = names.setdefault(term, [])
            if isinstance(label, Literal):
                listed.append((integer(rank), label.language, label.value))
        return {term: self._named(term, listed) for term, listed in names.items()}

    def _named(self, term: Term, names: Sequence[tuple[int, str, str]]) -> Term:
        if isinstance(term, Literal):
            return term
        return Entity(term.id, self.name(term.id, names))

    def name(self, id: str, names: Iterable[tuple[int, str, str]]) -> str | None:
        """Give the preferred of an entity's names, or the one its IRI gives, cut where it is too long.

        A name of nothing that can be seen is none.
        """
        if self.local:
            name = self._dialect.local_label(id) or ""
        else:
            name = self._dialect.best(each for each in names if one_line(each[2], LONGEST)) or ""
        return (name if len(name) <= LONGEST else name[: LONGEST - 1] + "…") or None
