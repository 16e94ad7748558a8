"""Reply: what the record says in a sentence, with its proof."""

from typing import Any

from langchain_core.messages import AIMessage

from kgqa.nodes.chat.state import PROOF_KEY, ChatState
from kgqa.runtime.record import summarise_record
from kgqa.runtime.record_text import say_record

HELP = (
    "Ask me about what is in the knowledge graph, by name: I answer with the path that proves it. "
    'Then go on: "and X?", "what is its ...?"'
)


async def reply(state: ChatState, context: Any) -> dict[str, Any]:
    """Return the message that answers: a sentence with its paths, and the whole proof beside it."""
    if (record := state.get("record")) is None:
        return {"messages": [AIMessage(HELP, additional_kwargs={PROOF_KEY: {}})]}
    proof = {PROOF_KEY: summarise_record(record)}
    return {"messages": [AIMessage(say_record(record), additional_kwargs=proof)]}
