"""A small family, models by policy, and a graph that fails or dawdles on chosen operations."""

import asyncio
from collections.abc import Callable
from typing import Any

from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.interface import Completion, Usage
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.prompts.base import Prompt, R
from kgqa.runtime.record import Record
from kgqa.tests.support.frontier import written

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm .
e:ben rdfs:label "Ben"@en ; r:child e:dora ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:dora rdfs:label "Dora"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
"""

QUESTION = "Who are Ada's children?"

KEYS = frozenset(Record.__annotations__)

SECONDS = ("seconds", "seconds_llm", "seconds_kg")


def shown(record: Record) -> list[str | None]:
    return [answer["name"] for answer in record["answers"]]


def timeless(record: Record) -> dict[str, Any]:
    """A record without what differs from run to run."""
    return {**record, "usage": {key: n for key, n in record["usage"].items() if key not in SECONDS}}


def children(verify: str = "stop", **lines: Line) -> ScriptedModel:
    """A model that goes from Ada to her children and there decides ``verify``; ``lines`` replace replies."""

    def line(prompt: Any) -> Line:
        if prompt.name in lines:
            return lines[prompt.name]
        if prompt.name == "prune_relations":
            offered = [written(offer.hops) for offer in prompt.offers]
            return {"relations": [offered.index("child") + 1]}
        replies: dict[str, Line] = {
            "verify_chain": {"decision": verify},
            "apply_conditions": {"chosen": [1]},
            "answer_directly": {"answers": ["Ben"]},
        }
        return replies[prompt.name]

    return ScriptedModel(line)


def grandchildren() -> ScriptedModel:
    """A model that goes from Ada to her children, and from them to theirs."""

    def line(prompt: Any) -> Line:
        if prompt.name == "prune_relations":
            return {"relations": [list(map(str, prompt.offers)).index("-child->") + 1]}
        return {"decision": "stop" if prompt.chain.depth == 2 else "forward"}

    return ScriptedModel(line)


class Costly(ScriptedModel):
    """A script whose every reply takes ``delay`` seconds and 10 + 5 tokens."""

    def __init__(self, script: ScriptedModel, delay: float = 0.0) -> None:
        super().__init__(script._line)
        self.delay = delay

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        await asyncio.sleep(self.delay)
        answered = await super().ask(prompt)
        return Completion(answered.reply, Usage(llm_calls=1, input_tokens=10, output_tokens=5))


class Flaky:
    """A graph that raises ``error`` in some operations, or only takes ``delay`` seconds more for them."""

    def __init__(
        self, graph: KnowledgeGraph, operations: str, error: Exception | None = None, delay: float = 0.0
    ) -> None:
        self._graph = graph
        self._operations = operations.split()
        self._error = error
        self._delay = delay

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._graph, name)
        return self._hindered(real) if name in self._operations else real

    def _hindered(self, real: Callable[..., Any]) -> Callable[..., Any]:
        async def operation(*arguments: Any, **named: Any) -> Any:
            await asyncio.sleep(self._delay)
            if self._error:
                raise self._error
            return await real(*arguments, **named)

        return operation
