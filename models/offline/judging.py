"""Is a chain the answer's: does it say all words of the question?"""

import re
from typing import Literal as Choice, NamedTuple

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Literal, Term, one_line
from kgqa.models.offline.words import Encode, hops_asked, masked, spoken
from kgqa.prompts.candidates import Take, number_of
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.verify_chain import Verdict, VerifyChain

EXPLAINED = 0.42
"""Likeness to a word of the chain at which a word of the question counts as explained."""

NAMED = 3
"""Candidates that a finding names."""

_ASKS_FOR_SOMEBODY = re.compile(r"\W*(who|whom|whose|where)\b", re.IGNORECASE)
_FILLER = frozenset(
    re.findall(
        r"\w+",
        """
        a an the is are was were be been do does did has have had what which who whom whose when where why how
        many much of in on at by for from with to and or that this these those it its as also there name list
        give tell me us about all any some one can could find show i you he she they located country countries
        city cities place person people thing things kind type
        """,
    )
)


def verify(prompt: VerifyChain, encode: Encode) -> Verdict:
    """Stop where the chain covers the question, go on where it does not yet."""
    judged = _judge(prompt, encode)
    return Verdict(rationale=judged.why, decision=judged.decision, take=judged.take)


def check_sufficiency(prompt: CheckSufficiency, encode: Encode) -> Sufficiency:
    """Judge as `verify` does, and say what the chain leads to."""
    judged = _judge(prompt, encode)
    return Sufficiency(
        rationale=judged.why,
        finding="" if judged.decision == "backtrack" else _finding(prompt.chain, prompt.candidates),
        decision=judged.decision,
        take=judged.take,
    )


class _Judged(NamedTuple):
    why: str
    decision: Choice["stop", "forward", "backtrack"]
    take: Take = "all"


def _judge(prompt: VerifyChain | CheckSufficiency, encode: Encode) -> _Judged:
    if _ASKS_FOR_SOMEBODY.match(prompt.question) and all(_is_value(c.term) for c in prompt.candidates):
        return _Judged("values are neither persons nor places", "backtrack")
    question = masked(prompt.question, prompt.chain)
    open_words = _unexplained(question, prompt.chain, encode)
    if open_words and prompt.chain.depth < hops_asked(question):
        return _Judged(f"not yet covered: {', '.join(open_words)}", "forward")
    return _Judged("the chain covers the question's words", "stop", _take(prompt))


def _unexplained(question: str, chain: Chain, encode: Encode) -> list[str]:
    """Give the words of the question that no word of the chain is like."""
    asked = [word for word in re.findall(r"[^\W\d_]{3,}", question.lower()) if word not in _FILLER]
    said = [
        word for hop in chain.hops for word in spoken(hop.words).split() if word not in {"of", "in", "the"}
    ]
    if not asked or not said:
        return []
    likeness = (encode(asked) @ encode(said).T).max(axis=1)
    return [word for word, best in zip(asked, likeness, strict=True) if best < EXPLAINED]


def _is_value(term: Term) -> bool:
    return isinstance(term, Literal) and any(character.isdigit() for character in term.value)


def _take(prompt: VerifyChain | CheckSufficiency) -> Take:
    numeric = all(number_of(candidate.term) is not None for candidate in prompt.candidates)
    if "how many" in prompt.question.lower() and not numeric:
        return "count"
    return "all" if all(c.returning for c in prompt.candidates) else "others"


def _finding(chain: Chain, candidates: tuple[Candidate, ...]) -> str:
    """Say a chain and some of its ends: ``mouth of river of Ulm: Black Sea``."""
    said = [spoken(hop.words) for hop in reversed(chain.hops)]
    names = [one_line(str(candidate.term), 40) for candidate in candidates[:NAMED]]
    if len(candidates) > NAMED:
        names.append(f"{len(candidates) - NAMED} more")
    return one_line(f"{' of '.join([*said, str(chain.topic)])}: {', '.join(names)}")
