"""What the methods that ask the model alone have in hand, beside the state of any method (IO, CoT, SC)."""

from typing import Annotated

from langgraph.channels import EphemeralValue
from pydantic import ConfigDict, with_config

from kgqa.kg.terms import is_iri
from kgqa.session.record import Ref
from kgqa.session.state import State, Update


class SampledUpdate(Update, total=False):
    """What a node may change."""

    samples: Annotated[list[list[str]], EphemeralValue]
    """The answers of each reply that could be used, in the order of the samples; empty: it knows none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class Sampled(State, SampledUpdate):
    """The record in the making and what the model has said."""


class Drawn(SampledUpdate, total=False):
    """What the first node changes: it hands on the topics, which the state forgets after a step."""

    topics: list[Ref]


def given(state: Sampled) -> list[Ref]:
    """Give the topics as they were given: nobody has looked them up."""
    return [_as_given(topic) for topic in state.get("topics", [])]


def _as_given(topic: str | Ref) -> Ref:
    if not isinstance(topic, str):
        return topic
    return {"id": topic, "name": None} if is_iri(topic) else {"id": None, "name": topic}
