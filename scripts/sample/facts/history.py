"""Countries through the years: population, life expectancy, income (Gapminder).

Each year of a country is a record behind `historical_record`.
"""

from kgqa.scripts.sample.facts import countries
from kgqa.scripts.sample.graph import Graph, Year, decimal, fold
from kgqa.scripts.sample.sources import read_csv


def add(graph: Graph) -> None:
    """Add the five-yearly records from 1952 to 2007."""
    codes = countries.by_name()
    for row in read_csv("gapminder", "gapminder.csv"):
        country = graph.find(countries.KIND, codes.get(fold(row["country"]), ""))
        if country is None:
            continue
        record = graph.mediator(country, "historical_record", row["year"])
        graph.fact(record, "record_year", Year(int(row["year"])))
        graph.fact(record, "recorded_population", int(row["pop"]))
        graph.fact(record, "life_expectancy_years", decimal(row["lifeExp"], 2))
        graph.fact(record, "gdp_per_capita_dollars", decimal(row["gdpPercap"], 0))
