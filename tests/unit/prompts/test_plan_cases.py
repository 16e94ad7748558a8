"""What the prompts of a planned search say about the case at hand, and what they take for a reply."""

from typing import Any

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Entity
from kgqa.models.parsing import BadReply, check_reply, validate_reply
from kgqa.prompts.adapt_blueprint import MAX_RELATIONS_SHOWN, AdaptBlueprint, Decompose
from kgqa.prompts.base import Prompt
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.diagnose import (
    MAX_BRANCHES_SHOWN,
    MAX_DECISIONS_SHOWN,
    Diagnose,
    PastDecision,
    PrunedBranch,
)
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.infer_from_evidence import ALONE, MAX_SEGMENTS_SHOWN, InferFromEvidence, Segment
from kgqa.prompts.progress import MAX_BRANCH_HOPS, MAX_FINDINGS_SHOWN, MAX_SUBGOALS, Progress, SolvedQuestion
from kgqa.tests.support.frontier import pruning
from kgqa.tests.unit.prompts.samples import chain, ends, hop, topics, values, went

PROGRESS = Progress(("Find the child.", "Find its town."), 1, ("Ben is the child.",))
DRAWN = (
    "Subgoals, in their order:\n"
    '- "Find the child."\n'
    '- "Find its town." <- now\n'
    "Verified so far:\n"
    '- "Ben is the child."\n'
)
MANY = tuple(
    Candidate(Entity(f"http://x/{number}", f"N{number}")) for number in range(MAX_CANDIDATES_SHOWN + 5)
)

ADAPT = AdaptBlueprint(
    "Who?", topics("Ada", "Ulm"), (SolvedQuestion("Who else?", (("child",), ("^lives_in",))),), ("child",)
)
CHECK = CheckSufficiency("Where?", chain("Ada", "child"), ends("Ben", "Cleo"), PROGRESS)
DIAGNOSE = Diagnose(
    "Where?",
    "no_candidates",
    PROGRESS,
    (
        went(chain("Ada", "child"), ("Ben",), "Ben is the child."),
        PastDecision(chain("Ada", "child"), None, (), 0, ""),
    ),
    (
        PrunedBranch(1, chain("Ada", "^child"), waiting=True, relevance=0.25),
        PrunedBranch(2, chain("Ada", "child", "lives_in"), waiting=False, relevance=None),
        PrunedBranch(1, chain("Ada", "spouse"), waiting=False, relevance=None),
    ),
)
INFER = InferFromEvidence(
    "Where?",
    (
        Segment(chain("Ada", "child"), ends("Ben", "Ada", returning=("Ada",))),
        Segment(chain("Ben", "lives_in"), ends("Ulm")),
    ),
    (),
    ("Find its town.",),
)


def test_a_plan_marks_the_subgoal_at_hand() -> None:
    assert f"{PROGRESS.draw()}\n" == DRAWN


def test_where_nothing_is_verified_a_plan_says_so() -> None:
    assert Progress(("Find it.",), 0, ()).draw().splitlines()[-1] == "Verified so far: nothing"


def test_a_plan_shows_the_last_findings() -> None:
    findings = tuple(f"found {number}" for number in range(MAX_FINDINGS_SHOWN + 2))
    lines = Progress((), 0, findings).draw().splitlines()
    assert lines == ["Verified so far:", *(f'- "{text}"' for text in findings[2:])]


@pytest.mark.parametrize(
    ("kind", "rest"),
    [(pruning, (chain("Ada"), (hop("child"),), 1)), (FilterCandidates, (chain("Ada"), ends("Ben")))],
)
def test_a_plan_comes_between_question_and_chain_and_changes_nothing_else(kind: Any, rest: Any) -> None:
    without = kind("Where?", *rest).case()
    assert kind("Where?", *rest, PROGRESS).case() == without.replace("\n", f"\n{DRAWN}", 1)


def test_decompose_shows_the_question_alone() -> None:
    assert Decompose("Where?").case() == 'Question: "Where?"\nReply:'


def test_adapt_shows_topics_exemplars_and_relations() -> None:
    assert ADAPT.case() == (
        'Question: "Who?"\n'
        'Topic entities:\n1. "Ada"\n2. "Ulm"\n'
        'Similar questions and the relations from each topic to the answer ("^": against the arrow), '
        "as a hint:\n"
        '- "Who else?" by ["child"], ["^lives_in"]\n'
        'Relations of this graph, some of them: "child"\n'
        "Reply:"
    )


def test_adapt_leaves_out_what_there_is_none_of() -> None:
    assert AdaptBlueprint("Who?", (), (), ()).case() == 'Question: "Who?"\nReply:'


def test_adapt_shows_the_first_relations() -> None:
    names = tuple(f"relation_{number}" for number in range(MAX_RELATIONS_SHOWN + 1))
    shown = AdaptBlueprint("Who?", (), (), names).case()
    assert f'"{names[-2]}"\nReply:' in shown
    assert names[-1] not in shown


def test_check_shows_plan_chain_and_candidates() -> None:
    assert CHECK.case() == (
        f'Question: "Where?"\n{DRAWN}Chain: "Ada" -child-> ?1\nCandidates (2):\n1. "Ben"\n2. "Cleo"\nReply:'
    )


