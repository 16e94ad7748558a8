"""The hop model: which hop comes next, and what is asked, learned from exemplars.

Logistic models of a masked question's runs of words, weighed by TF-IDF (Salton & Buckley 1988),
and of its sentence vector. On disk it is an .npz file of arrays.
"""

import io
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import numpy.typing as npt

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.priors.blueprints.templates import EncodeTexts
from kgqa.priors.encoder import Vectors, limit_blas_threads, thread_count
from kgqa.priors.exemplars.exemplar import Exemplar
from kgqa.priors.slots import Slot

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

MAX_GRAM_WORDS = 3
"""Words of a run at most."""

MIN_GRAM_QUESTIONS = 2
"""Distinct questions that a run of words must be in to be looked at."""

_TOKEN = re.compile(r"\[[a-z]+\]|'s\b|\w+")


def tokens(text: str) -> list[str]:
    """Split into words, small; a mask is one, and so is ``'s``.

    >>> tokens("Who was [ENT]'s wife?")
    ['who', 'was', '[ent]', "'s", 'wife']
    """
    return _TOKEN.findall(text.lower().replace("’", "'"))


def count_grams(text: str) -> Counter[str]:
    """Count the runs of one to `LONGEST` words."""
    words = tokens(text)
    return Counter(
        " ".join(words[at : at + size])
        for size in range(1, MAX_GRAM_WORDS + 1)
        for at in range(len(words) - size + 1)
    )


class SparseRow(NamedTuple):
    """A row of numbers that are mostly 0: where the others are, and these."""

    places: Indices
    values: Floats


class SparseRows(NamedTuple):
    """Such rows one after the other: row i is at ``starts[i]`` to ``starts[i + 1]``."""

    starts: Indices
    places: Indices
    values: Floats

    @staticmethod
    def of(rows: Sequence[SparseRow]) -> "SparseRows":
        """Put rows together; at least one."""
        places, values = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        return SparseRows(np.cumsum([0, *(len(row.places) for row in rows)]), places, values)

    def turned(self, columns: int) -> "SparseRows":
        """Return the columns as rows."""
        order = np.argsort(self.places, kind="stable")
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        starts = np.searchsorted(self.places[order], np.arange(columns + 1))
        return SparseRows(starts, rows[order], self.values[order])

    def at(self, row: int) -> SparseRow:
        """Return one row."""
        part = slice(*self.starts[row : row + 2])
        return SparseRow(self.places[part], self.values[part])


class Vocabulary:
    """Runs of words and their weights.

    Args:
        terms: the runs.
        weights: shape (terms,).
    """

    def __init__(self, terms: Sequence[str], weights: Floats) -> None:
        self.terms, self.weights = tuple(terms), weights
        self._places = {term: place for place, term in enumerate(terms)}

    @staticmethod
    def of(texts: Iterable[str]) -> "Vocabulary":
        """Take the runs that `LEAST` distinct texts have; log((1 + n) / (1 + df)) + 1 is the weight.

        Here n is the number of distinct texts, df how many of them have the run.
        """
        distinct = set(texts)
        counts = Counter(gram for text in distinct for gram in count_grams(text))
        terms = sorted(term for term, texts in counts.items() if texts >= MIN_GRAM_QUESTIONS)
        df = np.array([counts[term] for term in terms], np.float32)
        return Vocabulary(terms, np.log((1 + len(distinct)) / (1 + df)) + 1)

    def row(self, text: str) -> SparseRow:
        """Weigh the runs of a text: (1 + log count) × weight, scaled to length 1."""
        found = sorted(
            (self._places[gram], n) for gram, n in count_grams(text).items() if gram in self._places
        )
        places = np.array([place for place, _ in found], np.int64)
        counts = np.array([count for _, count in found], np.float32)
        values = (1 + np.log(counts)) * self.weights[places]
        return SparseRow(places, values / (np.linalg.norm(values) or np.float32(1)))


REGULARISATION_C = 20.0
"""What a question that is given once counts against weights that are not 0 (C of scikit-learn)."""

VECTOR_SCALE = 2.0
"""How much longer the sentence vector is than the row of words, before weights are learned."""

MAX_ITERATIONS = 60
"""Steps of the search for weights at most; more make no difference to what comes first."""

_KEPT_GRADIENTS = 5
"""Gradients that L-BFGS keeps: each is as large as the weights."""


@dataclass(frozen=True, slots=True)
class LogisticHead:
    """A model that tells which of some classes a question is of.

    Attributes:
        words: Shape (terms, classes).
        meaning: Shape (dimensions, classes).
        bias: Shape (classes,).
    """

    words: Floats
    meaning: Floats
    bias: Floats

    def logs(self, row: SparseRow, vector: Floats) -> Floats:
        """Return the natural log-probability of each class, shape (classes,).

        Args:
            row: of words.
            vector: of the sentence, shape (dimensions,).
        """
        said = np.einsum("i,ij->j", row.values, self.words[row.places])
        scores = said + np.einsum("i,ij->j", vector, self.meaning) + self.bias
        scores -= scores.max()
        return np.asarray(scores - np.log(np.exp(scores).sum()), np.float32)


