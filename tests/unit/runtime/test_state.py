"""What nodes ask of a state, also of one that was edited by hand."""

from typing import cast

from kgqa.kg.terms import Chain, Entity
from kgqa.runtime.state import State, next_topic


def test_a_chain_from_elsewhere_has_no_topic_after_it() -> None:
    ulm, bonn = Entity("http://t/ulm"), Entity("http://t/bonn")
    state = {"topic_entities": [ulm, bonn], "chain": Chain(ulm)}
    assert next_topic(cast(State, state)) == bonn
    assert next_topic(cast(State, {**state, "chain": Chain(Entity("http://t/other"))})) is None
