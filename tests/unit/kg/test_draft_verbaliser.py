"""Written queries in words: each kind of part, and that what cannot be said is told to be there."""

import re

import pytest
from hypothesis import given, settings

from kgqa.kg.drafts.verbaliser import FURTHER, say_query
from kgqa.kg.proof.compilation import write_query
from kgqa.kg.proof.query import AnswerQuery
from kgqa.tests.support import proofs

PREFIXES = "PREFIX r: <http://x/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
NAMES = {
    **{f"http://x/{short}": name for short, name in (("Dept", "department"), ("Emp", "employee"))},
    **{"http://x/dept": "department", "http://x/b": "Bolt", "http://x/c": "Cog"},
}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT ?v { r:b r:weight ?v }", "the weight of Bolt"),
        ("SELECT ?m { ?m a r:Emp ; r:dept r:b }", "employees whose department is Bolt"),
        ("SELECT ?m { ?m a/rdfs:subClassOf* r:Emp }", "employees"),
        ("SELECT ?m { r:b r:boss+ ?m }", "the direct or indirect boss of Bolt"),
        ("SELECT ?m { ?m r:locatedIn+ r:b }", "things that are directly or indirectly located in Bolt"),
        ("SELECT ?m { ?m r:name|r:alias 'Ann' }", 'things whose name or alias is "Ann"'),
        (
            "SELECT ?m { ?m r:boss/r:name|r:alias 'Ann' }",
            'things whose boss, name or alias is "Ann" and further conditions',
        ),
        ('SELECT ?m { ?m r:tag "new"@en ; r:size 5 }', 'things whose tag is "new" and whose size is 5'),
        ("SELECT ?m { VALUES ?d { r:b r:c } ?m r:dept ?d }", "things whose department is Bolt or Cog"),
        ("SELECT ?m { ?m a r:Emp ; r:pay ?s FILTER(?s >= 5) }", "employees whose pay is at least 5"),
        ("SELECT ?m { ?m r:age ?a FILTER(5 < ?a) }", "things whose age is more than 5"),
        (
            "SELECT ?m { ?m r:age ?a FILTER(?a < 40 || ?a > 60) }",
            "things whose age is less than 40 or more than 60",
        ),
        ("SELECT ?m { ?m r:born ?y FILTER(YEAR(?y) = 1990) }", "things whose born is in 1990"),
        ("SELECT ?m { ?m r:age ?a FILTER(?a IN (1, 2)) }", "things whose age is 1 or 2"),
        (
            "SELECT ?m { ?m r:name ?n FILTER(CONTAINS(LCASE(STR(?n)), 'ann')) }",
            'things whose name is something with "ann"',
        ),
        ("SELECT ?m { ?m a r:Emp FILTER(?m != r:b) }", "employees that are other than Bolt"),
        ("SELECT ?m { ?m a r:Emp FILTER NOT EXISTS { ?m r:boss ?b } }", "employees without any boss"),
        ("SELECT ?m { ?m a r:Emp FILTER EXISTS { ?m r:boss ?b } }", "employees with any boss"),
        (
            "SELECT ?m { ?m a r:Emp MINUS { ?m r:dept r:c } }",
            "employees excluding things whose department is Cog",
        ),
        (
            "SELECT ?m { { ?m r:dept r:b } UNION { ?m r:knows r:c } }",
            "things whose department is Bolt or things whose knows is Cog",
        ),
        ("ASK { r:b r:dept r:c }", "whether Bolt is something whose department is Cog"),
        ("ASK { ?m r:dept r:c }", "whether there is something whose department is Cog"),
        ("SELECT (COUNT(?m) AS ?n) { ?m a r:Emp }", "the number of employees"),
        (
            "SELECT (MAX(?s) AS ?n) { ?m a r:Emp ; r:pay ?s }",
            "the largest of pays of employees",
        ),
        (
            "SELECT (SUM(?q * ?p) AS ?t) { ?l r:quantity ?q ; r:price ?p ; r:of r:b }",
            "the sum of its quantity times its price over things that are of Bolt",
        ),
        (
            "SELECT ?m { ?m a r:Emp ; r:pay ?s } ORDER BY DESC(?s) LIMIT 1",
            "employees; in descending order of pay; the first one",
        ),
        (
            "SELECT ?m ?s ?c { ?m a r:Emp ; r:pay ?s ; r:office ?o . ?o r:city ?c }",
            "for each employee: its pay and the city of its office",
        ),
        (
            "SELECT ?n ?c { ?m a r:Emp ; r:name ?n OPTIONAL { ?m r:city ?c } }",
            "for each employee: its name and its city if there is any",
        ),
        (
            "SELECT ?d ?name (COUNT(?m) AS ?n) { ?d a r:Dept ; r:name ?name ; r:member ?m } "
            "GROUP BY ?d ?name HAVING (COUNT(?m) > 5)",
            "for each department with more than 5 members: its name and the number of its members",
        ),
        (
            "SELECT ?d (AVG(?s) AS ?n) { ?d a r:Dept . ?m a r:Emp ; r:dept ?d ; r:pay ?s FILTER(?s > 5) } "
            "GROUP BY ?d",
            "for each department: "
            "the average of pays of (employees whose department it is) that are more than 5",
        ),
        (
            "SELECT ?city (COUNT(?c) AS ?n) { ?c a r:Emp ; r:city ?city } GROUP BY ?city",
            "for each city of employees: the number of employees whose city it is",
        ),
        (
            "SELECT ?d ((?x - ?y) AS ?z) { ?d a r:Dept ; r:income ?x ; r:costs ?y }",
            "for each department with any income and with any costs: its income minus its costs",
        ),
        (
            "SELECT ?name ?n { ?d a r:Dept ; r:name ?name "
            "{ SELECT ?d (COUNT(?m) AS ?n) { ?m r:dept ?d } GROUP BY ?d } }",
            "for each department: its name and the number of things whose department it is",
        ),
        ("SELECT ?m { ?m a r:Emp . ?d a r:Dept }", f"employees {FURTHER}"),
        (
            "SELECT ?d (COUNT(?m) AS ?n) "
            "{ ?m r:dept ?d { ?m r:knows r:b } UNION { ?m r:knows r:c } } GROUP BY ?d",
            "for each department of something whose knows is Bolt or something whose knows is Cog: "
            "the number of (things whose knows is Bolt or things whose knows is Cog) whose department it is",
        ),
        (
            "SELECT (COUNT(?m) AS ?n) { ?m a r:Emp } HAVING (COUNT(?m) > 3)",
            f"the number of employees {FURTHER}",
        ),
        ("SELECT ?m { r:b ?p ?m }", f"things {FURTHER}"),
        (
            "SELECT ?m { ?m a r:Emp FILTER EXISTS { ?m r:boss ?b FILTER(?b != r:c) } }",
            f"employees with any boss {FURTHER}",
        ),
        (
            "SELECT ?m { ?m a r:Emp ; r:pay ?s ; r:cost ?c FILTER(?s > ?c) }",
            f"employees with any pay and with any cost {FURTHER}",
        ),
        (
            "SELECT ?m { ?m a r:Emp { SELECT ?m { ?m r:pay ?s } ORDER BY ?s LIMIT 3 } }",
            f"employees with any pay {FURTHER}",
        ),
    ],
)
def test_queries_in_words(query: str, said: str) -> None:
    assert say_query(PREFIXES + query, NAMES) == said


def test_what_is_no_query_is_not_said() -> None:
    assert say_query("SELECT ?x WHERE {", {}) is None


@settings(proofs.SETTINGS, max_examples=30)
@given(proofs.queries())
def test_no_topic_is_left_out_in_silence(query: AnswerQuery) -> None:
    said = say_query(write_query(query, types=(proofs.TYPE,)), {}) or ""
    topics = {chain.topic.id.rpartition("/")[2] for each in query.branches for chain in each.chains}
    words = {*re.split(r'[\s,()"]+', said)}
    assert said.isprintable()
    assert said.endswith(FURTHER) or topics - {"urn:kgqa:any"} <= words, said
