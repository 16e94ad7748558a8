"""Questions asked at the same time: each has the answer that it has alone."""

import asyncio
import gzip
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import kgqa
from kgqa.data import SAMPLE_QUESTIONS

AT_ONCE, QUESTIONS = 8, 6  # each is asked twice, at the same time
OFFLINE = {"kg": "sample", "model": "offline"}


@cache
def _questions() -> list[str]:
    """Return questions of every kind that the sample has."""
    with gzip.open(SAMPLE_QUESTIONS, "rt", encoding="utf-8") as file:
        found = [json.loads(line)["question"] for line in file]
    return found[:: len(found) // QUESTIONS][:QUESTIONS]


@cache
def _alone() -> list[Any]:
    return [_ask(question) for question in _questions()]


def _ask(question: str) -> tuple[str, Any]:
    return _outcome(kgqa.ask(question, **OFFLINE))


def _ask_in_own_loop(question: str) -> tuple[str, Any]:
    return _outcome(asyncio.run(kgqa.aask(question, **OFFLINE)))


def _outcome(record: Any) -> tuple[str, Any]:
    return record["outcome"], record["answers"]


def _check(found: Iterable[Any]) -> None:
    assert list(found) == [answer for answer in _alone() for _ in range(2)]
    assert sum(outcome == "grounded" for outcome, _ in _alone()) >= QUESTIONS / 3


# The first test: nothing is remembered yet of what it asks.
def test_threads_that_ask_at_once_have_their_answers() -> None:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        asked = [threads.submit(ask, q) for q in _questions() for ask in (_ask, _ask_in_own_loop)]
        _check(each.result() for each in asked)


async def test_tasks_that_ask_at_once_have_their_answers() -> None:
    turn = asyncio.Semaphore(AT_ONCE)

    async def ask(question: str) -> tuple[str, Any]:
        async with turn:
            return _outcome(await kgqa.aask(question, **OFFLINE))

    found = await asyncio.gather(*(ask(question) for question in _questions() for _ in range(2)))
    await asyncio.to_thread(_check, found)
