"""A club whose records are easily wrong: crowds, nodes without a name, values that are there twice."""

from dataclasses import replace
from pathlib import Path

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.labels import replay

E, R = "http://t/e/", "http://t/r/"

MEMBERS = range(90)
"""Of the club; each twelfth has no name. More than a record has facts for, and a cut page holds."""


def text() -> str:
    """Return the graph as Turtle."""
    lines = ['e:club rdfs:label "Club" ; r:motto "Ad astra"@en, "Ad astra"@la, "7", 7, "Go"@en .']
    lines += ['e:guild rdfs:label "Guild" ; r:seat e:town1 ; r:motto "Go"@de, "Go" .']
    lines += ['e:hermit rdfs:label "Hermit" ; r:river e:danube . e:danube rdfs:label "Danube" .']
    lines += [f'e:town{at} rdfs:label "Town {at}" ; r:lies_in e:land{at % 2} .' for at in range(5)]
    lines += [f'e:land{at} rdfs:label "Land {at}" ; r:currency "C{at}" .' for at in range(2)]
    lines += ['e:Person rdfs:label "person" .']
    for at in MEMBERS:
        name = f'rdfs:label "Member {at:02}" ; ' if at % 12 else ""
        lines.append(f"e:club r:member e:m{at} . e:m{at} {name}a e:Person ; r:age {20 + at % 37} .")
        lines.append(f"e:m{at} r:lives_in e:town{at % 5} .")
        lines += [f"e:guild r:admits e:m{at} ."] * (at % 2)
        lines += [f"e:club r:friend e:m{at} ."] * (at % 3 == 0)
        lines += [f"e:m{at} r:post e:p{at} . e:p{at} r:title e:t{at % 4} ; r:since {1990 + at % 9} ."]
    lines += [f'e:t{at} rdfs:label "Title {at}" .' for at in range(4)]
    return PREFIXES + "\n".join(lines)


def write(folder: Path) -> Path:
    """Write the graph to a file."""
    file = folder / "club.ttl"
    file.write_text(text(), encoding="utf-8")
    return file


ASKED = (
    ("Who are the members of Club?", {"club": "member"}),
    ("Who are the friends of Club?", {"club": "friend"}),
    ("Where do the members of Club live?", {"club": "member lives_in"}),
    ("In which land do the members of Club live?", {"club": "member lives_in lies_in"}),
    ("Which titles have the members of Club?", {"club": "member post title"}),
    ("Since when have the members of Club their posts?", {"club": "member post since"}),
    ("What is the motto of Club?", {"club": "motto"}),
    ("What is the motto of Guild?", {"guild": "motto"}),
    ("Who lives in Town 1?", {"town1": "^lives_in"}),
    ("Who lives in Land 1?", {"land1": "^lies_in ^lives_in"}),
    ("Who is as old as those of Town 3?", {"town3": "^lives_in age ^age"}),
    ("Who of Club was admitted to Guild?", {"club": "member", "guild": "admits"}),
    ("Which friends of Club live in Town 2?", {"club": "friend", "town2": "^lives_in"}),
    ("Which members of Club live in Land 0?", {"club": "member", "land0": "^lies_in ^lives_in"}),
    ("Which towns of those of Guild lie in Land 1?", {"guild": "admits lives_in", "land1": "^lies_in"}),
    ("Which posts of Club came since those of Guild?", {"club": "member post", "guild": "admits post"}),
)
"""Questions, and the relations that lead to their answers from each topic."""

PASSED_OVER = (
    ("Who of Hermit are members of Club?", "club", "member"),
    ("Where is Hermit?", "guild", "seat"),
)
"""Questions, one topic of which is on no way to the answers that a search finds."""

COUNTED = (
    ("How many members has Club?", {"club": "member"}),
    ("How many friends of Club live in Town 2?", {"club": "friend", "town2": "^lives_in"}),
    ("How many posts have the members of Club?", {"club": "member post"}),
)
CLAIMED = (
    ("Is Guild seated in Town 1?", "guild town1", "yes"),
    ("Is Guild seated in Town 2?", "guild town2", "no"),
)


