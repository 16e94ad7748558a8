"""A family, blueprints in memory, an encoder by words, and models by policy: what CoG is tried on."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.priors.blueprints import BlueprintMatch
from kgqa.priors.encoder import Vectors
from kgqa.priors.slots import Blueprint
from kgqa.runtime.record import Record
from kgqa.tests.support.frontier import written

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm ; r:employer e:mill ; r:pet e:rex .
e:ben rdfs:label "Ben"@en ; r:child e:dora ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm ; r:spouse e:ada .
e:dora rdfs:label "Dora"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en ; r:mayor e:zed .
e:bonn rdfs:label "Bonn"@en ; r:mayor e:yan .
e:mill rdfs:label "Mill"@en .
e:rex rdfs:label "Rex"@en .
e:zed rdfs:label "Zed"@en .
e:yan rdfs:label "Yan"@en .
"""

GRAPH_ORDER = ["child", "employer", "lives_in", "pet", "^spouse"]
"""The relations of Ada as the graph lists them."""

Policy = Callable[[Any], Line] | Line
"""Replies to one kind of prompt: by the prompt, or always the same."""

PLAN: Policy = {"subgoals": ["the goal"]}


class Shelf:
    """Blueprints by heart; ``asked`` is what it was asked for."""

    def __init__(self, *found: tuple[float, list[list[str]]], tau: float = 1.0) -> None:
        self.tau = tau
        self.asked: list[tuple[str, int]] = []
        self._found = [
            BlueprintMatch(f"anchor {number}", Blueprint.parse(branches), similarity)
            for number, (similarity, branches) in enumerate(found, 1)
        ]

    def nearest(self, question: str, k: int) -> list[BlueprintMatch]:
        self.asked.append((question, k))
        return self._found[:k]


class Failing:
    """A graph that raises ``error`` where an operation is asked of certain chains."""

    def __init__(
        self, graph: KnowledgeGraph, operation: str, error: Exception, when: Callable[[Chain], bool]
    ) -> None:
        self._graph, self._operation, self._error, self._when = graph, operation, error, when

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._graph, name)

        async def operation(chain: Chain, *arguments: Any, **named: Any) -> Any:
            if self._when(chain):
                raise self._error
            return await real(chain, *arguments, **named)

        return operation if name == self._operation else real


class FailingVisits:
    """A graph that raises ``error`` where the ends of certain chains are asked for, or what leads on."""

    def __init__(
        self, graph: KnowledgeGraph, what: str, error: Exception, when: Callable[[Chain], bool]
    ) -> None:
        self._graph, self._what, self._error, self._when = graph, what, error, when

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    async def visit_chains(self, chains: Sequence[Chain], *, ends: bool = True, hops: bool = True) -> Any:
        if {"ends": ends, "hops": hops}[self._what] and any(map(self._when, chains)):
            raise self._error
        return await self._graph.visit_chains(chains, ends=ends, hops=hops)

    async def extend_chain(self, chain: Chain) -> Any:
        if self._what == "hops" and self._when(chain):
            raise self._error
        return await self._graph.extend_chain(chain)


class Unlisted:
    """A graph that does not list its relations, as an endpoint of more than 2,000,000 triples."""

    relations: tuple[str, ...] = ()

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


def along(*relations: str) -> Callable[[Chain], bool]:
    """Tell the chain that takes these relations."""
    return lambda chain: tuple(map(named, chain.hops)) == relations


def copied(*branches: str) -> Shelf:
    """A library whose only blueprint is copied: each branch a line of relations."""
    return Shelf((0.9, [branch.split() for branch in branches]), tau=0.5)


WORDS = 4096  # more than all tests of one process say
_vocabulary: dict[str, int] = {}


def by_words(texts: Sequence[str]) -> Vectors:
    """Encode a text as its words: texts of the same words have cosine 1, of other words 0."""
    rows = np.zeros((len(texts), WORDS), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            row[_vocabulary.setdefault(word, len(_vocabulary))] += 1
        row /= np.linalg.norm(row) or 1
    return rows


def playing(**policies: Policy) -> ScriptedModel:
    """A model with one policy for each prompt; a prompt without one is a failure of the test."""
    known = {"decompose": PLAN, "decompose_along": PLAN, "answer_directly": {"answers": []}, **policies}

    def line(prompt: Any) -> Line:
        policy = known[prompt.name]
        return policy(prompt) if callable(policy) else policy

    return ScriptedModel(line)


def choose(*wanted: str) -> Callable[[Any], dict[str, Any]]:
    """Prune to the named hops, in this order, as far as they are offered."""

    def line(prompt: Any) -> dict[str, Any]:
        offered = [written(each.hops) for each in prompt.offers]
        return {"relations": [offered.index(name) + 1 for name in wanted if name in offered]}

    return line


def decide(**by_last: str | dict[str, Any]) -> Callable[[Any], dict[str, Any]]:
    """Check by the last relation of the chain: a decision, or a whole reply; else backtrack."""

    def line(prompt: Any) -> dict[str, Any]:
        reply = by_last.get(prompt.chain.hops[-1].words, "backtrack")
        return {"decision": reply} if isinstance(reply, str) else reply

    return line


def blame(step: int, *wanted: str, blueprint: str = "keep") -> Callable[[Any], dict[str, Any]]:
    """Diagnose a decision, and recall branches by their last hop."""

    def line(prompt: Any) -> dict[str, Any]:
        hops = [named(branch.chain.hops[-1]) if branch.step == step else "" for branch in prompt.pruned]
        numbers = [hops.index(name) + 1 for name in wanted]
        return {"step": step, "recall": numbers, "blueprint": blueprint}

    return line


def named(hop: Any) -> str:
    return ("" if hop.forward else "^") + str(hop.words)


def shown(record: Record) -> list[str | None]:
    return [answer["name"] for answer in record["answers"]]


def nodes(record: Record) -> list[str]:
    return [entry["node"] for entry in record["trace"]]


def entries(record: Record, node: str) -> list[dict[str, Any]]:
    """What the trace says of a node, turn by turn."""
    return [entry for entry in record["trace"] if entry["node"] == node]


def signals(record: Record) -> list[str]:
    """The signals that were diagnosed."""
    return [entry["signal"] for entry in entries(record, "diagnose") if "signal" in entry]


def asked(model: ScriptedModel, name: str) -> list[Any]:
    """The prompts of a kind that a model was asked."""
    return [prompt for prompt in model.prompts if prompt.name == name]
