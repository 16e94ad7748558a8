"""A library of blueprints that is open: the nearest anchors of a question (CoG §3.2.1)."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kgqa.priors.blueprints import folder as files
from kgqa.priors.blueprints.building import labels_of
from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.header import KIND, Header
from kgqa.priors.blueprints.overlay import Learned, Overlay
from kgqa.priors.blueprints.records import Record, anchored, read
from kgqa.priors.blueprints.shelf import Label, Near, Shelf
from kgqa.priors.blueprints.slots import Blueprint
from kgqa.priors.blueprints.templates import Encode
from kgqa.priors.encoder import BUNDLED

TAU = 0.92
"""The copy threshold of an encoder that is not listed: that of the paper's (CoG appendix E.2.2)."""

TAUS = {BUNDLED: 0.98}
"""Copy thresholds for libraries that were not calibrated. With the longest question as the anchor,
MiniLM's nearest is seldom right on WebQSP at any threshold (1 of 5), and 9 times of 10 on MetaQA
above this one; it copies for 7 % of WebQSP's questions, about as many as the paper does."""


class Match(NamedTuple):
    """A blueprint whose anchor is near to a question; the anchor is masked."""

    anchor: str
    blueprint: Blueprint
    similarity: float


class Library:
    """A library, and what a run adds to it; may be used from several threads at once.

    Args:
        header: what the library is.
        records: its templates.
        shelf: the vectors of their anchors, in their order.
        encode: turns texts into unit vectors; blocks.
        overlay: where additions go.
    """

    def __init__(
        self,
        header: Header,
        records: tuple[Record, ...],
        shelf: Shelf,
        encode: Encode,
        overlay: Overlay | None = None,
    ) -> None:
        self.header, self.records = header, records
        self._anchored, self._shelf = anchored(records), shelf
        self._encode, self._overlay = encode, overlay
        self._known = {Learned(anchor.text, record.blueprint) for record, anchor in self._anchored}
        self._learned: list[Learned] = []
        self._learned_shelf: Shelf | None = None
        self._lock = threading.Lock()
        self._put_up(overlay.read() if overlay else [])

    @property
    def encoder(self) -> str:
        """The name of the encoder that the vectors are from."""
        return self.header.encoder

    @property
    def tau(self) -> float:
        """The copy threshold: as calibrated, else the default of the encoder.

        A blueprint is copied if its similarity is above it.
        """
        return TAUS.get(self.encoder, TAU) if self.header.tau is None else self.header.tau

    @property
    def fingerprint(self) -> str:
        """Tell the records from any others; an overlay has no part in it, since it grows."""
        return self.header.records

    def nearest(self, question: str, k: int) -> list[Match]:
        """Give the ``k`` templates whose anchors are nearest to a masked question; blocks.

        Best first. What is equally near (to six decimals) is in the order of how many questions
        it stands for, then of the templates, the library's own before what was added.

        Raises:
            BlueprintError: if the encoder's vectors are not as long as the library's.
        """
        rows = self._encode([question])
        found = [self._match(near) for near in self._shelf.nearest(rows, k)]
        with self._lock:
            if self._learned_shelf:
                found += [self._learned_match(near) for near in self._learned_shelf.nearest(rows, k)]
        best: dict[str, Match] = {}
        for match in sorted(found, key=lambda match: -match.similarity):
            best.setdefault(match.blueprint.template, match)
        return list(best.values())[:k]

    def add(self, question: str, blueprint: Blueprint) -> None:
        """Add a masked question and its blueprint to the overlay, once; blocks.

        Raises:
            BlueprintError: if the library has no overlay, or it cannot be written.
        """
        if self._overlay is None:
            raise BlueprintError(
                "a blueprint is added to an overlay, and this library was opened without one"
            )
        learned = Learned(question, blueprint)
        with self._lock:
            if learned not in self._known:
                self._overlay.append(learned)
                self._put_up([learned])

    def _put_up(self, added: Sequence[Learned]) -> None:
        """Make additions findable, those that are known already only once."""
        fresh = [learned for learned in dict.fromkeys(added) if learned not in self._known]
        if not fresh:
            return
        vectors = self._encode([learned.question for learned in fresh])
        labels = [Label(learned.blueprint.template, 1) for learned in fresh]
        if self._learned_shelf is None:
            self._learned_shelf = Shelf.of(labels, vectors)
        else:
            self._learned_shelf.add(labels, vectors)
        self._learned += fresh
        self._known.update(fresh)

    def _match(self, near: Near) -> Match:
        record, anchor = self._anchored[near.place]
        return Match(anchor.text, record.blueprint, near.similarity)

    def _learned_match(self, near: Near) -> Match:
        return Match(*self._learned[near.place], near.similarity)


def open_library(folder: Path, encode: Encode, encoder_name: str, overlay: Path | None = None) -> Library:
    """Open a library, and on top of it what a run has added until now (blocking).

    Args:
        folder: where it is.
        encode: turns texts into unit vectors.
        encoder_name: the name of the encoder.
        overlay: the folder of a run's own additions, which need not exist yet.

    Raises:
        BlueprintError: if it is missing, foreign, damaged, or built with another encoder.
    """
    found = files.read(folder)
    header = found.header
    KIND.check_encoder(folder, header.encoder, encoder_name)
    try:
        records = read(found.records)
        shelf = Shelf.read(labels_of(anchored(records)), found.index, header.dimensions)
    except ValueError:
        raise KIND.damaged(folder) from None
    return Library(header, records, shelf, encode, Overlay(overlay) if overlay else None)
