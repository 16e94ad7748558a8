"""How likely the chosen chains answer a question, and which of its words nothing says.

A logistic regression over a few signals. Its weights were fitted by ``benchmarks/_confidence_weights.py``
on training parts of six families of graphs: on their questions, on the same ones with the relation that
answers them hidden, and on some asked of a graph that they are not about.
"""

import math
import re
from calendar import month_name
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kgqa.kg.languages import detect_language, function_words
from kgqa.kg.terms import Hop, Literal, Term
from kgqa.kg.text import fold, in_singular
from kgqa.retrieval.candidate_chains import CandidateChain, InverseRelations, TrainingAdvice, log_likelihood
from kgqa.retrieval.chain_ranking import ChainCombination
from kgqa.retrieval.retriever import Retrieved
from kgqa.retrieval.wording import (
    Encode,
    asked_words,
    comparison_texts,
    open_wording,
    relation_phrase,
    without_masks,
    word_similarity,
)
from kgqa.retrieval.years import without_eras


class Weight(NamedTuple):
    """What a signal weighs where there are training questions, and where there are none."""

    trained: float
    untrained: float


SIGNALS = {
    "always": Weight(-6.26, -4.65),
    # similarity of the question without its topics to the hop that is most alike
    "hop": Weight(2.57, 4.8),
    # how far the word of the question is said that is said best
    "best": Weight(2.73, 0.04),
    # share of the choice among all that are possible
    "share": Weight(2.24, 2.54),
    # similarity of the nearest training question that has the chain, and its likelihood by the hop model
    "like": Weight(1.62, 0.0),
    "learned": Weight(1.97, 0.0),
    # how much of its topics' names the question says, and whether it says another name
    "named": Weight(0.0, 1.19),
    "other": Weight(-2.9, -0.49),
    # whether no end is a date, a number or a thing where one is asked for
    "kind": Weight(-3.98, -4.13),
    # how many words of the question nothing says, to 3; whether something is in doubt, however likely
    "unsaid": Weight(0.0, -0.35),
    "doubt": Weight(-0.18, -1.44),
}
"""What speaks for and against an answer."""

SURE_CONFIDENCE = 0.8
"""From which on about 95 % of answers have something right, whatever the graph: see docs/offline.md."""

MIN_SUPPORT = 0.5  # below which a word of the question is said by nothing

_MAX_UNSAID = 3
_MAX_NAMED_ENDS = 50  # ends whose names may say a word of the question

_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w'-]+")
_TITLE = re.compile(r"[A-Z][b-df-hj-np-tv-xz]{1,2}")
_DATE = re.compile(rf"(?<!\d)\d{{4}}(?!\d)|\b(?:{'|'.join(month_name[1:])})\b", re.IGNORECASE)
_ASKED = re.compile(r"\b(?:when|(?:what|which) (?:year|date|day)|what|which|who|whom|whose|where|how)\b")
_HOW = re.compile(
    r"\bhow (?!(?:often|many|do|does|did|is|are|was|were|can|could|would)\b)\w+\b", re.IGNORECASE
)


class Reading(NamedTuple):
    """What speaks for and against the chosen chains, and the word of the question that nothing says."""

    signals: Mapping[str, float]
    missing: str | None
    trained: bool
    doubt: str | None = None
    """Why it may not be what was asked, however likely."""

    @property
    def confidence(self) -> float:
        """The probability that the answer is right."""
        column = 0 if self.trained else 1
        return 1 / (1 + math.exp(-sum(SIGNALS[name][column] * value for name, value in self.signals.items())))


def read_signals(
    question: str, found: Retrieved, chosen: ChainCombination, encode: Encode, by: Sequence[Hop] = ()
) -> Reading:
    """Return what speaks for and against the chosen chains; blocks.

    What the values say that answers were selected ``by`` is said as what the hops of a chain say.
    """
    chains = chosen.chains
    taught = [_read_training(each, found.advice[topic], found.inverses) for topic, each in chains.items()]
    masked = [found.masked[topic] for topic in chains]
    ends = [end.term for each in chains.values() for end in each.ends[:_MAX_NAMED_ENDS]]
    language = detect_language(question)
    empty = frozenset() if language in {"", "en"} else function_words(language)  # English ones are left out
    words = [word for word in asked_words(masked[0]) if word not in empty]
    labels = {hop.words for each in chains.values() for chain in each.chains for hop in (*chain.hops, *by)}
    classes = {topic.name for topic, each in chains.items() if not each.moves and topic.name}
    labels |= classes  # things of the kind that is asked for
    support = _word_support(words, labels, [each.questions for each in taught], ends, encode)
    names = [found.names.get(topic, "") for topic in found.masked]
    where = [
        like for each in taught for text, like in each.questions.items() if "where" in fold(text).split()
    ]
    place = max(
        [*where, *(value for word, value in zip(words, support, strict=True) if word == "place")], default=1.0
    )
    doubt = _find_doubt(masked[0], place, chains.values(), encode)
    signals = {
        "always": 1.0,
        "hop": max(
            _similarity(text, each, by, classes, encode)
            for text, each in zip(masked, chains.values(), strict=True)
        ),
        "best": max(support, default=1.0),
        "share": chosen.confidence,
        "like": max(each.like for each in taught),
        "learned": max(each.learned for each in taught),
        "named": min(_said_share(question, found.names.get(topic, "")) for topic in chains),
        "other": float(
            _says_other_name(without_eras(question), [*names, *(end.name or "" for end in ends)], labels)
        ),
        "kind": float(_is_other_kind(masked[0], ends)),
        "unsaid": float(min(_MAX_UNSAID, sum(value < MIN_SUPPORT for value in support))),
        "doubt": float(doubt is not None),
    }
    least = min(zip(support, words, strict=True), default=(1.0, ""))
    trained = any(found.advice[topic].nearest for topic in chains)
    return Reading(signals, least[1] if least[0] < MIN_SUPPORT else None, trained, doubt)