def questions() -> list[Question]:
    """Return the questions with the answers that the graph gives, by rdflib."""
    graph = replay.rdflib.Graph().parse(data=text(), format="turtle")
    asked = [_question(f"ways {at}", *each, graph) for at, each in enumerate(ASKED)]
    for at, (said, topic, relation) in enumerate(PASSED_OVER):
        alone = _question(f"passed over {at}", said, {topic: relation}, graph)
        asked.append(replace(alone, topics=(*alone.topics, _named("hermit", graph))))
    for at, (said, ways) in enumerate(COUNTED):
        counted = _question(f"counted {at}", said, ways, graph)
        number = str(len(counted.gold))
        asked.append(replace(counted, readings=((EntityRef(number, number),),)))
    for at, (said, topics, answer) in enumerate(CLAIMED):
        named = tuple(_named(topic, graph) for topic in topics.split())
        asked.append(Question(f"claimed {at}", said, named, ((EntityRef(None, answer),),)))
    return [*asked, *_conditions(graph)]


def _conditions(graph: replay.rdflib.Graph) -> list[Question]:
    age = (Hop(f"{R}age"),)
    member = Chain(Entity(f"{E}club"), (Hop(f"{R}member"),))
    older = Condition(1, age, ">", Literal("50", f"{replay.rdflib.XSD}integer"), "older than 50")
    branches = (Branch(member, (1,)),)
    queries = {
        "Which members of Club are older than 50?": AnswerQuery(branches, 1, (older,)),
        "Who is the oldest member of Club?": AnswerQuery(branches, 1, (), Aggregate("argmax", age, 1)),
        "How many members of Club are older than 50?": AnswerQuery(branches, 1, (older,), Aggregate("count")),
    }
    where = f"<{E}club> <{R}member> ?answer . ?answer <{R}age> ?age ."
    old = f"SELECT ?answer WHERE {{ {where} FILTER(?age > 50) }}"
    older_still = f"<{E}club> <{R}member>/<{R}age> ?more FILTER(?more > ?age)"
    oldest = f"SELECT ?answer WHERE {{ {where} FILTER NOT EXISTS {{ {older_still} }} }}"
    count = f"SELECT (COUNT(DISTINCT ?answer) AS ?n) WHERE {{ {where} FILTER(?age > 50) }}"
    found = []
    for at, ((said, query), sparql) in enumerate(zip(queries.items(), (old, oldest, count), strict=True)):
        gold = tuple(EntityRef(str(row), _label(row, graph)) for row in replay.run(sparql, graph))
        path = GoldPath(f"{E}club", (f"{R}member",))
        topics = (_named("club", graph),)
        found.append(Question(f"condition {at}", said, topics, (gold,), (path,), query=query))
    return found


def _question(id: str, said: str, ways: dict[str, str], graph: replay.rdflib.Graph) -> Question:
    ends = [set(replay.follow(_steps(topic, way), graph)) for topic, way in ways.items()]
    gold = tuple(EntityRef(str(end), _label(end, graph)) for end in sorted(set.intersection(*ends)))
    paths = tuple(
        GoldPath(f"{E}{topic}", tuple(_relation(hop) for hop in way.split())) for topic, way in ways.items()
    )
    return Question(id, said, tuple(_named(topic, graph) for topic in ways), (gold,), paths)


def _relation(hop: str) -> str:
    return f"^{R}{hop[1:]}" if hop.startswith("^") else f"{R}{hop}"


def _steps(topic: str, way: str) -> list[dict[str, object]]:
    heads = [f"{E}{topic}", *[None] * len(way.split())]
    return [
        {
            "head": {"id": head},
            "relation": f"{R}{hop.removeprefix('^')}",
            "forward": hop[0] != "^",
            "tail": {"id": None},
        }
        for head, hop in zip(heads, way.split(), strict=False)
    ]


def _named(topic: str, graph: replay.rdflib.Graph) -> EntityRef:
    return EntityRef(f"{E}{topic}", _label(replay.rdflib.URIRef(E + topic), graph))


def _label(node: object, graph: replay.rdflib.Graph) -> str | None:
    if isinstance(node, replay.rdflib.Literal):
        return str(node)
    label = graph.value(node, replay.rdflib.RDFS.label)
    return None if label is None else str(label)
