"""Learns the model of exemplars."""

from collections.abc import Hashable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from kgqa.priors.blueprints.templates import Encode
from kgqa.priors.encoder import Vectors
from kgqa.priors.exemplars.exemplar import Exemplar
from kgqa.priors.exemplars.grams import Rows, Vocabulary
from kgqa.priors.exemplars.heads import fit
from kgqa.priors.exemplars.model import Model, kinds_of, slots_of

_Labels: TypeAlias = dict[int, Hashable]
"""The class of each exemplar that has one, by the exemplar's place."""


def learn(exemplars: Sequence[Exemplar], encode: Encode) -> Model:
    """Learn from exemplars, at least one; blocks."""
    vocabulary = Vocabulary.of(each.question for each in exemplars)
    terms, rows = len(vocabulary.terms), [vocabulary.row(each.question) for each in exemplars]
    vectors = _encoded([each.question for each in exemplars], encode)
    heads = []
    for classes, labels in _tasks(exemplars):
        numbers = {each: number for number, each in enumerate(classes)}
        weights = [exemplars[place].weight ** 0.5 for place in labels]
        given = Rows.of([rows[place] for place in labels])
        right = [numbers[label] for label in labels.values()]
        heads.append(fit(given, terms, vectors[list(labels)], right, weights))
    return Model(vocabulary, Rows.of(rows).turned(terms), vectors, tuple(heads))


def _tasks(exemplars: Sequence[Exemplar]) -> Iterator[tuple[Sequence[Hashable], _Labels]]:
    """Give for each head its classes and the exemplars it learns from: of a position, those that reach it."""
    for at, slots in enumerate(slots_of(exemplars)):
        ways = {place: (*each.chain, None) for place, each in enumerate(exemplars)}
        yield slots, {place: way[at] for place, way in ways.items() if len(way) > at}
    yield kinds_of(exemplars), {place: each.asked for place, each in enumerate(exemplars)}


def _encoded(texts: Sequence[str], encode: Encode) -> Vectors:
    """Encode texts, each once, so that equal ones are equally near."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return np.asarray(encode(list(places))[[places[text] for text in texts]], np.float32)
