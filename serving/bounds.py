"""Bounds of what may be asked, held before a thread or a run is made, and again at each step of it."""

from typing import Any

from langgraph_sdk import Auth

from kgqa.session.limits import Bounds, NotServed, held

BOUNDS = Bounds(question=4_000, topics=100, name=1_000)
"""What every server holds its callers to."""


def check_asked(given: Any) -> None:
    """Refuse an input, or an update of one, that is no object or too long; none is fine.

    What else is wrong with it, the first step says.

    Raises:
        Auth.exceptions.HTTPException: 422, in one line.
    """
    if given is None:
        return
    if not isinstance(given, dict):
        raise _refused('what is asked has to be an object, such as {"question": "..."}')
    try:
        held().check_asked(given)
    except NotServed as error:
        raise _refused(str(error)) from None


def _refused(why: str) -> Exception:
    return Auth.exceptions.HTTPException(status_code=422, detail=why)
