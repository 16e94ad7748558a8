"""One clear line for a call that failed for good: what happened and what to do."""

import os
from urllib.parse import urljoin

from kgqa.addresses import shown_url
from kgqa.models.secrets import without_secrets
from kgqa.retries import is_connection, is_timeout, retry_after, status_of

_SHOWN = 200
_READ = 10 * _SHOWN
_ADVICE = {
    401: "refuses the key; set the right one ({key})",
    403: "does not let this key use the model; use another key ({key}) or model",
    404: "knows no such model; check its name and the address ({url_variable})",
    429: "refuses more calls for now, or the quota is used up; wait, or ask less at once",
}


def failure_line(error: BaseException, model: str, url: str | None, timeout: float) -> str:
    """Say in one line why ``model`` at ``url`` could not reply within ``timeout`` seconds.

    Neither keys nor passwords are shown, not even where the server repeats them.
    """
    provider = model.partition(":")[0]
    server = shown_url(url) if url else provider
    status = status_of(error)
    if status in _ADVICE:
        names = {"key": _variable(provider, "API_KEY"), "url_variable": _url_variable(provider)}
        line = f"{server} {_ADVICE[status].format(**names)}"
        wait = retry_after(error)
        return f"{model}: {line} (it asks for {wait:.0f} s)" if wait else f"{model}: {line}"
    if status is not None and 300 <= status < 400:
        variable = _url_variable(provider)
        return f"{model}: {server} has moved{_where(error)}; set its new address ({variable})"
    if status is not None and status >= 500:
        return f"{model}: {server} keeps failing ({status}: {said(error)}); try again later"
    if status is not None:
        return f"{model}: {server} refuses the request ({status}: {said(error)})"
    if is_timeout(error):
        return f"{model}: no reply from {server} within {timeout:g} s; try again or allow more time"
    if is_connection(error):
        variable = _url_variable(provider)
        return f"{model}: cannot reach {server}; check the network and the address ({variable})"
    return f"{model}: {server} gave no usable answer ({said(error)})"


def said(error: BaseException) -> str:
    """Give what an error says, in one line of bounded length, without keys and passwords."""
    body = getattr(error, "body", None)
    text = body.get("message") if isinstance(body, dict) else None
    shown = without_secrets(str(text or error)[:_READ], error)
    line = " ".join((shown or type(error).__name__).split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _where(error: BaseException) -> str:
    response = getattr(error, "response", None)
    there = getattr(response, "headers", {}).get("location", "")
    return f" to {shown_url(urljoin(str(response.url), there))}" if response and there else ""


def _url_variable(provider: str) -> str:
    """Name what sets the address; LangChain takes the first of these that is set."""
    first = _variable(provider, "API_BASE")
    return first if os.environ.get(first) else _variable(provider, "BASE_URL")


def _variable(provider: str, suffix: str) -> str:
    return f"{provider.upper()}_{suffix}"
