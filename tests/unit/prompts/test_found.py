"""How the ends of several chains, and solved questions, are drawn and numbered."""

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Entity
from kgqa.prompts.candidates import (
    MAX_CANDIDATES_SHOWN,
    MAX_GROUPS_SHOWN,
    ChainFindings,
    draw_chain_findings,
    draw_earlier_chains,
    numbered_candidates,
)
from kgqa.prompts.progress import MAX_SOLVED_SHOWN, SolvedQuestion, draw_solved_questions
from kgqa.tests.unit.prompts.samples import chain, ends

NAMELESS = tuple(Candidate(Entity(f"http://x/m{number}")) for number in range(3))
MANY = tuple(
    Candidate(Entity(f"http://x/{number}", f"N{number}")) for number in range(MAX_CANDIDATES_SHOWN + 5)
)
BEN = ChainFindings(chain("Ada", "child"), ends("Ben"))


def test_ends_without_a_name_are_counted_and_have_no_number() -> None:
    found = (
        ChainFindings(chain("Ada", "marriage"), NAMELESS),
        ChainFindings(chain("Ada", "met"), (*NAMELESS, *ends("Ben"))),
    )
    assert draw_chain_findings(found) == [
        'Group 1: "Ada" -marriage-> ?1 (3, 3 without a name)',
        'Group 2: "Ada" -met-> ?1 (4, 3 without a name)',
        '1. "Ben"',
    ]


def test_each_group_has_its_share_of_what_is_shown() -> None:
    rows = numbered_candidates((ChainFindings(chain("Hub", "part"), MANY), BEN))
    assert [(row.number, row.group) for row in rows[-2:]] == [
        (MAX_CANDIDATES_SHOWN // 2, 1),
        (MAX_CANDIDATES_SHOWN // 2 + 1, 2),
    ]
    assert draw_chain_findings((ChainFindings(chain("Hub", "part"), MANY), BEN))[0].endswith(
        "(105, the first 50 shown)"
    )


def test_a_group_that_the_row_limit_cut_says_so() -> None:
    cut = ChainFindings(chain("Ada", "child"), ends("Ben"), truncated=True)
    assert draw_chain_findings((cut,))[0].endswith("(more than 1, the first 1 shown)")
    assert draw_chain_findings((ChainFindings(cut.chain, NAMELESS, truncated=True),))[0].endswith(
        "(more than 3, 3 without a name)"
    )


def test_only_the_first_groups_are_shown() -> None:
    lines = draw_chain_findings((BEN,) * (MAX_GROUPS_SHOWN + 1))
    assert lines[-2:] == [f'Group {MAX_GROUPS_SHOWN}: "Ada" -child-> ?1 (1)', f'{MAX_GROUPS_SHOWN}. "Ben"']


def test_what_was_reached_earlier_is_shown_by_a_few_names() -> None:
    assert draw_earlier_chains(
        (ChainFindings(chain("Hub", "part"), MANY), ChainFindings(chain("Ada", "met"), NAMELESS))
    ) == [
        "Reached earlier:",
        'Chain 1: "Hub" -part-> ?1 (105): "N0", "N1", "N2"',
        'Chain 2: "Ada" -met-> ?1 (3, 3 without a name)',
    ]


def test_where_there_is_nothing_nothing_is_drawn() -> None:
    assert [draw_earlier_chains(()), draw_chain_findings(()), draw_solved_questions(())] == [[]] * 3


def test_a_solved_question_has_a_list_of_relations_for_each_topic() -> None:
    solved = SolvedQuestion("Who of [city] won [prize]?", (("^born_in", "spouse"), ("^won",)))
    lines = draw_solved_questions((solved,) * (MAX_SOLVED_SHOWN + 1))
    assert (
        lines[1:] == ['- "Who of [city] won [prize]?" by ["^born_in", "spouse"], ["^won"]'] * MAX_SOLVED_SHOWN
    )
