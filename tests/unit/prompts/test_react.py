"""Plans that a model writes out as thoughts, actions and observations."""

import timeit
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from kgqa.kg.terms import one_line
from kgqa.models.parsing import BadReply, parse_reply
from kgqa.prompts.base import MAX_LABEL_CHARS
from kgqa.prompts.plan_steps import PlanSteps, StepsReply
from kgqa.prompts.plans import MAX_OBSERVED_TRIPLES, PlanStep, SearchPlan, draw_plan, parse_plan
from kgqa.prompts.react_plan import read_steps
from kgqa.prompts.revise_plan import ReviseGlobally, ReviseLocally, merge_plans
from kgqa.tests.unit.prompts.samples import topics

WRITTEN = """\
Here is my plan.

Thought 1: Begin with the town,
which is Ulm.
Action 1: Search[Ulm river]
Predicted observation 1: (Ulm, lies on, Danube) (Ulm, part of, Baden, Germany)

**Thought 2:** Then its mouth.
**Action 2:** Search["mouth of the Danube"]
Observation 2: [["Danube", "flows into", "Black Sea"]]
Thought 3: That is all.
Action 3: Finish[Black Sea]
Observation 3: (Black Sea, kind, sea)
I hope this helps [1].
"""


def step(thought: str, search: str, *observation: list[str]) -> dict[str, Any]:
    return {"thought": thought, "search": search, "observation": list(observation)}


def test_a_plan_is_read_field_by_field() -> None:
    assert read_steps(WRITTEN) == {
        "first": 1,
        "steps": [
            step(
                "Begin with the town, which is Ulm.",
                "Ulm river",
                ["Ulm", "lies on", "Danube"],
                ["Ulm", "part of", "Baden, Germany"],
            ),
            step("Then its mouth.", "mouth of the Danube", ["Danube", "flows into", "Black Sea"]),
        ],
        "thought": "That is all.",
        "answers": ["Black Sea"],
    }


@pytest.mark.parametrize(
    ("action", "answers"),
    [
        ("Finish[Paris]", ["Paris"]),
        ("Finish[Paris]  ", ["Paris"]),
        ("Finish[Paris]]", ["Paris"]),
        ("Finish[Paris] ]\nThe capital, see [1].", ["Paris"]),
        ("Finish[Paris\nThis is the capital [1].", ["Paris"]),
        ("Finish[\n  Paris\n]", ["Paris"]),
        ("finish [Paris].", ["Paris"]),
        ("Finish: Paris", ["Paris"]),
        ("So I can Finish[Paris] now", ["Paris"]),
        ("Finish[Rio [de Janeiro]]", ["Rio [de Janeiro]"]),
        ('Finish["Paris"]', ["Paris"]),
        ('Finish["Paris", "Rome"]', ["Paris", "Rome"]),
        ('Finish[["Paris", "Rome"]]', ["Paris", "Rome"]),
        ('Finish[["Paris", "Rome"]]] as asked', ["Paris", "Rome"]),
        ('Finish[["a ] b", "c;d"]]', ["a ] b", "c;d"]),
        ('Finish[["\\u00dcber", 1990, 1.50]]', ["Über", "1990", "1.50"]),
        ("Finish[['O'Neill', 'Rome']]", ["O'Neill", "Rome"]),
        ("Finish[“Paris”; “Rome”]", ["Paris", "Rome"]),
        ("Finish[Paris; Rome;]", ["Paris", "Rome"]),
        ("Finish[Washington, D.C.]", ["Washington, D.C."]),
        ("Finish[Trinidad and Tobago]", ["Trinidad and Tobago"]),
        ("Finish[1,100]", ["1,100"]),
        ("Finish[007]", ["007"]),
        ("Finish[NaN]", ["NaN"]),
        ("Finish[__import__('os').getcwd()]", ["__import__('os').getcwd()"]),
        ("Finish[]", []),
        ("Finish[[]]", []),
        ('Finish[""]', []),
        ("Finish", []),
    ],
)
def test_answers_are_parted_by_json_or_semicolons_only(action: str, answers: list[str]) -> None:
    for label in ("Action 2: ", "Action: ", "**Action 2:** "):
        read = read_steps(f"Thought 2: Done.\n{label}{action}")
        assert read == {"first": 2, "steps": [], "thought": "Done.", "answers": answers}


@pytest.mark.parametrize("action", ["Finish[Yes]", 'Finish["yes"]', "Finish[yes.]", "Finish[[YES!]]"])
def test_yes_answers_a_question_that_asks_whether(action: str) -> None:
    read = read_steps(f"Action 1: {action}")
    assert read == {"first": 1, "steps": [], "thought": "", "answers": ["yes"], "whether": True}


