"""How well a relation chain says a question, by the similarity of words alone.

Three things count: how well words of the question say the hops of the chain, in their order;
how similar the question as a whole is to all of the hops; and how usual the directions of the hops are.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Hop
from kgqa.models.offline.question_words import (
    Encode,
    WordOrder,
    relation_phrase,
    stem_overlap,
    trim_function_words,
    word_orders,
)
from kgqa.priors.masking import TOPIC_MASK

FloatArray = npt.NDArray[np.float64]
SimilarityScores = npt.NDArray[np.float32]

BEST_WORD_WEIGHT = 0.3  # of the word that says a hop best, beside what all words count
LEFTOVER_WORD_WEIGHT = 0.5  # of a word that is left for hops to come: less than one that says a hop
UNSAID_HOP_COST = 1.0  # of a hop that no word is left for
_INVERSE_HOP_PENALTY = 0.05  # what a hop against its arrow must be better by
_RETURN_PENALTY = 0.3  # the same of going straight back
_COMPANY_BONUS = 0.3  # of going straight back where a question asks for company: "the same director"
_PAIR_PENALTY = 0.2  # of saying two hops as one, as those that meet at an unnamed node are said
_UNLIKE_PAIR_PENALTY = 0.5  # what that costs more for two hops whose words are nothing alike
_SIMILARITY_POWER = 1.5  # one word that says a hop well counts more than some that do a little
_STEM_WEIGHT = 0.6  # part of the way to full similarity that words of one stem are taken
_QUESTION_WEIGHT = 0.5  # of the similarity of the whole question
_IMPOSSIBLE = -1e9

_COMPANY_WORDS = re.compile(
    r"\b(same|also|others|else|together|co|shares?|another|both|common)\b", re.IGNORECASE
)


def align_hops(similarity: FloatArray, order: WordOrder, columns: Mapping[str, int]) -> FloatArray:
    """Align words with hops as well as it goes: shape (words, chains, hops).

    Every word goes to a hop, words nearer to the entity to hops nearer to it; some words in a
    row go together. At ``[n, :, k]`` is the best when the first ``n + 1`` words say ``k + 1``
    hops: similarity of words to their hops, less what it costs to begin hops where they begin.

    Args:
        similarity: of hops to spans of the question, shape (chains, hops, spans).
        order: the words, at least one.
        columns: which span is which.
    """
    chains, hops, _ = similarity.shape
    start = np.full((2, chains, hops), _IMPOSSIBLE)
    start[0, :, 0] = 0.0
    reached = [start]
    for at, spans in enumerate(order.spans):
        now = np.full_like(start, _IMPOSSIBLE)
        for size, span in enumerate(spans, 1):
            like = similarity[:, :, columns[span]]
            unnamed, named = _before_word(reached[at + 1 - size], order, at + 1 - size)
            now[0] = np.maximum(now[0], unnamed + size * like)
            now[1] = np.maximum(now[1], np.maximum(named, unnamed + BEST_WORD_WEIGHT * like) + size * like)
        reached.append(now)
    return np.stack([each.max(axis=0) for each in reached[1:]])


def _before_word(reached: FloatArray, order: WordOrder, at: int) -> tuple[FloatArray, FloatArray]:
    """Return the values before the word ``at`` is said: where its hop is not named yet, and where it is."""
    if not at:
        return reached[0], reached[1]
    begun = np.full_like(reached[0], _IMPOSSIBLE)
    begun[:, 1:] = reached.max(axis=0)[:, :-1] - order.begins[at]
    return np.maximum(reached[0] - order.stays[at], begun), reached[1] - order.stays[at]


def complete_chain_scores(said: FloatArray) -> FloatArray:
    """Return the best value of whole chains, of which only the first hops may be said: shape (chains,)."""
    hops = said.shape[2]
    return np.asarray((said[-1] - UNSAID_HOP_COST * np.arange(hops - 1, -1, -1)).max(axis=1))


def partial_chain_scores(said: FloatArray, order: WordOrder) -> FloatArray:
    """Return the best value of chains that may go on, for which words are left: shape (chains,)."""
    words = len(order.words)
    further = [LEFTOVER_WORD_WEIGHT * (words - at) - order.begins[at] for at in range(1, words)]
    return np.asarray((said.max(axis=2) + np.array([*further, 0.0])[:, np.newaxis]).max(axis=0))


def hop_penalties(chains: Sequence[Sequence[Hop]], *, company: bool) -> FloatArray:
    """Return what the directions of hops cost: shape (chains,).

    Args:
        chains: of one length.
        company: the question asks for others of the same kind, which are reached by going back.
    """
    against = np.array([sum(not hop.forward for hop in chain) for chain in chains])
    back = np.array([sum(one == two.inverse for one, two in pairwise(chain)) for chain in chains])
    return _INVERSE_HOP_PENALTY * against + (-_COMPANY_BONUS if company else _RETURN_PENALTY) * back


def hop_groupings(hops: int, begin: int = 0) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to take hops alone or two together."""
    if begin == hops:
        yield []
    for size in (1, 2):
        if begin + size <= hops:
            yield from ([(*range(begin, begin + size),), *rest] for rest in hop_groupings(hops, begin + size))


