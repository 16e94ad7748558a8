"""Whatever a model says, a reply that fits comes out, or BadReply in one line."""

import json
import time

import pytest
from hypothesis import example, given, settings, strategies as st
from pydantic import model_validator

from kgqa.models import parsing
from kgqa.models.parsing import BadReply, parse_reply
from kgqa.tests.unit.models.pick import Pick, Picked

ASKED = "reply with one JSON object and nothing else"

READABLE = [
    ('{"numbers": [2]}', [2]),
    ('  {"numbers": [2]}\n', [2]),
    ('{"numbers": []}', []),
    ('{"rationale": "why", "numbers": [2, 1], "sure": 0.5}', [2, 1]),
    ('{"numbers": [2], "sure": null}', [2]),
    ('{"numbers": [2], "sure": 1}', [2]),
    ('{"numbers": [2], "more": {"deep": [1]}}', [2]),
    ('```json\n{"numbers": [2]}\n```', [2]),
    ('```\n{"numbers": [2]}\n```', [2]),
    ('````JSON\n{"numbers": [2]}\n````', [2]),
    ('```json\n{"numbers": [2]}', [2]),
    ('Here you are: {"numbers": [2]}', [2]),
    ('{"numbers": [2]} Hope this helps!', [2]),
    ('I think {1, 2} or {3}. So {"numbers": [2]}.', [2]),
    ('First {"numbers": [1]}, no: {"numbers": [2]}', [2]),
    ('{"numbers": [2]} as in {"example": 7}', [2]),
    ('<think>{"numbers": [1]} perhaps</think>{"numbers": [2]}', [2]),
    ('perhaps [1]</think>\n\n{"numbers": [2]}', [2]),
    ('{"rationale": "</think>", "numbers": [2]}', [2]),
    ('[{"numbers": [2]}]', [2]),
    ("{'numbers': [2]}", [2]),
    ("{'rationale': 'it\\'s', 'numbers': [2]}", [2]),
    ('{"numbers": [2],}', [2]),
    ('{"numbers": [2,]}', [2]),
    ("{numbers: [2]}", [2]),
    ('{"rationale": "a" "numbers": [2]}', [2]),
    ('{"numbers": [2]', [2]),
    ('{"numbers": [2], "rationale": "all"\n```', [2]),
    ('{"rationale": "6" long", "numbers": [2]}', [2]),
    ('{"numbers": [2], "more": {"a": 1}', [2]),
    ('{"numbers": [2], "rationale": "he said "no" twice"}', [2]),
    ('{"numbers": [2] // the second\n}', [2]),
    ('{"numbers": [2] /* the second */}', [2]),
    ('{"sure": None, "numbers": [2]}', [2]),
    ('{"rationale": "line\nbreak", "numbers": [2]}', [2]),
    ('{"rationale": "uses } and {", "numbers": [2]}', [2]),
    ('{"rationale": "\\ud83d\\ude00 \\u00e9", "numbers": [2]}', [2]),
    ('{"numbers": [1], "numbers": [2]}', [2]),
    ('{"numbers": [2,], "x": {"numbers": [1]}}', [2]),
    ('\ufeff{"numbers": [2]}', [2]),
    ('{"numbers": [2], "rationale": ""', [2]),
    ('{"example": 7}} {"numbers": [2]}', [2]),
    ('a 6" screen: {"numbers": [2]}', [2]),
    ('{"numbers": [2]}' + ' {"example": 7}' * 9, [2]),
    ('{"numbers": [2]} <think>{"numbers": [1]}', [2]),
    ("{'more': [é], 'numbers': [2]}", [2]),
    ('{"numbers": [2], "rationale": null}', [2]),
    ('{"numbers": [2], "sure": ""}', [2]),
]

