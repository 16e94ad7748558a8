"""What a composed query may say, and what becomes of it."""

from dataclasses import replace
from typing import Any

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Chain, Entity, Literal
from kgqa.models.parsing import BadReply, check_reply
from kgqa.prompts.attributes import Mention
from kgqa.prompts.compose_query import ComposedQuery, ComposeQuery, OfferedChain
from kgqa.tests.unit.prompts.samples import dates, hop, offered_attribute


def nodes(*names: str, returning: tuple[str, ...] = ()) -> tuple[Candidate, ...]:
    return tuple(Candidate(Entity(f"http://x/{name}", name), name in returning) for name in names)


def from_topic(topic: str, *hops: str) -> Chain:
    return Chain(Entity(f"http://x/{topic}", topic), tuple(map(hop, hops)))


CHILDREN, HOMES = from_topic("Ada", "child"), from_topic("Ada", "child", "lives_in")
PARENTED, LIVING = from_topic("Ada", "^parent"), from_topic("Ulm", "^lies_in", "^lives_in")
HEIGHTS = from_topic("Ada", "child", "height")
ASKED = ComposeQuery(
    "Which child of Ada lives in Ulm?",
    (
        OfferedChain(CHILDREN, nodes("Ben", "Cleo", "Ada", returning=("Ada",))),
        OfferedChain(HOMES, nodes("Ulm", "Bonn"), named=(1,), passed=((),)),
        OfferedChain(PARENTED, nodes("Ben", "Dora"), truncated=True),
        OfferedChain(LIVING, nodes("Ben"), passed=((),)),
        OfferedChain(HEIGHTS, tuple(map(Candidate, (Literal("1"), Literal("2")))), passed=((),)),
    ),
    (offered_attribute(CHILDREN, "born", nodes("Ben", "Cleo"), *dates("1961-05-03", "1970-01-01")),),
    mentions=(Mention("Ulm", (LIVING.topic,)), Mention("Rome"), Mention("22", (Literal("22"),))),
    topics=(CHILDREN.topic, LIVING.topic),
)


def composed(**reply: Any) -> ComposedQuery:
    return check_reply(ComposedQuery.model_validate(reply), ASKED)


def stated(attribute: str, operator: str, value: str = "") -> dict[str, str]:
    return {"attribute": attribute, "operator": operator, "value": value}


def test_the_prompt_shows_chains_by_topic_with_their_ends_and_what_nodes_have() -> None:
    assert ASKED.case().splitlines() == [
        'Question: "Which child of Ada lives in Ulm?"',
        'Topic entities: "Ada", "Ulm"',
        'From "Ada":',
        '1. -child-> ?1: "Ben", "Cleo" (2)',
        '2. -child-> ?2a -lives_in-> ?2: "Ulm", "Bonn" (2)',
        '3. <-parent- ?3: "Ben", "Dora" (more than 2)',
        'From "Ulm":',
        '4. <-lies_in- ?4a <-lives_in- ?4: "Ben" (1)',
        'From "Ada":',
        '5. -child-> ?5a -height-> ?5: "1", "2" (2)',
        "Attributes:",
        'A. ?1, ?2a, ?5a -born-> "1961-05-03" of "Ben"; "1970-01-01" of "Cleo"',
        'Found: "Ulm": ?2',
        'Not found: "Rome"',
        "Reply:",
    ]


def test_lists_meet_and_those_of_one_list_are_united() -> None:
    first, last = ASKED.branches(composed(chains=[[1, 3], [4]]))
    assert (first.chain, first.others, first.fresh) == (CHILDREN, (PARENTED,), True)
    assert (last.chain, last.others, last.fresh) == (LIVING, (), False)


def test_no_chain_is_no_branch() -> None:
    assert ASKED.branches(composed(chains=[], missing="sibling")) == []


def test_conditions_stand_at_the_node_that_has_the_attribute() -> None:
    (branch,) = ASKED.branches(composed(chains=[[2]], conditions=[stated("A", ">", "1965")]))
    assert [(each.place, each.operator, str(each.value)) for each in branch.conditions] == [(1, ">", "1965")]


def test_the_answer_may_be_a_node_on_the_way_or_the_values_of_an_attribute() -> None:
    (branch,) = ASKED.branches(composed(chains=[[2]], answer="?2a", conditions=[stated("?2", "=", "Ulm")]))
    assert (branch.chain, branch.place, branch.met_at) == (HOMES, 1, 1)
    (branch,) = ASKED.branches(composed(chains=[[1]], answer="A"))
    assert (branch.chain, branch.place, branch.met_at) == (from_topic("Ada", "child", "born"), None, 1)


def test_the_values_of_a_node_are_the_answer_though_something_is_said_of_what_comes_after_it() -> None:
    beyond, answered = ASKED.branches(
        composed(chains=[[2]], answer="A", conditions=[stated("?2", "=", "Ulm")])
    )
    assert (beyond.chain, beyond.met_at, [each.place for each in beyond.conditions]) == (HOMES, 1, [2])
    assert (answered.chain, answered.met_at) == (from_topic("Ada", "child", "born"), 1)