def repetition_penalties(chains: Sequence[Sequence[Hop]]) -> FloatArray:
    """Forbid to say the same hop twice as one: infinite there, shape (chains, hops - 1)."""
    same = [[one == two for one, two in pairwise(chain)] for chain in chains]
    return np.where(np.array(same, bool).reshape(len(chains), -1), np.inf, 0.0)


def _unit_rows(rows: FloatArray) -> FloatArray:
    """Scale rows to a length of 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def comparison_texts(label: str) -> tuple[str, ...]:
    """Return what a relation is compared by, all of it counting alike: what to teach an encoder.

    >>> comparison_texts("film.film.directed_by"), comparison_texts("officialLanguage")
    (('film directed', 'directed'), ('official language',))
    """
    phrases = (relation_phrase(part) for part in (label, label.split(".")[-1]))
    texts = dict.fromkeys(map(trim_function_words, phrases))
    return tuple(text for text in texts if text) or (label,)


class QuestionWording:
    """One question about an entity; may be used from several threads.

    Args:
        masked: the question, the entity as `kgqa.priors.masking.TOPIC_MASK`.
        encode: a sentence encoder; called here with the parts of the question, and in both
            methods with the texts of relations.
    """

    def __init__(self, masked: str, encode: Encode) -> None:
        self._encode = encode
        self._orders = word_orders(masked)
        self._spans = sorted({span for order in self._orders for spans in order.spans for span in spans})
        self._columns = {span: at for at, span in enumerate(self._spans)}
        rows = encode([*self._spans, masked.replace(TOPIC_MASK, "it")])
        self._parts, self._question = rows[:-1], rows[-1]
        self._company = _COMPANY_WORDS.search(masked) is not None

    def hops(self, before: Sequence[Hop], offered: Sequence[Hop]) -> SimilarityScores:
        """Return how well each hop follows ``before``, whatever comes after it: shape (offered,)."""
        return self._scores([(*before, hop) for hop in offered], over=False)

    def chains(self, chains: Sequence[Sequence[Hop]]) -> SimilarityScores:
        """Return how well each whole chain says the question: shape (chains,).

        Chains of any length can be compared; 1 is about what a well-said hop is worth.
        """
        return self._scores(chains, over=True)

    def _scores(self, chains: Sequence[Sequence[Hop]], *, over: bool) -> SimilarityScores:
        steps = sorted({(hop.words, hop.forward) for chain in chains for hop in chain})
        row = {step: at for at, step in enumerate(steps)}
        vectors, stems = self._encode_hops(steps)
        scores = np.zeros(len(chains), np.float32)
        for length in {len(chain) for chain in chains if chain}:
            places = [place for place, chain in enumerate(chains) if len(chain) == length]
            alike = [chains[place] for place in places]
            rows = np.array([[row[hop.words, hop.forward] for hop in chain] for chain in alike])
            said = self._align(vectors[rows], stems[rows], repetition_penalties(alike), over)
            whole = _QUESTION_WEIGHT * (_unit_rows(vectors[rows].sum(axis=1)) @ self._question)
            scores[places] = said + whole - hop_penalties(alike, company=self._company)
        return scores

    def _encode_hops(self, steps: Sequence[tuple[str, bool]]) -> tuple[FloatArray, FloatArray]:
        """Return vectors of hops, and how far they share stems with each part of the question.

        A hop against its arrow ends at what the relation's name begins with.
        """
        texts = [comparison_texts(label)[: None if forward else 1] for label, forward in steps]
        known = sorted({text for each in texts for text in each})
        rows = dict(zip(known, self._encode(known), strict=True))
        vectors = [np.sum([rows[text] for text in each], axis=0) for each in texts]
        stems = stem_overlap([each[-1] for each in texts], self._spans)
        return _unit_rows(np.array(vectors, np.float64)), stems

    def _align(self, hops: FloatArray, stems: FloatArray, forbidden: FloatArray, over: bool) -> FloatArray:
        """Align words with hops, or with two hops together: shape (chains,)."""
        best = np.full(len(hops), -np.inf)
        for groups in hop_groupings(hops.shape[1]):
            units = _unit_rows(np.stack([hops[:, group].sum(axis=1) for group in groups], axis=1))
            like = np.maximum(units @ self._parts.T, 0.0)
            same = np.stack([stems[:, group].max(axis=1) for group in groups], axis=1)
            like = np.minimum(like + _STEM_WEIGHT * same * (1 - like), 1.0) ** _SIMILARITY_POWER
            said = self._best_order(like, over)
            for pair in (group for group in groups if len(group) > 1):
                unlike = 1 - hops[:, pair].prod(axis=1).sum(axis=1)
                said = said - (_PAIR_PENALTY + _UNLIKE_PAIR_PENALTY * unlike) - forbidden[:, pair[0]]
            best = np.maximum(best, said)
        return best

    def _best_order(self, like: FloatArray, over: bool) -> FloatArray:
        """Take the better order of words: shape (chains,)."""
        if not self._orders:
            return np.full(len(like), -UNSAID_HOP_COST * (like.shape[1] - 1))
        said = [(align_hops(like, order, self._columns), order) for order in self._orders]
        scores = [
            complete_chain_scores(each) if over else partial_chain_scores(each, order) for each, order in said
        ]
        return np.asarray(np.max(scores, axis=0))