def test_check_shows_what_else_is_met_and_what_similar_questions_do() -> None:
    shown = CheckSufficiency(
        "Where?", chain("Ada", "child"), ends("Ben"), PROGRESS, (chain("Ulm", "^lives_in"),), True, "lives_in"
    )
    assert shown.case().splitlines()[7:-2] == [
        'The candidates are also the ends of: "Ulm" <-lives_in- ?1',
        'Questions built like this one go on by (a hint only): "lives_in"',
        "Candidates (more than 1):",
    ]


def test_diagnose_shows_each_branch_under_its_decision() -> None:
    assert DIAGNOSE.case() == (
        f'Question: "Where?"\n{DRAWN}'
        "Failure: nothing was reached: no relation was chosen, or it has no ends here.\n"
        'Decision 1: "Ada" -child-> ?1\n'
        '  reached 1: "Ben"\n'
        '  found: "Ben is the child."\n'
        '  branch 1: "Ada" <-child- ?1 (chosen, not tried yet; likeness to the blueprint 0.25)\n'
        '  branch 3: "Ada" -spouse-> ?1\n'
        'Decision 2: after "Ada" -child-> ?1 no relation was chosen\n'
        "  branch 2: ?1 -lives_in-> ?2\n"
        "Reply:"
    )


def test_diagnose_names_the_entities_that_were_set_aside() -> None:
    aside = chain("Ada", "child", "lives_in").constrained_to([Entity("http://x/u", "Ulm")])
    branch = PrunedBranch(2, aside, waiting=False, relevance=None)
    steps = (went(aside.upto(1)), went(aside.upto(1).then(hop("lives_in"))))
    shown = Diagnose("Where?", "no_gain", PROGRESS, steps, (branch,)).case()
    assert '  branch 1: ?1 -lives_in-> ?2 (only "Ulm")\n' in shown


def test_diagnose_says_that_what_was_reached_has_no_names() -> None:
    step = PastDecision(chain("Ada"), chain("Ada", "child"), (), 7, "")
    shown = Diagnose("Where?", "no_gain", PROGRESS, (step,), ()).case()
    assert "  reached 7: none with a name\n" in shown


def test_diagnose_shows_the_last_decisions_by_their_numbers() -> None:
    steps = (went(chain("Ada", "child")),) * (MAX_DECISIONS_SHOWN + 3)
    prompt = Diagnose("Where?", "no_gain", PROGRESS, steps, ())
    shown = [line for line in prompt.case().splitlines() if line.startswith("Decision")]
    assert [shown[0][:11], shown[-1][:12], len(shown)] == ["Decision 4:", "Decision 15:", MAX_DECISIONS_SHOWN]
    with pytest.raises(ValueError, match="decision 3 is not shown; name one from 4 to 15, or 0"):
        prompt.check(prompt.reply(step=3))


def test_a_branch_that_is_not_shown_cannot_be_recalled() -> None:
    branch = PrunedBranch(1, chain("Ada", "child"), waiting=False, relevance=None)
    prompt = Diagnose(
        "Where?", "no_gain", PROGRESS, (went(chain("Ada", "child")),), (branch,) * (MAX_BRANCHES_SHOWN + 1)
    )
    assert prompt.case().count("  branch ") == MAX_BRANCHES_SHOWN
    with pytest.raises(ValueError, match=f"choose from 1 to {MAX_BRANCHES_SHOWN}"):
        prompt.check(prompt.reply(step=1, recall=[MAX_BRANCHES_SHOWN + 1]))


def test_infer_numbers_candidates_through_all_segments() -> None:
    assert INFER.case() == (
        'Question: "Where?"\n'
        'Segment: "Ada" -child-> ?1\n1. "Ben"\n2. "Ada" *\n'
        'Segment: "Ben" -lives_in-> ?1\n3. "Ulm"\n'
        "Known so far: nothing\n"
        'Not verified:\n- "Find its town."\n'
        f"{ALONE}\n"
        "Reply:"
    )
    assert [str(candidate.term) for candidate in INFER.offered] == ["Ben", "Ada", "Ulm"]


def test_infer_offers_the_first_candidates_of_the_first_segments() -> None:
    segments = (Segment(chain("Ada", "child"), ends("Ben")), Segment(chain("Hub", "^part_of"), MANY))
    prompt = InferFromEvidence("Where?", segments * MAX_SEGMENTS_SHOWN, (), ())
    lines = prompt.case().splitlines()
    assert f'{MAX_CANDIDATES_SHOWN}. "N{MAX_CANDIDATES_SHOWN - 2}"' in lines
    assert f'{MAX_CANDIDATES_SHOWN + 1}. "N{MAX_CANDIDATES_SHOWN - 1}"' not in lines
    assert len(prompt.offered) == MAX_CANDIDATES_SHOWN
    assert prompt.case().count("Segment: ") == MAX_SEGMENTS_SHOWN


