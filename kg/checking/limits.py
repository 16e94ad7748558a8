"""Where does the server stop: rows, rows in order, length of a query, time?"""

from functools import partial

import httpx

from kgqa.kg import sparql
from kgqa.kg.checking import texts
from kgqa.kg.checking.finding import Finding, fatal, good, note, warning
from kgqa.kg.checking.subject import FAILURES, Subject, timed
from kgqa.kg.endpoint import CAPS
from kgqa.kg.errors import KGError, KGRejected, KGTimeout
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

PATIENCE = 4.0
"""Seconds that a heavy query is waited for."""


def check_rows(subject: Subject) -> list[Finding]:
    """Ask for more rows than a page has; blocks."""
    asked = texts.SIDE**2
    answer = subject.http.send(texts.square(texts.SIDE), subject.deadline, lambda: None)
    rows = len(read_rows(answer.body).rows)
    if rows >= asked:
        return [good("row limit", f"an answer may have {asked:,} rows and more", rows=asked)]
    told = rows >= answer.rows or rows in CAPS
    lost = "is told to be one" if told else "passes for the whole, and nobody notices"
    says = f"answers are cut to {rows:,} rows: of what has more neighbours a part is seen, and {lost}"
    advice = "set ResultSetMaxRows = 100000 in [SPARQL] of virtuoso.ini"
    found = fatal if rows < TOO_FEW else warning
    return [found("row limit", says, advice if subject.is_virtuoso else "raise its limit", rows=rows)]


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
            says = f"a query of {length // 1000} kB is answered within {seconds:.1f} s"
            return [good("long queries", says, seconds=seconds)]
        says = f"a query of {LONG // 1000} kB is refused ({why}), one of {length // 1000} kB is not"
        advice = "ask fewer entities at once: smaller width and beam of the method"
        return [warning("long queries", says, advice)]
    says = f"a query of {SHORTER // 1000} kB is refused: {why}"
    advice = "let the server, and proxies before it, take POST: so kgqa sends what is longer than 2 kB"
    return [fatal("long queries", says, advice)]


def check_time(subject: Subject) -> list[Finding]:
    """Ask for what takes some seconds, and tell the server to stop before; blocks.

    Of Virtuoso nothing is asked: it would go on, or, told to stop, give a part.
    """
    if subject.is_virtuoso:
        return [note("time limit", "not tried", _OWN_LIMIT.format("MaxQueryExecutionTime = 25"))]
    advice = _OWN_LIMIT.format("Oxigraph: --timeout-s 25; QLever: --default-query-timeout 25s")
    try:
        seconds = timed(lambda: subject.send(texts.cube(texts.HEAVY), PATIENCE))
    except KGTimeout:
        return [good("time limit", "it stops a query that takes too long, and says so")]
    except KGRejected as error:
        return [good("time limit", f"it refuses a query that would take too long: {error}")]
    except httpx.TimeoutException:
        return [note("time limit", f"if it has one, it is above {PATIENCE:g} s", advice)]
    return [note("time limit", f"a heavy query took {seconds:.1f} s: nothing to tell", advice)]


_OWN_LIMIT = "see that it has one ({}): when kgqa waits no longer, the query goes on"
