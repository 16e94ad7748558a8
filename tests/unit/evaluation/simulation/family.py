"""A small graph, questions about it, and prompts as CoR and CoG ask them."""

from collections.abc import Sequence
from typing import Any

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.base import Prompt, R
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency, Verdict, VerifyChain
from kgqa.prompts.diagnose import PastDecision
from kgqa.prompts.progress import Progress
from kgqa.tests.support.frontier import pruning

FAMILY = """
e:ann rdfs:label "Ann" ; r:mother e:eve ; r:parent e:eve, e:max ; r:born_in e:ulm ;
    r:friend e:bob ; r:likes e:ulm .
e:eve rdfs:label "Eve" ; r:child e:ann, e:tim ; r:born_in e:bonn ; r:age 60 .
e:max rdfs:label "Max" ; r:born_in e:ulm ; r:age 61 .
e:tim rdfs:label "Tim" ; r:mother e:eve ; r:born_in e:bonn .
e:bob rdfs:label "Bob" ; r:born_in e:ulm ; r:mother e:ida .
e:ida rdfs:label "Ida" ; r:born_in e:rome .
e:ulm rdfs:label "Ulm" ; r:river e:danube ; r:country e:de .
e:bonn rdfs:label "Bonn" ; r:river e:rhine ; r:country e:de .
e:rome rdfs:label "Rome" ; r:river e:tiber .
e:danube rdfs:label "Danube" .
e:rhine rdfs:label "Rhine" .
e:tiber rdfs:label "Tiber" .
e:de rdfs:label "Germany" .
"""

PROGRESS = Progress(("find it",), 0, ())


def named(*ids: str) -> tuple[EntityRef, ...]:
    """Answers or topics of the family, or numbers."""
    return tuple(
        EntityRef(id, id) if id.isdigit() else EntityRef(f"http://t/e/{id}", id.capitalize()) for id in ids
    )


def question(answers: str, path: str = "", topic: str = "ann", **fields: Any) -> Question:
    """A question whose gold path and answers are words."""
    paths = (GoldPath(f"http://t/e/{topic}", tuple(path.split())),) if path else ()
    given = {"topics": named(topic), "paths": paths, "readings": (named(*answers.split()),), **fields}
    return Question("q", f"{answers}?", **given)


def chain(topic: str, path: str = "") -> Chain:
    hops = tuple(
        Hop(f"http://t/r/{step.removeprefix('^')}", not step.startswith("^")) for step in path.split()
    )
    return Chain(Entity(f"http://t/e/{topic}", topic.capitalize()), hops)


def only(at: Chain, *ids: str) -> Chain:
    """A chain whose end is held to some of the family."""
    return at.constrained_to(Entity(f"http://t/e/{id}", id.capitalize()) for id in ids)


def decided(topic: str, path: str, *, undecided: bool = False) -> tuple[PastDecision, ...]:
    """The decisions that led along a path, and one at its end that chose nothing."""
    whole = chain(topic, path)
    taken = [
        PastDecision(whole.upto(depth), whole.upto(depth + 1), ("Somebody",), 1, "")
        for depth in range(whole.depth)
    ]
    return (*taken, PastDecision(whole, None, (), 0, "")) if undecided else tuple(taken)


class Interview:
    """Puts the prompts of CoR and CoG to a simulated model; replies come back as words."""

    def __init__(self, about: Question, graph: KnowledgeGraph, **errors: float) -> None:
        self.graph = graph
        self.model = SimulatedModel(about, graph, ErrorRates(**errors))  # type: ignore[arg-type]

    async def ask(self, prompt: Prompt[R]) -> R:
        """The reply to any prompt."""
        return (await self.model.ask(prompt)).reply

    async def suffices(self, at: Chain, **options: Any) -> Sufficiency:
        """What a chain is said to suffice for, with the candidates that it leads to."""
        candidates = tuple((await self.graph.follow_chain(at)).items)
        return await self.ask(CheckSufficiency("?", at, candidates, PROGRESS, **options))

    async def prune(self, topic: str, path: str = "", width: int = 3) -> list[str]:
        """The relations picked."""
        return await self.prune_at(chain(topic, path), width)

    async def prune_at(self, at: Chain, width: int = 3) -> list[str]:
        """The relations picked after a chain."""
        hops = (await self.graph.extend_chain(at)).items
        reply: Any = (await self.model.ask(pruning("?", at, hops, width))).reply
        return [written(hops[number - 1]) for number in reply.relations]

    async def verify(self, topic: str, path: str, met: Sequence[Chain] = (), **options: Any) -> Verdict:
        """The verdict on a chain, with the candidates that it leads to."""
        at = chain(topic, path)
        return await self.verdict_on(at, (await self.graph.follow_chain(at)).items, met, **options)

    async def verdict_on(
        self, at: Chain, candidates: Sequence[Candidate], met: Sequence[Chain] = (), **options: Any
    ) -> Verdict:
        """The verdict on a chain with some candidates."""
        prompt = VerifyChain("?", at, tuple(candidates), met=tuple(met), **options)
        return (await self.model.ask(prompt)).reply


def written(hop: Hop) -> str:
    return hop.words if hop.forward else f"^{hop.words}"
