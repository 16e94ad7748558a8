"""What all protocols have in common."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.evaluation.protocols import PROTOCOLS, measure_by_protocol
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.tests.unit.evaluation.protocols.cases import asked, cor, ours, said

NAMES = st.sampled_from(["Ulm", "New York", "Rome, Italy", "", "1999", "{x}", "[", "'", "\0"])
REPLIES = st.one_of(
    st.text(alphabet='{}[]"\\:, AnswerYesNo\n', max_size=40),
    st.builds(
        '{{"A": {{"Answer": {}}}}}'.format, st.sampled_from(['"Ulm"', '["Ulm", "Bonn"]', "null", '"', "NaN"])
    ),
    NAMES,
)
RECORDS = st.lists(
    st.one_of(
        st.builds(said, st.sampled_from("abcd"), REPLIES),
        st.builds(
            lambda text, names: ours(text, *names), st.sampled_from("abcd"), st.lists(NAMES, max_size=3)
        ),
        st.builds(
            lambda text, names: cor(text, *names), st.sampled_from("abcd"), st.lists(NAMES, max_size=3)
        ),
    ),
    max_size=5,
)
GOLD = st.lists(
    st.one_of(NAMES, st.just(EntityRef("m.1", None)), st.just(EntityRef("m.2", "Rome", ("Roma",)))),
    max_size=3,
)

OF_ANSWERS = tuple(name for name in PROTOCOLS if name != "text2sparql")  # that one counts tables

MOST = {"rog": math.inf}
"""What a share may be, where its paper's code counts more than all: answers that hold several gold names."""


@pytest.mark.parametrize("protocol", OF_ANSWERS)
@given(records=RECORDS, gold=GOLD)
@settings(max_examples=40, deadline=None)
def test_whatever_is_measured_is_a_share_and_plain_json(
    protocol: str, records: Sequence[Result], gold: Sequence[str | EntityRef]
) -> None:
    found = measure_by_protocol(protocol, records, [asked(text, *gold, level="x") for text in "abc"])
    json.dumps(found, allow_nan=False)
    for share in shares(found):
        low, value, high = share["low"], share["value"], share["high"]
        assert value is None or 0 <= low <= value <= high <= MOST.get(protocol, 1)


def shares(found: Any) -> list[dict[str, float]]:
    if not isinstance(found, dict):
        return []
    inner = [share for part in found.values() for share in shares(part)]
    return [found] if found.keys() == {"value", "low", "high"} else inner


@pytest.mark.parametrize("protocol", OF_ANSWERS)
def test_only_the_strict_protocol_is_not_labelled(protocol: str) -> None:
    found = measure_by_protocol(protocol, [ours("a", "Ulm")], [asked("a", "Ulm")])
    assert found["protocol"] == protocol
    assert found.get("legacy", False) is (protocol != "strict")
    assert ("note" in found) is (protocol != "strict")


@pytest.mark.parametrize("protocol", OF_ANSWERS)
def test_a_right_answer_is_right_in_every_protocol(protocol: str) -> None:
    found = measure_by_protocol(
        protocol, [ours("a", "Ulm"), ours("b", "Oslo")], [asked("a", "Ulm"), asked("b", "Bern")]
    )
    assert found["hits_at_1"]["value"] == 0.5


def test_a_name_that_is_no_protocol_is_one_line() -> None:
    with pytest.raises(
        ValueError,
        match="no protocol is called 'squad'; there are: strict, pog, cog, cor, cor_paper, vog, exact, rog",
    ):
        measure_by_protocol("squad", [], [])
