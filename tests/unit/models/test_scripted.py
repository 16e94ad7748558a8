import pytest

from kgqa.models.errors import MalformedReply, ModelUnavailable
from kgqa.models.interface import Usage
from kgqa.models.scripted import OutOfReplies, ScriptedModel
from kgqa.tests.unit.models.pick import Pick, Picked

GOOD = [{"numbers": [2]}, '{"numbers": [2]}', "```json\n{'numbers': [2,]}\n```", Picked(numbers=[2])]
BAD = [
    {"numbers": [9]},
    {"numbers": ["2"]},
    {"numbers": (2.5,)},
    {},
    "",
    "well",
    Picked(numbers=[9]),
    {"numbers": {1}},
]


@pytest.mark.parametrize("line", GOOD)
async def test_a_line_goes_the_way_of_a_real_reply(line):
    model = ScriptedModel([line])
    answered = await model.ask(Pick())
    assert answered.reply == Picked(numbers=[2])
    assert answered.usage == Usage(llm_calls=1)
    assert model.history == [(Pick(), line)]


@pytest.mark.parametrize("line", BAD)
async def test_a_bad_line_is_malformed(line):
    model = ScriptedModel([line])
    with pytest.raises(MalformedReply, match=r"^pick: ") as caught:
        await model.ask(Pick())
    assert caught.value.usage == Usage(llm_calls=1)
    assert model.prompts == [Pick()]


async def test_a_handler_sees_the_prompt():
    model = ScriptedModel(lambda prompt: {"numbers": [prompt.offered]})
    assert (await model.ask(Pick(offered=3))).reply.numbers == [3]
    assert model.name == "scripted"


async def test_failures_are_raised():
    model = ScriptedModel([ModelUnavailable("down"), {"numbers": [1]}])
    with pytest.raises(ModelUnavailable, match="down"):
        await model.ask(Pick())
    assert (await model.ask(Pick())).reply.numbers == [1]
    with pytest.raises(OutOfReplies, match="no reply left for pick"):
        await model.ask(Pick())
    assert issubclass(OutOfReplies, AssertionError)


async def test_a_reply_to_something_else_is_a_mistake_of_the_script():
    class Other(Picked.__base__):
        pass

    with pytest.raises(TypeError, match="answers pick with Other, not Picked"):
        await ScriptedModel([Other()]).ask(Pick())
