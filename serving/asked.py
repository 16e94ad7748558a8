"""Bounds of what may be asked, held before a thread or a run is made."""

from typing import Any

from langgraph_sdk import Auth

QUESTION = 4_000
"""Characters of a question at most."""

TOPICS = 100
"""Topic entities at most."""

NAME = 1_000
"""Characters of a topic's name or id, and of the question's id, at most."""


def check_asked(given: Any) -> None:
    """Refuse an input that is too long; what else is wrong with it, the first step says.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if not isinstance(given, dict):
        return
    topics = given.get("topics")
    topics = topics if isinstance(topics, list) else []
    if len(str(given.get("question", ""))) > QUESTION:
        raise _refused(f"the question is longer than {QUESTION} characters; shorten it")
    if len(topics) > TOPICS:
        raise _refused(f"there are more than {TOPICS} topics; give those that the question is about")
    if any(len(str(name)) > NAME for name in (*topics, given.get("id"))):
        raise _refused(f"a topic or the id is longer than {NAME} characters; shorten it")


def _refused(why: str) -> Exception:
    return Auth.exceptions.HTTPException(status_code=422, detail=why)
