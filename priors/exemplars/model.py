"""What exemplars teach, in arrays: what they are alike to, and the heads; as an .npz file."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from kgqa.kg.asked import Asked
from kgqa.priors.blueprints.slots import Slot
from kgqa.priors.encoder import Vectors
from kgqa.priors.exemplars.exemplar import Exemplar
from kgqa.priors.exemplars.grams import Floats, Row, Rows, Vocabulary
from kgqa.priors.exemplars.heads import Head

WORDS = 0.1
"""What the cosine of the words counts in a likeness; that of the sentence vectors counts the rest.

The vectors alone take two templates that differ in a word or in the order of words for nearly
the same one. With more of the words, questions in new words are found less well."""


@dataclass(frozen=True, slots=True)
class Model:
    """What is learned of exemplars.

    Attributes:
        vocabulary: The words.
        postings: For each term the exemplars that have it, and how much.
        vectors: Of the exemplars' questions, shape (exemplars, dimensions).
        heads: One for each position of a chain, then that of what is asked.
    """

    vocabulary: Vocabulary
    postings: Rows
    vectors: Vectors
    heads: tuple[Head, ...]

    def likeness(self, row: Row, vector: Floats) -> Floats:
        """Give how alike each exemplar is to a question, shape (exemplars,)."""
        words = np.zeros(len(self.vectors), np.float32)
        for place, value in zip(row.places, row.values, strict=True):
            having = self.postings.at(place)
            words[having.places] += value * having.values
        meaning = np.einsum("ij,j->i", self.vectors, vector)  # BLAS would start threads for so little
        return np.asarray(WORDS * words + (1 - WORDS) * meaning, np.float32)


def slots_of(exemplars: Sequence[Exemplar]) -> list[list[Slot | None]]:
    """Give what can be at each position, in the order of its head; None is the end of the chain."""
    found: list[list[Slot | None]] = []
    for at in range(max(len(each.chain) for each in exemplars)):
        ended: list[Slot | None] = [None] if any(len(each.chain) == at for each in exemplars) else []
        found.append([*sorted({each.chain[at] for each in exemplars if len(each.chain) > at}), *ended])
    return found


def kinds_of(exemplars: Iterable[Exemplar]) -> list[Asked]:
    """Give the kinds of asking, in the order of their head."""
    return sorted({each.asked for each in exemplars})


def pack(model: Model) -> bytes:
    """Give the bytes of an .npz file."""
    arrays = {
        "terms": np.frombuffer("".join(f"{term}\n" for term in model.vocabulary.terms).encode(), np.uint8),
        "weights": model.vocabulary.weights,
        "vectors": model.vectors,
        **{f"postings_{name}": array for name, array in model.postings._asdict().items()},
    }
    for number, head in enumerate(model.heads):
        arrays |= {f"{name}_{number}": getattr(head, name) for name in Head.__dataclass_fields__}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(packed: bytes, exemplars: Sequence[Exemplar]) -> Model:
    """Read what `pack` wrote of the model of these exemplars.

    Raises:
        ValueError: if it is anything else.
    """
    try:
        model = _unpacked(packed, len(slots_of(exemplars)) + 1)
        _check(model, exemplars)
    except Exception as error:  # whatever zipfile, numpy and its reader of headers raise
        raise ValueError("not the model of these exemplars") from error
    return model


def _unpacked(packed: bytes, heads: int) -> Model:
    with ZipFile(io.BytesIO(packed)) as archive:
        if any(part.compress_type != ZIP_STORED for part in archive.infolist()):
            raise ValueError("packed: it may unpack to anything")
    with np.load(io.BytesIO(packed), allow_pickle=False) as file:
        terms = file["terms"].tobytes().decode().splitlines()
        return Model(
            Vocabulary(terms, file["weights"]),
            Rows(*(file[f"postings_{name}"] for name in Rows._fields)),
            file["vectors"],
            tuple(
                Head(*(file[f"{name}_{number}"] for name in Head.__dataclass_fields__))
                for number in range(heads)
            ),
        )


def _check(model: Model, exemplars: Sequence[Exemplar]) -> None:
    """Refuse arrays that do not go together, or hold no numbers.

    Raises:
        ValueError: if there are any.
    """
    terms, postings, width = len(model.vocabulary.terms), model.postings, model.vectors.shape[-1:]
    classes = [*map(len, slots_of(exemplars)), len(kinds_of(exemplars))]
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
    if not (fit and whole and width and _is_within(postings, len(exemplars))):
        raise ValueError("not the model of these exemplars")


def _is_within(rows: Rows, columns: int) -> bool:
    ends = (*rows.starts[:1], *rows.starts[-1:]) == (0, len(rows.places))
    inside = bool(((rows.places >= 0) & (rows.places < columns)).all())
    return ends and bool((np.diff(rows.starts) >= 0).all()) and inside
