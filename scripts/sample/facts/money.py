"""Currencies (ISO 4217), and which country used which one from when until when (CLDR).

The time a country used a currency is a record: the unnamed node behind
`currency_usage` holds the currency and the dates.
"""

from collections.abc import Sequence
from datetime import date
from typing import TypeAlias

from kgqa.scripts.sample.facts import countries
from kgqa.scripts.sample.graph import Graph, Iri
from kgqa.scripts.sample.sources import cldr, iso_codes, locale

KIND = "Currency"
_NOT_MONEY = {"XAG", "XAU", "XPD", "XPT", "XTS", "XXX"}
"""Codes of metals, of tests, and of no currency."""
_Usage: TypeAlias = tuple[str, Sequence[int] | None, Sequence[int] | None, bool]
"""Code, first day, last day, legal tender."""


def add(graph: Graph) -> None:
    """Add currencies of today and of the past, and who used them."""
    for code, name in sorted(locale("en").currencies.items()):
        if code not in _NOT_MONEY:
            _add_currency(graph, code, name)
    for entry in iso_codes("4217"):
        if currency := graph.find(KIND, entry["alpha_3"]):
            graph.fact(currency, "iso_numeric_code", entry["numeric"])
            graph.alias(currency, entry["name"])
    for language in countries.TRANSLATIONS:
        for code, name in locale(language).currencies.items():
            if currency := graph.find(KIND, code):
                graph.label(currency, name, language)
    for code, usages in sorted(cldr("territory_currencies").items()):
        if country := graph.find(countries.KIND, code):
            _add_usages(graph, country, usages)


def _add_currency(graph: Graph, code: str, name: str) -> None:
    currency = graph.entity(KIND, code, name)
    digits = cldr("currency_fractions")
    graph.fact(currency, "currency_code", code)
    graph.fact(currency, "decimal_digits", digits.get(code, digits["DEFAULT"])[0])
    symbol = locale("en").currency_symbols.get(code)
    graph.fact(currency, "currency_symbol", symbol if symbol != code else None)


def _add_usages(graph: Graph, country: Iri, usages: Sequence[_Usage]) -> None:
    for code, first, last, tender in usages:
        currency = graph.find(KIND, code)
        if currency is None or not tender:
            continue
        record = graph.mediator(country, "currency_usage", code, first)
        graph.fact(record, "used_currency", currency)
        graph.fact(record, "used_from", date(*first) if first else None)
        graph.fact(record, "used_until", date(*last) if last else None)
        if last is None:
            graph.fact(country, "official_currency", currency)
