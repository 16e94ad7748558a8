"""Alternatives: what else the question may mean, where it is not sure what was asked."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Proof
from kgqa.kg.proof.query import Aggregate, AnswerQuery
from kgqa.kg.terms import Entity
from kgqa.models.interface import RankedReading
from kgqa.nodes.proof import RETURNED, make_branches, say_proof
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import OtherReading, Ref, ref
from kgqa.runtime.record_text import MAX_OTHER_ANSWERS
from kgqa.runtime.state import State

MAX_ALTERNATIVES = 3  # each costs a query
MAX_SECONDS = 10.0  # for all of them
MIN_CONFIDENCE = 0.03  # below it one in thirty has something right
HOP_FACTOR = 0.7  # by which each hop makes a reading count less: short ones are right more often


async def find_alternatives(
    readings: Sequence[RankedReading], answers: Sequence[Ref], state: State, runtime: NodeRuntime
) -> list[OtherReading]:
    """Return the likeliest readings with other answers than those given, likely and short ones first.

    Where a topic's name has other bearers, the first is read of these, too; where it does not give the
    answers, it is the first alternative itself.
    """
    given = {each["id"] or "" for each in answers}
    first, *others = readings
    likely = [each for each in others if each.confidence >= MIN_CONFIDENCE]
    likely += _of_other_topics(first, state["alternative_entities"])
    likely.sort(key=lambda each: -each.confidence * HOP_FACTOR**each.depth)
    if first.confidence >= MIN_CONFIDENCE and not (given and first.gives(given)):
        likely.insert(0, first)
    found: list[OtherReading] = []
    known = [given]
    try:
        async with asyncio.timeout(MAX_SECONDS):
            for reading in likely[:MAX_ALTERNATIVES]:
                proof = await _prove(reading, runtime)
                ids = {each.id for each in proof.answers} if proof else None
                if proof and ids and ids not in known:
                    known.append(ids)
                    found.append(_alternative(reading, proof))
    except (BudgetExceeded, TimeoutError) as error:
        runtime.trace["alternatives"] = f"left out: {str(error) or 'they take too long'}"
    return found


async def _prove(reading: RankedReading, runtime: NodeRuntime) -> Proof | None:
    """Return what a reading gives; None where the graph does not tell, as the trace says."""
    try:
        proof: Proof = await runtime.call_tool("prove_answers", query=_query_of(reading))
    except (KGError, ValueError) as error:
        runtime.trace["alternatives"] = f"left out: {error}"
        return None
    return proof


def _of_other_topics(
    reading: RankedReading, alternative_entities: Mapping[str, Sequence[Entity]]
) -> Iterator[RankedReading]:
    """Yield a reading with what else the name of a topic may mean in its place.

    It is no likelier than that, nor than that this is wrong.
    """
    confidence = min(reading.confidence, 1 - reading.confidence)
    for topic in reading.topics:
        for meant in alternative_entities.get(topic.id, ()):
            chains = tuple(
                tuple(replace(chain, topic=meant) if chain.topic == topic else chain for chain in each)
                for each in reading.chains
            )
            yield reading._replace(chains=chains, confidence=confidence)


def _query_of(reading: RankedReading) -> AnswerQuery:
    """Return the query of a reading."""
    computed = Aggregate("count") if reading.counts else None
    return AnswerQuery(make_branches(reading.chains, fresh=reading.fresh), RETURNED, (), computed)


def _alternative(reading: RankedReading, proof: Proof) -> OtherReading:
    """Return a reading as a record shows it."""
    shown = proof.answers.items[:MAX_OTHER_ANSWERS]
    return {
        "reading": proof.reading,
        "sentence": say_proof(_query_of(reading), proof),
        "topics": [*map(ref, reading.topics)],
        "answers": [*map(ref, shown)],
        "truncated": proof.answers.truncated or len(shown) < len(proof.answers),
        "query": proof.sparql,
        "confidence": reading.confidence,
    }
