"""How fast is it, one query after another and eight at a time?"""

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from statistics import median, quantiles

from kgqa.kg import sparql
from kgqa.kg.checking.finding import Finding, good, warning
from kgqa.kg.checking.subject import Step, Subject
from kgqa.kg.endpoint import AT_A_TIME, Endpoint
from kgqa.kg.errors import KGError
from kgqa.kg.opening import ROWS
from kgqa.kg.terms import Chain, Hop

ENTITIES = 10
"""Entities about which each kind of query is asked."""

ROOM = 4.0
"""Seconds for all of them."""

SLOW = 1.0
"""Seconds of a query at the median from which on questions take minutes."""

STALLED = 10.0
"""Seconds of one query in twenty that a person would not wait for."""


async def check_latency(subject: Subject) -> list[Finding]:
    """Ask what methods ask, about some entities, one after another."""
    executor, start = subject.endpoint, time.monotonic()
    taken: dict[str, list[float]] = {}
    for step in subject.sample[:: max(1, len(subject.sample) // ENTITIES)]:
        for kind, text in _texts(subject, step):
            if time.monotonic() - start < ROOM:
                taken.setdefault(kind, []).append(await _seconds(executor, text))
    if not taken:
        return []
    every = [seconds for each in taken.values() for seconds in each]
    each = ", ".join(f"{kind} {_ms(median(seconds))}" for kind, seconds in taken.items())
    middle, high = median(every), _p95(every)
    says = f"median {_ms(middle)}, 95 % below {_ms(high)} ({len(every)} queries; {each})"
    figures = {"median": middle, "p95": high, "queries": len(every)}
    if middle > SLOW or high > STALLED:
        advice = "a question asks 5 to 30 queries: give the server more memory (Virtuoso: NumberOfBuffers), "
        advice += "or ask a copy near you"
        return [warning("latency", says, advice, **figures)]
    return [good("latency", says, **figures)]


def _texts(subject: Subject, step: Step) -> Iterable[tuple[str, str]]:
    labels, chain = subject.naming.labels, Chain(step.head, (Hop(step.relation),))
    yield "extend_chain", sparql.extend_chain(Chain(step.head))
    yield (
        "visit_chains",
        sparql.visit_chains([Chain(step.head), chain], labels, ROWS + 1, ends=True, hops=True),
    )
    yield "trace_chain", sparql.trace_chain(chain, [step.tail], labels)


async def _seconds(executor: Endpoint, text: str) -> float:
    start = time.monotonic()
    with suppress(KGError):  # `shapes` tells of it; its time counts
        await executor.query(text, foreign=True)
    return time.monotonic() - start


async def check_parallel(subject: Subject) -> list[Finding]:
    """Ask as many queries at a time as kgqa does."""
    ids = subject.entities()
    if not ids:
        return []
    executor = subject.endpoint
    texts = [sparql.list_relations([ids[place % len(ids)]]) for place in range(AT_A_TIME)]
    start = time.monotonic()
    for text in texts:
        await executor.query(text, foreign=True)
    turns = time.monotonic() - start
    start = time.monotonic()
    answers = await asyncio.gather(
        *(executor.query(text, foreign=True) for text in texts), return_exceptions=True
    )
    return [
        _paralleled(
            turns, time.monotonic() - start, [each for each in answers if isinstance(each, BaseException)]
        )
    ]


def _paralleled(turns: float, together: float, failures: list[BaseException]) -> Finding:
    if failures:
        says = f"{len(failures)} of {AT_A_TIME} queries at a time fail: {failures[0]}"
        return warning(
            "parallel",
            says,
            "let fewer questions run at a time (--concurrency 1), or raise the server's limit",
        )
    says = f"{AT_A_TIME} queries take {_ms(together)} at a time, {_ms(turns)} one after another"
    if together > 1.5 * turns and together > turns + 0.5:
        return warning(
            "parallel",
            says,
            "let fewer questions run at a time: --concurrency 1",
            together=together,
            turns=turns,
        )
    return good("parallel", says, together=together, turns=turns)


def _p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
