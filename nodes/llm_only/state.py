"""The state of the methods that ask the model alone (IO, CoT, SC): its replies."""

from typing import Annotated

from langgraph.channels import EphemeralValue
from pydantic import ConfigDict, with_config

from kgqa.kg.terms import is_iri
from kgqa.runtime.record import Ref
from kgqa.runtime.state import State, Update


class LLMOnlyUpdate(Update, total=False):
    """What a node may change."""

    samples: Annotated[list[list[str]], EphemeralValue]
    """The answers of each reply that could be used, in the order of the samples; empty: it knows none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class LLMOnlyState(State, LLMOnlyUpdate):
    """The record in the making and what the model has said."""


class SamplesUpdate(LLMOnlyUpdate, total=False):
    """What the first node changes: it hands on the topics, which the state forgets after a step."""

    topics: list[Ref]


def given_topics(state: LLMOnlyState) -> list[Ref]:
    """Return the topics as they were given: nobody has looked them up."""
    topics: list[Ref] = []
    for topic in state.get("topics", []):
        if isinstance(topic, str):
            topics.append({"id": topic, "name": None} if is_iri(topic) else {"id": None, "name": topic})
        else:
            topics.append(topic)
    return topics
