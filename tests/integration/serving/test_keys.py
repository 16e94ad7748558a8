from typing import Any

import pytest
from langgraph_sdk import Auth

from kgqa.serving.authentication import LOCAL_CALLER, Authenticator, read_keys

ALICE, BOB = "a-key-of-alice-0123", "a-key-of-bob-012345"


def scope(client: str | None = "127.0.0.1", host: str = "localhost:2024", **headers: str) -> dict[str, Any]:
    named = {"host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in named.items()]
    return {"client": (client, 5) if client else None, "headers": pairs}


def refusal(scope: dict[str, Any], listed: str) -> Any:
    with pytest.raises(Auth.exceptions.HTTPException) as refused:
        Authenticator(read_keys(listed)).name_of(scope)
    return refused.value


def test_a_named_key_is_called_by_its_name() -> None:
    keys = read_keys(f"alice:{ALICE}, bob:{BOB}")
    assert [keys.name_of(key) for key in (ALICE, BOB, "another")] == ["alice", "bob", None]


def test_no_key_is_called_like_this_machine() -> None:
    with pytest.raises(ValueError, match="the name of key 1"):
        read_keys(f"{LOCAL_CALLER}:{ALICE}")


def test_a_key_alone_keeps_its_name_when_the_list_changes() -> None:
    assert read_keys(ALICE).name_of(ALICE) == read_keys(f"{BOB},{ALICE}").name_of(ALICE)


def test_several_keys_may_have_one_name() -> None:
    keys = read_keys(f"alice:{ALICE},alice:{BOB}")
    assert keys.name_of(ALICE) == keys.name_of(BOB) == "alice"


def test_keys_are_not_kept() -> None:
    keys = read_keys(f"alice:{ALICE}, {BOB}")
    assert ALICE not in repr(keys)
    assert BOB not in repr(keys)


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        ("alice:short", "key 1 is too short"),
        (f"{BOB},short", "key 2 is too short"),
        (f"alice:{ALICE},bob:{ALICE}", "key 2 is listed twice"),
        (f"al ice:{ALICE}", "the name of key 1"),
        (f":{ALICE}", "the name of key 1"),
    ],
)
def test_a_key_that_cannot_be_taken_is_told_without_it(listed: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as told:
        read_keys(listed)
    assert ALICE not in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "headers",
    [{"x_api_key": ALICE}, {"authorization": f"Bearer {ALICE}"}, {"authorization": f"bearer  {ALICE}"}],
)
def test_a_key_is_taken_from_either_header_and_from_anywhere(headers: dict[str, str]) -> None:
    keys = read_keys(f"alice:{ALICE}")
    assert Authenticator(keys).name_of(scope("10.0.0.9", "kgqa.example", **headers)) == "alice"


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({}, "give your key"),
        ({"x_api_key": ""}, "give your key"),
        ({"authorization": f"Basic {ALICE}"}, "give your key"),
        ({"x_auth_scheme": "langsmith"}, "give your key"),
        ({"x_api_key": BOB}, "not known here"),
        ({"x_api_key": "é"}, "not known here"),
        ({"x_api_key": ALICE[:-1]}, "not known here"),
    ],
)
def test_without_a_right_key_nobody_is_let_in(headers: dict[str, str], why: str) -> None:
    error = refusal(scope(**headers), f"alice:{ALICE}")
    assert error.status_code == 401
    assert why in error.detail


@pytest.mark.parametrize(
    ("client", "host"),
    [
        ("127.0.0.1", "127.0.0.1:2024"),
        ("127.0.0.5", "localhost"),
        ("::1", "[::1]:2024"),
        ("::ffff:127.0.0.1", "localhost:1"),
    ],
)
def test_without_keys_this_machine_is_let_in(client: str, host: str) -> None:
    assert Authenticator(read_keys("")).name_of(scope(client, host, x_api_key="whatever")) == LOCAL_CALLER


@pytest.mark.parametrize(
    ("client", "host"),
    [
        ("10.0.0.9", "localhost:2024"),
        ("::ffff:10.0.0.9", "localhost:2024"),
        (None, "localhost:2024"),
        ("127.0.0.1", "evil.example:2024"),
        ("127.0.0.1", "127.0.0.1.evil.example"),
        ("127.0.0.1", ""),
    ],
)
def test_without_keys_nobody_else_is(client: str | None, host: str) -> None:
    error = refusal(scope(client, host), "")
    assert error.status_code == 403
    assert "set KGQA_API_KEYS" in error.detail
