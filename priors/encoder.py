"""Sentence encoders: texts to unit vectors, whose dot product is their likeness.

```
Encoder (what the others need)
├── MiniLM            all-MiniLM-L6-v2 out of an installed package, in numpy: starts in a blink
└── SentenceEncoder   any other sentence-transformers model: a name or a folder
```
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from kgqa.priors.settings import threads

Vectors = npt.NDArray[np.float32]
"""Rows of length 1, shape (texts, dimensions)."""

BUNDLED = "all-MiniLM-L6-v2"
"""The encoder used where none is named; Wang et al. 2020, fine-tuned by sentence-transformers."""


class Encoder(Protocol):
    """Turns texts into vectors; may be used from several threads at once."""

    @property
    def name(self) -> str:
        """Tell this encoder's vectors from any other's; part of cache keys."""

    @property
    def dimensions(self) -> int:
        """Length of a row."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row each, in their order; blocks, so not for the event loop."""


def open_encoder(name: str | None = None) -> Encoder:
    """Open the bundled encoder, or any sentence-transformers model by name or folder.

    Loads up to some 100 MB from disk; open once per process and share.

    Raises:
        EncoderError: there is no such model, its files are broken, or KGQA_THREADS is no number.
    """
    threads()
    if name in {None, BUNDLED, f"sentence-transformers/{BUNDLED}"}:
        from kgqa.priors.minilm import open_minilm

        bundled = open_minilm()
        if bundled is not None:
            return bundled
    from kgqa.priors.sentence import SentenceEncoder

    return SentenceEncoder(name or f"sentence-transformers/{BUNDLED}")


_turn = threading.Lock()


@contextmanager
def bounded_blas() -> Iterator[None]:
    """Hold numpy's matrix products to ``KGQA_THREADS`` threads.

    The bound is the whole process's, so callers take turns.
    """
    with _turn, _controller().limit(limits=threads(), user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
