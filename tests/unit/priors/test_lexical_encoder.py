import logging

import numpy as np
import pytest

from kgqa.priors import minilm
from kgqa.priors.encoder import INSTALL_WEIGHTS, open_encoder
from kgqa.priors.errors import EncoderError
from kgqa.priors.lexical_encoder import LexicalEncoder


def test_rows_are_of_length_one_whatever_the_text() -> None:
    rows = LexicalEncoder().encode(["", "...", "Ulm", "\ud800", "ß 漢字", "a " * 10_000])
    assert rows.shape == (6, LexicalEncoder.dimensions)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(6), abs=1e-5)


def test_texts_that_share_words_or_parts_of_them_are_alike() -> None:
    question, near, far = LexicalEncoder().encode(["who directed it?", "film.director", "place of birth"])
    assert question @ near > question @ far
    upper, lower = LexicalEncoder().encode(["Ulm on the Danube", "ulm ON the danube"])
    assert upper.tolist() == lower.tolist()


def test_without_weights_it_takes_the_place_of_the_bundled_one_and_says_so(monkeypatch, caplog) -> None:
    monkeypatch.setattr(minilm, "open_minilm", lambda: None)
    with caplog.at_level(logging.WARNING):
        assert open_encoder().name == "lexical"
    assert INSTALL_WEIGHTS in caplog.text
    with pytest.raises(EncoderError):  # one that is named is not replaced
        open_encoder("sentence-transformers/none-such")
