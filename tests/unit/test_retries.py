import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import openai
import pytest
from httpx2 import Request, Response

from kgqa.addresses import server_of_url
from kgqa.models.error_messages import describe_failure, error_text
from kgqa.retries import RetryPolicy, is_timeout, is_transient, retry_after, status_of

REQUEST = Request("POST", "http://x/v1")


def status_error(status: int, **headers: str) -> openai.APIStatusError:
    response = Response(status, headers={k.replace("_", "-"): v for k, v in headers.items()}, request=REQUEST)
    return openai.APIStatusError("said", response=response, body=None)


class Coded(Exception):
    """As Google's packages have it."""

    def __init__(self, code: object) -> None:
        super().__init__("coded")
        self.code = code


TRANSIENT = [
    *(status_error(status) for status in (408, 409, 429, 500, 502, 503, 504, 529, 599)),
    openai.APITimeoutError(REQUEST),
    openai.APIConnectionError(request=REQUEST),
    TimeoutError(),
    ConnectionResetError(),
    ConnectionRefusedError(),
    httpx.ReadTimeout("slow"),
    httpx.ConnectError("gone"),
    httpx.RemoteProtocolError("hung up"),
    Coded(503),
    Coded(429),
]
FINAL = [
    *(status_error(status) for status in (400, 401, 402, 403, 404, 405, 410, 413, 422, 451)),
    Coded(400),
    Coded("insufficient_quota"),
    ValueError("no"),
    KeyError("choices"),
    AssertionError(),
    openai.OpenAIError("no key"),
    FileNotFoundError(),
]


@pytest.mark.parametrize("error", TRANSIENT, ids=repr)
def test_tried_again(error):
    assert is_transient(error)


@pytest.mark.parametrize("error", FINAL, ids=repr)
def test_not_tried_again(error):
    assert not is_transient(error)


def test_reads_the_status_wherever_it_is():
    assert [status_of(error) for error in (status_error(404), Coded(503), Coded(True), ValueError())] == [
        404,
        503,
        None,
        None,
    ]
    assert is_timeout(openai.APITimeoutError(REQUEST)) and not is_timeout(
        openai.APIConnectionError(request=REQUEST)
    )


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        (" 7 ", 7.0),
        ("-3", 0.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 99 Oct 2015", None),
    ],
)
def test_retry_after(header, seconds):
    assert retry_after(status_error(429, Retry_After=header)) == seconds


def test_retry_after_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 95 < (retry_after(status_error(503, Retry_After=date)) or 0) <= 100
    assert retry_after(ValueError()) is None


@pytest.mark.parametrize(
    ("errors", "calls"),
    [
        ([], 1),
        ([TimeoutError()], 2),
        ([TimeoutError(), status_error(500)], 3),
        ([TimeoutError()] * 3, 3),
        ([ValueError()], 1),
        ([status_error(429), status_error(401)], 2),
        ([status_error(429, Retry_After="60")], 1),
    ],
)
async def test_calls(errors, calls):
    made = []

    async def call() -> str:
        made.append(1)
        if len(made) <= len(errors):
            raise errors[len(made) - 1]
        return "done"

    retries = RetryPolicy(pause=0.001, longest=5)
    if len(errors) < calls:
        assert await retries.call(call) == "done"
    else:
        with pytest.raises(type(errors[-1])):
            await retries.call(call)
    assert len(made) == calls


async def test_waits_twice_as_long_each_time():
    starts = []

    async def call() -> None:
        starts.append(time.perf_counter())
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await RetryPolicy(pause=0.05).call(call)
    first, second = starts[1] - starts[0], starts[2] - starts[1]
    assert 0.05 <= first < 0.2
    assert 0.1 <= second < 0.3


def test_lines_show_no_secrets():
    line = describe_failure(status_error(401), "openai:m", "https://me:secret@host/v1?key=secret", 60)
    assert line == "openai:m: https://host/v1 refuses the key; set the right one (OPENAI_API_KEY)"
    assert server_of_url("https://host/v1/") == "https://host/v1"


def test_lines_are_short():
    assert len(error_text(ValueError("x\n" * 1000))) == 200
    assert error_text(ValueError()) == "ValueError"
    assert (
        describe_failure(KeyError("choices"), "groq:m", None, 60)
        == "groq:m: groq gave no usable answer ('choices')"
    )
