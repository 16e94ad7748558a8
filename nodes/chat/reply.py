"""Reply: what the record says in a sentence, with its proof."""

from typing import Any

from langchain_core.messages import AIMessage

from kgqa.nodes.chat.state import PROOF_KEY, ChatState
from kgqa.runtime.sentence import say_record, summarise_record

HELP = (
    "Ask me about what is in the knowledge graph, by name: I answer with the path that proves it. "
    'Then go on: "and X?", "what is its ...?"'
)


async def reply(state: ChatState, context: Any) -> dict[str, Any]:
    """Return the message that answers: one sentence, and the answer with its proof beside it."""
    if (record := state.get("record")) is None:
        return {"messages": [AIMessage(HELP, additional_kwargs={PROOF_KEY: {}})]}
    proof = {PROOF_KEY: summarise_record(record)}
    return {"messages": [AIMessage(say_record(record), additional_kwargs=proof)]}
