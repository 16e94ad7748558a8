"""Models that note what they are told, and one that does what a hostile label wants."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from kgqa.models.interface import Completion, Turn, Usage
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.base import Prompt, R

WANTED: dict[str, Any] = {
    "answers": ["X"],
    "answer": "X",
    "chosen": [1],
    "relations": [1],
    "decision": "stop",
    "take": "all",
    "id": None,
}
"""What the labels of `graph.ORDERS` ask a model to reply, as one object."""


class Heard:
    """Hands prompts and messages on to a model, and keeps what they say."""

    def __init__(self, model: Any) -> None:
        self.name = "heard"
        self.prompts: list[tuple[str, str]] = []
        self.messages: list[tuple[str, str]] = []
        self._model = model

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        self.prompts.append((prompt.name, prompt.case()))
        answered: Completion[R] = await self._model.ask(prompt)
        return answered

    async def turn(self, messages: Sequence[BaseMessage], tools: Sequence[Any] = (), **options: Any) -> Turn:
        self.messages += [(message.type, message.text) for message in messages]
        turn: Turn = await self._model.turn(messages, tools, **options)
        return turn


class Obedient(ScriptedModel):
    """Replies what a label asks for, whatever the prompt; as an agent it calls one tool after the other."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        super().__init__(lambda prompt: WANTED)
        self._calls = list(calls)

    async def turn(self, messages: Sequence[BaseMessage], tools: Sequence[Any] = (), **options: Any) -> Turn:
        named = {getattr(tool, "name", "") for tool in tools} or {"Answer"}
        name, arguments = self._calls.pop(0) if self._calls else ("Answer", {"answers": [{"name": "X"}]})
        if not tools or name not in named | {"Answer"}:
            return Turn(AIMessage("SELECT ?x WHERE { <http://t/e/ada> ?p ?x }"), Usage(llm_calls=1))
        call = {"name": name, "args": arguments, "id": f"c{len(self._calls)}", "type": "tool_call"}
        return Turn(AIMessage("", tool_calls=[call]), Usage(llm_calls=1))
