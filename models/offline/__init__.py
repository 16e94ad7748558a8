"""A model that is no language model: it answers prompts with a sentence encoder.

It compares the question with the words of relations and nothing else; it knows
no facts. What it spends is not counted as language-model calls.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from kgqa.models.errors import ModelUnavailable
from kgqa.models.offline.judging import check_sufficiency, verify
from kgqa.models.offline.planning import adapt, decompose
from kgqa.models.offline.relations import diagnose, prune
from kgqa.models.offline.unknown import abstain, infer, keep_all
from kgqa.models.offline.words import Encode, spoken
from kgqa.models.port import Answered
from kgqa.prompts.adapt_blueprint import AdaptBlueprint
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.prompts.base import Prompt, R, Reply
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.diagnose import Diagnose
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.prompts.verify_chain import VerifyChain

__all__ = ["Encode", "OfflineModel", "spoken"]

_ANSWERS: dict[type[Prompt[Any]], Callable[[Any, Encode], Reply]] = {
    AdaptBlueprint: adapt,
    AnswerDirectly: abstain,
    CheckSufficiency: check_sufficiency,
    Decompose: decompose,
    Diagnose: diagnose,
    FilterCandidates: keep_all,
    InferFromEvidence: infer,
    PruneRelations: prune,
    VerifyChain: verify,
}


class OfflineModel:
    """Answers the prompts of the methods by likeness of words.

    Args:
        encode: a sentence encoder; called outside of the event loop.
    """

    name = "offline"

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    async def ask(self, prompt: Prompt[R]) -> Answered[R]:
        """Answer a prompt; the usage is empty.

        Raises:
            ModelUnavailable: for a prompt that needs a language model.
        """
        if type(prompt) not in _ANSWERS:
            raise ModelUnavailable(f"the offline model cannot answer {prompt.name}; give a language model")
        reply = await asyncio.to_thread(_ANSWERS[type(prompt)], prompt, self._encode)
        return Answered(reply)  # type: ignore[arg-type]
