"""Languages and scripts (ISO 639-3, ISO 15924), and who speaks what (CLDR).

Who speaks what is a record between country and language: the unnamed node behind
`language_usage` holds the language, the share of the population and the legal status.
"""

from collections.abc import Iterator
from functools import cache

from kgqa.scripts.sample.facts import countries
from kgqa.scripts.sample.graph import Graph, Iri, decimal
from kgqa.scripts.sample.sources import Row, cldr, folder, iso_codes, locale

KIND = "Language"
_TYPES = {
    "A": "Ancient language",
    "C": "Constructed language",
    "E": "Extinct language",
    "H": "Historical language",
    "L": "Living language",
}
_RELATION_OF_STATUS = {
    "official": "official_language",
    "de_facto_official": "official_language",
    "official_regional": "regional_language",
}


_NO_LONGER = {("UA", "ru")}
"""Official in CLDR, but not since 2018, when the law that made it so was struck down."""


def add(graph: Graph) -> None:
    """Add scripts, languages, and the usage of languages in countries."""
    for entry in iso_codes("15924"):
        _add_script(graph, entry)
    for entry in iso_codes("639-3"):
        _add_language(graph, entry)
    for language in countries.TRANSLATIONS:
        _add_translations(graph, language)
    _add_homes(graph)
    for member, whole in _macrolanguages():
        if language_iri := find(graph, member):
            graph.fact(language_iri, "part_of_macrolanguage", find(graph, whole))
    for code, languages in sorted(cldr("territory_languages").items()):
        if country := graph.find(countries.KIND, code):
            _add_usages(graph, code, country, languages)


def find(graph: Graph, tag: str) -> Iri | None:
    """The language of a CLDR tag such as "sw", "luo" or "zh_Hant", if it is in the graph."""
    code = tag.split("_")[0]
    return graph.find(KIND, _three_letter_codes().get(code, code))


@cache
def _three_letter_codes() -> dict[str, str]:
    entries = iso_codes("639-3")
    return {entry["alpha_2"]: entry["alpha_3"] for entry in entries if "alpha_2" in entry}


@cache
def _english_names() -> dict[str, str]:
    return dict(locale("en").languages)


def _add_script(graph: Graph, entry: Row) -> None:
    everyday = locale("en").scripts.get(entry["alpha_4"], entry["name"])
    name = everyday if entry["name"].startswith(everyday) else entry["name"]
    script = graph.entity("Script", entry["alpha_4"], name)
    graph.alias(script, entry["name"])
    graph.fact(script, "iso_script_code", entry["alpha_4"])


def _add_language(graph: Graph, entry: Row) -> None:
    code: str = entry["alpha_3"]
    everyday = _english_names().get(entry.get("alpha_2") or code) or entry["name"]
    language = graph.entity(KIND, code, everyday)
    graph.alias(language, entry["name"])
    graph.fact(language, "iso_language_code", code)
    if kind := _TYPES.get(entry["type"]):
        graph.fact(language, "language_type", graph.entity("LanguageType", entry["type"], kind))


def _add_translations(graph: Graph, translation: str) -> None:
    names = locale(translation).languages
    for code in _three_letter_codes():
        language = find(graph, code)
        if language and code in names:
            graph.label(language, names[code], translation)


def _add_homes(graph: Graph) -> None:
    """Add script and main country, as CLDR assumes them where a text states neither."""
    for tag, likely in sorted(cldr("likely_subtags").items()):
        language, parts = find(graph, tag), likely.split("_")
        if "_" in tag or language is None or len(parts) != 3:
            continue
        graph.fact(language, "written_in_script", graph.find("Script", parts[1]))
        graph.fact(language, "mainly_spoken_in", graph.find(countries.KIND, parts[2]))


def _macrolanguages() -> Iterator[tuple[str, str]]:
    subtags = folder("langcodes") / "data" / "language-subtag-registry.txt"
    for record in subtags.read_text(encoding="utf-8").split("%%\n"):
        fields = dict(line.split(": ", 1) for line in record.splitlines() if ": " in line)
        if fields.get("Type") == "language" and "Macrolanguage" in fields:
            yield fields["Subtag"], fields["Macrolanguage"]


def _add_usages(graph: Graph, code: str, country: Iri, languages: dict[str, Row]) -> None:
    for tag, usage in sorted(languages.items()):
        language = find(graph, tag)
        status = usage["official_status"] if (code, tag) not in _NO_LONGER else None
        if language is None:
            continue
        record = graph.mediator(country, "language_usage", tag)
        graph.fact(record, "spoken_language", language)
        graph.fact(record, "percent_of_population", decimal(usage["population_percent"]))
        graph.fact(record, "legal_status", status and status.replace("_", " "))
        if status in _RELATION_OF_STATUS:
            graph.fact(country, _RELATION_OF_STATUS[status], language)
