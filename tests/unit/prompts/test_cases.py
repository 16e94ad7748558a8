"""What each prompt says about the case at hand, to the letter, and what it takes for a reply."""

from dataclasses import replace
from typing import Any

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.parsing import BadReply, check_reply, validate_reply
from kgqa.prompts.adapt_blueprint import AdaptBlueprint
from kgqa.prompts.answer_from_memory import AnswerDirectly
from kgqa.prompts.apply_conditions import ApplyConditions
from kgqa.prompts.assess_found import ON_THE_WAY, AssessFound, EvaluateFound
from kgqa.prompts.base import Prompt
from kgqa.prompts.candidates import LEFT_TO_THE_GRAPH, MAX_CANDIDATES_SHOWN, ChainFindings, draw_candidate
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.compose_query import ComposeQuery
from kgqa.prompts.connect_topic import ConnectTopic
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.diagnose import Diagnose
from kgqa.prompts.draft_query import DraftQuery
from kgqa.prompts.filter_candidates import MAX_LOT_CHARS, FilterCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence
from kgqa.prompts.outline_search import OutlineSearch
from kgqa.prompts.plan_steps import LEFT_TO_THE_END, PlanSteps
from kgqa.prompts.progress import Progress
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.prompts.rewrite_question import RewriteQuestion
from kgqa.prompts.translate_question import TranslateQuestion
from kgqa.prompts.verify_chain import VerifyChain
from kgqa.tests.support.frontier import pruning
from kgqa.tests.unit.prompts.samples import PROMPTS, chain, ends, hop, said, topics, values
from kgqa.tests.unit.prompts.test_apart_cases import APART
from kgqa.tests.unit.prompts.test_frontier_cases import OVER_A_FRONTIER, OVER_ENTITIES
from kgqa.tests.unit.prompts.test_memory_cases import FROM_MEMORY
from kgqa.tests.unit.prompts.test_step_cases import STEPWISE

PRUNE = pruning("Where do they live?", chain("Ada", "child"), (hop("lives_in"), hop("^child")), 1)
VERIFY = VerifyChain("Who?", chain("Ada", "^child", "child"), ends("Ada", "Ben", returning=("Ada",)))
FILTER = FilterCandidates("Which?", chain("Ada", "child"), ends("Ben", "Cleo"))
MANY = tuple(
    Candidate(Entity(f"http://x/{number}", f"N{number}")) for number in range(MAX_CANDIDATES_SHOWN + 5)
)


def test_prune_shows_each_relation_with_its_direction() -> None:
    assert PRUNE.case() == (
        'Question: "Where do they live?"\n'
        'Chain: "Ada" -child-> ?1\n'
        "Relations, choose at most 1:\n"
        "1. ?1 -lives_in-> ?2\n"
        "2. ?1 <-child- ?2\n"
        "Reply:"
    )


def test_prune_starts_from_the_topic() -> None:
    assert pruning("Who?", chain("Ada"), (hop("child"), hop("^spouse"))).case() == (
        'Question: "Who?"\n'
        'Chain: "Ada"\n'
        "Relations, choose at most 3:\n"
        '1. "Ada" -child-> ?1\n'
        '2. "Ada" <-spouse- ?1\n'
        "Reply:"
    )


def test_verify_marks_what_comes_back_to_the_start() -> None:
    assert VERIFY.case() == (
        'Question: "Who?"\n'
        'Chain: "Ada" <-child- ?1 -child-> ?2\n'
        "Candidates (2):\n"
        '1. "Ada" *\n'
        '2. "Ben"\n'
        "Reply:"
    )


def test_verify_says_what_else_the_candidates_meet() -> None:
    met = (chain("Ulm", "^lives_in"),)
    assert VerifyChain("Who?", chain("Ada", "child"), ends("Ben"), met, truncated=True).case() == (
        'Question: "Who?"\n'
        'Chain: "Ada" -child-> ?1\n'
        'The candidates are also the ends of: "Ulm" <-lives_in- ?1\n'
        "Candidates (more than 1):\n"
        '1. "Ben"\n'
        "Reply:"
    )


