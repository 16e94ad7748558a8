"""Questions with a condition on a value, or for an extreme: each with its answer query.

What a condition says stands in brackets in the wording; the conditions follow in the same order.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal as Choice, NamedTuple

from pydantic import TypeAdapter

from kgqa.kg.proof.compilation import write_query
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Operator
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term
from kgqa.scripts.sample.graph import BASE, RDF_TYPE, RDFS_LABEL, XSD
from kgqa.scripts.sample.questions.draft import Branch as Way, Topic, path
from kgqa.scripts.sample.questions.lookup import Lookup, QuestionError

_MOST_ANSWERS = 40
_QUERY = TypeAdapter(AnswerQuery)
_DATE_TYPES = {4: "gYear", 7: "gYearMonth", 10: "date"}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


class Where(NamedTuple):
    """A condition; ``at`` is the number of hops to its node on the first way, None the end.

    A value is a number, a date in ISO 8601 or other text, a class, or an entity.
    """

    attribute: str
    operator: Operator
    value: int | float | str | Topic | None = None
    at: int | None = None


class Draft(NamedTuple):
    """A question without answers; the ways from its topics meet at the answers."""

    kind: str
    text: str
    ways: tuple[Way, ...]
    conditions: tuple[Where, ...] = ()
    aggregate: Aggregate | None = None

    def query(self, graph: Lookup) -> AnswerQuery:
        """Return the answer query: ways begin at places of their own and end at the same one."""
        end = len(self.ways[0].path)
        words = re.findall(r"\[(.*?)\]", self.text)
        return AnswerQuery(
            branches=tuple(_branch(way, 10 * number, end, graph) for number, way in enumerate(self.ways)),
            returned=end,
            conditions=tuple(
                Condition(where.at or end, _hops(where.attribute), where.operator, _value(where, graph), said)
                for where, said in zip(self.conditions, words, strict=True)
            ),
            aggregate=self.aggregate,
        )


def build_conditions(triples: Iterable[str]) -> list[dict[str, Any]]:
    """Answer every draft on the graph.

    Args:
        triples: The graph, as lines of N-Triples.

    Raises:
        QuestionError: The answers are none or too many, or a condition changes nothing.
    """
    graph = Lookup(triples)
    numbers: dict[str, int] = {}
    return [_question(graph, draft, numbers) for draft in DRAFTS]


def _question(graph: Lookup, draft: Draft, numbers: dict[str, int]) -> dict[str, Any]:
    number = numbers[draft.kind] = numbers.get(draft.kind, 0) + 1
    query = draft.query(graph)
    answers = _answers(graph, query)
    if not 1 <= len(answers) <= _MOST_ANSWERS:
        raise QuestionError(f"{draft.text} has {len(answers)} answers")
    for fewer in _without_one(query):
        if _answers(graph, fewer) == answers:
            raise QuestionError(f"a condition of {draft.text} changes nothing")
    topics = [(graph.find(way.topic), way.path) for way in draft.ways]
    return {
        "id": f"{draft.kind}-{number:03d}",
        "question": re.sub(r"[][]", "", draft.text),
        "topic_entities": [{"id": topic.value, "name": graph.name(topic)} for topic, _ in topics],
        "answers": [{"id": id, "name": name} for id, name in answers],
        "gold_paths": [{"topic": topic.value, "path": list(hops)} for topic, hops in topics],
        "sparql": write_query(query, (RDF_TYPE,)),
        "query": _QUERY.dump_python(query, mode="json", exclude_defaults=True),
        "hops": max(len(hops) for _, hops in topics),
        "kind": draft.kind,
    }


def _answers(graph: Lookup, query: AnswerQuery) -> list[tuple[str, str]]:
    found = graph.select(write_query(query, (RDF_TYPE,)))
    return sorted((term.value, graph.name(term)) for term in found)


def _without_one(query: AnswerQuery) -> Iterator[AnswerQuery]:
    """Yield the query without each of its conditions."""
    for place in range(len(query.conditions)):
        yield replace(query, conditions=query.conditions[:place] + query.conditions[place + 1 :])


def _branch(way: Way, first: int, end: int, graph: Lookup) -> Branch:
    topic = Entity(graph.find(way.topic).value)
    between = tuple(range(first + 1, first + len(way.path)))
    return Branch(Chain(topic, _hops(" ".join(way.path))), (*between, end))


def _hops(text: str) -> tuple[Hop, ...]:
    named = {"name": RDFS_LABEL, "type": RDF_TYPE}
    steps = ((step.removeprefix("^"), not step.startswith("^")) for step in path(text))
    return tuple(Hop(named.get(name, f"{BASE}r/{name}"), forward) for name, forward in steps)


def _value(where: Where, graph: Lookup) -> Term | None:
    match where.value:
        case None:
            return None
        case Topic() as topic:
            return Entity(graph.find(topic).value)
        case str() as text if where.operator == "type":
            return Entity(f"{BASE}c/{text}")
        case str() as text:
            return Literal(text, XSD + _DATE_TYPES[len(text)]) if _DATE.fullmatch(text) else Literal(text)
        case number:
            return Literal(str(number), XSD + ("integer" if isinstance(number, int) else "decimal"))


def _ask(
    kind: str,
    text: str,
    ways: str,
    *conditions: Where,
    best: str = "",
    by: Choice["number", "date"] = "number",
    at: int | None = None,
) -> Draft:
    """Return a draft.

    Args:
        kind: What its conditions are about.
        text: The wording.
        ways: ``Country Germany: borders``, joined by ``&``.
        conditions: In the order of their words.
        best: An aggregate and its attribute.
        by: What is compared.
        at: The number of hops to what has the attribute, None for the end.
    """
    function, _, attribute = best.partition(" ")
    aggregate = Aggregate(function, _hops(attribute), at, by) if best else None
    return Draft(kind, text, tuple(map(_way, ways.split(" & "))), conditions, aggregate)


def _way(text: str) -> Way:
    topic, hops = text.split(": ")
    return Way(Topic(*topic.split(" ", 1)), path(hops))


DRAFTS = (
    # Numbers
    _ask(
        "number",
        "Which neighbours of Germany have [more than thirty million inhabitants]?",
        "Country Germany: borders",
        Where("population", ">", 30_000_000),
    ),
    _ask(
        "number",
        "Which countries next to both Germany and Austria have [fewer than nine million people]?",
        "Country Germany: borders & Country Austria: borders",
        Where("population", "<", 9_000_000),
    ),
    _ask(
        "number",
        "Which countries of Southern Africa cover [less than 50,000 square kilometres]?",
        "Region Southern Africa: ^located_in_region",
        Where("area_km2", "<", 50_000),
    ),
    _ask(
        "number",
        "Which halogens [melt below 200 kelvin]?",
        "ElementGroup Halogens: ^element_category",
        Where("melting_point_kelvin", "<", 200),
    ),
    _ask(
        "number",
        "Which airports of London lie [200 feet or more above the sea]?",
        "City London: ^serves_city",
        Where("elevation_feet", ">=", 200),
    ),
    _ask(
        "number",
        "Which of the alkali metals has [atomic number 37]?",
        "ElementGroup Alkali metals: ^element_category",
        Where("atomic_number", "=", 37),
    ),
    _ask(
        "number",
        "Which isotopes of xenon have [a mass number above 145]?",
        "Element Xenon: ^isotope_of",
        Where("mass_number", ">", 145),
    ),
    _ask(
        "number",
        "Which places in Kenya are home to [more than half a million people]?",
        "Country Kenya: ^located_in_country",
        Where("population", ">", 500_000),
    ),
    _ask(
        "number",
        "Which element that Humphry Davy discovered has [an electronegativity of exactly 1]?",
        "Person Humphry Davy: ^discovered_by",
        Where("electronegativity", "=", 1),
    ),
    _ask(
        "number",
        "Which isotopes of carbon make up [more than one percent of it] in nature?",
        "Element Carbon: ^isotope_of",
        Where("natural_abundance_percent", ">", 1),
    ),
    _ask(
        "number",
        "Which countries of South America have [fewer than a million inhabitants]?",
        "Continent South America: ^located_in_continent",
        Where("population", "<", 1_000_000),
    ),
    _ask(
        "number",
        "Which metalloids have a density of [more than 5] [but less than 6 grams] per cubic centimetre?",
        "ElementGroup Metalloids: ^element_category",
        Where("density_g_per_cm3", ">", 5),
        Where("density_g_per_cm3", "<", 6),
    ),
    # Dates and years
    _ask(
        "date",
        "Which holidays does Portugal keep [in June 2025]?",
        "Country Portugal: holiday_observance observed_holiday",
        Where("observed_on", "=", "2025-06", 1),
    ),
    _ask(
        "date",
        "Which public holidays of Japan fall [before 1 March 2025]?",
        "Country Japan: holiday_observance observed_holiday",
        Where("observed_on", "<", "2025-03-01", 1),
    ),
    _ask(
        "date",
        "What does Austria celebrate [on 26 October 2025]?",
        "Country Austria: holiday_observance observed_holiday",
        Where("observed_on", "=", "2025-10-26", 1),
    ),
    _ask(
        "date",
        "Which currencies did Brazil take up [after 1980]?",
        "Country Brazil: currency_usage used_currency",
        Where("used_from", ">", "1980", 1),
    ),
    _ask(
        "date",
        "Which currency came to Estonia [in 2011]?",
        "Country Estonia: currency_usage used_currency",
        Where("used_from", "year", "2011", 1),
    ),
    _ask(
        "date",
        "Which country brought in the Euro [in 2007]?",
        "Currency Euro: ^used_currency ^currency_usage",
        Where("used_from", "year", "2007", 1),
    ),
    _ask(
        "date",
        "Where has the US Dollar been money only [since the year 2000 or later]?",
        "Currency US Dollar: ^used_currency ^currency_usage",
        Where("used_from", ">=", "2000", 1),
    ),
    _ask(
        "date",
        "How large was the population of Japan [in 1972]?",
        "Country Japan: historical_record recorded_population",
        Where("record_year", "=", "1972", 1),
    ),
    _ask(
        "date",
        "What was the life expectancy in Rwanda [in 1992]?",
        "Country Rwanda: historical_record life_expectancy_years",
        Where("record_year", "=", "1992", 1),
    ),
    _ask(
        "date",
        "For which years [after 1990] are there figures on Cambodia?",
        "Country Cambodia: historical_record record_year",
        Where("", ">", "1990"),
    ),
    _ask(
        "date",
        "Which elements did William Ramsay discover [before 1898]?",
        "Person William Ramsay: ^discovered_by",
        Where("discovery_year", "<", "1898"),
    ),
    _ask(
        "date",
        "Which lanthanides were not found until [after 1900]?",
        "ElementGroup Lanthanides: ^element_category",
        Where("discovery_year", ">", "1900"),
    ),
    _ask(
        "date",
        "Which elements were discovered in Sweden [in 1879]?",
        "Country Sweden: ^discovered_in",
        Where("discovery_year", "year", "1879"),
    ),
    _ask(
        "date",
        "Which isotopes of radium were known [by 1910]?",
        "Element Radium: ^isotope_of",
        Where("discovery_year", "<=", "1910"),
    ),
    _ask(
        "date",
        "Which money did Croatia bring in [after 1990] [but before 2000]?",
        "Country Croatia: currency_usage used_currency",
        Where("used_from", ">", "1990", 1),
        Where("used_from", "<", "2000", 1),
    ),
    _ask(
        "date",
        "Which currencies had Argentina dropped [before 1990]?",
        "Country Argentina: currency_usage used_currency",
        Where("used_until", "<", "1990", 1),
    ),
    _ask(
        "date",
        "On which days [in December 2025] does Slovakia have a holiday?",
        "Country Slovakia: holiday_observance observed_on",
        Where("", "=", "2025-12"),
    ),
    # Extremes
    _ask(
        "extreme",
        "Which country that borders both Austria and Italy has the fewest people?",
        "Country Austria: borders & Country Italy: borders",
        best="argmin population",
    ),
    _ask(
        "extreme",
        "Which of the noble gases was the first to be discovered?",
        "ElementGroup Noble gases: ^element_category",
        best="argmin discovery_year",
        by="date",
    ),
    _ask(
        "extreme",
        "Which currency did Brazil adopt last?",
        "Country Brazil: currency_usage used_currency",
        best="argmax used_from",
        by="date",
        at=1,
    ),
    _ask(
        "extreme",
        "Which element discovered by Glenn Seaborg has the highest atomic number?",
        "Person Glenn Seaborg: ^discovered_by",
        best="argmax atomic_number",
    ),
    _ask(
        "extreme",
        "What language do most people in Kenya speak?",
        "Country Kenya: language_usage spoken_language",
        best="argmax percent_of_population",
        at=1,
    ),
    _ask(
        "extreme",
        "Which of the alkaline earth metals is the least dense?",
        "ElementGroup Alkaline earth metals: ^element_category",
        best="argmin density_g_per_cm3",
    ),
    _ask(
        "extreme",
        "In which of the years on record were people in Zimbabwe the richest?",
        "Country Zimbabwe: historical_record record_year",
        best="argmax gdp_per_capita_dollars",
        at=1,
    ),
    _ask(
        "extreme",
        "What is the capital of the largest country in Central Asia?",
        "Region Central Asia: ^located_in_region capital",
        best="argmax area_km2",
        at=1,
    ),
    _ask(
        "extreme",
        "Which official currencies in Western Asia have the most decimals?",
        "Region Western Asia: ^located_in_region official_currency",
        best="argmax decimal_digits",
    ),
    _ask(
        "extreme",
        "Which isotope of tin is the most abundant in nature?",
        "Element Tin: ^isotope_of",
        best="argmax natural_abundance_percent",
    ),
    _ask(
        "extreme",
        "Which isotopes of neodymium were discovered first?",
        "Element Neodymium: ^isotope_of",
        best="argmin discovery_year",
        by="date",
    ),
    _ask(
        "extreme",
        "Which holiday opens the year in Norway?",
        "Country Norway: holiday_observance observed_holiday",
        best="argmin observed_on",
        by="date",
        at=1,
    ),
    # Types
    _ask(
        "type",
        "What [airports] are located in Fiji?",
        "Country Fiji: ^located_in_country",
        Where("", "type", "Airport"),
    ),
    _ask(
        "type",
        "Which [airports] in Fiji lie [south of 18 degrees] south?",
        "Country Fiji: ^located_in_country",
        Where("", "type", "Airport"),
        Where("latitude", "<", -18),
    ),
    _ask(
        "type",
        "Which [counties] does New Hampshire have?",
        "Subdivision New Hampshire: ^located_in_subdivision",
        Where("", "type", "County"),
    ),
    _ask(
        "type",
        "Which is the northernmost [city] of Iceland?",
        "Country Iceland: ^located_in_country",
        Where("", "type", "City"),
        best="argmax latitude",
    ),
    _ask(
        "type",
        "Which [cities] lie in Bahrain?",
        "Country Bahrain: ^located_in_country",
        Where("", "type", "City"),
    ),
    _ask(
        "type",
        "Into which [subdivisions] is Luxembourg divided?",
        "Country Luxembourg: ^located_in_country",
        Where("", "type", "Subdivision"),
    ),
    _ask(
        "type",
        "Which [airports] does the state of Rhode Island have?",
        "Subdivision Rhode Island: ^located_in_subdivision",
        Where("", "type", "Airport"),
    ),
    _ask(
        "type",
        "How many [cities] does Malta have?",
        "Country Malta: ^located_in_country",
        Where("", "type", "City"),
        best="count",
    ),
    _ask(
        "type",
        "How many [airports] are there in Iceland?",
        "Country Iceland: ^located_in_country",
        Where("", "type", "Airport"),
        best="count",
    ),
    _ask(
        "type",
        "Which [airports] are in the time zone Pacific/Tarawa?",
        "Timezone Pacific/Tarawa: ^timezone",
        Where("", "type", "Airport"),
    ),
    # Not
    _ask(
        "not",
        "Which countries that border France do [not have the euro]?",
        "Country France: borders",
        Where("official_currency", "not exists", Topic("Currency", "Euro")),
    ),
    _ask(
        "not",
        "In which neighbours of Brazil is [Spanish not an official language]?",
        "Country Brazil: borders",
        Where("official_language", "not exists", Topic("Language", "Spanish")),
    ),
    _ask(
        "not",
        "Which of Humphry Davy's elements are [not alkaline earth metals]?",
        "Person Humphry Davy: ^discovered_by",
        Where("element_category", "!=", Topic("ElementGroup", "Alkaline earth metals")),
    ),
    _ask(
        "not",
        "Which isotopes of hydrogen have [no half-life]?",
        "Element Hydrogen: ^isotope_of",
        Where("half_life_seconds", "not exists"),
    ),
    _ask(
        "not",
        "Which languages mainly spoken in Turkey are [not living languages]?",
        "Country Turkey: ^mainly_spoken_in",
        Where("language_type", "!=", Topic("LanguageType", "Living language")),
    ),
    _ask(
        "not",
        "Which currencies has Zimbabwe [not given up] again?",
        "Country Zimbabwe: currency_usage used_currency",
        Where("used_until", "not exists", at=1),
    ),
    _ask(
        "not",
        "Which countries have Portuguese as an official language but are [not in Africa]?",
        "Language Portuguese: ^official_language",
        Where("located_in_continent", "!=", Topic("Continent", "Africa")),
    ),
    _ask(
        "not",
        "Where is Spanish official, [outside North America] [and South America]?",
        "Language Spanish: ^official_language",
        Where("located_in_continent", "!=", Topic("Continent", "North America")),
        Where("located_in_continent", "!=", Topic("Continent", "South America")),
    ),
    _ask(
        "not",
        "Which countries in Western Asia have [no neighbours by land]?",
        "Region Western Asia: ^located_in_region",
        Where("borders", "not exists"),
    ),
    _ask(
        "not",
        "Which countries of Central America [do not have Spanish] as an official language?",
        "Region Central America: ^located_in_region",
        Where("official_language", "not exists", Topic("Language", "Spanish")),
    ),
    # Text and names
    _ask(
        "text",
        "Which airports of London have [a Y in their IATA code]?",
        "City London: ^serves_city",
        Where("iata_code", "contains", "Y"),
    ),
    _ask(
        "text",
        "Which neighbour of Germany calls itself by a native name [with reich in it]?",
        "Country Germany: borders",
        Where("native_name", "contains", "reich"),
    ),
    _ask(
        "text",
        "Which country of Northern Europe has [the internet domain .ee]?",
        "Region Northern Europe: ^located_in_region",
        Where("internet_domain", "=", ".ee"),
    ),
    _ask(
        "text",
        "Which currency that Zimbabwe used has [the code ZWL]?",
        "Country Zimbabwe: currency_usage used_currency",
        Where("currency_code", "=", "ZWL"),
    ),
    _ask(
        "text",
        "Which of the metalloids has [the chemical symbol Sb]?",
        "ElementGroup Metalloids: ^element_category",
        Where("chemical_symbol", "=", "Sb"),
    ),
    _ask(
        "text",
        "Which languages mainly spoken in Papua New Guinea have [Motu in their names]?",
        "Country Papua New Guinea: ^mainly_spoken_in",
        Where("name", "contains", "Motu"),
    ),
    _ask(
        "text",
        "Which countries on the continent of Africa have [Guinea in their name]?",
        "Continent Africa: ^located_in_continent",
        Where("name", "contains", "Guinea"),
    ),
    _ask(
        "text",
        "What neighbour of India is home to [people called Burmese]?",
        "Country India: borders",
        Where("demonym", "=", "Burmese"),
    ),
    _ask(
        "text",
        "Which places in Ecuador have a subdivision code [that contains EC-S]?",
        "Country Ecuador: ^located_in_country",
        Where("iso_subdivision_code", "contains", "EC-S"),
    ),
    # Counts
    _ask(
        "count",
        "How many neighbours of China have [more than 100 million inhabitants]?",
        "Country China: borders",
        Where("population", ">", 100_000_000),
        best="count",
    ),
    _ask(
        "count",
        "How many transition metals were discovered [after 1900]?",
        "ElementGroup Transition metals: ^element_category",
        Where("discovery_year", ">", "1900"),
        best="count",
    ),
    _ask(
        "count",
        "How many places in Turkey have [over a million inhabitants]?",
        "Country Turkey: ^located_in_country",
        Where("population", ">", 1_000_000),
        best="count",
    ),
    _ask(
        "count",
        "How many isotopes of uranium live [longer than a million seconds]?",
        "Element Uranium: ^isotope_of",
        Where("half_life_seconds", ">", 1_000_000),
        best="count",
    ),
    _ask(
        "count",
        "How many countries in Western Africa have [French as an official language]?",
        "Region Western Africa: ^located_in_region",
        Where("official_language", "=", Topic("Language", "French")),
        best="count",
    ),
    _ask(
        "count",
        "How many holidays does Poland keep [in May 2025]?",
        "Country Poland: holiday_observance observed_holiday",
        Where("observed_on", "=", "2025-05", 1),
        best="count",
    ),
    _ask(
        "count",
        "How many currencies has Croatia [given up]?",
        "Country Croatia: currency_usage used_currency",
        Where("used_until", "exists", at=1),
        best="count",
    ),
    _ask(
        "count",
        "How many languages in Cyrillic script are [extinct]?",
        "Script Cyrillic: ^written_in_script",
        Where("language_type", "=", Topic("LanguageType", "Extinct language")),
        best="count",
    ),
    # Nodes between
    _ask(
        "between",
        "What languages do [more than 15 percent] of the people in Kenya speak?",
        "Country Kenya: language_usage spoken_language",
        Where("percent_of_population", ">", 15, 1),
    ),
    _ask(
        "between",
        "Which country [ranks first] in the production of lithium?",
        "Element Lithium: production_record production_country",
        Where("production_rank", "=", 1, 1),
    ),
    _ask(
        "between",
        "Which country holds [the third largest] reserves of copper?",
        "Element Copper: reserve_record reserve_country",
        Where("reserve_rank", "=", 3, 1),
    ),
    _ask(
        "between",
        "What does bismuth-212 become [by alpha decay]?",
        "Isotope Bismuth-212: decay_record decays_to",
        Where("decay_mode", "=", Topic("DecayMode", "Alpha decay"), 1),
    ),
    _ask(
        "between",
        "What are the capitals of those neighbours of Brazil that have [over 30 million people]?",
        "Country Brazil: borders capital",
        Where("population", ">", 30_000_000, 1),
    ),
    _ask(
        "between",
        "What is official in the neighbours of Switzerland [with fewer than ten million people]?",
        "Country Switzerland: borders official_language",
        Where("population", "<", 10_000_000, 1),
    ),
    _ask(
        "between",
        "What money is used in Western African countries [larger than a million square kilometres]?",
        "Region Western Africa: ^located_in_region official_currency",
        Where("area_km2", ">", 1_000_000, 1),
    ),
    _ask(
        "between",
        "Who discovered the lanthanides [found before 1840]?",
        "ElementGroup Lanthanides: ^element_category discovered_by",
        Where("discovery_year", "<", "1840", 1),
    ),
    _ask(
        "between",
        "Which language is [de facto official] in Morocco?",
        "Country Morocco: language_usage spoken_language",
        Where("legal_status", "contains", "de facto", 1),
    ),
    _ask(
        "between",
        "In which time zones are those neighbours of Germany that have [fewer than six million people]?",
        "Country Germany: borders has_timezone",
        Where("population", "<", 6_000_000, 1),
    ),
    _ask(
        "between",
        "Which countries of Northern Europe have taken up a currency [since 2011]?",
        "Region Northern Europe: ^located_in_region",
        Where("currency_usage used_from", ">=", "2011"),
    ),
    _ask(
        "between",
        "In which countries next to Kenya was life expectancy once [below 35 years]?",
        "Country Kenya: borders",
        Where("historical_record life_expectancy_years", "<", 35),
    ),
)
