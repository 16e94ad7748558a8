"""Public holidays of the year 2025 (the `holidays` package).

That a country keeps a holiday on a date is a record behind `holiday_observance`.
Dates the package can only estimate, bridge days and substituted days are left out.
"""

import re

from kgqa.scripts.sample.facts import countries
from kgqa.scripts.sample.graph import Graph, fold
from kgqa.scripts.sample.sources import iso_codes, public_holidays

KIND = "Holiday"
_YEAR = 2025
_NOT_A_NAME = re.compile(
    r"estimated|observed|substitute|day off|bridge|holidays?$|non-working|weekend|funeral|burial", re.I
)


def add(graph: Graph) -> None:
    """Add who keeps which holiday on which date."""
    for code in sorted(entry["alpha_2"] for entry in iso_codes("3166-1")):
        if country := graph.find(countries.KIND, code):
            for day, names in public_holidays(code, _YEAR).items():
                for name in filter(_is_name, names.split("; ")):
                    record = graph.mediator(country, "holiday_observance", name, day)
                    graph.fact(record, "observed_holiday", graph.entity(KIND, fold(name), name))
                    graph.fact(record, "observed_on", day)


def _is_name(text: str) -> bool:
    return not _NOT_A_NAME.search(text)
