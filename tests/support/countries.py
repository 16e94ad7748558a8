"""A graph of countries and capitals with names in many languages."""

NAMES = {
    "de": ("Germany", "Deutschland", "Allemagne", "德国", "Германия", "ドイツ", "ألمانيا"),
    "at": ("Austria", "Österreich", "Autriche", "奥地利", "Австрия", "オーストリア", "النمسا"),
    "ch": ("Switzerland", "Schweiz", "Suisse", "瑞士", "Швейцария", "スイス", "سويسرا"),
    "berlin": ("Berlin", "Berlin", "Berlin", "柏林", "Берлин", "ベルリン", "برلين"),
    "wien": ("Vienna", "Wien", "Vienne", "维也纳", "Вена", "ウィーン", "فيينا"),
    "bern": ("Bern", "Bern", "Berne", "伯尔尼", "Берн", "ベルン", "برن"),
}
LANGUAGES = ("en", "de", "fr", "zh", "ru", "ja", "ar")
FACTS = "e:de r:capital e:berlin . e:at r:capital e:wien . e:ch r:capital e:bern ."


def named_in(*languages: str) -> str:
    """Return the graph in Turtle, with its names in some of the languages."""
    labels = (
        f'e:{id} rdfs:label "{names[LANGUAGES.index(language)]}"@{language} .'
        for id, names in NAMES.items()
        for language in languages
    )
    return "\n".join([FACTS, *labels])