def test_what_has_the_answer_comes_last() -> None:
    *_, last = ASKED.branches(composed(chains=[[1], [4]], answer="?1"))
    assert last.chain == CHILDREN


def test_an_extreme_and_a_count_are_computed() -> None:
    (branch,) = ASKED.branches(composed(chains=[[1]], extreme="largest", by="A"))
    born = ASKED.attributes[0].hops
    assert branch.aggregate == Aggregate("argmax", born, 1, "date")
    (branch,) = ASKED.branches(composed(chains=[[1]], count=True))
    assert branch.aggregate == Aggregate("count")


def test_what_a_node_has_may_be_asked_for_that_is_the_first_or_last() -> None:
    homes, born = (
        offered_attribute(CHILDREN, "home", nodes("Ben", "Cleo"), "Ulm", "Bonn"),
        ASKED.attributes[0],
    )
    asked = replace(ASKED, attributes=(homes, born))
    first = {"extreme": "smallest", "by": "B"}
    [branch] = asked.branches(ComposedQuery.model_validate({"chains": [[1]], "answer": "A", **first}))
    assert branch.chain == from_topic("Ada", "child", "home")
    assert branch.aggregate == Aggregate("argmin", born.hops, 1, "date")
    [branch] = asked.branches(ComposedQuery.model_validate({"chains": [[1]], "answer": "B", **first}))
    assert (branch.chain, branch.aggregate) == (
        from_topic("Ada", "child", "born"),
        Aggregate("min", by="date"),
    )
    beyond, answered = ASKED.branches(composed(chains=[[2]], answer="A", extreme="largest", by="A"))
    assert (beyond.chain, beyond.aggregate) == (HOMES, None)
    assert answered.aggregate == Aggregate("max", by="date")


def test_what_nodes_are_called_is_not_said_to_be_missing() -> None:
    mentions = (Mention("Series"), Mention("Bonn"))
    named = OfferedChain(CHILDREN, nodes("1959-Series", "1960-Series"))
    lines = ComposeQuery("Which Series of Bonn?", (named,), mentions=mentions).case().splitlines()
    assert 'Not found: "Bonn"' in lines and 'Not found: "Series"' not in lines


def test_an_extreme_may_be_of_the_values_that_a_chain_ends_in() -> None:
    births = from_topic("Ada", "child", "born")
    ends = tuple(map(Candidate, dates("1961-05-03", "1970-01-01")))
    asked = ComposeQuery(
        "When was Ada's first child born?", (OfferedChain(births, ends),), topics=ASKED.topics
    )
    (branch,) = asked.branches(ComposedQuery(chains=[[1]], extreme="smallest", by="?1"))
    assert branch.aggregate == Aggregate("min", by="date")


@pytest.mark.parametrize(
    ("question", "chain"),
    [("Who are Ada's children?", CHILDREN), ("Which of Ada's children lives somewhere?", HOMES)],
)
def test_what_follows_an_answer_on_its_only_chain_counts_where_it_is_said(
    question: str, chain: Chain
) -> None:
    offered = OfferedChain(HOMES, nodes("Ulm", "Bonn"), named=(1,), passed=((),))
    (branch,) = ComposeQuery(question, (offered,)).branches(ComposedQuery(chains=[[1]], answer="?1a"))
    assert branch.chain == chain


def test_ends_are_chosen_by_name() -> None:
    assert list(map(str, ASKED.chosen(composed(chains=[[1]], chosen=["Cleo"], words="kind")))) == ["Cleo"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"chains": [[7]]}, "chain 7 was not offered; choose from 1 to 5"),
        ({"chains": [[1]], "conditions": [stated("Z", "exists")]}, 'no node is called "Z"'),
        ({"chains": [[1]], "conditions": [stated("?4a", "=", "Ulm")]}, "on no chain that you have chosen"),
        ({"chains": [[2]], "conditions": [stated("?2", "=", "Bonn")]}, 'the question does not say "Bonn"'),
        ({"chains": [[1]], "conditions": [stated("A", "=", "soon")]}, '"soon" is none'),
        (
            {"chains": [[5]], "answer": "A", "extreme": "largest", "by": "?5"},
            "of the node that has the answer",
        ),
        ({"chains": [[2]], "extreme": "largest", "by": "?2"}, "neither numbers nor dates"),
        ({"chains": [[1]], "extreme": "largest", "by": "A", "count": True}, 'goes without an "extreme"'),
        ({"chains": [], "chosen": ["Ben"]}, '"chains" is empty'),
        ({"chains": [[1]], "chosen": ["Zoe"]}, 'no node is shown as "Zoe"'),
        ({"chains": [[1]], "conditions": [stated("A", "exists")] * 9}, "no more than 8 conditions"),
    ],
)
def test_what_was_not_offered_or_makes_no_sense_is_refused(reply: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadReply, match=reason.replace("?", r"\?")):
        composed(**reply)
