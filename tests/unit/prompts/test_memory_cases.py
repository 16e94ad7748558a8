"""What the prompts of the baselines without a graph say, and what they take for a reply."""

from typing import Any

import pytest

from kgqa.models.parsing import BadReply, check_reply, validate_reply
from kgqa.prompts.base import Prompt
from kgqa.prompts.infer_from_evidence import AnswerBriefly, ReasonAloud

FROM_MEMORY = [AnswerBriefly, ReasonAloud]

each_kind = pytest.mark.parametrize("kind", FROM_MEMORY, ids=lambda kind: kind.name)


@each_kind
def test_the_question_is_all_that_is_shown(kind: Any) -> None:
    assert kind('Who wrote "Emma"?').case() == 'Question: "Who wrote \\"Emma\\"?"\nReply:'


def test_samples_differ_in_nothing_that_is_shown() -> None:
    first, second = ReasonAloud("Who?"), ReasonAloud("Who?", sample=1, temperature=0.7)
    assert first != second
    assert (first.case(), first.instructions) == (second.case(), second.instructions)


@pytest.mark.parametrize(
    ("prompt", "reply", "reason"),
    [
        (AnswerBriefly("Who?"), {"answers": "Ada"}, "answers: "),
        (AnswerBriefly("Who?"), {"answer": "Ada"}, "none of the keys answers"),
        (ReasonAloud("Who?"), {"answers": ["Ada"]}, "reasoning: "),
        (ReasonAloud("Who?"), {"reasoning": "It is she.", "answers": [1]}, "answers.0: "),
    ],
)
def test_a_reply_is_refused_with_a_reason(prompt: Prompt[Any], reply: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadReply) as refused:
        check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reason in str(refused.value)


@each_kind
def test_not_to_know_is_a_reply(kind: Any) -> None:
    prompt = kind("Who?")
    reply = {"reasoning": "I do not know.", "answers": []}
    assert check_reply(validate_reply(reply, prompt.reply), prompt).answers == []
