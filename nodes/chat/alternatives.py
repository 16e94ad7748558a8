"""Takes another reading of the last answer, where its number is said."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from pydantic import TypeAdapter

from kgqa.nodes.chat.state import PROOF_KEY, last_said
from kgqa.runtime.record import Record, zero_spend
from kgqa.runtime.record_alternatives import take_alternative
from kgqa.runtime.state import question_id

_records: TypeAdapter[list[Record]] = TypeAdapter(list[Record])


def taken_reading(messages: Sequence[AnyMessage], context: Any) -> Record | None:
    """Return the last answer as it is by the reading whose number is said; None where none is taken."""
    said, _ = last_said(messages)
    replies = [each for each in messages if isinstance(each, AIMessage)]
    proofs = [each.additional_kwargs.get(PROOF_KEY) for each in replies] if said.isdecimal() else []
    if not proofs or not isinstance(last := proofs[-1], dict):
        return None
    config = context.answering(zero_spend()).config()
    run = {"id": question_id(str(last.get("question"))), "trace": [], "usage": zero_spend(), "config": config}
    same = [each for each in proofs if isinstance(each, dict) and _asked(each) == _asked(last)]
    try:
        return take_alternative(_records.validate_python([{**each, **run} for each in same]), int(said))
    except ValueError:  # no such number, or a proof that a client has made
        return None


def _asked(proof: dict[str, Any]) -> tuple[Any, Any]:
    return proof.get("question"), proof.get("method")
