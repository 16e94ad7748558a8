"""Questions that follow one path from one topic, one to three hops long."""

from collections.abc import Iterator
from typing import NamedTuple

from kgqa.scripts.sample.questions.draft import Branch, Draft, Kind, Topic, in_turns, path


class Chain(NamedTuple):
    """Wordings and topics for one path; topics take the wordings in turn."""

    topic_kind: str
    path: str
    wordings: tuple[str, ...]
    topics: tuple[str, ...]


def drafts() -> Iterator[Draft]:
    """Every topic in one wording, the first of each family in two."""
    for family in (*ONE_HOP, *TWO_HOPS, *THREE_HOPS):
        for name, wording in in_turns(family.topics, family.wordings):
            branch = Branch(Topic(family.topic_kind, name), path(family.path))
            yield Draft(Kind.CHAIN, wording.format(branch.topic.mention), (branch,))


ONE_HOP = (
    Chain(
        "Country",
        "capital",
        ("Which city is the capital of {}?", "From which city is {} governed?"),
        ("Mongolia", "Uruguay", "Bhutan", "Senegal"),
    ),
    Chain(
        "Country",
        "borders",
        ("Which countries would you enter by crossing a land border of {}?", "Who are the neighbours of {}?"),
        ("Laos", "Zambia", "Bolivia", "Austria"),
    ),
    Chain(
        "Country",
        "official_language",
        ("Which languages have official status in {}?", "What are the official languages of {}?"),
        ("Belgium", "Paraguay", "Sri Lanka", "Rwanda"),
    ),
    Chain(
        "Country",
        "calling_code",
        ("Which dialling code reaches a phone in {}?", "What do I dial before a number in {}?"),
        ("Ghana", "Iceland", "Fiji"),
    ),
    Chain(
        "Country",
        "demonym",
        ("What do you call a person from {}?", "What is the demonym for the people of {}?"),
        ("Botswana", "Lesotho", "Monaco"),
    ),
    Chain(
        "Country",
        "internet_domain",
        ("Websites from {} end in which top-level domain?", "What is the internet suffix of {}?"),
        ("Estonia", "Jamaica", "Croatia"),
    ),
    Chain(
        "Language",
        "written_in_script",
        ("Which script is {} written in?", "What writing system would I learn in order to read {}?"),
        ("Amharic", "Kazakh", "Marathi", "Persian"),
    ),
    Chain(
        "Language",
        "^official_language",
        ("Where is {} an official language?", "Which countries have given {} official status?"),
        ("Swahili", "Dutch", "Portuguese", "Malay"),
    ),
    Chain(
        "Currency",
        "^official_currency",
        ("In which places can you pay with the {}?", "Where is the {} legal tender?"),
        ("West African CFA Franc", "Danish Krone", "East Caribbean Dollar", "Australian Dollar"),
    ),
    Chain(
        "Region",
        "^located_in_region",
        ("Which countries make up {}?", "Name the countries that lie in {}."),
        ("Central Asia", "Melanesia", "Northern Africa"),
    ),
    Chain(
        "Element",
        "discovered_by",
        ("Who discovered {}?", "To which scientists do we owe the discovery of {}?"),
        ("Radium", "Fluorine", "Rubidium", "Hafnium"),
    ),
    Chain(
        "Element",
        "discovery_year",
        ("In what year was {} discovered?", "When did chemists first identify {}?"),
        ("Phosphorus", "Neon", "Francium"),
    ),
    Chain(
        "Person",
        "^discovered_by",
        ("Which chemical elements did {} discover?", "What elements are credited to {}?"),
        ("Humphry Davy", "William Ramsay", "Marie Curie", "Carl Gustaf Mosander"),
    ),
    Chain(
        "ElementGroup",
        "^element_family",
        ("Which elements belong to the {}?", "List the elements that chemists call {}."),
        ("Halogens", "Coinage metals", "Chalcogens"),
    ),
    Chain(
        "City",
        "^serves_city",
        ("Which airports serve {}?", "At which airports could I land if I were flying to {}?"),
        ("London", "Moscow", "Rio de Janeiro", "Tokyo"),
    ),
    Chain(
        "Airport",
        "iata_code",
        ("Which three-letter code is printed on a luggage tag for {}?", "What is the IATA code of {}?"),
        ("Jomo Kenyatta International Airport", "O. R. Tambo International Airport"),
    ),
)