def fit_head(
    rows: SparseRows, terms: int, vectors: Vectors, labels: Sequence[int], weights: Sequence[float]
) -> LogisticHead:
    """Fit a head by L-BFGS (Liu & Nocedal 1989); labels are the numbers of classes, from 0.

    Args:
        rows: of words.
        terms: how many terms the vocabulary has.
        vectors: of the sentences, shape (questions, dimensions).
        labels: shape (questions,).
        weights: how much each question counts, shape (questions,).
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix
    from threadpoolctl import threadpool_limits

    mean = vectors.mean(axis=0)  # without it, the search takes fewer steps; the bias takes it up
    words = csr_matrix((rows.values, rows.places, rows.starts), shape=(len(vectors), terms))
    task = _TrainingLoss(
        words, VECTOR_SCALE * (vectors - mean), np.asarray(labels), REGULARISATION_C * np.asarray(weights)
    )
    with limit_blas_threads(), threadpool_limits(thread_count(), "blas"):  # scipy has a BLAS of its own
        found = minimize(
            task.loss,
            np.zeros(task.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": MAX_ITERATIONS, "maxcor": _KEPT_GRADIENTS},
        )
    head = task.head(found.x)
    meaning = VECTOR_SCALE * head.meaning
    return LogisticHead(head.words.copy(), meaning, head.bias - mean @ meaning)


class _TrainingLoss:
    """The loss of all weights in a row: the words', the meaning's, the bias."""

    def __init__(self, words: Any, vectors: Floats, labels: Any, counts: Any) -> None:
        self._words, self._turned = words, words.T.tocsr()
        self._vectors = vectors.astype(np.float32)
        self._right = np.arange(len(labels)), labels
        self._counts = counts.astype(np.float32)
        self._classes = int(labels.max()) + 1

    @property
    def size(self) -> int:
        """How many weights there are."""
        return int(self._words.shape[1] + self._vectors.shape[1] + 1) * self._classes

    def head(self, weights: Any) -> LogisticHead:
        """Return the weights their shapes."""
        table = weights.astype(np.float32).reshape(-1, self._classes)
        terms = self._words.shape[1]
        return LogisticHead(table[:terms], table[terms:-1], table[-1])

    def loss(self, weights: Any) -> tuple[float, Any]:
        """Return the loss, half the squared length of all weights but the bias included, and its gradient."""
        head = self.head(weights)
        shares = self._words @ head.words + self._vectors @ head.meaning + head.bias
        shares -= shares.max(axis=1, keepdims=True)
        right = shares[self._right]
        np.exp(shares, out=shares)
        total = shares.sum(axis=1)
        loss = float(self._counts @ (np.log(total) - right))
        shares /= total[:, None]
        shares[self._right] -= 1
        shares *= self._counts[:, None]
        gradient = np.concatenate([self._turned @ shares, self._vectors.T @ shares, shares.sum(axis=0)[None]])
        flat, held = gradient.ravel().astype(np.float64), weights.copy()
        held[-self._classes :] = 0
        return loss + 0.5 * float(held @ held), flat + held


WORD_SHARE = 0.1
"""What the cosine of the words counts in a likeness; that of the sentence vectors counts the rest.

