"""All formats, in the order in which a file is tried on them."""

from typing import Any

from kgqa.evaluation.datasets import cor, cwq, grailqa, metaqa, own, pathquestion, qald, webqsp, webquestions
from kgqa.evaluation.datasets.format import Format

ALL: tuple[Format[Any], ...] = (
    webqsp.FORMAT,
    cwq.FORMAT,
    grailqa.FORMAT,
    webquestions.OFFICIAL,
    webquestions.LISTED,
    qald.OFFICIAL,
    qald.LISTED,
    cor.FORMAT,
    metaqa.FORMAT,
    pathquestion.PATHQUESTION,
    pathquestion.WORLDCUP,
    own.FORMAT,
)

FORMATS = tuple(dict.fromkeys(format.name for format in ALL))
"""Names of the formats; some are published in two ways."""


def detected(record: Any) -> Format[Any] | None:
    """Tell the format by a file's first record; None for no known one."""
    return next((format for format in ALL if format.knows(record)), None)


def by_name(name: str, record: Any) -> Format[Any] | None:
    """Give the format of a name, and of two the one that knows the record; None for no such name."""
    given = [format for format in ALL if format.name == name]
    return next((format for format in given if format.knows(record)), given[0] if given else None)