@pytest.mark.parametrize(
    ("action", "search"),
    [
        ("Search[Ulm river]", "Ulm river"),
        ("search [ Ulm\nriver ]", "Ulm river"),
        ('Search["Ulm", "river"]', "Ulm, river"),
        ("Search['Ulm river']", "Ulm river"),
        ("Search[Ulm [town] river]] and so on", "Ulm [town] river"),
        ("Search: Ulm river", "Ulm river"),
        ("Ulm river", "Ulm river"),
        ("I look it up by Search[Ulm river].", "Ulm river"),
    ],
)
def test_what_is_searched_for(action: str, search: str) -> None:
    read = read_steps(f"Action 1: {action}\nAction 2: Finish[x]")
    assert read is not None
    assert read["steps"] == [step("", search)]


@pytest.mark.parametrize(
    ("observation", "triples"),
    [
        ("(a, b, c)", [["a", "b", "c"]]),
        ("(a, b, c), (d, e, f).", [["a", "b", "c"], ["d", "e", "f"]]),
        ("\n- (a, b, c)\n- (d,\n e, f)", [["a", "b", "c"], ["d", "e", "f"]]),
        ("(Ulm (town), lies on, Danube)", [["Ulm (town)", "lies on", "Danube"]]),
        ('("a, b", "c)", "d (")', [["a, b", "c)", "d ("]]),
        ("('a', 'b', 'c')", [["a", "b", "c"]]),
        ('["a", "b", "c"]', [["a", "b", "c"]]),
        ('[["a", "b", "c"], ["d", "e", 1815], ["g", "h"]]', [["a", "b", "c"], ["d", "e", "1815"]]),
        ("(see above) (a, b) (a, , c) (a, b, c)", [["a", "b", "c"]]),
        ("none", []),
        ("(a, b, c", []),
    ],
)
def test_what_is_predicted(observation: str, triples: list[list[str]]) -> None:
    read = read_steps(f"Action 1: Search[x]\nObservation 1: {observation}\nAction 2: Finish[y]")
    assert read is not None
    assert read["steps"] == [step("", "x", *triples)]


@pytest.mark.parametrize(
    "label", ["Observation", "Predicted Observation", "Revised observation", "OBSERVATION"]
)
def test_an_observation_goes_by_many_labels(label: str) -> None:
    read = read_steps(f"Action 1: Search[x]\n{label} 1: (a, b, c)\nAction 2: Finish[y]")
    assert read is not None
    assert read["steps"][0]["observation"] == [["a", "b", "c"]]


@pytest.mark.parametrize(
    ("text", "first", "searches"),
    [
        ("Thought 3: t\nAction 3: Search[a]\nAction 4: Search[b]\nFinish[c]", 3, ["a", "b"]),
        ("Thought: t\nAction: Search[a]\nThought: u\nAction: Search[b]\nAction: Finish[c]", 1, ["a", "b"]),
        ("Search[a]\nSearch[b]\nFinish[c]", 1, ["a", "b"]),
        ("Action 1:\nSearch[a]\nAction 2:\nFinish[c]", 1, ["a"]),
        ("Thought 1: t\nThought 1: u\nAction 1: Search[a]\nFinish[c]", 1, ["a"]),
        ("Action 1: Search[a]\nAction 2: Finish[c]\nThought 3: u\nAction 3: Search[b]", 1, ["a"]),
    ],
)
def test_steps_without_all_their_parts(text: str, first: int, searches: list[str]) -> None:
    read = read_steps(text)
    assert read is not None
    assert (read["first"], [step["search"] for step in read["steps"]]) == (first, searches)
    assert read["answers"] == ["c"]


@pytest.mark.parametrize(
    "text", ["", "Paris", "Thought: hm", "The action: Finish it", '{"steps": []}', "Action 1:"]
)
def test_a_text_without_actions_is_no_plan(text: str) -> None:
    assert read_steps(text) is None


def test_without_a_finish_there_are_no_answers() -> None:
    read = read_steps("Action 1: Search[a]\nThought 2: And then")
    assert read == {"first": 1, "steps": [step("", "a")], "thought": "And then"}


