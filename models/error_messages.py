"""What a failed call says: in one clear line without keys, and whether a model takes what was sent."""

import os
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator
from urllib.parse import quote_plus, urljoin

from kgqa.addresses import SECRET_NAMES, is_plain_word, redact_text, secrets_in, server_of_url
from kgqa.kg.terms import one_line
from kgqa.retries import is_connection, is_timeout, retry_after, status_of

_SECRET_VARIABLE = re.compile(r"(_|^PG)(KEYS?|TOKEN|SECRET|PASS(WORD)?)$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s,:;]+")
_ADDRESS_SEPARATORS = re.compile(r"[\s,;]+(?=[A-Za-z][\w+.-]*://)")

_SCHEMA_REFUSED_STATUSES = frozenset({400, 415, 422})
_SCHEMA_WORDS = re.compile(r"response_format|schema|structured|parameter", re.IGNORECASE)
_PARAMETER_REFUSED_STATUSES = frozenset({400, 422})
_REFUSAL_WORDS = re.compile(
    r"support|unrecogni|unknown|unexpected|permitted|not allowed|deprecated", re.IGNORECASE
)
_REPLY_LIMIT_NAMES = r"max_(?:\w+_)?tokens"  # each provider has one of its own, and servers name theirs
_SYSTEM_REFUSED = re.compile(
    r"(?:system|developer)\W+(?:role|message|prompt|instruction|type)s?\b.*\bnot\b|only user and \w+ roles",
    re.IGNORECASE | re.DOTALL,
)
_SYSTEM_REFUSED_STATUSES = frozenset({None, 400, 422, 500})  # a template of llama.cpp fails with 500

_MAX_SHOWN_CHARS = 200
_MAX_READ_CHARS = 10 * _MAX_SHOWN_CHARS
_ADVICE = {
    401: "refuses the key; set the right one ({key})",
    403: "does not let this key use the model; use another key ({key}) or model",
    404: "knows no such model; check its name and the address ({url_variable})",
    429: "refuses more calls for now, or the quota is used up; wait, or ask less at once",
}


def hide_secrets(text: str, error: BaseException) -> str:
    """Return a text about an error without the keys that its call carried or that the environment holds."""
    secrets = {*_request_secrets(error), *_environment_secrets()}
    return redact_text(text, {*secrets, *map(quote_plus, secrets)})


def _request_secrets(error: BaseException) -> Iterator[str]:
    """Yield what the request carried: servers repeat in their errors what they were sent."""
    request = getattr(getattr(error, "response", error), "request", None)
    for name, value in dict(getattr(request, "headers", None) or {}).items():
        if SECRET_NAMES.search(name):
            key = value.rpartition(" ")[2]
            yield from (key, *_basic_auth_secrets(key)) if not is_plain_word(key) else ()
    yield from secrets_in(str(getattr(request, "url", None) or ""))


def _basic_auth_secrets(key: str) -> list[str]:
    """Return the password, and the user as well unless that is a mere word: it may be a key."""
    try:
        user, _, password = b64decode(key, validate=True).decode().partition(":")
    except (NotBase64, UnicodeDecodeError):
        return []
    return [password] if is_plain_word(user) else [user, password]


def _environment_secrets() -> Iterator[str]:
    """Yield the keys that are set in the environment, and those within addresses there.

    Words are none ("ollama", where a server wants any key), nor are names of files that hold one.
    """
    for name, value in os.environ.items():
        if "://" in value:
            found = [part for url in _ADDRESS_SEPARATORS.split(value) for part in secrets_in(url)]
            found += [part.partition(",")[0] for part in found]
        elif _SECRET_VARIABLE.search(name):
            found = _SEPARATORS.split(value) if "," in value or ":" in value else [value]
        else:
            continue
        yield from (
            one for one in found if not is_plain_word(one) and not os.path.exists(os.path.expanduser(one))
        )


def describe_failure(error: BaseException, model: str, url: str | None, timeout: float) -> str:
    """Say in one line why ``model`` at ``url`` could not reply within ``timeout`` seconds.

    Neither keys nor passwords are shown, not even where the server repeats them.
    """
    provider = model.partition(":")[0]
    server = server_of_url(url) if url else provider
    status = status_of(error)
    variable = f"{provider.upper()}_API_BASE"  # LangChain takes the first of these that is set
    variable = variable if os.environ.get(variable) else f"{provider.upper()}_BASE_URL"
    if status in _ADVICE:
        wait = retry_after(error)
        line = _ADVICE[status].format(key=f"{provider.upper()}_API_KEY", url_variable=variable)
        line += f" (it asks for {wait:.0f} s)" if wait else ""
    elif status is not None and 300 <= status < 400:
        line = f"has moved{_redirect_target(error)}; set its new address ({variable})"
    elif status is not None and status >= 500:
        line = f"keeps failing ({status}: {error_text(error)}); try again later"
    elif status is not None:
        line = f"refuses the request ({status}: {error_text(error)})"
    elif is_timeout(error):
        way_out = "try again or allow more time (option timeout)"
        return f"{model}: no reply from {server} within {timeout:g} s; {way_out}"
    elif is_connection(error):
        return f"{model}: cannot reach {server}; check the network and the address ({variable})"
    else:
        line = f"gave no usable answer ({error_text(error)})"
    return f"{model}: {server} {line}"


def error_text(error: BaseException) -> str:
    """Return what an error says, in one line of bounded length, without keys and passwords."""
    body = getattr(error, "body", None)
    text = body.get("message") if isinstance(body, dict) else None
    shown = hide_secrets(str(text or error)[:_MAX_READ_CHARS], error)
    return one_line(shown or type(error).__name__, _MAX_SHOWN_CHARS)


def _redirect_target(error: BaseException) -> str:
    response = getattr(error, "response", None)
    there = getattr(response, "headers", {}).get("location", "")
    return f" to {server_of_url(urljoin(str(response.url), there))}" if response and there else ""


def refuses_system(error: Exception) -> bool:
    """Return whether a model takes no instructions beside what its user says, as Gemma's template does."""
    return status_of(error) in _SYSTEM_REFUSED_STATUSES and bool(_SYSTEM_REFUSED.search(error_text(error)))


def refuses_schema(error: Exception) -> bool:
    """Return whether a server may answer the same without a schema.

    404 is no such model, but where a router says that it has none which takes the parameters.
    """
    if (status := status_of(error)) == 404:
        return _SCHEMA_WORDS.search(error_text(error)) is not None
    return status in _SCHEMA_REFUSED_STATUSES


def refused_parameter(error: Exception, sent: Iterable[str]) -> str | None:
    """Return the parameter that a server names as one that the model does not take."""
    said = error_text(error) if status_of(error) in _PARAMETER_REFUSED_STATUSES else ""
    if not _REFUSAL_WORDS.search(said):
        return None
    names = ((name, _REPLY_LIMIT_NAMES if name == "max_tokens" else re.escape(name)) for name in sent)
    return next((name for name, written in names if re.search(rf"\b{written}\b", said)), None)
