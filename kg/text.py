"""Folds names and questions so that spellings of one thing compare equal.

>>> fold("The  Bonnie & Clyde\u2019s caf\u00e9")
'the bonnie and clyde s cafe'
>>> strip_article("the bonnie and clyde")
'bonnie and clyde'
>>> split_camel_case("officialLanguage")
'official Language'
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

import inflection

MAX_COMBINING_MARKS = 30
"""Combining marks in a row that are read: more stand in no language (UAX #15, stream-safe text)."""

_UNSPACED = (
    "\u3005\u3007\u3041-\u309f"  # of Japanese and Chinese: marks, Hiragana,
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\uac00-\ud7a3"  # Hangul, whose particles are written to the word before
)
"""Characters of scripts without spaces between words: each is a word of its own."""

_WORD_PATTERN = re.compile(rf"(?=[^\W_])[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_HALF_MARKS = "\uff9e\uff9f"
_LONG_RUN_OF_MARKS = re.compile(rf"(?:[^\w\s]|[{_HALF_MARKS}]){{{MAX_COMBINING_MARKS + 1},}}")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ARTICLES = ("the ", "a ", "an ")


def fold(text: str) -> str:
    """Fold case, width, accents, punctuation and white space (NFKC, casefold); ``&`` is ``and``.

    >>> fold("北京市 & Überlingen"), fold("ガンダム")
    ('北 京 市 and uberlingen', 'カンタム')
    """
    if text.isascii():
        plain = text.lower()
        if plain.replace(" ", "").isalnum():  # as of most names; it takes half as long
            return " ".join(plain.split())
    else:
        plain = "".join(char for char in decompose(text) if not unicodedata.combining(char))
        plain = unicodedata.normalize("NFC", plain)  # Hangul
    return " ".join(_WORD_PATTERN.findall(plain.replace("&", " and ")))


def is_word(char: str) -> bool:
    """Return whether a character is a word of its own, as those of scripts without spaces are."""
    return not char.isascii() and re.match(f"[{_UNSPACED}]", char) is not None


def decompose(text: str) -> str:
    """Fold case and width, letters and their marks each for itself (NFKC, casefold, NFKD)."""
    return unicodedata.normalize(
        "NFKD", unicodedata.normalize("NFKC", limit_combining_marks(text)).casefold()
    )


def limit_combining_marks(text: str) -> str:
    """Leave out marks beyond `MAX_COMBINING_MARKS` in a row: ordering takes the square of their number."""
    return _LONG_RUN_OF_MARKS.sub(_first_marks, text)


def _first_marks(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.combining(char) or char in _HALF_MARKS else 0
        if marks <= MAX_COMBINING_MARKS:
            kept.append(char)
    return "".join(kept)


def split_camel_case(name: str) -> str:
    """Put a space before each capital that follows a small letter."""
    return _CAMEL_CASE.sub(" ", name)


def in_words(local: str) -> str:
    """Return the local part of an IRI as words.

    >>> in_words("hasCountryOfOrigin"), in_words("RNA_part")
    ('has Country Of Origin', 'RNA part')
    """
    return " ".join(split_camel_case(unquote(local)).replace("_", " ").split())


def spaced(name: str) -> str:
    """Put spaces into a name in one word, as IRIs have it.

    >>> spaced("BillOfMaterial"), spaced("LP record")
    ('Bill Of Material', 'LP record')
    """
    return name if " " in name else _CAPITAL.sub(" ", name).replace("_", " ")


def strip_article(folded: str) -> str:
    """Drop a leading article from folded text, if anything is left."""
    return folded.partition(" ")[2] if folded.startswith(_ARTICLES) else folded


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question: its text and place."""

    text: str
    start: int
    end: int


def split_words(text: str, most: int = 200) -> list[Word]:
    """Split text into words, at most ``most``."""
    found: list[Word] = []
    for match in _WORD_PATTERN.finditer(text):
        if len(found) == most:
            break
        found.append(Word(match.group(), match.start(), match.end()))
    return found


@lru_cache(maxsize=10_000)
def singular(noun: str) -> str:
    """Return a noun for one thing; Latin ones stay, and "caves" are no "cafes".

    >>> [singular(noun) for noun in ("countries", "people", "shelves", "caves", "data", "glass")]
    ['country', 'person', 'shelf', 'cave', 'data', 'glass']
    """
    lower = noun.lower()
    if lower == "s" or lower.endswith(("ss", "us", "is", "a")):
        return noun
    regular = lower.endswith("ves") and not lower.endswith(("lves", "knives", "wives", "leaves"))
    return noun[:-1] if regular else inflection.singularize(noun)


def in_singular(question: str) -> str:
    """Return the words of a question, those for several things as for one.

    >>> in_singular("Which countries, boxes and people like glass?"), in_singular("the king's sons")
    ('Which country box and person like glass', 'the king s son')
    """
    return " ".join(singular(word.text) for word in split_words(question))


def in_plural(words: str) -> str:
    """Return the words for one thing as those for several; what stands before "of" tells which it is.

    >>> [in_plural(words) for words in ("country", "box", "key", "person", "place of birth", "courses")]
    ['countries', 'boxes', 'keys', 'people', 'places of birth', 'courses']
    """
    head, of, rest = words.partition(" of ")
    before, space, last = head.rpartition(" ")
    several = last if singular(last) != last else inflection.pluralize(last)
    return "".join((before, space, several, of, rest))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


_FUNCTION_WORDS = word_set(
    """
    a about after all also am an and any are as at be been before being both but by can could
    did do does during each for from had has have he her him his how i if in into is it its many
    may me might more most much my no not of off on or our out over she so some such than that
    the their them then there these they this those through to too under until up was we were
    what when where which while who whom whose why will with would you your
    """
)

FUNCTION_WORDS = _FUNCTION_WORDS | {"s", "t", "us"}
"""Words that carry no meaning of their own: a mention of these alone is none."""

EVERYDAY_WORDS = _FUNCTION_WORDS | word_set(
    """
    above across act acted acting action actor actors actress actresses always among another
    appear appeared appears around ask author authors award became because become began belong
    best big birth birthplace born call called came cast character children cities city club co
    come common company containing countries country couple created dad date daughter day days
    death describe described die died different direct directed directing director directors
    directs done early either else end ever every exist fall fame father featured features
    female film films find first follow following found founded founder full gender general
    genre genres get give given go going good group half happened heir held help here home
    husband institution institutions involved itself job kid kids kind kinds kinsfolk know known
    language languages large last late later lead list listed live lived location long look made
    main make male married marry mean member members mention mentioned mom money month mother
    movie movies name named names nation national nationality new number offspring old one only
    organization origin other others own parent parents part people person persons place places
    play played player players plays plot position primary produced producer profession
    published rated rating ratings release released religion role same say screenwriter
    screenwriters script second see series sex share shared sharing show shows sibling similar
    simple since someone something son sort speak spoken spouse star starred starring stars
    start started state still story tag tagged tags take team tell thing things time times title
    titles together topic topics two type types use used uses using very votes wants watch way
    wear wearing wears well went wife without won word words work worked works world write
    writer writers writes written wrote year years yet
    """
)
"""Words that seldom name an entity by themselves: function words and the nouns questions are made of."""
