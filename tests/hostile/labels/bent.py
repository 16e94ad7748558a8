"""A model whose replies are right but for a part: what it counts, unites, leaves to filter or is sure of."""

import re
from collections.abc import Iterator, Sequence
from random import Random
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import BaseModel, ValidationError

from kgqa.models.interface import Completion, Turn
from kgqa.models.parsing import BadReply, check_reply
from kgqa.prompts.base import Prompt, R

BENT = 0.35
"""The share of replies that are bent."""

TRIES = 12
_NAME = re.compile(r'"([^"\n]+)"')
_LISTED = re.compile(r"^- (.+) <([^>]+)>", re.MULTILINE)


class Bent:
    """Hands prompts on to a model, and changes a part of some of its replies to what the prompt takes too."""

    def __init__(self, model: Any, key: str) -> None:
        self.name = "bent"
        self._model, self._key = model, key

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        answered: Completion[R] = await self._model.ask(prompt)
        text = prompt.case()
        random = Random(f"{self._key}\n{prompt.name}\n{text}")
        names = _NAME.findall(text)
        for _ in range(TRIES if random.random() < BENT else 0):
            field = random.choice([*type(answered.reply).model_fields])
            written = answered.reply.model_dump()
            written[field] = _value(type(answered.reply).model_fields[field].annotation, names, random)
            try:
                changed = check_reply(prompt.reply(**written), prompt)
            except (BadReply, ValidationError):
                continue
            if changed != answered.reply:
                return Completion(changed, answered.usage)
        return answered

    async def turn(self, messages: Sequence[BaseMessage], tools: Sequence[Any] = (), **options: Any) -> Turn:
        """Name, at the end, other nodes than the model would: all that were shown, some, or how many."""
        turn: Turn = await self._model.turn(messages, tools, **options)
        random = Random(f"{self._key}\n{len(messages)}")
        said = turn.message.tool_calls
        if not said or said[0]["name"] != "Answer" or random.random() >= 2 * BENT:
            return turn
        shown = list(dict.fromkeys(_shown(messages)))
        some = shown if random.random() < 0.5 else random.sample(shown, random.randint(0, len(shown)))
        answers = [{"id": id, "name": name} for name, id in some]
        if random.random() < 0.3:
            answers = [{"id": None, "name": str(len(shown))}]
        call = {**said[0], "args": {"answers": answers}}
        return Turn(AIMessage("", tool_calls=[call]), turn.usage)


def _shown(messages: Sequence[BaseMessage]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if isinstance(message, ToolMessage):
            yield from ((name.strip('"'), id) for name, id in _LISTED.findall(message.text))


def _value(kind: Any, names: Sequence[str], random: Random) -> Any:
    """Draw a value of a reply's field."""
    inner = [each for each in get_args(kind) if each is not NoneType]
    if get_origin(kind) is Literal:
        return random.choice(inner)
    if get_origin(kind) is list:
        most = random.choice([0, 1, 1, 2, 3, 60])
        drawn = [_value(inner[0], names, random) for _ in range(most)]
        return sorted({*drawn}) if inner[0] is int else drawn
    if kind is bool:
        return random.random() < 0.5
    if kind is int:
        return random.randint(0, 12) if random.random() < 0.7 else random.randint(1, 80)
    if kind is float:
        return random.random()
    if kind is str or not inner:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            fields = kind.model_fields.items()
            return {name: _value(field.annotation, names, random) for name, field in fields}
        return random.choice([*names, "1", "A", "2", ""]) if names else ""
    return _value(inner[0], names, random)