def _find_doubt(masked: str, place: float, chains: Iterable[CandidateChain], encode: Encode) -> str | None:
    """Return "where" if no ``place`` is said, or that a chain comes back without a word that asks for it."""
    if _first_asked(masked) == "where" and place < MIN_SUPPORT:
        return "where"
    comes_back = any(one[-1] == two[0].inverse for each in chains for one, two in pairwise(each.moves))
    if comes_back and not open_wording(masked, encode).asks_for_company:
        return "others of the same"
    return None


class _Taught(NamedTuple):
    """What training questions say of a chain; and those that have it, by how alike they are."""

    like: float
    learned: float
    questions: Mapping[str, float]


def _read_training(candidate: CandidateChain, given: TrainingAdvice, inverses: InverseRelations) -> _Taught:
    advice = inverses.normalise_advice(given)
    slots = {tuple(map(inverses.slot, chain.hops)) for chain in candidate.chains}
    having = [near for near in advice.nearest if near.exemplar.chain in slots]
    logs = [log_likelihood((*chain, None), advice.hops) for chain in slots] if advice.hops else []
    return _Taught(
        max((near.similarity for near in having), default=0.0),
        math.exp(max(logs)) if logs else 0.0,
        {near.exemplar.question: near.similarity for near in reversed(having)},
    )


def _similarity(
    masked: str, candidate: CandidateChain, by: Sequence[Hop], classes: Iterable[str], encode: Encode
) -> float:
    """Return how alike the question without its topics is to the hop, or the class, that is most alike."""
    hops = {hop for chain in candidate.chains for hop in (*chain.hops, *by)}
    phrases = sorted({relation_phrase(hop.words) for hop in hops} | {*map(relation_phrase, classes)})
    return float((encode(phrases) @ encode([without_masks(masked)])[0]).max())


def _word_support(
    words: Sequence[str],
    labels: Iterable[str],
    questions: Sequence[Mapping[str, float]],
    ends: Iterable[Term],
    encode: Encode,
) -> list[float]:
    """Return how far each word is said, 0 to 1: by a relation, a training question with the chain, an end."""
    texts = sorted({text for label in labels for text in (relation_phrase(label), *comparison_texts(label))})
    said = {word for text in texts for word in text.split()}
    named = {word for end in ends for word in fold(end.name or "").split()}
    taught = [(set(fold(text).split()), like) for each in questions for text, like in each.items()]
    alike = (encode(list(words)) @ encode(texts).T).max(axis=1) if words else ()
    return [
        max(
            float(similar),
            max(word_similarity(word, other) for other in said),
            max((like for others, like in taught if word in others), default=0.0),
            float(word in named),
        )
        for word, similar in zip(words, alike, strict=True)
    ]


def _said_share(question: str, name: str) -> float:
    words, said = (fold(in_singular(text)).split() for text in (name, question))
    return sum(word in said for word in words) / max(1, len(words))


def _says_other_name(question: str, names: Iterable[str], labels: Iterable[str] = ()) -> bool:
    """Return whether a word inside of a question begins with a capital, and is in no name that is known.

    Titles such as "Ms" do not count, nor what a relation says.
    """
    known = {word for name in names for word in fold(name).split()}
    related = {word for label in labels for word in relation_phrase(label).split()}
    said = [fold(word) for word in _NAME.findall(question) if not _TITLE.fullmatch(word)]
    return any(
        not known & {word, *word.split(), word.removesuffix("s")}
        and not any(word_similarity(word.removesuffix("s"), other) >= MIN_SUPPORT for other in related)
        for word in said
    )


def _is_other_kind(masked: str, ends: Sequence[Term]) -> bool:
    """Return whether ends are no dates, no numbers, or values alone, where the question asks otherwise."""
    values = [end for end in ends if isinstance(end, Literal)]
    asked = _first_asked(masked)
    if asked == "when" or asked.endswith(("year", "date", "day")):
        return not any(_DATE.search(end.name or "") for end in ends)
    if _HOW.search(masked):
        return not values
    return asked in {"who", "whom", "whose", "where"} and len(values) == len(ends)


def _first_asked(masked: str) -> str:
    """Return the first words that ask: "when", "which year"; none where no such words do."""
    return next(iter(_ASKED.findall(masked.lower())), "")
