"""Which way round a question says a relation: what a topic has, or what it is of something.

>>> part_of, has_part = Hop("http://x/partOf"), Hop("http://x/has_part")
>>> asked = ("What is [ENT] part of?", "What is part of the [ENT]?", "Which parts does [ENT] have?")
>>> [[turned_noun(each, hop) for hop in (part_of, has_part)] for each in asked]
[['', 'part'], ['part', ''], ['part', '']]
>>> turned_noun("What is it part of?", part_of)  # no topic is said
''
"""

import re

from kgqa.kg.terms import Hop
from kgqa.kg.text import in_singular, spaced
from kgqa.priors.masking import TOPIC_MASK


def turned_noun(masked: str, hop: Hop) -> str:
    """Return the noun by which a masked question says a hop from the topic the other way round; else nothing.

    To a part of the topic "has part" leads, and "part of" comes from there. Only a noun that the relation
    ends with tells: who is the owner of something owns it.
    """
    if TOPIC_MASK not in masked:
        return ""
    of_topic, nouns = _said_nouns(masked)
    words = in_singular(spaced(hop.words)).lower().split()
    is_of = words[-1:] == ["of"]
    noun = (words[-2:-1] if is_of else words[-1:]) or [""]
    turned = hop.forward == (is_of == of_topic)
    return noun[0] if turned and noun[0] in nouns else ""


def _said_nouns(masked: str) -> tuple[bool, tuple[str, ...]]:
    """Return the nouns of which a question says that the topic has them, or else is one of something."""
    left, _, right = masked.lower().partition(TOPIC_MASK.lower())
    before, after = (re.findall(r"\w+", each) for each in (left, right))
    before = [word for word in before if word not in {"a", "an", "the"}]
    has = {*before[-1:], *after[-1:]} & {"have", "has", "had"}
    nouns = before if has else before[-2:-1] if before[-1:] == ["of"] else []
    if nouns or after[-1:] != ["of"]:
        return True, tuple(in_singular(" ".join(nouns)).split())
    return False, tuple(in_singular(" ".join(after[-2:-1])).split())