TWO_HOPS = (
    Chain(
        "Country",
        "capital population",
        (
            "How many people live in the capital of {}?",
            "What is the population of the seat of government of {}?",
        ),
        ("Kenya", "Norway", "Vietnam"),
    ),
    Chain(
        "Country",
        "capital timezone",
        (
            "Which time zone applies in the capital of {}?",
            "By which time zone are clocks in the capital of {} set?",
        ),
        ("Nepal", "Chile", "Kazakhstan"),
    ),
    Chain(
        "Country",
        "borders capital",
        (
            "What are the capitals of the countries next to {}?",
            "Which capitals lie just across the borders of {}?",
        ),
        ("Thailand", "Paraguay", "Hungary", "Botswana"),
    ),
    Chain(
        "Country",
        "currency_usage used_currency",
        (
            "Which currencies have been in use in {} at one time or another?",
            "What money has {} used through the years?",
        ),
        ("Croatia", "Brazil", "Angola", "Lithuania"),
    ),
    Chain(
        "Country",
        "language_usage spoken_language",
        ("What languages do people in {} speak?", "Which languages would I hear in {}?"),
        ("Malta", "Luxembourg", "Namibia", "Senegal"),
    ),
    Chain(
        "Country",
        "holiday_observance observed_holiday",
        ("Which public holidays did {} have in 2025?", "On which holidays did offices in {} close in 2025?"),
        ("Jamaica", "Finland", "South Africa"),
    ),
    Chain(
        "Country",
        "official_currency currency_code",
        (
            "What is the currency code of the money used in {}?",
            "Under which ISO code is the currency of {} traded?",
        ),
        ("Mozambique", "Peru", "Thailand"),
    ),
    Chain(
        "Element",
        "production_record production_country",
        (
            "Which countries are the leading producers of {}?",
            "Where does most of the {} on the world market come from?",
        ),
        ("Lithium", "Cobalt", "Tin", "Tungsten"),
    ),
    Chain(
        "Element",
        "reserve_record reserve_country",
        ("Who holds the largest reserves of {}?", "In which countries does most of the remaining {} lie?"),
        ("Uranium", "Copper", "Lithium"),
    ),
    Chain(
        "Country",
        "^production_country ^production_record",
        (
            "Of which elements is {} one of the main producers?",
            "For what elements does the world look to {}?",
        ),
        ("Peru", "Canada", "Kazakhstan"),
    ),
    Chain(
        "Isotope",
        "decay_record decays_to",
        ("What does {} turn into when it decays?", "Which isotopes can {} decay to?"),
        ("Carbon-14", "Potassium-40", "Uranium-238", "Radon-222"),
    ),
    Chain(
        "Isotope",
        "decay_record decay_mode",
        ("In which ways does {} decay?", "What kinds of radioactive decay does {} undergo?"),
        ("Polonium-210", "Californium-252", "Bismuth-212"),
    ),
    Chain(
        "Holiday",
        "^observed_holiday ^holiday_observance",
        ("Which countries have a public holiday for {}?", "Where do people get a day off on {}?"),
        ("Diwali", "ANZAC Day", "Orthodox Christmas Day", "Chinese New Year"),
    ),
    Chain(
        "City",
        "located_in_country official_currency",
        ("Which currency would you need in {}?", "With what money do shoppers in {} pay?"),
        ("Zanzibar", "Bangalore", "Gothenburg", "Casablanca"),
    ),
    Chain(
        "Language",
        "^official_language capital",
        (
            "Which capitals belong to countries whose official language is {}?",
            "In which capitals is {} official?",
        ),
        ("Italian", "Swedish", "Quechua"),
    ),
    Chain(
        "Element",
        "discovered_by ^discovered_by",
        (
            "Which elements were found by the discoverer of {}, including that one?",
            "What is the full list of elements discovered by whoever discovered {}?",
        ),
        ("Sodium", "Palladium", "Uranium"),
    ),
)

THREE_HOPS = (
    Chain(
        "City",
        "^capital borders capital",
        (
            "What are the capitals of the neighbours of the country governed from {}?",
            "Which capitals lie across the border from the country whose capital is {}?",
        ),
        ("Kathmandu", "Vienna", "Quito"),
    ),
    Chain(
        "Airport",
        "serves_city located_in_country official_language",
        (
            "Which official languages does the country have whose city is served by {}?",
            "Travellers landing at {} arrive in a city; what are the official languages of its country?",
        ),
        ("Kigali International Airport", "Brussels Airport", "Helsinki Vantaa Airport"),
    ),
    Chain(
        "Element",
        "production_record production_country capital",
        (
            "From which capitals are the main producers of {} governed?",
            "What are the capitals of the top producers of {}?",
        ),
        ("Cobalt", "Uranium", "Helium"),
    ),
    Chain(
        "Country",
        "language_usage spoken_language written_in_script",
        (
            "Which scripts are used for the languages spoken in {}?",
            "In what scripts are the languages of {} written?",
        ),
        ("Georgia", "Singapore", "Ethiopia"),
    ),
    Chain(
        "Isotope",
        "decay_record decays_to isotope_of",
        ("Which elements come into being when {} decays?", "Into what elements does {} transmute?"),
        ("Cobalt-60", "Americium-241", "Potassium-40"),
    ),
    Chain(
        "Currency",
        "^used_currency ^currency_usage capital",
        (
            "What are the capitals of the countries that have ever used the {}?",
            "In which capitals has the {} been the money of the country at some time?",
        ),
        ("South African Rand", "Russian Ruble", "Indian Rupee"),
    ),
    Chain(
        "Person",
        "^discovered_by production_record production_country",
        (
            "Which countries lead in producing an element that {} discovered?",
            "Where are the elements found by {} mainly produced today?",
        ),
        ("Martin Heinrich Klaproth", "Smithson Tennant", "Carl Wilhelm Scheele"),
    ),
    Chain(
        "Holiday",
        "^observed_holiday ^holiday_observance located_in_continent",
        (
            "On which continents is {} a public holiday somewhere?",
            "Which continents have countries that celebrate {}?",
        ),
        ("Diwali", "Corpus Christi", "Lunar New Year"),
    ),
    Chain(
        "Language",
        "^official_language official_currency currency_code",
        (
            "What are the codes of the currencies used where {} is official?",
            "Which currency codes belong to countries with {} as an official language?",
        ),
        ("Swahili", "German", "Malay"),
    ),
)
