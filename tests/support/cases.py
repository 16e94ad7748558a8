"""Cases of a parametrized test: what cannot be tried here is skipped once, with its reason."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import oxigraph, virtuoso

EVERY_QUESTION = bool(os.environ.get("KGQA_EVERY_QUESTION"))
"""Whether all questions of a set are asked, instead of some."""

NO_DATA = f"no question sets in {DATA}; set KGQA_DATA to the folder that holds them"


def tried(cases: Iterable[Sequence[Any]], reason: Callable[..., str | None]) -> list[Any]:
    """Return the cases to try, and one that is skipped for each reason that others are not.

    Args:
        cases: the arguments of each.
        reason: why a case with these arguments cannot be tried; None if it can.
    """
    reasons: dict[str, Sequence[Any]] = {}
    found: list[Any] = []
    for case in cases:
        if why := reason(*case):
            reasons.setdefault(why, case)
        else:
            found.append(pytest.param(*case))
    return found + [
        pytest.param(*case, marks=pytest.mark.skip(reason=why), id=f"skipped{number}")
        for number, (why, case) in enumerate(reasons.items())
    ]


def public(*cases: Any) -> list[Any]:
    """Return cases about sets of the data folder; without it one, to be skipped."""
    each = (case if isinstance(case, tuple) else (case,) for case in cases)
    return tried(each, lambda *_: None if DATA.is_dir() else NO_DATA)


def server_missing(store: str) -> str | None:
    """Return why a server cannot be started; None if it can."""
    return {"virtuoso": virtuoso, "oxigraph_server": oxigraph}[store].missing()


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=NO_DATA)
