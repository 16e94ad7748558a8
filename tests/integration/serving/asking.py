"""A question that takes four prompts, and a stub of a language model that reads them."""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kgqa.tests.support.model_stub import Answer, Stub, said, stubbed

FAMILY = """\
@prefix e: <http://t/e/> .
@prefix r: <http://t/r/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn ; r:works_in e:ulm .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
"""

INPUT = {"question": "Where do the children of Ada live?", "topics": ["Ada"]}

WAY = ("child", "lives_in")
"""The relations that lead to the answer."""

MODEL = "openai:stub"

PROMPTS = 4
"""What CoR asks: which relation, is that it, which relation, is that it."""


class Reader:
    """Answers prompts, counts each, and may hold the one that comes at a certain place."""

    def __init__(self, stub: Stub) -> None:
        self.url = stub.url
        self.way = WAY
        self.paid: Counter[str] = Counter()
        self.held_at: int | None = None
        self.waiting = threading.Event()
        self._go_on = threading.Event()
        stub.answer = self.answer  # type: ignore[method-assign]

    def answer(self, request: dict[str, Any]) -> Answer:
        case = str(request["messages"][-1]["content"])
        self.paid[case] += 1
        if self.held_at == len(self.paid):
            self.waiting.set()
            self._go_on.wait(60)
        return said(json.dumps(_reply(case, self.way)))

    def hold(self, place: int) -> None:
        """Count anew, and let the prompt at this place (from 1) wait until `release`."""
        self.paid.clear()
        self.waiting.clear()
        self._go_on.clear()
        self.held_at = place

    def release(self) -> None:
        self.held_at = None
        self._go_on.set()


@contextmanager
def reading() -> Iterator[Reader]:
    with stubbed() as stub:
        reader = Reader(stub)
        try:
            yield reader
        finally:
            reader.release()


def _reply(case: str, way: Sequence[str] = WAY) -> dict[str, Any]:
    """Follow the relations of a way, one after the other; stop at its end."""
    chain = re.findall(r"^Chain: (.*)$", case, re.MULTILINE)[-1]
    if "Relations, choose" in case:
        wanted = next(relation for relation in way if relation not in chain)
        offered = re.findall(rf"^(\d+)\. .*-{wanted}->", case, re.MULTILINE)
        return {"relations": [int(offered[-1])]}
    return {"decision": "stop" if way[-1] in chain else "forward", "take": "all"}
