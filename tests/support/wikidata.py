"""A few facts as Wikidata writes them, about invented people."""

FACTS = """
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> . @prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> . @prefix schema: <http://schema.org/> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .

wd:P39 rdfs:label "position held"@en ; wikibase:directClaim wdt:P39 .
wd:P40 rdfs:label "child"@en, "Kind"@de . wd:P31 rdfs:label "instance of"@en .
wd:P580 rdfs:label "start time"@en . wd:P281 rdfs:label "postal code"@en .
wd:P9001 rdfs:label "Almanac person ID"@en .

wd:Q1 rdfs:label "Adda Noll"@mul, "Adda N."@de ; skos:altLabel "Baroness Noll"@en ;
  schema:description "mayor"@en ; wdt:P31 wd:Q5 ; wdt:P40 wd:Q2 ; wdt:P646 "/m/0adda" ;
  wdt:P9001 "adda-1" ; wdt:P39 wd:Q3 ; p:P39 wds:Q1-AAAA-1 .
wds:Q1-AAAA-1 ps:P39 wd:Q3 ; pq:P580 1840 ; psv:P39 <http://www.wikidata.org/value/abc> ;
  wikibase:rank wikibase:NormalRank .
wd:Q2 rdfs:label "Bruno Noll"@en, "Noll"@de ; wdt:P31 wd:Q5 ; wdt:P646 "/m/0bruno" .
wd:Q3 rdfs:label "mayor of Ulm"@en ; wdt:P281 "89001" . wd:Q5 rdfs:label "human"@en .
<https://en.wikipedia.org/wiki/Adda_Noll> schema:about wd:Q1 .
"""