def test_verify_says_that_it_may_not_filter() -> None:
    lines = VerifyChain("Who?", chain("Ada", "child"), ends("Ben"), filtering=False).case().splitlines()
    assert lines[2:4] == [
        'Not available here: the decision "filter", and "some" in "take".',
        'Where it would be "filter", decide on "stop" and take "all" or "others".',
    ]


def test_a_verdict_leaves_conditions_to_a_filter_that_sees_attributes() -> None:
    found = (ChainFindings(chain("Ada", "child"), ends("Ben")),)
    prompts = [
        VerifyChain("Who?", chain("Ada", "child"), ends("Ben"), attributes=True),
        CheckSufficiency(
            "Who?", chain("Ada", "child"), ends("Ben"), Progress(("Who?",), 0, ()), attributes=True
        ),
        AssessFound("Who?", found, attributes=True),
        EvaluateFound("Who?", found, attributes=True),
    ]
    assert all(LEFT_TO_THE_GRAPH in prompt.case() for prompt in prompts)
    plain = [replace(prompt, attributes=False) for prompt in prompts]
    assert not any(LEFT_TO_THE_GRAPH in prompt.case() for prompt in plain)


def test_a_plan_leaves_conditions_to_the_end_where_they_are_checked_there() -> None:
    asked = PlanSteps("Which child of Ada was born before 1990?", topics("Ada"), attributes=True)
    assert LEFT_TO_THE_END in asked.case()
    assert LEFT_TO_THE_END not in replace(asked, attributes=False).case()


def test_the_answer_may_be_a_node_on_the_way_where_it_is_asked_for() -> None:
    found = (ChainFindings(chain("Ada", "child", "born"), ends("1990", "1992")),)
    asked = EvaluateFound("Who is the eldest?", found, inner=True)
    assert ON_THE_WAY in asked.case()
    assert ON_THE_WAY not in replace(asked, inner=False).case()


def test_verify_says_that_there_are_no_candidates() -> None:
    lines = VerifyChain("Who?", chain("Ada", "child"), ()).case().splitlines()
    assert lines[2] == 'Candidates: none, so that only "forward" or "backtrack" is left'


def test_filter_shows_question_chain_and_candidates() -> None:
    assert FILTER.case() == (
        'Question: "Which?"\nChain: "Ada" -child-> ?1\nCandidates (2):\n1. "Ben"\n2. "Cleo"\nReply:'
    )


def test_answering_directly_shows_the_question_alone() -> None:
    assert AnswerDirectly('Who wrote "Emma"?').case() == 'Question: "Who wrote \\"Emma\\"?"\nReply:'


def test_a_node_without_a_name_is_shown_by_its_id() -> None:
    nameless = Chain(Entity("http://x/m1"), (Hop("http://x/p1", name="member of"),))
    assert pruning("Who?", nameless, (hop("since"),)).case().splitlines()[1:4:2] == [
        'Chain: "http://x/m1" -member of-> ?1',
        "1. ?1 -since-> ?2",
    ]


def test_a_follow_up_is_shown_after_the_last_turns_and_some_of_their_answers() -> None:
    names = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Fay")
    turns = [said(f"Question {number}?", *names[:number]) for number in range(7)]
    lines = RewriteQuestion('and "Ulm"?', tuple(turns)).case().splitlines()
    assert lines[:2] == ["Before:", '1. "Question 1?" - "Ada"']
    assert lines[6] == '6. "Question 6?" - "Ada", "Ben", "Cleo", "Dan", "Eve", 1 more'
    assert lines[7:] == ['Question: "and \\"Ulm\\"?"', "Reply:"]
    assert '1. "Who?" - no answer' in RewriteQuestion("and?", (said("Who?"),)).case()


def test_a_translation_shows_the_question_and_the_language() -> None:
    assert TranslateQuestion("Wer?", "English").case() == 'Question: "Wer?"\nLanguage: English\nReply:'


