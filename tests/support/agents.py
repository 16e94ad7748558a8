"""What a server says where it calls tools, and how an agent is asked."""

import json
from collections.abc import Sequence
from typing import Any

import kgqa
from kgqa.models.chat import ChatModel
from kgqa.retries import RetryPolicy
from kgqa.tests.support.model_stub import Answer, Stub, said

TOWNS = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm ; r:age 36 .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
"""

QUESTION = "Where do Ada's children live?"

CHILDREN = ("follow_relation", {"entities": ["Ada"], "relation": "child"})
HOMES = ("follow_chain", {"topic": "Ada", "hops": ["child", "lives_in"]})


def called(*calls: tuple[str, dict[str, Any]], usage: bool = True) -> Answer:
    """A turn of 10 + 4 tokens that calls tools."""
    answer = said(None, usage=usage, finish="tool_calls")
    answer.body["choices"][0]["message"]["tool_calls"] = [
        {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]
    return answer


def answered(*answers: tuple[str | None, str]) -> Answer:
    """The turn that ends the work."""
    return called(("Answer", {"answers": [{"id": id, "name": name} for id, name in answers]}))


def chat(stub: Stub, **options: Any) -> ChatModel:
    return ChatModel("openai:stub", base_url=stub.url, retries=RetryPolicy(attempts=2, pause=0.01), **options)


def entry(record: kgqa.Record, node: str) -> dict[str, Any]:
    return next(entry for entry in record["trace"] if entry["node"] == node)


def offered(request: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in request["tools"]]


def told(request: dict[str, Any]) -> list[str]:
    """What tools have said so far."""
    messages: Sequence[dict[str, Any]] = request["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]
