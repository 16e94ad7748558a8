"""Questions with a condition on a value, or for an extreme, by what they turn on.

What a condition says stands in brackets in the wording; the conditions follow in the same order.
"""

from kgqa.scripts.sample.questions.condition_draft import ConditionDraft, Where, ask
from kgqa.scripts.sample.questions.draft import Topic

CONDITIONS: dict[str, tuple[ConditionDraft, ...]] = {
    "number": (
        ask(
            "Which neighbours of Germany have [more than thirty million inhabitants]?",
            "Country Germany: borders",
            Where("population", ">", 30_000_000),
        ),
        ask(
            "Which countries next to both Germany and Austria have [fewer than nine million people]?",
            "Country Germany: borders & Country Austria: borders",
            Where("population", "<", 9_000_000),
        ),
        ask(
            "Which countries of Southern Africa cover [less than 50,000 square kilometres]?",
            "Region Southern Africa: ^located_in_region",
            Where("area_km2", "<", 50_000),
        ),
        ask(
            "Which halogens [melt below 200 kelvin]?",
            "ElementGroup Halogens: ^element_category",
            Where("melting_point_kelvin", "<", 200),
        ),
        ask(
            "Which airports of London lie [200 feet or more above the sea]?",
            "City London: ^serves_city",
            Where("elevation_feet", ">=", 200),
        ),
        ask(
            "Which of the alkali metals has [atomic number 37]?",
            "ElementGroup Alkali metals: ^element_category",
            Where("atomic_number", "=", 37),
        ),
        ask(
            "Which isotopes of xenon have [a mass number above 145]?",
            "Element Xenon: ^isotope_of",
            Where("mass_number", ">", 145),
        ),
        ask(
            "Which places in Kenya are home to [more than half a million people]?",
            "Country Kenya: ^located_in_country",
            Where("population", ">", 500_000),
        ),
        ask(
            "Which element that Humphry Davy discovered has [an electronegativity of exactly 1]?",
            "Person Humphry Davy: ^discovered_by",
            Where("electronegativity", "=", 1),
        ),
        ask(
            "Which isotopes of carbon make up [more than one percent of it] in nature?",
            "Element Carbon: ^isotope_of",
            Where("natural_abundance_percent", ">", 1),
        ),
        ask(
            "Which countries of South America have [fewer than a million inhabitants]?",
            "Continent South America: ^located_in_continent",
            Where("population", "<", 1_000_000),
        ),
        ask(
            "Which metalloids have a density of [more than 5] [but less than 6 grams] per cubic centimetre?",
            "ElementGroup Metalloids: ^element_category",
            Where("density_g_per_cm3", ">", 5),
            Where("density_g_per_cm3", "<", 6),
        ),
    ),
    "date": (
        ask(
            "Which holidays does Portugal keep [in June 2025]?",
            "Country Portugal: holiday_observance observed_holiday",
            Where("observed_on", "=", "2025-06", 1),
        ),
        ask(
            "Which public holidays of Japan fall [before 1 March 2025]?",
            "Country Japan: holiday_observance observed_holiday",
            Where("observed_on", "<", "2025-03-01", 1),
        ),
        ask(
            "What does Austria celebrate [on 26 October 2025]?",
            "Country Austria: holiday_observance observed_holiday",
            Where("observed_on", "=", "2025-10-26", 1),
        ),
        ask(
            "Which currencies did Brazil take up [after 1980]?",
            "Country Brazil: currency_usage used_currency",
            Where("used_from", ">", "1980", 1),
        ),
        ask(
            "Which currency came to Estonia [in 2011]?",
            "Country Estonia: currency_usage used_currency",
            Where("used_from", "year", "2011", 1),
        ),
        ask(
            "Which country brought in the Euro [in 2007]?",
            "Currency Euro: ^used_currency ^currency_usage",
            Where("used_from", "year", "2007", 1),
        ),
        ask(
            "Where has the US Dollar been money only [since the year 2000 or later]?",
            "Currency US Dollar: ^used_currency ^currency_usage",
            Where("used_from", ">=", "2000", 1),
        ),
        ask(
            "How large was the population of Japan [in 1972]?",
            "Country Japan: historical_record recorded_population",
            Where("record_year", "=", "1972", 1),
        ),
        ask(
            "What was the life expectancy in Rwanda [in 1992]?",
            "Country Rwanda: historical_record life_expectancy_years",
            Where("record_year", "=", "1992", 1),
        ),
        ask(
            "For which years [after 1990] are there figures on Cambodia?",
            "Country Cambodia: historical_record record_year",
            Where("", ">", "1990"),
        ),
        ask(
            "Which elements did William Ramsay discover [before 1898]?",
            "Person William Ramsay: ^discovered_by",
            Where("discovery_year", "<", "1898"),
        ),
        ask(
            "Which lanthanides were not found until [after 1900]?",
            "ElementGroup Lanthanides: ^element_category",
            Where("discovery_year", ">", "1900"),
        ),
        ask(
            "Which elements were discovered in Sweden [in 1879]?",
            "Country Sweden: ^discovered_in",
            Where("discovery_year", "year", "1879"),
        ),
        ask(
            "Which isotopes of radium were known [by 1910]?",
            "Element Radium: ^isotope_of",
            Where("discovery_year", "<=", "1910"),
        ),
        ask(
            "Which money did Croatia bring in [after 1990] [but before 2000]?",
            "Country Croatia: currency_usage used_currency",
            Where("used_from", ">", "1990", 1),
            Where("used_from", "<", "2000", 1),
        ),
        ask(
            "Which currencies had Argentina dropped [before 1990]?",
            "Country Argentina: currency_usage used_currency",
            Where("used_until", "<", "1990", 1),
        ),
        ask(
            "On which days [in December 2025] does Slovakia have a holiday?",
            "Country Slovakia: holiday_observance observed_on",
            Where("", "=", "2025-12"),
        ),
    ),
    "extreme": (
        ask(
            "Which country that borders both Austria and Italy has the fewest people?",
            "Country Austria: borders & Country Italy: borders",
            best="argmin population",
        ),
        ask(
            "Which of the noble gases was the first to be discovered?",
            "ElementGroup Noble gases: ^element_category",
            best="argmin discovery_year",
            by="date",
        ),
        ask(
            "Which currency did Brazil adopt last?",
            "Country Brazil: currency_usage used_currency",
            best="argmax used_from",
            by="date",
            at=1,
        ),
        ask(
            "Which element discovered by Glenn Seaborg has the highest atomic number?",
            "Person Glenn Seaborg: ^discovered_by",
            best="argmax atomic_number",
        ),
        ask(
            "What language do most people in Kenya speak?",
            "Country Kenya: language_usage spoken_language",
            best="argmax percent_of_population",
            at=1,
        ),
        ask(
            "Which of the alkaline earth metals is the least dense?",
            "ElementGroup Alkaline earth metals: ^element_category",
            best="argmin density_g_per_cm3",
        ),
        ask(
            "In which of the years on record were people in Zimbabwe the richest?",
            "Country Zimbabwe: historical_record record_year",
            best="argmax gdp_per_capita_dollars",
            at=1,
        ),
        ask(
            "What is the capital of the largest country in Central Asia?",
            "Region Central Asia: ^located_in_region capital",
            best="argmax area_km2",
            at=1,
        ),
        ask(
            "Which official currencies in Western Asia have the most decimals?",
            "Region Western Asia: ^located_in_region official_currency",
            best="argmax decimal_digits",
        ),
        ask(
            "Which isotope of tin is the most abundant in nature?",
            "Element Tin: ^isotope_of",
            best="argmax natural_abundance_percent",
        ),
        ask(
            "Which isotopes of neodymium were discovered first?",
            "Element Neodymium: ^isotope_of",
            best="argmin discovery_year",
            by="date",
        ),
        ask(
            "Which holiday opens the year in Norway?",
            "Country Norway: holiday_observance observed_holiday",
            best="argmin observed_on",
            by="date",
            at=1,
        ),
    ),
    "type": (
        ask(
            "What [airports] are located in Fiji?",
            "Country Fiji: ^located_in_country",
            Where("", "type", "Airport"),
        ),
        ask(
            "Which [airports] in Fiji lie [south of 18 degrees] south?",
            "Country Fiji: ^located_in_country",
            Where("", "type", "Airport"),
            Where("latitude", "<", -18),
        ),
        ask(
            "Which [counties] does New Hampshire have?",
            "Subdivision New Hampshire: ^located_in_subdivision",
            Where("", "type", "County"),
        ),
        ask(
            "Which is the northernmost [city] of Iceland?",
            "Country Iceland: ^located_in_country",
            Where("", "type", "City"),
            best="argmax latitude",
        ),
        ask(
            "Which [cities] lie in Bahrain?",
            "Country Bahrain: ^located_in_country",
            Where("", "type", "City"),
        ),
        ask(
            "Into which [subdivisions] is Luxembourg divided?",
            "Country Luxembourg: ^located_in_country",
            Where("", "type", "Subdivision"),
        ),
        ask(
            "Which [airports] does the state of Rhode Island have?",
            "Subdivision Rhode Island: ^located_in_subdivision",
            Where("", "type", "Airport"),
        ),
        ask(
            "How many [cities] does Malta have?",
            "Country Malta: ^located_in_country",
            Where("", "type", "City"),
            best="count",
        ),
        ask(
            "How many [airports] are there in Iceland?",
            "Country Iceland: ^located_in_country",
            Where("", "type", "Airport"),
            best="count",
        ),
        ask(
            "Which [airports] are in the time zone Pacific/Tarawa?",
            "Timezone Pacific/Tarawa: ^timezone",
            Where("", "type", "Airport"),
        ),
    ),
    "not": (
        ask(
            "Which countries that border France do [not have the euro]?",
            "Country France: borders",
            Where("official_currency", "not exists", Topic("Currency", "Euro")),
        ),
        ask(
            "In which neighbours of Brazil is [Spanish not an official language]?",
            "Country Brazil: borders",
            Where("official_language", "not exists", Topic("Language", "Spanish")),
        ),
        ask(
            "Which of Humphry Davy's elements are [not alkaline earth metals]?",
            "Person Humphry Davy: ^discovered_by",
            Where("element_category", "!=", Topic("ElementGroup", "Alkaline earth metals")),
        ),
        ask(
            "Which isotopes of hydrogen have [no half-life]?",
            "Element Hydrogen: ^isotope_of",
            Where("half_life_seconds", "not exists"),
        ),
        ask(
            "Which languages mainly spoken in Turkey are [not living languages]?",
            "Country Turkey: ^mainly_spoken_in",
            Where("language_type", "!=", Topic("LanguageType", "Living language")),
        ),
        ask(
            "Which currencies has Zimbabwe [not given up] again?",
            "Country Zimbabwe: currency_usage used_currency",
            Where("used_until", "not exists", at=1),
        ),
        ask(
            "Which countries have Portuguese as an official language but are [not in Africa]?",
            "Language Portuguese: ^official_language",
            Where("located_in_continent", "!=", Topic("Continent", "Africa")),
        ),
        ask(
            "Where is Spanish official, [outside North America] [and South America]?",
            "Language Spanish: ^official_language",
            Where("located_in_continent", "!=", Topic("Continent", "North America")),
            Where("located_in_continent", "!=", Topic("Continent", "South America")),
        ),
        ask(
            "Which countries in Western Asia have [no neighbours by land]?",
            "Region Western Asia: ^located_in_region",
            Where("borders", "not exists"),
        ),
        ask(
            "Which countries of Central America [do not have Spanish] as an official language?",
            "Region Central America: ^located_in_region",
            Where("official_language", "not exists", Topic("Language", "Spanish")),
        ),
    ),
    "text": (
        ask(
            "Which airports of London have [a Y in their IATA code]?",
            "City London: ^serves_city",
            Where("iata_code", "contains", "Y"),
        ),
        ask(
            "Which neighbour of Germany calls itself by a native name [with reich in it]?",
            "Country Germany: borders",
            Where("native_name", "contains", "reich"),
        ),
        ask(
            "Which country of Northern Europe has [the internet domain .ee]?",
            "Region Northern Europe: ^located_in_region",
            Where("internet_domain", "=", ".ee"),
        ),
        ask(
            "Which currency that Zimbabwe used has [the code ZWL]?",
            "Country Zimbabwe: currency_usage used_currency",
            Where("currency_code", "=", "ZWL"),
        ),
        ask(
            "Which of the metalloids has [the chemical symbol Sb]?",
            "ElementGroup Metalloids: ^element_category",
            Where("chemical_symbol", "=", "Sb"),
        ),
        ask(
            "Which languages mainly spoken in Papua New Guinea have [Motu in their names]?",
            "Country Papua New Guinea: ^mainly_spoken_in",
            Where("name", "contains", "Motu"),
        ),
        ask(
            "Which countries on the continent of Africa have [Guinea in their name]?",
            "Continent Africa: ^located_in_continent",
            Where("name", "contains", "Guinea"),
        ),
        ask(
            "What neighbour of India is home to [people called Burmese]?",
            "Country India: borders",
            Where("demonym", "=", "Burmese"),
        ),
        ask(
            "Which places in Ecuador have a subdivision code [that contains EC-S]?",
            "Country Ecuador: ^located_in_country",
            Where("iso_subdivision_code", "contains", "EC-S"),
        ),
    ),
    "count": (
        ask(
            "How many neighbours of China have [more than 100 million inhabitants]?",
            "Country China: borders",
            Where("population", ">", 100_000_000),
            best="count",
        ),
        ask(
            "How many transition metals were discovered [after 1900]?",
            "ElementGroup Transition metals: ^element_category",
            Where("discovery_year", ">", "1900"),
            best="count",
        ),
        ask(
            "How many places in Turkey have [over a million inhabitants]?",
            "Country Turkey: ^located_in_country",
            Where("population", ">", 1_000_000),
            best="count",
        ),
        ask(
            "How many isotopes of uranium live [longer than a million seconds]?",
            "Element Uranium: ^isotope_of",
            Where("half_life_seconds", ">", 1_000_000),
            best="count",
        ),
        ask(
            "How many countries in Western Africa have [French as an official language]?",
            "Region Western Africa: ^located_in_region",
            Where("official_language", "=", Topic("Language", "French")),
            best="count",
        ),
        ask(
            "How many holidays does Poland keep [in May 2025]?",
            "Country Poland: holiday_observance observed_holiday",
            Where("observed_on", "=", "2025-05", 1),
            best="count",
        ),
        ask(
            "How many currencies has Croatia [given up]?",
            "Country Croatia: currency_usage used_currency",
            Where("used_until", "exists", at=1),
            best="count",
        ),
        ask(
            "How many languages in Cyrillic script are [extinct]?",
            "Script Cyrillic: ^written_in_script",
            Where("language_type", "=", Topic("LanguageType", "Extinct language")),
            best="count",
        ),
    ),
    "between": (
        ask(
            "What languages do [more than 15 percent] of the people in Kenya speak?",
            "Country Kenya: language_usage spoken_language",
            Where("percent_of_population", ">", 15, 1),
        ),
        ask(
            "Which country [ranks first] in the production of lithium?",
            "Element Lithium: production_record production_country",
            Where("production_rank", "=", 1, 1),
        ),
        ask(
            "Which country holds [the third largest] reserves of copper?",
            "Element Copper: reserve_record reserve_country",
            Where("reserve_rank", "=", 3, 1),
        ),
        ask(
            "What does bismuth-212 become [by alpha decay]?",
            "Isotope Bismuth-212: decay_record decays_to",
            Where("decay_mode", "=", Topic("DecayMode", "Alpha decay"), 1),
        ),
        ask(
            "What are the capitals of those neighbours of Brazil that have [over 30 million people]?",
            "Country Brazil: borders capital",
            Where("population", ">", 30_000_000, 1),
        ),
        ask(
            "What is official in the neighbours of Switzerland [with fewer than ten million people]?",
            "Country Switzerland: borders official_language",
            Where("population", "<", 10_000_000, 1),
        ),
        ask(
            "What money is used in Western African countries [larger than a million square kilometres]?",
            "Region Western Africa: ^located_in_region official_currency",
            Where("area_km2", ">", 1_000_000, 1),
        ),
        ask(
            "Who discovered the lanthanides [found before 1840]?",
            "ElementGroup Lanthanides: ^element_category discovered_by",
            Where("discovery_year", "<", "1840", 1),
        ),
        ask(
            "Which language is [de facto official] in Morocco?",
            "Country Morocco: language_usage spoken_language",
            Where("legal_status", "contains", "de facto", 1),
        ),
        ask(
            "In which time zones are those neighbours of Germany that have [fewer than six million people]?",
            "Country Germany: borders has_timezone",
            Where("population", "<", 6_000_000, 1),
        ),
        ask(
            "Which countries of Northern Europe have taken up a currency [since 2011]?",
            "Region Northern Europe: ^located_in_region",
            Where("currency_usage used_from", ">=", "2011"),
        ),
        ask(
            "In which countries next to Kenya was life expectancy once [below 35 years]?",
            "Country Kenya: borders",
            Where("historical_record life_expectancy_years", "<", 35),
        ),
    ),
}
