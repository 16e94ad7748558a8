"""How the ends of several chains, and solved questions, are drawn and numbered."""

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Entity
from kgqa.prompts.candidates import SHOWN
from kgqa.prompts.found import GROUPS, Found, draw_earlier, draw_found, shown
from kgqa.prompts.solved import SOLVED, Solved, draw_solved
from kgqa.tests.prompts.samples import chain, ends

NAMELESS = tuple(Candidate(Entity(f"http://x/m{number}")) for number in range(3))
MANY = tuple(Candidate(Entity(f"http://x/{number}", f"N{number}")) for number in range(SHOWN + 5))
BEN = Found(chain("Ada", "child"), ends("Ben"))


def test_ends_without_a_name_are_counted_and_have_no_number() -> None:
    found = (Found(chain("Ada", "marriage"), NAMELESS), Found(chain("Ada", "met"), (*NAMELESS, *ends("Ben"))))
    assert draw_found(found) == [
        'Group 1: "Ada" -marriage-> ?1 (3, 3 without a name)',
        'Group 2: "Ada" -met-> ?1 (4, 3 without a name)',
        '1. "Ben"',
    ]


def test_each_group_has_its_share_of_what_is_shown() -> None:
    rows = shown((Found(chain("Hub", "part"), MANY), BEN))
    assert [(row.number, row.group) for row in rows[-2:]] == [(SHOWN // 2, 1), (SHOWN // 2 + 1, 2)]
    assert draw_found((Found(chain("Hub", "part"), MANY), BEN))[0].endswith("(105, the first 50 shown)")


def test_a_group_that_the_row_limit_cut_says_so() -> None:
    cut = Found(chain("Ada", "child"), ends("Ben"), truncated=True)
    assert draw_found((cut,))[0].endswith("(more than 1, the first 1 shown)")
    assert draw_found((Found(cut.chain, NAMELESS, truncated=True),))[0].endswith(
        "(more than 3, 3 without a name)"
    )


def test_only_the_first_groups_are_shown() -> None:
    lines = draw_found((BEN,) * (GROUPS + 1))
    assert lines[-2:] == [f'Group {GROUPS}: "Ada" -child-> ?1 (1)', f'{GROUPS}. "Ben"']


def test_what_was_reached_earlier_is_shown_by_a_few_names() -> None:
    assert draw_earlier((Found(chain("Hub", "part"), MANY), Found(chain("Ada", "met"), NAMELESS))) == [
        "Reached earlier:",
        'Chain 1: "Hub" -part-> ?1 (105): "N0", "N1", "N2"',
        'Chain 2: "Ada" -met-> ?1 (3, 3 without a name)',
    ]


def test_where_there_is_nothing_nothing_is_drawn() -> None:
    assert [draw_earlier(()), draw_found(()), draw_solved(())] == [[]] * 3


def test_a_solved_question_has_a_list_of_relations_for_each_topic() -> None:
    solved = Solved("Who of [city] won [prize]?", (("^born_in", "spouse"), ("^won",)))
    lines = draw_solved((solved,) * (SOLVED + 1))
    assert lines[1:] == ['- "Who of [city] won [prize]?" by ["^born_in", "spouse"], ["^won"]'] * SOLVED
