"""Written queries in words: each kind of part, and that what cannot be said is told to be there."""

import re

import pytest
from hypothesis import given, reject, settings, strategies as st

from kgqa.kg.drafts.reading import read_draft
from kgqa.kg.drafts.verbaliser import FURTHER, _Speaker, say_query
from kgqa.kg.proof.compilation import write_query
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.sparql.parsing import parse_query
from kgqa.tests.support import proofs

PREFIXES = "PREFIX r: <http://x/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
PREFIXES += "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
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
            f"things {FURTHER}",
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
            'things whose department is Bolt or things whose "knows" is Cog',
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
            'for each department of something whose "knows" is Bolt or something whose "knows" is Cog: '
            'the number of (things whose "knows" is Bolt or things whose "knows" is Cog) '
            "whose department it is",
        ),
        (
            "SELECT (COUNT(?m) AS ?n) { ?m a r:Emp } HAVING (COUNT(?m) > 3)",
            "the number of employees where the number of employees is more than 3",
        ),
        ("SELECT ?m { r:b ?p ?m }", f"things {FURTHER}"),
        (
            "SELECT ?m { ?m a r:Emp FILTER EXISTS { ?m r:boss ?b FILTER(?b != r:c) } }",
            f"employees with any boss {FURTHER}",
        ),
        (
            "SELECT ?m { ?m a r:Emp ; r:pay ?s ; r:cost ?c FILTER(?s > ?c) }",
            "each employee where its pay is more than its cost",
        ),
        (
            "SELECT ?m { ?m a r:Emp { SELECT ?m { ?m r:pay ?s } ORDER BY ?s LIMIT 3 } }",
            f"employees with any pay {FURTHER}",
        ),
    ],
)
def test_queries_in_words(query: str, said: str) -> None:
    assert say_query(PREFIXES + query, NAMES) == said


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        *(
            (f"; r:p ?b FILTER({test})", f"Ts with any p {FURTHER}")
            for test in (
                "LANG(?b) IN ('', 'en')",
                "CONTAINS(CONCAT(?b, 'x'), 'q')",
                "CONTAINS('q', ?b)",
                "true",
                "BOUND(?b) || true",
                "?b",
                "YEAR(?b) IN (1, 2)",
                "?b IN ()",
                "?b IN (?c)",
                "?b IN (1, ?a)",
                "?b NOT IN (?a)",
            )
        ),
        (
            "; r:p ?b FILTER(YEAR(?b + ?c) = 1)",
            f"each T where the year of (its p plus c) is 1 {FURTHER}",
        ),
        (
            "; r:p ?b FILTER(r:f(?b) > 3)",
            f"each T where what is computed of its p is more than 3 {FURTHER}",
        ),
        ("; r:p ?b FILTER(REGEX(STR(?b), 'x'))", 'Ts whose p is something like "x"'),
        ("; r:p ?b FILTER(xsd:decimal(?b) > 3)", "Ts whose p is more than 3"),
        ("FILTER(!EXISTS { ?a r:p ?b })", f"Ts {FURTHER}"),
        ("FILTER(EXISTS { ?a r:p ?b } || ?a = r:k)", f"Ts {FURTHER}"),
        ("FILTER(EXISTS { ?a r:p ?b } && ?a = r:k)", "Ts that are k and with any p"),
        ("FILTER NOT EXISTS { ?a r:p ?b FILTER(?b > 3) }", f"Ts {FURTHER}"),
        ("FILTER NOT EXISTS { ?a r:p ?b . ?b r:q* ?c }", f"Ts {FURTHER}"),
        ("FILTER NOT EXISTS { SELECT ?a { ?a r:p ?b } }", f"Ts {FURTHER}"),
        ("; r:q ?b FILTER NOT EXISTS { ?a r:p ?b }", f"Ts with any q {FURTHER}"),
        ("VALUES ?b { r:k } FILTER NOT EXISTS { ?a r:p ?b }", f"Ts {FURTHER}"),
        ("MINUS { ?a r:p ?b FILTER(?b > 3) }", f"Ts {FURTHER}"),
        ("MINUS { ?a r:p ?b MINUS { ?b r:q r:k } }", f"Ts {FURTHER}"),
        ("; r:partOf* r:k", f"Ts {FURTHER}"),
        ("; r:in/r:partOf* r:k", f"Ts that are in something {FURTHER}"),
        ("; r:p? r:k", f"Ts {FURTHER}"),
        ("; !(r:p|^r:q) r:k", f"Ts {FURTHER}"),
        ("; (^r:p)+ r:k", f"Ts {FURTHER}"),
        ("OPTIONAL { ?a r:city ?c } FILTER(?c = 'Ulm')", f"Ts {FURTHER}"),
        ("BIND(r:k AS ?z) ?a r:p ?z", "Ts whose p is k"),
        (
            "; r:p ?b ; r:q ?c VALUES (?b ?c) { (1 2) (3 4) }",
            f"Ts whose p is 1 or 3 and whose q is 2 or 4 {FURTHER}",
        ),
        ("; r:p ?b VALUES ?b { 1 UNDEF }", f"Ts with any p {FURTHER}"),
        ("OPTIONAL { VALUES ?b { 1 } ?a r:p ?b }", f"Ts {FURTHER}"),
        ("; r:pay ?x { SELECT (MAX(?y) AS ?x) { ?b r:pay ?y } }", f"Ts with any pay {FURTHER}"),
        ("{ SELECT ?a { ?a r:p ?b } OFFSET 3 }", f"Ts with any p {FURTHER}"),
    ],
)
def test_no_condition_is_left_out_or_turned(condition: str, said: str) -> None:
    assert say_query(f"{PREFIXES} SELECT ?a {{ ?a a r:T {condition} }}", {}) == said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT ?k { ?k rdfs:subClassOf* r:Tool }", f"things {FURTHER}"),
        ("SELECT (1 AS ?n) { }", f"things {FURTHER}"),
        ("SELECT ?a { GRAPH r:g { ?a a r:T } }", f"Ts {FURTHER}"),
        ("SELECT ?a FROM r:g { ?a a r:T }", f"Ts {FURTHER}"),
        (
            "SELECT (COUNT(?a) AS ?n) { ?a a r:T ; r:p ?b ; r:q ?c FILTER(?b > ?c) }",
            "the number of Ts with any p and with any q where its p is more than its q",
        ),
        ("ASK { r:k r:p ?b . r:m r:p ?c FILTER(?b > ?c) }", "whether the p of k is more than the p of m"),
        (
            "ASK { ?a a r:T ; r:p ?b ; r:q ?c FILTER(?b > ?c) }",
            "whether there is any T where its p is more than its q",
        ),
        (
            "ASK { { SELECT ?a (COUNT(?b) AS ?n) { ?a a r:T ; r:p ?b } GROUP BY ?a } FILTER(?n > 3) }",
            "whether there is any T with more than 3 ps",
        ),
        ("SELECT ?a ((?b * 1.0 / 60) AS ?z) { ?a r:p ?b }", "for each thing with any p: its p divided by 60"),
        ("ASK { FILTER NOT EXISTS { ?a r:p ?b } }", f"whether there is something {FURTHER}"),
        (
            "ASK { { SELECT (COUNT(?b) AS ?n) { ?a r:p ?b } } FILTER(?n > 5) }",
            "whether the number of ps of something is more than 5",
        ),
        ("SELECT (COUNT(?a) AS ?n) { ?a a r:T OPTIONAL { ?a r:p ?b } }", "the number of Ts"),
        ("SELECT (COUNT(?b) AS ?n) { ?a a r:T OPTIONAL { ?a r:p ?b } }", "the number of ps of Ts"),
        ("SELECT (COUNT(*) AS ?n) { ?a a r:T ; r:p 3 }", "the number of Ts whose p is 3"),
        (
            "SELECT (COUNT(*) AS ?n) { ?a a r:T ; r:p ?b FILTER(?b > 3) }",
            "the number of rows for Ts whose p is more than 3",
        ),
        (
            "SELECT (COUNT(*) AS ?n) { { ?a r:p 1 } UNION { ?a r:q 2 } }",
            "the number of rows for things whose p is 1 or things whose q is 2",
        ),
        (
            "SELECT ?a ?b { ?a a r:T OPTIONAL { ?a r:p ?b } FILTER(?b > 3) }",
            f"for each T: its p that is more than 3 if there is any {FURTHER}",
        ),
        ("SELECT (COUNT(*) AS ?n) { ?a r:partOf* r:k }", f"the number of rows {FURTHER}"),
        ("SELECT (AVG(xsd:decimal(?b)) AS ?n) { ?a a r:T ; r:p ?b }", "the average of ps of Ts"),
        (
            "SELECT (AVG(?n) AS ?m) { SELECT ?d (COUNT(?e) AS ?n) { ?e r:dept ?d } GROUP BY ?d }",
            f"the average of n {FURTHER}",
        ),
        (
            "SELECT ?year (COUNT(?f) AS ?n) { ?f a r:T ; r:date ?d } GROUP BY (YEAR(?d) AS ?year)",
            "for each year of the date of Ts: the number of Ts with any date",
        ),
        *(
            (
                f"SELECT (YEAR(?d) AS ?year) (COUNT(?f) AS ?n) {{ ?f a r:T ; r:date ?d }} GROUP BY {key}",
                f"for each group: year and the number of Ts with any date {FURTHER}",
            )
            for key in ("YEAR(?d)", "(YEAR(?d))")
        ),
        (
            "SELECT ?a (((?b + ?c) * 2) AS ?z) { ?a r:p ?b ; r:q ?c }",
            "for each thing with any p and with any q: (its p plus its q) times 2",
        ),
        (
            "SELECT ?a ((?b - (?c - ?b)) AS ?z) { ?a r:p ?b ; r:q ?c }",
            "for each thing with any p and with any q: its p minus (its q minus its p)",
        ),
        (
            "SELECT ?a ?n { ?a a r:T OPTIONAL { ?a r:city ?c . ?c r:name ?n } OPTIONAL { ?a r:p ?b } }",
            "for each T: the name of its city if there is any",
        ),
    ],
)
def test_what_is_shown_is_what_is_asked(query: str, said: str) -> None:
    assert say_query(PREFIXES + query, {}) == said


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


