"""A model that answers from a script, for tests of whatever asks models.

```python
model = ScriptedModel([{"relations": [2]}, "not JSON", ModelUnavailable("down")])
model = ScriptedModel(lambda prompt: {"relations": [1]})
```
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from kgqa.models.errors import MalformedReply
from kgqa.models.interface import Completion, Usage
from kgqa.models.parsing import BadReply, check_reply, parse_reply, validate_reply
from kgqa.prompts.base import Prompt, R, Reply

Line: TypeAlias = Reply | dict[str, Any] | str | Exception
"""One line of a script: a reply, a JSON object, the text of a model, or a failure."""

Handler: TypeAlias = Callable[[Prompt[Any]], Line]
"""Gives the line for a prompt; `Prompt.name` tells the prompts apart."""


class OutOfReplies(AssertionError):
    """More was asked than the script has lines for."""


class Exchange(NamedTuple):
    """A prompt that was asked and the line that answered it."""

    prompt: Prompt[Any]
    line: Line


class ScriptedModel:
    """Answers by a handler, or line by line; ``history`` keeps every `Exchange`, failed ones too.

    Every line goes the way of a real reply: dicts through the schema and the
    check, strings through the whole of `parsing`, `Reply` objects through the
    check. There is no repair turn: a bad line is a `MalformedReply` at once.
    Each ask counts as one call of no tokens. Compose drafts only where it ``writes_sparql``.
    """

    name = "scripted"

    def __init__(self, script: Handler | Iterable[Line], *, writes_sparql: bool = False) -> None:
        self.writes_sparql = writes_sparql
        self.history: list[Exchange] = []
        self._line = script if callable(script) else _read_lines(iter(script))

    @property
    def prompts(self) -> list[Prompt[Any]]:
        """What was asked so far."""
        return [exchange.prompt for exchange in self.history]

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer with the next line.

        Raises:
            OutOfReplies: the script has no line left.
            MalformedReply: the line does not fit the prompt.
            Exception: whatever the script holds for this prompt.
        """
        line = self._line(prompt)
        self.history.append(Exchange(prompt, line))
        if isinstance(line, Exception):
            raise line
        spent = Usage(llm_calls=1)
        try:
            return Completion(_make_reply(line, prompt), spent)
        except BadReply as error:
            raise MalformedReply(f"{prompt.name}: {error}", spent) from None


def _make_reply(line: Reply | dict[str, Any] | str, prompt: Prompt[R]) -> R:
    if isinstance(line, str):
        return parse_reply(line, prompt)
    if isinstance(line, dict):
        return check_reply(validate_reply(line, prompt.reply), prompt)
    if not isinstance(line, prompt.reply):
        got, wanted = type(line).__name__, prompt.reply.__name__
        raise TypeError(f"the script answers {prompt.name} with {got}, not {wanted}, dict, str or Exception")
    return check_reply(line, prompt)


def _read_lines(lines: Iterator[Line]) -> Handler:
    def read(prompt: Prompt[Any]) -> Line:
        for line in lines:
            return line
        raise OutOfReplies(f"the script has no reply left for {prompt.name}: {prompt!r}"[:500])

    return read
