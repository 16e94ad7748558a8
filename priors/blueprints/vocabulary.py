"""The relations that a graph has, from a file that lists them."""

import gzip
import zlib
from pathlib import Path

from kgqa.files import GZIP_MAGIC, gunzip, read_file
from kgqa.kg.terms import local_name
from kgqa.priors.errors import BlueprintError

MAX_VOCABULARY_BYTES = 1 << 28
"""Bytes of a file at most, as it is and unpacked."""


def read_relations(path: Path) -> frozenset[str]:
    """Read the local names of relations: the first column of each line, tabs between columns.

    Lines that begin with ``#`` are comments; a gzipped file is unpacked.

    Raises:
        BlueprintError: if the file cannot be read, or names none.
    """
    try:
        packed = read_file(path, MAX_VOCABULARY_BYTES)
        if path.suffix == ".gz" and not packed.startswith(GZIP_MAGIC):
            raise gzip.BadGzipFile("not a gzipped file")
        text = gunzip(packed, MAX_VOCABULARY_BYTES).decode()
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise BlueprintError(f"cannot read the relations in {path}: {error}") from error
    first = (line.partition("\t")[0].strip() for line in text.splitlines() if not line.startswith("#"))
    if not (found := frozenset(local_name(name) for name in first if name)):
        raise BlueprintError(f"{path} names no relation; it needs one a line")
    return found
