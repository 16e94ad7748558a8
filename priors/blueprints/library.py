"""An open library of blueprints: the nearest anchors of a question (CoG §3.2.1), and what a run adds.

Additions go to an overlay: a folder with one file of JSON lines beside a library that stays as it
is, appended to by as many processes as there are. A line is one write, and a torn line counts for
nothing.
"""

import json
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from typing_extensions import TypedDict

from kgqa.files import read_file
from kgqa.priors.artifact_store import parse_json
from kgqa.priors.blueprints.building import LIBRARY_STORE, LibraryHeader, anchor_labels
from kgqa.priors.blueprints.templates import TemplateRecord, anchors_of, read_records
from kgqa.priors.encoder import BUNDLED_ENCODER, EncodeTexts, Vectors
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.vector_index import VectorIndex, VectorLabel

LEARNED_FILE = "learned.jsonl"

DEFAULT_COPY_THRESHOLD = 0.92
"""The copy threshold of an encoder that is not listed: that of the paper's (CoG appendix E.2.2)."""

COPY_THRESHOLDS = {BUNDLED_ENCODER: 0.98}
"""Copy thresholds for libraries that were not calibrated. With the longest question as the anchor,
MiniLM's nearest is seldom right on WebQSP at any threshold (1 of 5), and 9 times of 10 on MetaQA
above this one; it copies for 7 % of WebQSP's questions, about as many as the paper does."""

_log = logging.getLogger(__name__)


class LearnedBlueprint(NamedTuple):
    """A masked question and the blueprint of its grounded answer."""

    question: str
    blueprint: Blueprint


class _Line(TypedDict):
    question: str
    branches: list[list[str]]


class Overlay:
    """The overlay in a folder, which is made at the first addition.

    Where it cannot be read or written, that is a `BlueprintError`.
    """

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise BlueprintError(f"{folder} is a file; an overlay of blueprints is a folder")
        self._path = folder / LEARNED_FILE

    def read(self) -> list[LearnedBlueprint]:
        """Read what was added until now, by any process."""
        try:
            lines = [line for line in read_file(self._path).splitlines() if line]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BlueprintError(f"cannot read {self._path}: {error.strerror}") from error
        learned = [found for line in lines if (found := _read_line(line))]
        if len(learned) < len(lines):
            _log.warning("%s has lines that are no blueprints; they are passed over", self._path)
        return learned

    def append(self, learned: LearnedBlueprint) -> None:
        """Add one line."""
        line = json.dumps({"question": learned.question, "branches": learned.blueprint.to_lists()})
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "a+b", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                # a torn line must not spoil this one
                is_whole = size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n"
                file.write(f"{'' if is_whole else chr(10)}{line}\n".encode())
        except OSError as error:
            raise BlueprintError(f"cannot write to {self._path}: {error.strerror}") from error


def _read_line(line: bytes) -> LearnedBlueprint | None:
    try:
        found = parse_json(line, _Line)
        return LearnedBlueprint(found["question"], Blueprint.parse(found["branches"]))
    except ValueError:
        return None


class BlueprintMatch(NamedTuple):
    """A blueprint whose anchor is near to a question; the anchor is masked."""

    anchor: str
    blueprint: Blueprint
    similarity: float


class BlueprintLibrary:
    """A library, with the vectors of its records' anchors in their order, and what a run adds to it.

    May be used from several threads at once. A `BlueprintError` says where the vectors are of
    another length than the library's, or where a library without an overlay is to be added to.
    """

    def __init__(
        self,
        header: LibraryHeader,
        records: tuple[TemplateRecord, ...],
        index: VectorIndex,
        encode: EncodeTexts,
        overlay: Overlay | None = None,
    ) -> None:
        self.header, self.records = header, records
        self._index, self._encode, self._overlay = index, encode, overlay
        self._anchored = [
            LearnedBlueprint(anchor.text, record.blueprint) for record, anchor in anchors_of(records)
        ]
        self._known = set(self._anchored)
        self._learned: list[LearnedBlueprint] = []
        self._learned_index = VectorIndex([], np.empty((0, index.dimensions), np.float32))
        self._lock = threading.Lock()
        self._learn(overlay.read() if overlay else [])

    @property
    def encoder(self) -> str:
        """The name of the encoder that the vectors are from."""
        return self.header.encoder

    @property
    def tau(self) -> float:
        """The copy threshold: as calibrated, else the default of the encoder.

        A blueprint is copied if its similarity is above it.
        """
        default = COPY_THRESHOLDS.get(self.encoder, DEFAULT_COPY_THRESHOLD)
        return default if self.header.tau is None else self.header.tau

    @property
    def fingerprint(self) -> str:
        """Tell the records from any others; an overlay has no part in it, since it grows."""
        return self.header.records

    def nearest(self, question: str, k: int) -> list[BlueprintMatch]:
        """Return the ``k`` templates whose anchors are nearest to a masked question; blocks.

        Best first. What is equally near (to six decimals) is in the order of how many questions
        it stands for, then of the templates, the library's own before what was added.
        """
        rows = self._encode([question])
        found = _matches(self._index, self._anchored, rows, k)
        with self._lock:
            found += _matches(self._learned_index, self._learned, rows, k)
        best: dict[str, BlueprintMatch] = {}
        for match in sorted(found, key=lambda match: -match.similarity):
            best.setdefault(match.blueprint.template, match)
        return list(best.values())[:k]

    def add(self, question: str, blueprint: Blueprint) -> None:
        """Add a masked question and its blueprint to the overlay, once; blocks."""
        if self._overlay is None:
            raise BlueprintError(
                "a blueprint is added to an overlay, and this library was opened without one"
            )
        learned = LearnedBlueprint(question, blueprint)
        with self._lock:
            if learned not in self._known:
                self._overlay.append(learned)
                self._learn([learned])

    def _learn(self, added: Sequence[LearnedBlueprint]) -> None:
        """Make additions findable, those that are known already only once."""
        fresh = [learned for learned in dict.fromkeys(added) if learned not in self._known]
        if fresh:
            labels = [VectorLabel(learned.blueprint.template, 1) for learned in fresh]
            self._learned_index.add(labels, self._encode([learned.question for learned in fresh]))
            self._learned += fresh
            self._known.update(fresh)


def _matches(
    index: VectorIndex, known: Sequence[LearnedBlueprint], rows: Vectors, k: int
) -> list[BlueprintMatch]:
    return [BlueprintMatch(*known[near.place], near.similarity) for near in index.nearest(rows, k)]


def open_library(
    folder: Path, encode: EncodeTexts, encoder_name: str, overlay: Path | None = None
) -> BlueprintLibrary:
    """Open a library, and on top of it what a run has added to its overlay until now (blocking).

    The folder of the overlay need not exist yet.

    Raises:
        BlueprintError: if it is missing, foreign, damaged, or built with another encoder.
    """
    header, (lines, packed) = LIBRARY_STORE.open(folder, encoder_name, "records", "index")
    try:
        records = read_records(lines)
        index = VectorIndex.from_bytes(anchor_labels(anchors_of(records)), packed, header.dimensions)
    except ValueError:
        raise LIBRARY_STORE.damaged(folder) from None
    return BlueprintLibrary(header, records, index, encode, Overlay(overlay) if overlay else None)
