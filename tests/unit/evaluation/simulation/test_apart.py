"""How a simulated model filters, remembers, judges and infers where these are prompts of their own."""

import pytest

from kgqa.kg.terms import Chain
from kgqa.prompts.assess_found import EvaluateFound
from kgqa.prompts.check_sufficiency import UpdateMemory
from kgqa.prompts.filter_candidates import FilterFound
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.tests.unit.evaluation.simulation.exploring import reached
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, question


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def found(family, *chains: Chain):
    return tuple(await reached(family, *chains))


async def test_what_leads_to_the_answers_is_kept(family) -> None:
    about = question("bonn", "mother born_in")
    groups = await found(family, chain("ann", "friend"), chain("ann", "mother"))
    others = len(groups[0].named)
    right = await Interview(about, family).ask(FilterFound("?", groups))
    assert right.keep == [others + 1]
    wrong = await Interview(about, family, entity=1).ask(FilterFound("?", groups))
    assert wrong.keep and others + 1 not in wrong.keep


async def test_memory_grows_by_what_is_on_a_gold_path(family) -> None:
    about = question("bonn", "mother born_in")
    groups = await found(family, chain("ann", "friend"), chain("ann", "mother"))
    reply = await Interview(about, family).ask(UpdateMemory("?", groups, known=("before",)))
    assert reply.known == ["before", "reached mother"]


async def test_it_is_judged_as_where_all_is_one_prompt(family) -> None:
    about = question("bonn", "mother born_in")
    first = await Interview(about, family).ask(
        EvaluateFound("?", await found(family, chain("ann", "mother")))
    )
    assert (first.decision, first.answers) == ("forward", [])
    ends = await found(family, chain("ann", "mother born_in"))
    last = await Interview(about, family).ask(EvaluateFound("?", ends, own_knowledge=True))
    assert (last.decision, last.groups, last.take, last.answers) == ("stop", [1], "all", [])


async def test_a_node_on_the_way_may_be_the_answer(family) -> None:
    about = question("eve", "mother")
    ends = await found(family, chain("ann", "mother born_in"))
    reply = await Interview(about, family).ask(EvaluateFound("?", ends, inner=True))
    assert (reply.decision, reply.groups, reply.node) == ("stop", [1], 1)
    for asked, shown in ((Interview(about, family), False), (Interview(about, family, judge=1), True)):
        assert (await asked.ask(EvaluateFound("?", ends, inner=shown))).node == 0


async def test_what_no_candidate_is_may_be_known(family) -> None:
    about = question("bonn", "mother born_in")
    [astray, right] = [(await found(family, chain("ann", at)))[0] for at in ("friend", "mother born_in")]
    for memory, known in ((0.0, []), (1.0, ["Bonn"])):
        asked = Interview(about, family, memory=memory)
        reply = await asked.ask(InferFromEvidence("?", (Segment(astray.chain, astray.named),), (), (), True))
        assert (reply.chosen, reply.answers) == ([], known)
        reply = await asked.ask(InferFromEvidence("?", (Segment(right.chain, right.named),), (), (), True))
        assert (reply.chosen, reply.answers) == ([1], [])
