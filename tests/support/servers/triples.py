"""The triples that a server is given: those of the embedded store, to the last blank node."""

from collections.abc import Sequence
from pathlib import Path

import pyoxigraph as ox

from kgqa.kg.store.loading import QuadReader


def write(files: Sequence[Path], path: Path) -> Path:
    """Write what ``files`` hold as N-Triples; blank nodes are the IRIs that `QuadReader` makes of them."""
    triples = (quad.triple for quad in QuadReader(files).quads())
    ox.serialize(triples, str(path), format=ox.RdfFormat.N_TRIPLES)
    return path
