"""Whether two plans answer the same (VoG equation 3).

The paper asks for semantic equivalence and does not define it. Here answers are sets of
names: compared as a whole, so that "no" is not in "Norway".
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from types import MappingProxyType

from kgqa.kg.text import decompose, strip_article

MAX_NUMBER_CHARS = 400  # characters of the longest answer that is read as a number
_EMPTY_ANSWERS = frozenset({"", "nothing", "none", "unknown", "null", "no answer"})

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,6})?"
)
_EXACT_CONTEXT = Context(prec=MAX_NUMBER_CHARS, Emax=MAX_EMAX, Emin=MIN_EMIN)
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_OPENING_MARKS, _CLOSING_MARKS = "\"'“«([{ ", "\"'”’»)]}.,;:!? "  # what a number may be wrapped in


def answer_key(answers: Sequence[str], ids: Mapping[str, str] = MappingProxyType({})) -> frozenset[str]:
    """Return what a plan answers; two plans agree if their keys are equal.

    Neither order nor repetition counts, and answers that name nothing are left out, so that
    the key of a plan without an answer is empty. A number is compared by value. With ``ids`` of
    entities, by name as `normalise_answer` writes it, names of one entity are one answer.

    >>> answer_key(["The Hague", "1,000"]) == answer_key(["1000.0", "the hague."])
    True
    >>> answer_key(["No"]) == answer_key(["Norway"])
    False
    """
    keys = (_number_key(answer) or normalise_answer(answer) for answer in answers)
    return frozenset(ids.get(key, key) for key in keys if key not in _EMPTY_ANSWERS)


def is_unanswered(answers: Sequence[str]) -> bool:
    """Return whether a plan ends without an answer: with none, or with names of nothing alone.

    >>> is_unanswered(["Unknown."]), is_unanswered(["The Unknown Soldier"])
    (True, False)
    """
    return not answer_key(answers)


def normalise_answer(name: str) -> str:
    """Fold case, width, punctuation and white space, and drop a leading article; ``&`` is ``and``.

    Unlike `kg.text.fold`, which is for finding names, it keeps all that tells names apart:
    symbols, and accents on letters other than Latin ones. Punctuation alone is kept as it is.

    >>> normalise_answer("The  Café"), normalise_answer("C++")
    ('cafe', 'c++')
    >>> normalise_answer("パパ") == normalise_answer("ハハ")
    False
    """
    plain = _fold_case_and_width(name)
    kept = "".join(" " if unicodedata.category(char)[0] in "PZC" else char for char in plain)
    return strip_article(" ".join(kept.split())) or plain.strip()


def _fold_case_and_width(text: str) -> str:
    """Fold case and width, and drop accents on Latin letters."""
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", decompose(text))).replace("&", " and ")


def _number_key(text: str) -> str:
    """Write a number so that equal values are equal texts; nothing where it is none."""
    if len(text) > MAX_NUMBER_CHARS:
        return ""
    plain = _fold_case_and_width(text).lstrip(_OPENING_MARKS).rstrip(_CLOSING_MARKS)
    plain = plain.replace("\N{MINUS SIGN}", "-")
    if not _NUMBER.fullmatch(plain):
        return ""
    value = Decimal(plain.replace(",", ""))
    return str(value.normalize(_EXACT_CONTEXT) if value else 0)