UNREADABLE = [
    "",
    " ",
    "null",
    "2",
    '"2"',
    "[]",
    "[2]",
    "{}",
    "{",
    "}",
    "{{}}",
    '{"number": [2]}',
    '{"Numbers": [2]}',
    '{"rationale": "no numbers"}',
    '{"numbers": 2}',
    '{"numbers": "2"}',
    '{"numbers": ["2"]}',
    '{"numbers": [2.0]}',
    '{"numbers": [2.5]}',
    '{"numbers": [true]}',
    '{"numbers": [null]}',
    '{"numbers": null}',
    '{"numbers": [[2]]}',
    '{"numbers": {"0": 2}}',
    '{"numbers": [2], "rationale": 7}',
    '{"numbers": ""}',
    '{"numbers": [2], "sure": "yes"}',
    '{"numbers": [2], "sure": true}',
    '{"numbers": [2], "sure": NaN}',
    '{"numbers": [2], "sure": Infinity}',
    '{"numbers": [2], "sure": -Infinity}',
    '{"numbers": [2], "sure": 1e999}',
    '{"numbers": [2], "extra": NaN}',
    '{"numbers": [1e400]}',
    '{"numbers": [' + "9" * 5000 + "]}",
    '{"numbers": [0]}',
    '{"numbers": [6]}',
    '{"numbers": [-1]}',
    '{"numbers": [2, 2]}',
    '{"numbers": [1]} then {"numbers": [9]}',
    '{"numbers": [2], "rationale": "\\ud800"}',
    '{"numbers": [2',
    '{"numbers": [2, 1',
    '{"numbers": [2, 1,',
    '{"numbers": [2, 1, {"a": 1}',
    '{"numbers": [2], "more": [{"a": 1}',
    '{"numbers": [2], "rationale": "see [1]',
    '{"numbers": [2], "',
    '{"numbers": [2]X',
    '{"numbers": [2, ...],}',
    '{"numbers": [2, (1)],}',
    '{"numbers": [2], "sure": 0.',
    '{"numbers": [2], "rationale": "cut he',
    '{"numbers": [',
    '{"numbers":',
    "I do not know.",
    "Sorry, I can't help with that.",
    "numbers: [2]",
    "numbers = [2]",
    "The answer is 2",
    "<think>{",
    "```json\n```",
    "__import__('os').system('true')",
    '{"numbers": __import__("os").getpid()}',
    '{"numbers": [1+1]}',
    "{**{}}",
    "\x00",
    "\ud800",
    "<reply><numbers>2</numbers></reply>",
]


@pytest.mark.parametrize(("text", "numbers"), READABLE)
def test_readable(text, numbers):
    assert parse_reply(text, Pick()).numbers == numbers


@pytest.mark.parametrize("text", UNREADABLE)
def test_unreadable(text):
    with pytest.raises(BadReply) as caught:
        parse_reply(text, Pick())
    line = str(caught.value)
    assert line and "\n" not in line and len(line) <= 300
    line.encode()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"numbers": ["2"]}', "numbers.0: Input should be a valid integer"),
        ('{"rationale": ""}', "numbers: Field required"),
        ('{"numbers": [9]}', "line 9 was not offered; choose from 1 to 5"),
        ('{"x": 1}', "the JSON object has none of the keys rationale, numbers, sure"),
        ("well", "the reply holds no JSON object; reply with one JSON object and nothing else"),
    ],
)
def test_says_what_is_wrong(text, line):
    with pytest.raises(BadReply, match=line.replace(".", r"\.")):
        parse_reply(text, Pick())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x" * 100_001, f"the reply is too long (100001 characters); {ASKED}"),
        ("[2]", f"the reply holds no JSON object; {ASKED}"),
        ('{"x": 1}', f"the JSON object has none of the keys rationale, numbers, sure; {ASKED}"),
        (
            '{"numbers": [2], "sure": NaN}',
            "the JSON object holds NaN, infinity or more than JSON can hold",
        ),
    ],
)
def test_the_whole_line_says_what_to_do(text, line):
    with pytest.raises(BadReply) as caught:
        parse_reply(text, Pick())
    assert str(caught.value) == line


def test_a_value_that_is_no_object_is_told_so():
    with pytest.raises(BadReply, match=r"^the reply holds no JSON object; reply with"):
        parsing.validate_reply([2], Picked)


class Even(Picked):
    """Picks an even number of lines."""

    @model_validator(mode="after")
    def _even(self):
        if len(self.numbers) % 2:
            raise ValueError("choose an even number of lines")
        return self


def test_what_is_wrong_with_the_whole_object_is_told_without_a_field():
    with pytest.raises(BadReply) as caught:
        parsing.validate_reply({"numbers": [2]}, Even)
    assert str(caught.value) == "Value error, choose an even number of lines"


class Refusing(Pick):
    """Refuses every reply, in the words of its question."""

    def check(self, reply):
        raise ValueError(self.question)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("no\n\tsuch  line", "no such line"),
        ("no \ud800 line", "no ? line"),
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 299 + "…"),
    ],
)
def test_what_a_check_says_becomes_one_short_line_that_can_be_written(said, line):
    with pytest.raises(BadReply) as caught:
        parse_reply('{"numbers": [2]}', Refusing(said))
    assert str(caught.value) == line


def long_reply(length, end):
    """Write a reply of so many characters, all but its start in the rationale."""
    start = '{"numbers": [2], "rationale": "'
    return start + "x" * (length - len(start) - len(end)) + end


def nested_reply(brackets, end):
    """Write a reply with so many opening brackets."""
    return '{"numbers": [2], "more": [' + "[], " * (brackets - 4) + "[]]" + end


