"""Questions that name no topic: about the members of a class, or about whatever has something."""

from kgqa.scripts.sample.questions.condition_draft import ConditionDraft, Where, ask

WITHOUT_TOPIC: dict[str, tuple[ConditionDraft, ...]] = {
    "class": (
        ask("Which country has the most inhabitants?", "class Country: ^type", best="argmax population"),
        ask(
            "Which countries have [more than 200 million inhabitants]?",
            "class Country: ^type",
            Where("population", ">", 200_000_000),
        ),
        ask(
            "Which cities have [more than 20 million people]?",
            "class City: ^type",
            Where("population", ">", 20_000_000),
        ),
        ask("Which country covers the largest area?", "class Country: ^type", best="argmax area_km2"),
        ask(
            "How many elements were discovered [in 1898]?",
            "class Element: ^type",
            Where("discovery_year", "=", "1898"),
            best="count",
        ),
        ask(
            "Which element has the highest melting point?",
            "class Element: ^type",
            best="argmax melting_point_kelvin",
        ),
        ask("What is the lightest element by weight?", "class Element: ^type", best="argmin atomic_weight"),
        ask("Which element has [atomic number 79]?", "class Element: ^type", Where("atomic_number", "=", 79)),
        ask("Which airport has the highest elevation?", "class Airport: ^type", best="argmax elevation_feet"),
        ask(
            "How many airports have an elevation of [more than 13,000 feet]?",
            "class Airport: ^type",
            Where("elevation_feet", ">", 13_000),
            best="count",
        ),
        ask(
            "Which currencies have [four decimal digits]?",
            "class Currency: ^type",
            Where("decimal_digits", "=", 4),
        ),
        ask("Which continents are there?", "class Continent: ^type"),
        ask("How many countries are there?", "class Country: ^type", best="count"),
        ask("Which country has [calling code 41]?", "class Country: ^type", Where("calling_code", "=", "41")),
        ask(
            "Which isotope has the longest half-life?",
            "class Isotope: ^type",
            best="argmax half_life_seconds",
        ),
        ask(
            "How many isotopes have [a mass number of 200]?",
            "class Isotope: ^type",
            Where("mass_number", "=", 200),
            best="count",
        ),
        ask(
            "Which elements have a boiling point [below 100 kelvin]?",
            "class Element: ^type",
            Where("boiling_point_kelvin", "<", 100),
        ),
        ask("Which city has the highest latitude?", "class City: ^type", best="argmax latitude"),
        ask(
            "Which holidays are observed [on 4 July 2025]?",
            "class Holiday: ^type",
            Where("^observed_holiday observed_on", "=", "2025-07-04"),
        ),
        ask(
            "Which countries have [no official currency]?",
            "class Country: ^type",
            Where("official_currency", "not exists"),
        ),
        ask(
            "Of which elements were isotopes found [in 1913]?",
            "class Isotope: ^type isotope_of",
            Where("discovery_year", "=", "1913", 1),
        ),
        ask(
            "Which continents have countries of [more than 1,000,000,000 inhabitants]?",
            "class Continent: ^type",
            Where("^located_in_continent population", ">", 1_000_000_000),
        ),
    ),
    "anything": (
        ask(
            "Who discovered something [in 1772]?",
            "anything: ^discovery_year discovered_by",
            Where("discovery_year", "=", "1772", 1),
        ),
        ask(
            "What was discovered [in 1669]?",
            "anything: ^discovery_year",
            Where("discovery_year", "=", "1669"),
        ),
        ask(
            "What has a melting point [above 3,600 kelvin]?",
            "anything: ^melting_point_kelvin",
            Where("melting_point_kelvin", ">", 3600),
        ),
        ask(
            "What has [an electronegativity above 3.4]?",
            "anything: ^electronegativity",
            Where("electronegativity", ">", 3.4),
        ),
        ask(
            "What has the greatest density?", "anything: ^density_g_per_cm3", best="argmax density_g_per_cm3"
        ),
        ask(
            "What has a population of [more than a billion]?",
            "anything: ^population",
            Where("population", ">", 1_000_000_000),
        ),
        ask(
            "What has the shortest half-life?",
            "anything: ^half_life_seconds",
            best="argmin half_life_seconds",
        ),
        ask("Which crystal structures do things have?", "anything: crystal_structure"),
    ),
}
