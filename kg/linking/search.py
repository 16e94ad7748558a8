"""Which full-text index an endpoint has, and which words of a question are looked for in it."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from kgqa.kg.dialects import Dialect
from kgqa.kg.errors import KGRejected, KGSilent, KGTimeout
from kgqa.kg.graph import Executor, Row
from kgqa.kg.languages import preferred_languages
from kgqa.kg.linking.common_words import COMMON_WORDS
from kgqa.kg.naming import Naming
from kgqa.kg.sparql.queries import some_names
from kgqa.kg.sparql.text_search import search_names
from kgqa.kg.text import fold, split_words

MAX_GROUPS = 24  # groups of words of a question that are looked for by one query


class TextSearch:
    """The full-text index of one endpoint."""

    def __init__(self, kind: str, executor: Executor, dialect: Dialect, naming: Naming) -> None:
        self.kind = kind
        self._executor, self._naming = executor, naming
        self._languages = dialect.languages

    async def names(self, question: str) -> list[Row]:
        """Return ``?end ?name ?label ?rank`` of names that hold words of a question: one query.

        None where the server takes too long, or has no such index any more.
        """
        if not (groups := word_groups(question)):
            return []
        try:
            return (await self._executor.query(self._write(groups))).rows
        except (KGTimeout, KGSilent, KGRejected):
            return []

    def finds(self, word: str) -> bool:
        """Return whether some name is found by a word, which one holds."""
        try:
            return bool(self._executor.query_now(self._write([[word]])).rows)
        except (KGTimeout, KGSilent, KGRejected):
            return False

    def _write(self, groups: Iterable[Sequence[str]]) -> str:
        predicates = (*self._naming.labels, *self._naming.aliases)
        language = preferred_languages(self._languages)[0] or "en"
        return search_names(self.kind, groups, predicates, self._naming.labels, language)


def find_text_search(executor: Executor, dialect: Dialect, naming: Naming) -> TextSearch | None:
    """Find out which full-text index an endpoint has, by a word of one of its names; None without any."""
    if not naming.labels:
        return None
    rows = executor.query_now(some_names(naming.labels[0], 1)).rows
    words = fold(str(rows[0][0])).split() if rows else []
    searches = (TextSearch(kind, executor, dialect, naming) for kind in dialect.searches)
    return next((each for each in searches if words and each.finds(max(words, key=len))), None)


def word_groups(question: str) -> list[list[str]]:
    """Return the folded words to look for together: two in a row, and rare ones alone.

    >>> word_groups("what degrees did mitt romney get?")
    [['mitt', 'romney'], ['mitt'], ['romney']]
    """
    words = [fold(word.text) for word in split_words(question)]
    pairs = [list(pair) for pair in pairwise(words) if COMMON_WORDS.isdisjoint(pair)]
    alone = [[word] for word in words if word not in COMMON_WORDS]
    unique = {tuple(group): group for group in (*pairs, *alone) if all(group)}
    return list(unique.values())[:MAX_GROUPS]