REFUSED: list[tuple[Prompt[Any], dict[str, Any], str]] = [
    (Decompose("Who?"), {"subgoals": []}, f"give 1 to {MAX_SUBGOALS} subgoals, not 0"),
    (Decompose("Who?"), {"subgoals": ["Find it."] * 9}, f"give 1 to {MAX_SUBGOALS} subgoals, not 9"),
    (Decompose("Who?"), {"subgoals": ["Find it.", " "]}, "a subgoal is blank"),
    (ADAPT, {"branches": []}, "give a branch for each topic entity, at most 2, not 0"),
    (ADAPT, {"branches": [["child"]] * 3}, "give a branch for each topic entity, at most 2, not 3"),
    (AdaptBlueprint("Who?", (), (), ()), {"branches": [["child"]] * 2}, "at most 1, not 2"),
    (ADAPT, {"branches": [["child"], []]}, "branch 2 has 0 relations; give 1 to 8"),
    (ADAPT, {"branches": [["child"] * (MAX_BRANCH_HOPS + 1)]}, "branch 1 has 9 relations"),
    (ADAPT, {"branches": [["child", "^ "]]}, "branch 1 has a name that is blank"),
    (ADAPT, {"branches": [["x" * 201]]}, "longer than 200 characters"),
    (ADAPT, {"branches": ["child"]}, "branches.0: "),
    (CHECK, {"decision": "stop", "take": "some", "chosen": [3]}, "candidate 3 was not offered"),
    (CHECK, {"decision": "stop", "take": "some"}, "name at least one candidate number"),
    (CHECK, {"decision": "stop", "take": "largest"}, '"largest" needs candidates that are all numbers'),
    (CHECK, {"decision": "refine"}, "decision: "),
    (CHECK, {"decision": "forward", "keep": [0]}, "candidate 0 was not offered; choose from 1 to 2"),
    (CHECK, {"decision": "forward", "keep": [2, 2]}, "each candidate may be named once"),
    (CHECK, {"decision": "filter", "keep": [1]}, '"keep" goes with decision "forward", not with "filter"'),
    (DIAGNOSE, {"step": 3}, "decision 3 is not shown; name one from 1 to 2, or 0"),
    (DIAGNOSE, {"step": -1}, "decision -1 is not shown"),
    (DIAGNOSE, {"step": 0, "recall": [1]}, 'with step 0, leave "recall" empty'),
    (DIAGNOSE, {"step": 1, "recall": [4]}, "branch 4 was not offered; choose from 1 to 3"),
    (DIAGNOSE, {"step": 1, "recall": [1, 1]}, "each branch may be named once"),
    (DIAGNOSE, {"step": 1, "recall": [3, 2]}, "branch 2 was set aside by decision 2, not by decision 1"),
    (DIAGNOSE, {"step": 1, "blueprint": "adapt"}, "blueprint: "),
    (DIAGNOSE, {"recall": [1]}, "step: "),
    (INFER, {"chosen": [4]}, "candidate 4 was not offered; choose from 1 to 3"),
    (INFER, {"chosen": [1, 1]}, "each candidate may be named once"),
    (INFER, {"rationale": "It is Ulm."}, "chosen: "),
]


@pytest.mark.parametrize(("prompt", "reply", "reason"), REFUSED)
def test_a_reply_is_refused_with_a_reason(prompt: Prompt[Any], reply: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadReply) as refused:
        check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reason in str(refused.value)


TAKEN: list[tuple[Prompt[Any], dict[str, Any]]] = [
    (Decompose("Who?"), {"subgoals": ["Find it."] * MAX_SUBGOALS}),
    (ADAPT, {"branches": [["child"], ["^lives_in", "child"]]}),
    (ADAPT, {"branches": [["a relation that is not listed"]]}),
    (CHECK, {"decision": "forward", "keep": [2, 1], "finding": "Two children."}),
    (CHECK, {"decision": "backtrack", "take": "largest"}),
    (CHECK, {"decision": "stop", "take": "some", "chosen": [2]}),
    (
        CheckSufficiency("Most?", chain("Ada", "age"), values("1"), PROGRESS),
        {"decision": "stop", "take": "largest"},
    ),
    (DIAGNOSE, {"step": 1, "recall": [3, 1], "blueprint": "drop"}),
    (DIAGNOSE, {"step": 2}),
    (DIAGNOSE, {"step": 0}),
    (INFER, {"chosen": [3, 1]}),
    (INFER, {"chosen": []}),
]


@pytest.mark.parametrize(("prompt", "reply"), TAKEN)
def test_a_reply_that_fits_is_taken(prompt: Prompt[Any], reply: dict[str, Any]) -> None:
    taken = check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reply.items() <= taken.model_dump().items()


@pytest.mark.parametrize(("candidates", "truncated"), [(ends("Ben"), True), (MANY, False)])
def test_some_can_be_kept_only_where_all_are_shown(
    candidates: tuple[Candidate, ...], truncated: bool
) -> None:
    prompt = CheckSufficiency("Who?", chain("Ada"), candidates, PROGRESS, truncated=truncated)
    prompt.check(prompt.reply(decision="forward"))
    with pytest.raises(ValueError, match="not all candidates are shown"):
        prompt.check(prompt.reply(decision="forward", keep=[1]))
