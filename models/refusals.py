"""What a server says where a model does not take what was sent beside the messages."""

import re
from collections.abc import Iterable

from kgqa.models.error_messages import error_text
from kgqa.retries import status_of

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