@pytest.mark.parametrize(
    ("longest", "longer"),
    [
        (long_reply(100_000, '"}'), long_reply(100_001, '"}')),
        (long_reply(10_000, '",}'), long_reply(10_001, '",}')),
        (nested_reply(200, ",}"), nested_reply(201, ",}")),
    ],
    ids=["read", "repaired", "brackets"],
)
def test_a_reply_at_a_limit_is_read_and_one_past_it_is_refused(longest, longer):
    assert parse_reply(longest, Pick()).numbers == [2]
    with pytest.raises(BadReply):
        parse_reply(longer, Pick())


def test_three_broken_objects_are_repaired_and_no_more():
    broken = " {'example': 7}"
    assert parse_reply("{'numbers': [2]}" + broken * 2, Pick()).numbers == [2]
    with pytest.raises(BadReply):
        parse_reply("{'numbers': [2]}" + broken * 3, Pick())


class PickInWords(Pick):
    """Takes the last word for a reply if it is a number."""

    def read(self, text):
        last = text.split()[-1]
        return {"numbers": [int(last)]} if last.isdigit() else None


@pytest.mark.parametrize("text", ["2", "<think>3</think>2", '{"numbers": "3"}</think> 2', "{1}</think>2"])
def test_a_prompt_may_read_what_is_no_json(text):
    assert parse_reply(text, PickInWords()).numbers == [2]


def test_a_prompt_is_not_asked_to_read_where_json_fits():
    assert parse_reply('{"numbers": [3]} or 2', PickInWords()).numbers == [3]
    with pytest.raises(BadReply, match="line 9 was not offered"):
        parse_reply('{"numbers": [9]} or 2', PickInWords())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("9", "line 9 was not offered; choose from 1 to 5"),
        ('{"numbers": "3"}', "numbers: Input should be a valid array"),
        ("two", "the reply holds no JSON object"),
    ],
)
def test_what_a_prompt_reads_is_held_against_the_schema_and_the_check(text, line):
    with pytest.raises(BadReply, match=line):
        parse_reply(text, PickInWords())


HUGE = [
    "x" * 1_000_000,
    "[" * 1_000_000,
    '{"numbers": [2], "rationale": "' + "x" * 1_000_000 + '"}',
    *(
        part * (parsing.MAX_REPLY_CHARS // len(part))
        for part in ("[", "{", '{"', "{'", '{"a":', '"\\', "}", '{"a":{}}')
    ),
    *(
        part * (parsing.MAX_REPAIR_CHARS // len(part))
        for part in ("{", '{"', "{'", '{"a":[', "{//\n", '{"a" "b"', "{a:")
    ),
    '{"numbers": [2, ' + "1, " * 3000,
    "{" + "'" * 9_000,
    "{" + "\\" * 9_000,
    "{" + '"a": ' * 1_900,
    "{" + "// \n" * 2_000,
    "{" + "``` " * 2_000,
    '{"numbers": ' + "[" * 190 + "2" + "]" * 190 + ",}",
    ('{"a": 1,' + "b " * 3_000 + "} ") * 3,
]


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_huge_and_deep_texts_take_bounded_time(text):
    started = time.process_time()
    with pytest.raises(BadReply):
        parse_reply(text, Pick())
    assert time.process_time() - started < 2


broken = st.lists(
    st.sampled_from(
        [
            *"{}[]\":,\\'`0129.eE+-\n\x00",
            *(
                "numbers",
                '"numbers"',
                "NaN",
                "null",
                "```json",
                "//",
                "/*",
                "</think>",
                '{"numbers": [',
                "2]}",
            ),
            *("\ud800", "\\ud800", "“", " "),
        ]
    ),
    max_size=60,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=200), broken))
@example('{"numbers":[1],"numbers"')
def test_any_text_gives_a_valid_reply_or_bad_reply(text):
    try:
        reply = parse_reply(text, Pick())
    except BadReply:
        return
    assert isinstance(reply, Picked)
    Pick().check(reply)
    assert Picked.model_validate_json(reply.model_dump_json()) == reply


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(json_values, json_values)
def test_any_json_gives_a_valid_reply_or_bad_reply(numbers, sure):
    try:
        reply = parse_reply(json.dumps({"numbers": numbers, "sure": sure}), Pick())
    except BadReply:
        return
    assert reply.numbers == numbers
    assert all(type(number) is int for number in reply.numbers)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 5), unique=True),
    st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]), max_size=40),
    st.text(max_size=20),
)
def test_a_good_reply_survives_talk_around_it(numbers, talk, why):
    body = Picked(numbers=numbers, rationale=why.encode("utf-8", "replace").decode()).model_dump_json()
    assert parse_reply(f"{body}", Pick()).numbers == numbers
    if '"' not in talk and "</think>" not in talk + why:
        assert parse_reply(f"{talk}\n```json\n{body}\n```", Pick()).numbers == numbers
