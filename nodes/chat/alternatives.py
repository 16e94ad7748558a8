"""Takes another reading of the last answer, where its number is said."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage
from pydantic import TypeAdapter

from kgqa.nodes.chat.state import PROOF_KEY, last_said
from kgqa.runtime.context import Context
from kgqa.runtime.record import Record, zero_spend
from kgqa.runtime.record_alternatives import take_alternative
from kgqa.runtime.state import question_id

_records: TypeAdapter[Record] = TypeAdapter(Record)


def taken_reading(messages: Sequence[AnyMessage], context: Context) -> Record | None:
    """Return the last answer as it is by the reading whose number is said; None where none is taken."""
    said, _ = last_said(messages)
    reply = next((each for each in reversed(messages) if isinstance(each, AIMessage)), None)
    proof = reply.additional_kwargs.get(PROOF_KEY) if reply and said.isdecimal() else None
    if not isinstance(proof, dict):
        return None
    run = {"id": question_id(said), "trace": [], "usage": zero_spend(), "config": context.config()}
    try:
        return take_alternative(_records.validate_python({**proof, **run}), int(said))
    except ValueError:  # no such number, or a proof that a client has made
        return None
