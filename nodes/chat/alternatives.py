"""Takes another reading of the last answer, where its number or its words are said."""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from pydantic import TypeAdapter

from kgqa.kg.text import fold, split_words
from kgqa.nodes.chat.state import PROOF_KEY, last_said
from kgqa.runtime.record import Record, zero_spend
from kgqa.runtime.record_alternatives import take_alternative
from kgqa.runtime.state import question_id

_BREAK = re.compile(r"[:,]")

_records: TypeAdapter[list[Record]] = TypeAdapter(list[Record])


def taken_reading(messages: Sequence[AnyMessage], context: Any) -> Record | None:
    """Return the last answer as it is by the reading that is said; None where none is taken (blocking).

    It is said by its number, or by its words, alone or last after a comma or colon: "no, what Ada lives in".
    """
    said, _ = last_said(messages)
    replies = [each for each in messages if isinstance(each, AIMessage)]
    proofs = [each.additional_kwargs.get(PROOF_KEY) for each in replies]
    if not proofs or not isinstance(last := proofs[-1], dict) or not last.get("alternatives"):
        return None
    config = context.answering(zero_spend()).config()
    run = {"id": question_id(str(last.get("question"))), "trace": [], "usage": zero_spend(), "config": config}
    earlier: dict[str, Any] = {"sentence": None}  # what an earlier version has said has none
    same = [each for each in proofs if isinstance(each, dict) and _asked(each) == _asked(last)]
    try:
        shown = _records.validate_python([{**earlier, **each, **run} for each in same])
        return take_alternative(shown, _said_number(said, shown[-1]))
    except ValueError:  # no such number, or a proof that a client has made
        return None


def _said_number(said: str, record: Record) -> int:
    """Return the number of the reading that is said; 0 where none is, or more than one."""
    if said.isdecimal():
        return int(said)
    meant = [_folded(said), *(_folded(said[mark.end() :]) for mark in _BREAK.finditer(said))]
    readings = [_folded(each["reading"] or "") for each in (record, *record["alternatives"])]
    taken = [at for at, each in enumerate(readings, 1) if each and each in meant]
    return taken[0] if len(taken) == 1 and taken[0] > 1 else 0


def _folded(text: str) -> tuple[str, ...]:
    return tuple(fold(word.text) for word in split_words(text))


def _asked(proof: dict[str, Any]) -> tuple[Any, Any]:
    return proof.get("question"), proof.get("method")
