from collections.abc import Iterator
from typing import Any

import pytest

from kgqa.graphs import METHODS, context_of
from kgqa.prompts.base import MAX_QUESTION_CHARS
from kgqa.runtime.budget import Budget
from kgqa.runtime.server_limits import PRIOR_OPTIONS, Limits, NotServed, activate_limits
from kgqa.runtime.state import to_typed
from kgqa.serving.settings import read_limits

KEYS = {"KGQA_API_KEYS": "alice:0123456789abcdef"}

NO_LIMIT = dict.fromkeys(Budget.model_fields)


@pytest.fixture(autouse=True)
def _held_no_longer() -> Iterator[None]:
    yield
    activate_limits(Limits())


def context(environment: dict[str, str], method: str = "cor", **options: Any) -> Any:
    activate_limits(read_limits(environment))
    return context_of(method).model_validate(options)


def test_nothing_is_held_where_nothing_is_set() -> None:
    free = context({}, kg=["/a.ttl", "/b.ttl"], exemplars="/e", encoder="/m", budget=NO_LIMIT)
    assert (free.kg, free.budget) == (("/a.ttl", "/b.ttl"), Budget(**NO_LIMIT))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("asked", "given"), [(None, 7), (99, 7), (7, 7), (3, 3)], ids=["no-limit", "more", "equal", "less"]
)
def test_a_cap_cannot_be_raised(method: str, asked: int | None, given: int) -> None:
    caps = {f"KGQA_CAP_{name.upper()}": "7" for name in Budget.model_fields}
    budget = context(caps, method, budget=dict.fromkeys(Budget.model_fields, asked)).budget
    assert budget == Budget(**dict.fromkeys(Budget.model_fields, given))


def test_a_cap_holds_where_no_budget_is_asked_for() -> None:
    assert context({"KGQA_CAP_TOKENS": "7"}).budget == Budget(tokens=7)


def test_with_keys_the_default_budget_is_the_cap_unless_another_is_set() -> None:
    budget = context(KEYS | {"KGQA_CAP_SECONDS": "1000"}, budget=NO_LIMIT).budget
    assert budget == Budget(seconds=1000)


@pytest.mark.parametrize(
    ("name", "value"), [("KGQA_CAP_TOKENS", "many"), ("KGQA_CAP_SECONDS", "0"), ("KGQA_CAP_LLM_CALLS", "-1")]
)
def test_a_cap_that_is_no_number_is_told(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=rf"{name}: Input should be [^\n]*$"):
        read_limits({name: value})


def test_the_first_of_the_allowed_names_is_the_default() -> None:
    allowed = {"KGQA_ALLOW_KG": "/a.ttl, sample", "KGQA_ALLOW_MODEL": "openai:small,offline"}
    first = context(allowed)
    assert (first.kg, first.model) == (("/a.ttl",), "openai:small")
    second = context(allowed, kg="sample", model="offline")
    assert (second.kg, second.model) == (("sample",), "offline")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kg": "/etc/passwd"}, "option kg: '/etc/passwd' is not served here; name one of: sample"),
        ({"kg": ["sample", "sample"]}, "option kg: 'sample, sample' is not served here"),
        ({"kg": "http://169.254.169.254/"}, "option kg"),
        (
            {"model": "openai:gpt-4.1"},
            "option model: 'openai:gpt-4.1' is not served here; name one of: offline",
        ),
        ({"model": "offline:without=policy"}, "option model"),
        ({"exemplars": "/home/me"}, "option exemplars: '/home/me' is not served here; leave it out"),
        ({"encoder": "x" * 500}, "option encoder: 'x"),
    ],
)
def test_with_keys_only_the_servers_own_names_are_allowed(options: dict[str, Any], why: str) -> None:
    with pytest.raises(NotServed) as refused:
        context(KEYS, **options)
    assert str(refused.value).startswith(why)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(("asked", "given"), [(5000, 2048), (None, 2048), (7, 7)])
def test_with_keys_replies_are_no_longer_than_the_servers_own(
    asked: int | None, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert context({}, max_tokens=asked).max_tokens == asked
    assert context(KEYS, max_tokens=asked).max_tokens == given
    assert context(KEYS | {"KGQA_CAP_MAX_TOKENS": "5"}, max_tokens=asked).max_tokens == 5
    monkeypatch.setenv("KGQA_MAX_TOKENS", "null")
    assert context(KEYS, max_tokens=asked).max_tokens == asked


def test_with_keys_a_model_is_given_no_arguments_but_the_servers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotServed, match=r"^option model_arguments: these are the server's own here; [^\n]*$"):
        context(KEYS, model_arguments={"service_tier": "priority"})
    monkeypatch.setenv("KGQA_MODEL_ARGUMENTS", '{"top_p": 0.5}')
    assert context(KEYS, temperature=0.3).model_settings.arguments == {"top_p": 0.5}


def test_with_keys_the_servers_own_names_are_those_of_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KGQA_MODEL", "openai:small")
    own = context(KEYS | {"KGQA_KG": "/a.ttl"})
    assert (own.kg, own.model) == (("/a.ttl",), "openai:small")


FULL = "http://me:pw@h:8890/sparql?key=k1&default-graph-uri=http://g/"
PLAIN = "http://h:8890/sparql?default-graph-uri=http://g/"


@pytest.mark.parametrize("named", [PLAIN, FULL, None])
def test_a_graph_with_a_password_is_named_without_it(named: str | None) -> None:
    made = context(KEYS | {"KGQA_ALLOW_KG": f"{FULL},sample"}, **({"kg": named} if named else {}))
    assert made.kg == (FULL,)
    assert made.config()["kg"] == [PLAIN]


@pytest.mark.parametrize(
    "named",
    [PLAIN.replace("//h", "//you:pw@h"), PLAIN.partition("?")[0], f"{PLAIN}&key=k2"],
)
def test_a_graph_is_not_named_with_another_password(named: str) -> None:
    with pytest.raises(NotServed) as refused:
        context(KEYS | {"KGQA_ALLOW_KG": FULL}, kg=named)
    assert str(refused.value).endswith(f"is not served here; name one of: {PLAIN}")


def test_a_graph_that_is_served_to_all_is_not_asked_with_a_password() -> None:
    assert context(KEYS | {"KGQA_ALLOW_KG": f"{FULL},{PLAIN}"}, kg=PLAIN).kg == (PLAIN,)


def test_only_a_server_bounds_what_is_asked() -> None:
    asked: Any = {"question": "x" * 5000}
    assert to_typed(asked)["question"] == "x" * MAX_QUESTION_CHARS
    activate_limits(read_limits({}))
    with pytest.raises(NotServed, match="longer than 4000 characters"):
        to_typed(asked)


def test_files_are_allowed_by_name() -> None:
    allowed = KEYS | {"KGQA_ALLOW_PRIORS": "/e,/m"}
    assert context(allowed, exemplars="/e", encoder="/m").exemplars == "/e"
    with pytest.raises(NotServed, match="name one of: /e, /m"):
        context(allowed, exemplars="/x")


def test_a_list_of_graphs_shuts_files_out() -> None:
    with pytest.raises(NotServed, match="exemplars"):
        context({"KGQA_ALLOW_KG": "sample"}, exemplars="/e")


@pytest.mark.parametrize("method", METHODS)
def test_every_option_that_takes_any_text_is_held(method: str) -> None:
    fields = context_of(method).model_fields
    texts = {name for name, option in fields.items() if "str" in str(option.annotation)}
    assert texts <= {"kg", "model", "model_arguments", "preset", *PRIOR_OPTIONS}