PLAIN = st.text(min_size=1).map(lambda text: one_line(text, MAX_LABEL_CHARS)).filter(bool)
STEPS = st.builds(
    PlanStep, PLAIN, PLAIN, st.lists(st.tuples(PLAIN, PLAIN, PLAIN), max_size=MAX_OBSERVED_TRIPLES).map(tuple)
)
ANSWERS = PLAIN.filter(lambda text: text != '""')  # two quotes are how models write none
PLANS = st.builds(
    SearchPlan, st.lists(STEPS, max_size=4).map(tuple), st.lists(ANSWERS, unique=True).map(tuple), PLAIN
)


@settings(deadline=None)
@given(PLANS)
@example(SearchPlan((PlanStep("Action 2: Finish[x]", "a] b", ((":)", "(", '"'),)),), ("[", "]", ";"), "\\"))
def test_a_plan_is_read_back_as_it_is_drawn(plan: SearchPlan) -> None:
    read = read_steps(draw_plan(plan))
    assert read is not None
    back = parse_plan(StepsReply.model_validate(read))
    assert [step.search for step in back.steps] == [step.search for step in plan.steps]
    assert [list(step.observation) for step in back.steps] == [
        list(dict.fromkeys(step.observation)) for step in plan.steps
    ]
    assert [step.thought for step in back.steps] == [step.thought for step in plan.steps]
    assert (back.thought, back.whether) == (plan.thought, plan.answers in {("yes",), ("no",)})
    assert list(map(str.casefold, back.answers)) == list(map(str.casefold, plan.answers))


PIECES = st.sampled_from(
    [
        "Thought 1:",
        "Action 2:",
        "Observation:",
        "Search[",
        "Finish[",
        "]",
        "[",
        '"',
        "'",
        "(",
        ")",
        ",",
        "\n",
        "a",
    ]
)


@settings(deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(st.characters(exclude_categories=()), max_size=5))).map("".join))
def test_any_text_is_a_reply_or_refused(text: str) -> None:
    try:
        reply = parse_reply(text, PlanSteps("Where?", topics("Ulm")))
    except BadReply as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert isinstance(reply, StepsReply)
        assert all(step.search for step in reply.steps)


@pytest.mark.parametrize(
    "piece",
    [
        "Finish[",
        "Finish[[",
        "Search[a\n",
        "Observation: (",
        'Observation: ("a", ',
        'Observation: ("',
        "Thought: a\n",
        "Action: a\n",
        "\n ",
        "\n**",
        "[]",
        '"\\',
        "Finish['a' ",
    ],
)
@pytest.mark.parametrize("start", ["", "Action: Finish[", "Observation: ", "Action: Search["])
def test_long_texts_are_read_in_no_time(start: str, piece: str) -> None:
    text = start + piece * (100_000 // len(piece))
    assert min(timeit.repeat(lambda: read_steps(text), number=1, repeat=3)) < 2


def test_a_prompt_reads_a_plan_that_is_no_json() -> None:
    reply = parse_reply(f"<think>Thought 1: no</think>{WRITTEN}", PlanSteps("Where?", topics("Ulm")))
    assert [step.search for step in reply.steps] == ["Ulm river", "mouth of the Danube"]
    assert reply.answers == ["Black Sea"]


def test_a_plan_that_is_no_json_is_checked_like_any_other() -> None:
    with pytest.raises(BadReply, match="the plan has 2 steps; give 1 to 1"):
        parse_reply(WRITTEN, PlanSteps("Where?", topics("Ulm"), depth=1))
    with pytest.raises(BadReply, match="answers: Field required"):
        parse_reply("Action 1: Search[a]", PlanSteps("Where?", topics("Ulm")))
    with pytest.raises(BadReply, match="no JSON object"):
        parse_reply("The mouth is the Black Sea.", PlanSteps("Where?", topics("Ulm")))


def test_json_goes_before_what_is_written_around_it() -> None:
    text = WRITTEN + '{"steps": [{"search": "x"}], "answers": ["y"]}'
    assert parse_reply(text, PlanSteps("Where?", topics("Ulm"))).answers == ["y"]


def test_a_revision_that_is_no_json_goes_on_from_its_first_number() -> None:
    old = SearchPlan((PlanStep("", "a"), PlanStep("", "b")), ("old",), whether=True)
    text = "Thought 2: Else.\nAction 2: Search[c]\nAction 3: Finish[new]"
    plan = merge_plans(old, parse_reply(text, ReviseLocally("Where?", old, 1, ())), "local")
    assert [step.search for step in plan.steps] == ["a", "c"]
    assert (plan.answers, plan.whether) == (("new",), True)
    with pytest.raises(BadReply, match="from step 1 on"):
        parse_reply(text, ReviseGlobally("Where?", old, 1, ()))