def test_a_draft_shows_what_it_can_be_made_of_and_why_the_last_was_not_taken() -> None:
    prompt = DraftQuery("Which?", prefixes=("r: <http://t/r/>",), classes=("r:Saw, 2 members",), found=("x",))
    lines = ["Prefixes: r: <http://t/r/>", "Classes:", "r:Saw, 2 members", "Found:", "x"]
    assert prompt.case().splitlines() == ['Question: "Which?"', *lines, "Reply:"]
    again = replace(prompt, refused="SELECT ?s { ?s a r:Axe }", objections=("r:Axe is not known",))
    told = ["Your last query: SELECT ?s { ?s a r:Axe }", "It was not taken:", "- r:Axe is not known"]
    assert again.case().splitlines()[6:-1] == told


def test_a_draft_without_a_query_says_what_is_missing() -> None:
    prompt = DraftQuery("Which?")
    with pytest.raises(ValueError, match="write a query, or say"):
        prompt.check(prompt.reply(sparql=" "))
    prompt.check(prompt.reply(sparql="", missing="owner"))


def test_of_many_candidates_the_first_are_shown_and_all_are_counted() -> None:
    lines = VerifyChain("Which?", chain("Hub", "^part_of"), MANY).case().splitlines()
    assert lines[2] == f"Candidates ({MAX_CANDIDATES_SHOWN + 5}, the first {MAX_CANDIDATES_SHOWN} shown):"
    assert lines[-2:] == [f'{MAX_CANDIDATES_SHOWN}. "N{MAX_CANDIDATES_SHOWN - 1}"', "Reply:"]


def test_every_prompt_is_shown_here_or_among_those_of_plans() -> None:
    plans = {AdaptBlueprint, CheckSufficiency, Decompose, Diagnose, InferFromEvidence, OutlineSearch}
    shown = {
        AnswerDirectly,
        ApplyConditions,
        ComposeQuery,
        ConnectTopic,
        DraftQuery,
        FilterCandidates,
        PruneRelations,
        RewriteQuestion,
        TranslateQuestion,
        VerifyChain,
    } | plans
    shown |= {*APART, *STEPWISE, *OVER_A_FRONTIER, *OVER_ENTITIES, *FROM_MEMORY}
    assert [prompt.name for prompt in PROMPTS if prompt not in shown] == []


REFUSED: list[tuple[Prompt[Any], dict[str, Any], str]] = [
    (PRUNE, {"relations": [3]}, "relation 3 was not offered; choose from 1 to 2"),
    (PRUNE, {"relations": [0]}, "relation 0 was not offered"),
    (PRUNE, {"relations": [-1]}, "relation -1 was not offered"),
    (PRUNE, {"relations": [1, 1]}, "each relation may be named once"),
    (PRUNE, {"relations": [1, 2]}, "at most 1 relations may be chosen"),
    (PRUNE, {"relations": ["1"]}, "relations.0: "),
    (PRUNE, {"relations": [1.5]}, "relations.0: "),
    (PRUNE, {"relations": [True]}, "relations.0: "),
    (PRUNE, {"relations": None}, "relations: "),
    (PRUNE, {"rationale": "none given"}, "relations: "),
    (VERIFY, {"decision": "stop", "take": "some", "chosen": [3]}, "candidate 3 was not offered"),
    (VERIFY, {"decision": "stop", "take": "some", "chosen": [2, 2]}, "each candidate may be named once"),
    (VERIFY, {"decision": "stop", "take": "some"}, "name at least one candidate number"),
    (VERIFY, {"decision": "stop", "take": "sum"}, "take: "),
    (VERIFY, {"decision": "stop", "take": "largest"}, '"largest" needs candidates that are all numbers'),
    (VERIFY, {"decision": "stop", "take": "average"}, "take: "),
    (VERIFY, {"decision": "refine"}, "decision: "),
    (VerifyChain("Who?", chain("Ada"), ()), {"decision": "stop"}, "there are no candidates"),
    (VerifyChain("Who?", chain("Ada"), ()), {"decision": "filter"}, "there are no candidates"),
    (
        VerifyChain("Who?", chain("Ada"), ends("Ben"), filtering=False),
        {"decision": "stop", "take": "some", "chosen": [1]},
        'to take "some" is not available',
    ),
    (VERIFY, {"decision": "Stop"}, "decision: "),
    (FILTER, {"chosen": [3]}, "candidate 3 was not offered; choose from 1 to 2"),
    (FILTER, {"chosen": [1, 2, 1]}, "each candidate may be named once"),
    (FILTER, {"chosen": [], "count": "no"}, "count: "),
    (RewriteQuestion("and?", ()), {"question": " "}, "the question is empty; write what is asked now"),
    (RewriteQuestion("and?", ()), {"question": "x" * 2_001}, "the question is longer than 2000 characters"),
    (
        TranslateQuestion("Wer?", "English"),
        {"question": " "},
        "the question is empty; say it, or reply with null",
    ),
    (
        TranslateQuestion("Wer?", "English"),
        {"question": "x" * 2_001},
        "the question is longer than 2000 characters",
    ),
    (
        TranslateQuestion("Wer baute U990 und 15 mm?", "English"),
        {"question": "Who built U99 and 15 mm?"},
        "the question says 990; keep all numbers and codes",
    ),
    (AnswerDirectly("Who?"), {"answers": "Ada"}, "answers: "),
    (AnswerDirectly("Who?"), {"answers": [1]}, "answers.0: "),
]


