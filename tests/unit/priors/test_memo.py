"""An encoder that remembers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kgqa.priors.encoder import CachedEncoder, Vectors


class Counting:
    """Encodes a text as a unit vector of its length, and counts."""

    name = "counting"
    dimensions = 2

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        angles = np.array([len(text) for text in texts], np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counting:
    monkeypatch.setenv("KGQA_HOME", str(tmp_path))
    return Counting()


def test_a_text_is_encoded_once(encoder: Counting) -> None:
    remembering = CachedEncoder(lambda: encoder)
    first = remembering.encode(["river", "mouth", "river"])
    again = remembering.encode(["river", "mouth", "river"])
    assert first.shape == (3, 2)
    assert np.array_equal(first, again)
    assert encoder.encoded == ["river", "mouth"]


def test_what_was_taught_is_on_disk_for_the_next_process(encoder: Counting) -> None:
    CachedEncoder(lambda: encoder).preload(["river", "mouth"])
    other = Counting()
    taught = CachedEncoder(lambda: other)
    taught.preload(["river", "mouth"])
    assert np.allclose(taught.encode(["mouth"]), encoder.encode(["mouth"]))
    assert other.encoded == []


def test_nothing_needs_no_rows(encoder: Counting) -> None:
    assert CachedEncoder(lambda: encoder).encode([]).shape == (0, 2)


def test_memory_is_bounded(encoder: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.priors.encoder.MAX_RECENT_TEXTS", 2)
    remembering = CachedEncoder(lambda: encoder)
    for text in ("a", "bb", "ccc"):
        remembering.encode([text])
    remembering.encode(["a", "ccc"])
    assert encoder.encoded == ["a", "bb", "ccc", "a"]