TERMS = st.sampled_from(["?a", "?b", "?c", "r:k", "1", "'x'"])
PATHS = st.sampled_from(
    ["a", "r:p", "r:p*", "r:p/r:q?", "^r:p", "(^r:p)+", "!(r:p|^r:q)", "r:p|^r:q", "?p", "<p>"]
)


def compose(form: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda drawn: form.format(*drawn))


def expressions(patterns: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        TERMS | st.sampled_from(["true", "EXISTS { ?a r:p ?b }", "NOW()", "r:f()"]),
        lambda inner: st.one_of(
            *(
                compose(form, inner, inner)
                for form in (
                    "({} && {})",
                    "({} || {})",
                    "({} = {})",
                    "({} IN ({}))",
                    "({} NOT IN ())",
                    "({} - {})",
                    "({} * {})",
                    "CONTAINS({}, {})",
                    "REGEX({}, {})",
                    "IF({}, {}, 1)",
                )
            ),
            *(
                compose(form, inner)
                for form in ("YEAR({})", "xsd:decimal({})", "STR({})", "r:f({})", "(!{})", "(-{})")
            ),
            compose("NOT EXISTS {{ {} }}", patterns),
        ),
        max_leaves=5,
    )


TRIPLES = compose("{} {} {} .", st.sampled_from(["?a", "?b", "r:k"]), PATHS, TERMS)
PATTERNS = st.recursive(
    TRIPLES | st.sampled_from(["", "VALUES ?b { 1 UNDEF }", "VALUES (?a ?b) { (1 2) }"]),
    lambda inner: st.one_of(
        compose("{} {}", inner, inner),
        compose("OPTIONAL {{ {} }}", inner),
        compose("MINUS {{ {} }}", inner),
        compose("{{ {} }} UNION {{ {} }}", inner, inner),
        compose("GRAPH r:g {{ {} }}", inner),
        compose("FILTER({})", expressions(inner)),
        compose(
            "{{ SELECT ?a (COUNT(?b) AS ?n) {{ {} }} GROUP BY ?a HAVING({}) }}", inner, expressions(TRIPLES)
        ),
        compose("BIND({} AS ?{})", expressions(TRIPLES), st.sampled_from("xyz")),
    ),
    max_leaves=5,
)
FORMS = (
    "ASK {{ ?a a r:T . {} }}",
    "SELECT ?a {{ ?a a r:T . {} }}",
    "SELECT * {{ ?a a r:T . {} }} ORDER BY ({})",
    "SELECT ?a ({} AS ?s) {{ ?a a r:T . {} }}",
    "SELECT (SUM({}) AS ?s) {{ ?a a r:T . {} }}",
    "SELECT ?b (AVG({}) AS ?s) {{ ?a a r:T . {} }} GROUP BY ?b ({}) HAVING({})",
    "SELECT (COUNT(*) AS ?s) {{ ?a a r:T . {} }} GROUP BY STR({})",
)


@settings(proofs.SETTINGS, max_examples=60)
@given(
    st.sampled_from(FORMS).flatmap(
        lambda form: compose(
            form,
            *(
                PATTERNS if before.endswith(". ") else expressions(TRIPLES)
                for before in form.split("{}")[:-1]
            ),
        )
    )
)
def test_no_query_is_unspeakable(query: str) -> None:
    try:
        parse_query(PREFIXES + query)
    except Exception:
        reject()  # a variable is bound twice, or what is counted is counted again
    assert _Speaker(read_draft(PREFIXES + query), {}).say().isprintable()
