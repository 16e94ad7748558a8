"""The forward pass of BERT (Devlin et al. 2019) in numpy, for texts of equal length."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def erf(x: Array) -> Array:
    """Gauss's error function, within 1e-6 in single precision (Abramowitz & Stegun 1964, 7.1.26).

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
    """Gaussian error linear unit, x Φ(x) (Hendrycks & Gimpel 2016)."""
    gate = erf(x * np.float32(0.5**0.5))
    gate += 1
    gate *= x
    gate *= np.float32(0.5)
    return gate


def softmax(x: Array) -> Array:
    """Softmax over the last axis, in place."""
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense step: x W' + b."""

    weight: Array
    bias: Array

    def __call__(self, x: Array) -> Array:
        """Apply to the last axis."""
        y = x.reshape(-1, x.shape[-1]) @ self.weight.T
        y += self.bias
        return y.reshape(*x.shape[:-1], -1)


@dataclass(frozen=True, slots=True)
class Norm:
    """Layer norm (Ba et al. 2016)."""

    weight: Array
    bias: Array
    eps: np.float32

    def __call__(self, x: Array) -> Array:
        """Apply to the last axis, in place."""
        x -= x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.einsum("...i,...i->...", x, x)[..., None] / np.float32(x.shape[-1]) + self.eps)
        x *= self.weight
        x += self.bias
        return x


class Layer:
    """Attention among the tokens of a text, then two dense steps, each added to what came in."""

    def __init__(self, weights: "Weights", heads: int) -> None:
        self._heads = heads
        self._attend = weights.stacked(*(f"attention.self.{part}" for part in ("query", "key", "value")))
        self._merge = weights.dense("attention.output.dense")
        self._merge_norm = weights.norm("attention.output.LayerNorm")
        self._widen = weights.dense("intermediate.dense")
        self._narrow = weights.dense("output.dense")
        self._norm = weights.norm("output.LayerNorm")

    def __call__(self, x: Array) -> Array:
        """Map shape (texts, tokens, width) to the same shape."""
        x = self._merge_norm(x + self._merge(self._attention(x)))
        return self._norm(x + self._narrow(gelu(self._widen(x))))

    def _attention(self, x: Array) -> Array:
        texts, tokens, width = x.shape
        split = self._attend(x).reshape(texts, tokens, 3, self._heads, width // self._heads)
        query, key, value = split.transpose(2, 0, 3, 1, 4)
        query = query * np.float32((width // self._heads) ** -0.5)
        mixed: Array = softmax(query @ key.swapaxes(-1, -2)) @ value
        return mixed.swapaxes(1, 2).reshape(texts, tokens, width)


class Weights:
    """The named arrays of a checkpoint, below a prefix."""

    def __init__(self, arrays: Mapping[str, Array], eps: float, prefix: str = "") -> None:
        self._arrays, self._eps, self._prefix = arrays, eps, prefix

    def below(self, prefix: str) -> "Weights":
        """Go to the arrays below ``prefix``."""
        return Weights(self._arrays, self._eps, f"{self._prefix}{prefix}.")

    def array(self, name: str) -> Array:
        """Get one array.

        Raises:
            KeyError: there is none of this name.
        """
        return self._arrays[self._prefix + name]

    def dense(self, name: str) -> Dense:
        """Get a dense step."""
        return Dense(self.array(f"{name}.weight"), self.array(f"{name}.bias"))

    def stacked(self, *names: str) -> Dense:
        """Get several dense steps of one input as one, their outputs side by side."""
        steps = [self.dense(name) for name in names]
        weight = np.concatenate([step.weight for step in steps])
        return Dense(weight, np.concatenate([step.bias for step in steps]))

    def norm(self, name: str) -> Norm:
        """Get a layer norm."""
        return Norm(self.array(f"{name}.weight"), self.array(f"{name}.bias"), np.float32(self._eps))


class Bert:
    """BERT without its pooler.

    Args:
        arrays: the checkpoint, by the names of the transformers library.
        layers: how many layers it has.
        heads: attention heads of a layer.
        eps: what the layer norms add to the variance.

    Raises:
        KeyError: an array is missing.
    """

    def __init__(self, arrays: Mapping[str, Array], layers: int, heads: int, eps: float) -> None:
        weights = Weights(arrays, eps)
        embeddings = weights.below("embeddings")
        self._words = embeddings.array("word_embeddings.weight")
        self._places = embeddings.array("position_embeddings.weight")
        self._places = self._places + embeddings.array("token_type_embeddings.weight")[0]
        self._norm = embeddings.norm("LayerNorm")
        self._layers = [Layer(weights.below(f"encoder.layer.{i}"), heads) for i in range(layers)]

    def __call__(self, ids: npt.NDArray[np.int64]) -> Array:
        """Map token ids, shape (texts, tokens), to states, shape (texts, tokens, width)."""
        x = self._norm(self._words[ids] + self._places[: ids.shape[1]])
        for layer in self._layers:
            x = layer(x)
        return x
