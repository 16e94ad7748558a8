"""The hop model: which hop comes next, and what is asked, learned from exemplars.

Logistic models of a masked question's runs of words, weighed by TF-IDF (Salton & Buckley 1988),
and of its sentence vector. On disk it is an .npz file of arrays.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import numpy.typing as npt

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.priors.encoder import EncodeTexts, Vectors, encode_once, limit_blas_threads
from kgqa.priors.masking import blank_labels
from kgqa.priors.slots import SlotText

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]
MAX_GRAM_WORDS = 3
MIN_GRAM_QUESTIONS = 2  # distinct questions that a run of words must be in to be looked at

REGULARISATION_C = 10.0  # what a question counts against weights that are not 0 (C of scikit-learn)
VECTOR_SCALE = 2.0  # how much longer the sentence vector is than the row of words, before weights are learned
BATCH_QUESTIONS = 256  # questions that a step in the search for weights looks at
PASSES = 12  # times that each question is looked at
MIN_STEPS = 300  # steps at least: few questions are looked at more often
STEP_LENGTH = 60.0  # of the first step; the last has 0
FIRST_SQUARES = 1e4  # squared slope that each feature begins with, so that rare words take no leaps

WORD_SHARE = 0.1
"""What the cosine of the words counts in a similarity; that of the sentence vectors counts the rest.

