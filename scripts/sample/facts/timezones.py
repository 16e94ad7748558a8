"""Time zones, the clock time they keep, and the countries they cover (CLDR)."""

from kgqa.scripts.sample.facts import countries
from kgqa.scripts.sample.graph import Graph, Iri
from kgqa.scripts.sample.sources import cldr, locale

KIND = "Timezone"


def add(graph: Graph) -> None:
    """Add time zones under their tz database names, for instance "Africa/Nairobi"."""
    for code, zones in sorted(cldr("territory_zones").items()):
        country = graph.find(countries.KIND, code)
        for zone in sorted(zones):
            if country and "/" in zone:
                graph.fact(country, "has_timezone", timezone(graph, zone))


def timezone(graph: Graph, name: str) -> Iri:
    """The time zone of this name, added when first asked for."""
    zone = graph.entity(KIND, name, name)
    clock = cldr("meta_zones").get(name)
    names = locale("en").meta_zones.get(clock, {}).get("long", {}) if clock else {}
    if label := names.get("standard") or names.get("generic"):
        graph.fact(zone, "keeps_clock_time", graph.entity("ClockTime", clock, label))
    return zone
