"""A model that is no language model: it answers prompts with a sentence encoder.

It compares the question with the words of relations and nothing else; it knows
no facts. What it spends is not counted as language-model calls.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Chain, Hop, Literal, Term
from kgqa.models.errors import ModelUnavailable
from kgqa.models.port import Answered
from kgqa.prompts.answer_directly import AnswerDirectly, DirectAnswer
from kgqa.prompts.base import Prompt, R, Reply
from kgqa.prompts.candidates import Take, number_of
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations
from kgqa.prompts.verify_chain import Verdict, VerifyChain

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to rows of length 1, shape (texts, dimensions)."""

RERANKED = 12
"""Relations whose whole chain is compared with the question."""

INVERSE = 0.03
"""What a hop against its arrow must be better by."""

RETURN = 0.15
"""What going straight back must be better by, unless the question asks for company."""

EXPLAINED = 0.42
"""Likeness to a word of the chain at which a word of the question counts as explained."""

_COMPANY = re.compile(r"\b(same|also|other|others|together|co|share|shares|another|siblings?|neighbou?rs?)\b")
_LINKS = re.compile(r"\b(of|whose|that|which|where|who|in|by|from|for|with|to)\b|'s\b", re.IGNORECASE)
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


def spoken(relation: str) -> str:
    """Turn a relation's name into words, the last two parts of a dotted one.

    >>> spoken("people.person.place_of_birth")
    'person place of birth'
    >>> spoken("officialLanguage")
    'official language'
    """
    parts = " ".join(relation.split(".")[-2:])
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", parts)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().lower()


class OfflineModel:
    """Answers the prompts of CoR by likeness of words.

    Args:
        encode: a sentence encoder; called outside of the event loop.
    """

    name = "offline"

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._answers: dict[type[Prompt[Any]], Callable[[Any], Reply]] = {
            PruneRelations: self._prune,
            VerifyChain: self._verify,
            FilterCandidates: self._filter,
            AnswerDirectly: self._abstain,
        }

    async def ask(self, prompt: Prompt[R]) -> Answered[R]:
        """Answer a prompt; the usage is empty.

        Raises:
            ModelUnavailable: for a prompt that needs a language model.
        """
        if type(prompt) not in self._answers:
            raise ModelUnavailable(f"the offline model cannot answer {prompt.name}; give a language model")
        reply = await asyncio.to_thread(self._answers[type(prompt)], prompt)
        return Answered(reply)  # type: ignore[arg-type]

    def _prune(self, prompt: PruneRelations) -> PrunedRelations:
        question = _masked(prompt.question, prompt.chain)
        scores = self._hop_scores(question, prompt.hops)
        if prompt.chain.hops:
            scores = self._chain_scores(question, prompt, scores)
        best = np.argsort(-scores, kind="stable")[: prompt.width]
        return PrunedRelations(
            rationale=f"nearest in words, likeness {scores[best[0]]:.2f}",
            relations=[int(at) + 1 for at in best],
        )

    def _hop_scores(self, question: str, hops: Sequence[Hop]) -> npt.NDArray[np.float32]:
        """Compare a question with each hop: shape (hops,)."""
        words = sorted({spoken(hop.words) for hop in hops})
        likeness = dict(zip(words, self._encode(words) @ self._encode([question])[0], strict=True))
        return np.array(
            [likeness[spoken(hop.words)] - INVERSE * (not hop.forward) for hop in hops], np.float32
        )

    def _chain_scores(
        self, question: str, prompt: PruneRelations, scores: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Compare a question with the chains that the best hops make: shape (hops,)."""
        best = np.argsort(-scores, kind="stable")[:RERANKED]
        said = " ".join(spoken(hop.words) for hop in reversed(prompt.chain.hops))
        texts = [f"{spoken(prompt.hops[at].words)} {said}" for at in best]
        whole = scores - 1.0
        whole[best] = scores[best] + self._encode(texts) @ self._encode([question])[0]
        if not _COMPANY.search(question.lower()):
            back = prompt.chain.hops[-1].inverse
            whole[[at for at, hop in enumerate(prompt.hops) if hop == back]] -= RETURN
        return whole

    def _verify(self, prompt: VerifyChain) -> Verdict:
        if _ASKS_FOR_SOMEBODY.match(prompt.question) and all(_is_value(c.term) for c in prompt.candidates):
            return Verdict(rationale="values are neither persons nor places", decision="backtrack")
        question = _masked(prompt.question, prompt.chain)
        open_words = self._unexplained(question, prompt.chain)
        if open_words and prompt.chain.depth < _hops_asked(question):
            return Verdict(rationale=f"not yet covered: {', '.join(open_words)}", decision="forward")
        return Verdict(rationale="the chain covers the question's words", decision="stop", take=_take(prompt))

    def _unexplained(self, question: str, chain: Chain) -> list[str]:
        """Give the words of the question that no word of the chain is like."""
        asked = [word for word in re.findall(r"[^\W\d_]{3,}", question.lower()) if word not in _FILLER]
        said = [
            word
            for hop in chain.hops
            for word in spoken(hop.words).split()
            if word not in {"of", "in", "the"}
        ]
        if not asked or not said:
            return []
        likeness = (self._encode(asked) @ self._encode(said).T).max(axis=1)
        return [word for word, best in zip(asked, likeness, strict=True) if best < EXPLAINED]

    def _filter(self, prompt: FilterCandidates) -> FilteredCandidates:
        counting = "how many" in prompt.question.lower()
        numbers = list(range(1, len(prompt.candidates) + 1))
        return FilteredCandidates(
            rationale="no condition can be checked by words", chosen=numbers, count=counting
        )

    def _abstain(self, prompt: AnswerDirectly) -> DirectAnswer:
        return DirectAnswer(rationale="the offline model knows no facts", answers=[])


def _masked(question: str, chain: Chain) -> str:
    """Leave the topic's name out of the question: what is asked, not of whom."""
    name = chain.topic.name
    return re.sub(re.escape(name), "it", question, flags=re.IGNORECASE) if name else question


def _hops_asked(question: str) -> int:
    """Guess from its linking words how many hops a question wants, at least 1."""
    head = re.sub(
        r"^\W*(in |on |at |by |for |from |to )?(which|who|what|where)\b", "", question, flags=re.IGNORECASE
    )
    return max(1, len(_LINKS.findall(head)))


def _is_value(term: Term) -> bool:
    return isinstance(term, Literal) and any(character.isdigit() for character in term.value)


def _take(prompt: VerifyChain) -> Take:
    numeric = all(number_of(candidate.term) is not None for candidate in prompt.candidates)
    if "how many" in prompt.question.lower() and not numeric:
        return "count"
    return "all" if all(c.returning for c in prompt.candidates) else "others"
