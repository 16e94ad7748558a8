"""Where does the server stop: rows, rows in order, length of a query, time?"""

from functools import partial
from urllib.parse import urlsplit

import httpx

from kgqa.kg import sparql
from kgqa.kg.checking import texts
from kgqa.kg.checking.finding import Finding, fatal, good, note, warning
from kgqa.kg.checking.subject import FAILURES, Subject, timed
from kgqa.kg.endpoint import CAPS
from kgqa.kg.errors import KGError, KGRejected, KGTimeout
from kgqa.kg.executor import Rows
from kgqa.kg.http import Http
from kgqa.kg.opening import ROWS
from kgqa.kg.results import read_rows

PAGE = ROWS + 1
"""Rows that kgqa asks for at most."""

TOO_FEW = 1_000
"""Rows below which even a list of relations would be cut."""

LONG = 100_000
"""Characters of the longest query that is tried,"""

SHORTER = 20_000
"""and of the one that is tried where that is refused."""

TOLD = 1.0
"""Seconds after which the server is told to stop,"""

GRACE = 4.0
"""and in which an answer is waited for, whatever it is told."""


def check_rows(subject: Subject) -> list[Finding]:
    """Ask for more rows than a page has; blocks."""
    asked = texts.SIDE**2
    answer = subject.http.send(texts.square(texts.SIDE), subject.deadline, lambda: None)
    rows = len(read_rows(answer.body).rows)
    if rows >= asked:
        return [good("row limit", f"an answer may have {asked:,} rows and more", rows=asked)]
    told = rows >= answer.rows or rows in CAPS
    says = f"answers are cut to {rows:,} rows, {'and kgqa can tell' if told else 'without a word'}"
    raise_it = (
        "set ResultSetMaxRows = 100000 in [SPARQL] of virtuoso.ini"
        if subject.is_virtuoso
        else "raise the server's limit"
    )
    if told:
        return [
            warning(
                "row limit",
                f"{says}: of larger nodes a part is seen, and said to be one",
                raise_it,
                rows=rows,
            )
        ]
    lost = f"{says}: what has more neighbours than that loses some, and nobody notices"
    return [(fatal if rows < TOO_FEW else warning)("row limit", lost, raise_it, rows=rows)]


def check_order(subject: Subject) -> list[Finding]:
    """Ask for a page in order; blocks."""
    for limit in (10 * PAGE, PAGE, 1_000, 100):
        try:
            subject.send(texts.ordered(limit))
        except KGRejected as error:
            why = str(error)
            continue
        if limit >= PAGE:
            more = " and more" if limit > PAGE else ", and no more; kgqa needs no more"
            return [good("sorting", f"{limit:,} rows are put in order{more}", rows=limit)]
        return [_too_few_sorted(f"only {limit:,} rows are put in order, and kgqa asks for {PAGE:,}")]
    return [_too_few_sorted(f"rows are not put in order: {why}")]


def _too_few_sorted(says: str) -> Finding:
    return fatal("sorting", says, "set MaxSortedTopRows = 10000 or more in [Parameters] of virtuoso.ini")


def check_length(subject: Subject) -> list[Finding]:
    """Post a long query; blocks."""
    for length in (LONG, SHORTER):
        ids = (f"urn:kgqa:nowhere:{place:032d}" for place in range(length // 52))
        text = sparql.names(ids, subject.naming.labels)
        try:
            seconds = timed(partial(subject.send, text))
        except (KGError, *FAILURES) as error:
            why = " ".join(str(error).split())
            continue
        if length == LONG:
            return [
                good(
                    "long queries",
                    f"a query of {length // 1000} kB is answered within {seconds:.1f} s",
                    seconds=seconds,
                )
            ]
        says = f"a query of {LONG // 1000} kB is refused ({why}), one of {length // 1000} kB is not"
        return [
            warning("long queries", says, "ask fewer entities at once: smaller width and beam of the method")
        ]
    says = f"a query of {SHORTER // 1000} kB is refused: {why}"
    return [
        fatal(
            "long queries",
            says,
            "kgqa posts what is longer than 2 kB: let the server and proxies before it take POST",
        )
    ]


def check_time(subject: Subject) -> list[Finding]:
    """Ask for what takes some seconds, and tell the server to stop before; blocks."""
    try:
        seconds = timed(partial(_heavy, subject))
    except KGTimeout as error:
        if subject.is_virtuoso and "a part of the answer" in str(error):
            return [note("time limit", f"if it has one, it is above {TOLD:g} s", _own_limit(subject))]
        return [good("time limit", "it stops a query that takes too long, and says so")]
    except KGRejected as error:
        return [good("time limit", f"it refuses a query that would take too long: {error}")]
    except httpx.TimeoutException:
        return [note("time limit", f"if it has one, it is above {GRACE:g} s", _own_limit(subject))]
    says = f"a heavy query took {seconds:.1f} s: nothing to tell"
    return [note("time limit", says, _own_limit(subject), seconds=seconds)]


def _heavy(subject: Subject) -> Rows:
    """Ask for what takes long; of Virtuoso the part that it finds in a moment, or it would go on."""
    url = subject.url
    if subject.is_virtuoso:
        url += f"{'&' if urlsplit(url).query else '?'}timeout={1000 * TOLD:.0f}"
    http = Http(url)
    try:
        return read_rows(http.send(texts.cube(texts.HEAVY), GRACE, lambda: None).body)
    finally:
        http.close()


def _own_limit(subject: Subject) -> str:
    settings = "MaxQueryExecutionTime = 60 in [SPARQL] of virtuoso.ini"
    if not subject.is_virtuoso:
        settings = "Oxigraph: --timeout-s 60; QLever: --default-query-timeout 60s"
    return (
        f"see that the server has a limit of its own ({settings}): when kgqa stops waiting, the query goes on"
    )