The vectors alone take two templates that differ in a word or in the order of words for nearly
the same one. With more of the words, questions in new words are found less well."""


@dataclass(frozen=True, slots=True)
class HopModel:
    """What is learned of exemplars.

    Attributes:
        vocabulary: The words.
        postings: For each term the exemplars that have it, and how much.
        vectors: Of the exemplars' questions, shape (exemplars, dimensions).
        heads: One for each position of a chain, then that of what is asked.
    """

    vocabulary: Vocabulary
    postings: SparseRows
    vectors: Vectors
    heads: tuple[LogisticHead, ...]

    def likeness(self, row: SparseRow, vector: Floats) -> Floats:
        """Return how alike each exemplar is to a question, shape (exemplars,)."""
        words = np.zeros(len(self.vectors), np.float32)
        for place, value in zip(row.places, row.values, strict=True):
            having = self.postings.at(place)
            words[having.places] += value * having.values
        meaning = np.einsum("ij,j->i", self.vectors, vector)  # BLAS would start threads for so little
        return np.asarray(WORD_SHARE * words + (1 - WORD_SHARE) * meaning, np.float32)


def slots_by_position(exemplars: Sequence[Exemplar]) -> list[list[Slot | None]]:
    """Return what can be at each position, in the order of its head; None is the end of the chain."""
    found: list[list[Slot | None]] = []
    for at in range(max(len(each.chain) for each in exemplars)):
        ended: list[Slot | None] = [None] if any(len(each.chain) == at for each in exemplars) else []
        found.append([*sorted({each.chain[at] for each in exemplars if len(each.chain) > at}), *ended])
    return found


def intents_of(exemplars: Iterable[Exemplar]) -> list[QuestionIntent]:
    """Return the kinds of asking, in the order of their head."""
    return sorted({each.asked for each in exemplars})


def pack_model(model: HopModel) -> bytes:
    """Return the bytes of an .npz file."""
    arrays = {
        "terms": np.frombuffer("".join(f"{term}\n" for term in model.vocabulary.terms).encode(), np.uint8),
        "weights": model.vocabulary.weights,
        "vectors": model.vectors,
        **{f"postings_{name}": array for name, array in model.postings._asdict().items()},
    }
    for number, head in enumerate(model.heads):
        arrays |= {f"{name}_{number}": getattr(head, name) for name in LogisticHead.__dataclass_fields__}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_model(packed: bytes, exemplars: Sequence[Exemplar]) -> HopModel:
    """Read what `pack` wrote of the model of these exemplars.

    Raises:
        ValueError: if it is anything else.
    """
    try:
        model = _read_arrays(packed, len(slots_by_position(exemplars)) + 1)
        _check_arrays(model, exemplars)
    except Exception as error:  # whatever zipfile, numpy and its reader of headers raise
        raise ValueError("not the model of these exemplars") from error
    return model


def _read_arrays(packed: bytes, heads: int) -> HopModel:
    with ZipFile(io.BytesIO(packed)) as archive:
        if any(part.compress_type != ZIP_STORED for part in archive.infolist()):
            raise ValueError("packed: it may unpack to anything")
    with np.load(io.BytesIO(packed), allow_pickle=False) as file:
        terms = file["terms"].tobytes().decode().splitlines()
        return HopModel(
            Vocabulary(terms, file["weights"]),
            SparseRows(*(file[f"postings_{name}"] for name in SparseRows._fields)),
            file["vectors"],
            tuple(
                LogisticHead(*(file[f"{name}_{number}"] for name in LogisticHead.__dataclass_fields__))
                for number in range(heads)
            ),
        )


def _check_arrays(model: HopModel, exemplars: Sequence[Exemplar]) -> None:
    """Refuse arrays that do not go together, or hold no numbers.

    Raises:
        ValueError: if there are any.
    """
    terms, postings, width = len(model.vocabulary.terms), model.postings, model.vectors.shape[-1:]
    classes = [*map(len, slots_by_position(exemplars)), len(intents_of(exemplars))]
    shapes: list[tuple[Any, tuple[int, ...]]] = [
        (model.vocabulary.weights, (terms,)),
        (model.vectors, (len(exemplars), *width)),
        (postings.starts, (terms + 1,)),
        (postings.values, postings.places.shape),
        *((head.words, (terms, size)) for head, size in zip(model.heads, classes, strict=True)),
        *((head.meaning, (*width, size)) for head, size in zip(model.heads, classes, strict=True)),
        *((head.bias, (size,)) for head, size in zip(model.heads, classes, strict=True)),
    ]
    fit = all(array.shape == shape and np.isfinite(array).all() for array, shape in shapes)
    whole = all(array.ndim == 1 and array.dtype.kind == "i" for array in (postings.starts, postings.places))
    if not (fit and whole and width and _is_valid_rows(postings, len(exemplars))):
        raise ValueError("not the model of these exemplars")


def _is_valid_rows(rows: SparseRows, columns: int) -> bool:
    ends = (*rows.starts[:1], *rows.starts[-1:]) == (0, len(rows.places))
    inside = bool(((rows.places >= 0) & (rows.places < columns)).all())
    return ends and bool((np.diff(rows.starts) >= 0).all()) and inside


LabelsByPlace: TypeAlias = dict[int, Hashable]
"""The class of each exemplar that has one, by the exemplar's place."""


def learn_model(exemplars: Sequence[Exemplar], encode: EncodeTexts) -> HopModel:
    """Learn from exemplars, at least one; blocks."""
    vocabulary = Vocabulary.of(each.question for each in exemplars)
    terms, rows = len(vocabulary.terms), [vocabulary.row(each.question) for each in exemplars]
    vectors = _encode_once([each.question for each in exemplars], encode)
    heads = []
    for classes, labels in _training_tasks(exemplars):
        numbers = {each: number for number, each in enumerate(classes)}
        weights = [exemplars[place].weight ** 0.5 for place in labels]
        given = SparseRows.of([rows[place] for place in labels])
        right = [numbers[label] for label in labels.values()]
        heads.append(fit_head(given, terms, vectors[list(labels)], right, weights))
    return HopModel(vocabulary, SparseRows.of(rows).turned(terms), vectors, tuple(heads))


def _training_tasks(exemplars: Sequence[Exemplar]) -> Iterator[tuple[Sequence[Hashable], LabelsByPlace]]:
    """Return for each head its classes and the exemplars it learns from: of a position, those that reach it."""
    for at, slots in enumerate(slots_by_position(exemplars)):
        ways = {place: (*each.chain, None) for place, each in enumerate(exemplars)}
        yield slots, {place: way[at] for place, way in ways.items() if len(way) > at}
    yield intents_of(exemplars), {place: each.asked for place, each in enumerate(exemplars)}


def _encode_once(texts: Sequence[str], encode: EncodeTexts) -> Vectors:
    """Encode texts, each once, so that equal ones are equally near."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return np.asarray(encode(list(places))[[places[text] for text in texts]], np.float32)