@pytest.mark.parametrize(("prompt", "reply", "reason"), REFUSED)
def test_a_reply_is_refused_with_a_reason(prompt: Prompt[Any], reply: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadReply) as refused:
        check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reason in str(refused.value)


TAKEN: list[tuple[Prompt[Any], dict[str, Any]]] = [
    (TranslateQuestion("Wer?", "English"), {"question": None}),
    (TranslateQuestion("كم جسرا بني قبل ١٩٩٠؟", "English"), {"question": "How many were built before 1990?"}),
    (PRUNE, {"relations": [2]}),
    (PRUNE, {"relations": []}),
    (VERIFY, {"decision": "forward"}),
    (VERIFY, {"decision": "backtrack", "take": "largest"}),
    (VERIFY, {"decision": "stop"}),
    (VERIFY, {"decision": "stop", "take": "others"}),
    (VERIFY, {"decision": "stop", "take": "some", "chosen": [2, 1]}),
    (VERIFY, {"decision": "stop", "take": "count"}),
    (VerifyChain("Most?", chain("Ada", "age"), values("1", "2")), {"decision": "stop", "take": "largest"}),
    (FILTER, {"chosen": [2, 1], "count": True}),
    (FILTER, {"chosen": []}),
    (AnswerDirectly("Who?"), {"answers": []}),
]


@pytest.mark.parametrize(("prompt", "reply"), TAKEN)
def test_a_reply_that_fits_is_taken(prompt: Prompt[Any], reply: dict[str, Any]) -> None:
    taken = check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reply.items() <= taken.model_dump().items()


def test_a_candidate_that_was_not_shown_cannot_be_chosen() -> None:
    prompt = FilterCandidates("Which?", chain("Hub", "^part_of"), MANY * 100)
    shown = len(prompt.offered)
    assert len(MANY) < shown < len(MANY * 100)
    assert prompt.case().splitlines()[-2].startswith(f"{shown}. ")
    with pytest.raises(ValueError, match=f"choose from 1 to {shown}"):
        prompt.check(prompt.reply(chosen=[shown + 1]))


def test_lots_hold_every_candidate_once_and_a_long_one_alone() -> None:
    lots = FilterCandidates("Which?", chain("Hub", "^part_of"), MANY * 100).lots
    assert [candidate for lot in lots for candidate in lot] == [*MANY * 100]
    assert all(len("\n".join(map(draw_candidate, lot))) < MAX_LOT_CHARS for lot in lots)
    assert FilterCandidates("Which?", chain("Hub", "^part_of"), ()).lots == []


def test_filter_cannot_be_decided_on_where_it_is_not_available() -> None:
    prompt = VerifyChain("Who?", chain("Ada", "child"), ends("Ben"), filtering=False)
    with pytest.raises(ValueError, match="not available"):
        prompt.check(prompt.reply(decision="filter"))


def test_others_need_a_candidate_that_does_not_come_back() -> None:
    prompt = VerifyChain("Who?", chain("Ada", "child", "^child"), ends("Ada", returning=("Ada",)))
    with pytest.raises(ValueError, match="no others"):
        prompt.check(prompt.reply(decision="stop", take="others"))
