"""Opens a knowledge graph by what it is called: files, or a store folder."""

from collections.abc import Sequence
from pathlib import Path

from kgqa.kg import directory
from kgqa.kg.dialect import detect
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.meaning import Encode
from kgqa.kg.naming import Naming
from kgqa.kg.scan import Names, scan
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.store import EmbeddedStore


def open_graph(
    sources: Sequence[str | Path],
    *,
    rows: int = 10_000,
    deadline: float = 30.0,
    encode: Encode | None = None,
) -> SparqlGraph:
    """Open files as one graph in memory, or a store folder for reading; blocks meanwhile.

    Args:
        sources: Files, or one folder that `directory.build` made.
        rows: Entities, relations or rows that a page holds at most.
        deadline: Seconds that a query may take.
        encode: Gives one L2-normalised row per text, for finding names by meaning.

    Raises:
        KGUnavailable: if there is nothing to open.
        KGMalformed: if a file is not what its suffix promises.
    """
    paths = [Path(source) for source in sources]
    if not paths:
        raise KGUnavailable("no graph given")
    folders = [path for path in paths if directory.is_store(path)]
    if folders and len(paths) > 1:
        raise KGUnavailable(
            f"{folders[0]} is a built graph and goes alone; build one of all its files instead"
        )
    folder = folders[0] if folders else None
    store, facts = directory.open_store(folder) if folder else directory.load(paths)
    executor, dialect = EmbeddedStore(store, deadline=deadline), detect(tuple(facts.predicates))

    def names() -> Names:
        if folder:
            return directory.read_names(folder)
        return scan(executor, Naming(dialect, facts.predicates), dialect, facts.predicates)

    return SparqlGraph(executor, facts, dialect, names, rows=rows, encode=encode)