The vectors alone take two templates that differ in a word or in the order of words for nearly
the same one. With more of the words, questions in new words are found less well."""

ALL_ENDS = QuestionIntent()
_TOKEN = re.compile(r"\[[a-z]+\]|'s\b|\w+")


@dataclass(frozen=True, slots=True, order=True)
class Exemplar:
    """A masked question, and the chain from one of its topics to its answer."""

    question: str  # masked for that topic: ``[ENT]`` it, ``[OTHER]`` the others
    chain: tuple[SlotText, ...]
    asked: QuestionIntent = ALL_ENDS  # of the ends
    weight: int = 1  # how many training questions it stands for


def tokens(text: str) -> list[str]:
    """Split into words, small; a mask is one, and so is ``'s``.

    >>> tokens("Who was [ENT]'s wife?")
    ['who', 'was', '[ent]', "'s", 'wife']
    """
    return _TOKEN.findall(text.lower().replace("’", "'"))


def count_grams(text: str) -> Counter[str]:
    """Count the runs of one to `MAX_GRAM_WORDS` words."""
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


class Vocabulary:
    """Runs of words and their weights, shape (terms,)."""

    def __init__(self, terms: Sequence[str], weights: Floats) -> None:
        self.terms, self.weights = tuple(terms), weights
        self._places = {term: place for place, term in enumerate(terms)}

    @staticmethod
    def of(texts: Iterable[str]) -> "Vocabulary":
        """Take the runs that `MIN_GRAM_QUESTIONS` distinct texts have.

        The weight is log((1 + n) / (1 + df)) + 1, where n is the number of distinct texts, and df
        how many of them have the run.
        """
        distinct = set(texts)
        counts = Counter(gram for text in distinct for gram in count_grams(text))
        terms = sorted(term for term, texts in counts.items() if texts >= MIN_GRAM_QUESTIONS)
        df = np.array([counts[term] for term in terms], np.float32)
        return Vocabulary(terms, np.log((1 + len(distinct)) / (1 + df)) + 1)

    def row(self, text: str) -> SparseRow:
        """Weigh the runs of a text: (1 + log count) × weight, scaled to length 1."""
        found = {self._places[gram]: n for gram, n in count_grams(text).items() if gram in self._places}
        places = np.array(sorted(found), np.int64)
        counts = np.array([found[place] for place in sorted(found)], np.float32)
        values = (1 + np.log(counts)) * self.weights[places]
        return SparseRow(places, values / (np.linalg.norm(values) or np.float32(1)))


@dataclass(frozen=True, slots=True)
class LogisticHead:
    """A multinomial logistic model that says which of some classes a question is of."""

    words: Floats  # shape (terms, classes)
    meaning: Floats  # shape (dimensions, classes)
    bias: Floats

    def logs(self, row: SparseRow, vector: Floats) -> Floats:
        """Return the natural log-probability of each class for a row of words and a sentence vector."""
        said = np.einsum("i,ij->j", row.values, self.words[row.places])
        scores = said + np.einsum("i,ij->j", vector, self.meaning) + self.bias
        scores -= scores.max()
        return np.asarray(scores - np.log(np.exp(scores).sum()), np.float32)


def fit_head(words: Any, vectors: Vectors, labels: Sequence[int], weights: Sequence[float]) -> LogisticHead:
    """Fit a head by AdaGrad (Duchi et al. 2011), with a step length for each feature.

    The loss is that of the labels and half the squared length of all weights. ``words`` is a sparse matrix
    of scipy, shape (questions, terms); ``weights`` say how much each question counts.
    """
    from scipy.sparse import csr_matrix

    (questions, terms), classes, right = words.shape, max(labels) + 1, np.asarray(labels)
    counts = (REGULARISATION_C * np.asarray(weights)).astype(np.float32)[:, None]
    questions_of = np.bincount(words.indices, minlength=terms)  # each term
    random, starts = np.random.default_rng(0), range(0, questions, BATCH_QUESTIONS)
    passes = max(PASSES, MIN_STEPS // len(starts))
    with limit_blas_threads(1):  # a second thread would wait most of the time
        mean = vectors.mean(axis=0)
        centred = VECTOR_SCALE * (vectors - mean)
        axes = np.linalg.eigh(centred.T @ centred)[1]  # of their own lengths, so of steps of their own
        rows = np.hstack([centred @ axes, np.ones((questions, 1))]).astype(np.float32)
        said, meant = (np.zeros((size, classes), np.float32) for size in (terms, rows.shape[1]))
        squares_said, squares_meant = (
            np.full((len(table), 1), FIRST_SQUARES, np.float32) for table in (said, meant)
        )
        lengths = iter(np.linspace(STEP_LENGTH, 0, passes * len(starts), dtype=np.float32))
        for order in (random.permutation(questions) for _ in range(passes)):
            for batch in (order[start : start + BATCH_QUESTIONS] for start in starts):
                some = words[batch]
                seen, places, times = np.unique(some.indices, return_inverse=True, return_counts=True)
                some = csr_matrix((some.data, places, some.indptr), shape=(len(batch), len(seen)))
                weighed = said[seen]
                errors = some @ weighed + rows[batch] @ meant
                errors -= errors.max(axis=1, keepdims=True)
                np.exp(errors, out=errors)
                errors /= errors.sum(axis=1, keepdims=True)
                errors[np.arange(len(batch)), right[batch]] -= 1
                errors *= counts[batch]
                length = next(lengths)

                slope = some.T @ errors + weighed * (times / questions_of[seen]).astype(np.float32)[:, None]
                squares_said[seen] += np.einsum("ij,ij->i", slope, slope)[:, None]
                slope *= length / np.sqrt(squares_said[seen])
                said[seen] = weighed - slope
                slope = rows[batch].T @ errors + meant * np.float32(len(batch) / questions)
                squares_meant += np.einsum("ij,ij->i", slope, slope)[:, None]
                slope *= 2 * length / np.sqrt(squares_meant)
                meant -= slope
        meaning = (VECTOR_SCALE * (axes @ meant[:-1])).astype(np.float32)
        return LogisticHead(said, meaning, meant[-1] - mean @ meaning)


@dataclass(frozen=True, slots=True)
class HopModel:
    """What is learned of exemplars; a head for each position of a chain, then that of what is asked."""

    vocabulary: Vocabulary
    owners: Indices  # the exemplar of each weight of a run, in their order
    places: Indices  # the run of each weight
    values: Floats  # the weights
    vectors: Vectors  # of the exemplars' questions, shape (exemplars, dimensions)
    heads: tuple[LogisticHead, ...]

    def similarities(self, row: SparseRow, vector: Floats) -> Floats:
        """Return how similar each exemplar is to a question, shape (exemplars,)."""
        wanted = np.zeros(len(self.vocabulary.terms), np.float32)
        wanted[row.places] = row.values
        words = np.zeros(len(self.vectors), np.float32)
        np.add.at(words, self.owners, self.values * wanted[self.places])
        meaning = np.einsum("ij,j->i", self.vectors, vector)  # BLAS would start threads for so little
        return np.asarray(WORD_SHARE * words + (1 - WORD_SHARE) * meaning, np.float32)


def learn_model(exemplars: Sequence[Exemplar], encode: EncodeTexts) -> HopModel:
    """Learn from exemplars, at least one; blocks."""
    from scipy.sparse import csr_matrix

    vocabulary = Vocabulary.of(each.question for each in exemplars)
    rows = [vocabulary.row(each.question) for each in exemplars]
    places, values = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    owners = np.repeat(np.arange(len(rows)), [len(row.places) for row in rows])
    words = csr_matrix((values, (owners, places)), shape=(len(rows), len(vocabulary.terms)))
    vectors = encode_once(encode)([blank_labels(each.question) for each in exemplars])
    heads = []
    for classes, labels in training_tasks(exemplars):
        numbers = {each: number for number, each in enumerate(classes)}
        weights = [exemplars[place].weight ** 0.5 for place in labels]
        right = [numbers[label] for label in labels.values()]
        heads.append(fit_head(words[list(labels)], vectors[list(labels)], right, weights))
    return HopModel(vocabulary, owners, places, values, vectors, tuple(heads))


def training_tasks(exemplars: Sequence[Exemplar]) -> list[tuple[list[Any], dict[int, Any]]]:
    """Return for each head its classes, and by place the class of each exemplar that it learns from.

    The classes are what can be at a position, and last None for the end of the chain if it can be
    there; those of the last head are the kinds of asking.
    """
    tasks: list[tuple[list[Any], dict[int, Any]]] = []
    chains = {place: (*each.chain, None) for place, each in enumerate(exemplars)}
    for at in range(max(map(len, chains.values())) - 1):
        labels = {place: chain[at] for place, chain in chains.items() if len(chain) > at}
        slots = {slot for slot in labels.values() if slot}
        tasks.append(([*sorted(slots), *([None] if None in labels.values() else [])], labels))
    asked = {place: each.asked for place, each in enumerate(exemplars)}
    return [*tasks, (sorted(set(asked.values())), asked)]


def pack_model(model: HopModel) -> bytes:
    """Return the bytes of an .npz file."""
    terms = "".join(f"{term}\n" for term in model.vocabulary.terms)
    arrays: dict[str, Any] = {
        "terms": np.frombuffer(terms.encode(), np.uint8),
        "weights": model.vocabulary.weights,
    }
    arrays |= {name: getattr(model, name) for name in ("owners", "places", "values", "vectors")}
    for at, head in enumerate(model.heads):
        arrays |= {f"words_{at}": head.words, f"meaning_{at}": head.meaning, f"bias_{at}": head.bias}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_model(packed: bytes, exemplars: Sequence[Exemplar], dimensions: int) -> HopModel:
    """Read what `pack_model` wrote of these exemplars; a ValueError if it is anything else."""
    try:
        with ZipFile(io.BytesIO(packed)) as archive:
            if any(part.compress_type != ZIP_STORED for part in archive.infolist()):
                raise ValueError("packed: it may unpack to anything")
        with np.load(io.BytesIO(packed), allow_pickle=False) as file:
            arrays: dict[str, Any] = dict(file)
        terms = arrays["terms"].tobytes().decode().splitlines()
        heads = [len(classes) for classes, _ in training_tasks(exemplars)]
        _check_arrays(arrays, len(terms), len(exemplars), dimensions, heads)
    except Exception as error:  # whatever zipfile, numpy and its reader of headers raise
        raise ValueError("not the model of these exemplars") from error
    return HopModel(
        Vocabulary(terms, arrays["weights"]),
        arrays["owners"],
        arrays["places"],
        arrays["values"],
        arrays["vectors"],
        tuple(
            LogisticHead(arrays[f"words_{at}"], arrays[f"meaning_{at}"], arrays[f"bias_{at}"])
            for at in range(len(heads))
        ),
    )


def _check_arrays(
    arrays: Mapping[str, Any], terms: int, exemplars: int, dimensions: int, heads: Sequence[int]
) -> None:
    """Refuse arrays that do not go together, or hold no numbers."""
    runs = (arrays["values"].size,)
    shapes: dict[str, tuple[int, ...]] = {"weights": (terms,), "owners": runs, "places": runs, "values": runs}
    shapes["vectors"] = (exemplars, dimensions)
    for at, size in enumerate(heads):
        shapes |= {f"words_{at}": (terms, size), f"meaning_{at}": (dimensions, size), f"bias_{at}": (size,)}
    fit = all(arrays[name].shape == each and np.isfinite(arrays[name]).all() for name, each in shapes.items())
    numbered = [(arrays["owners"], exemplars), (arrays["places"], terms)]
    inside = all((array >= 0).all() and (array < end).all() for array, end in numbered)
    whole = all(array.dtype.kind == "i" for array, _ in numbered)
    if not (fit and inside and whole):
        raise ValueError("not the model of these exemplars")
