"""A workshop: tools of two kinds, who has made them, prices, and values of every kind."""

from kgqa.kg.opening import open_triples
from kgqa.kg.sparql_graph import SparqlGraph

E, R = "http://t/e/", "http://t/r/"

PREFIXES = f"""
@prefix e: <{E}> . @prefix r: <{R}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
"""

WORKSHOP = """
r:Saw rdfs:subClassOf r:Tool . r:Axe rdfs:subClassOf r:Tool .
e:m1 a r:Maker ; rdfs:label "Acme" ; r:city "Ulm" .
e:m2 a r:Maker ; rdfs:label "Bolt" ; r:city "Bonn" .
e:m3 a r:Maker ; rdfs:label "Cog" ; r:city "Ulm" .
e:p1 a r:Price ; r:amount 2.5 ; r:currency "EUR" .
e:p2 a r:Price ; r:amount 9.5 ; r:currency "EUR" .
e:p3 a r:Price ; r:amount 4 ; r:currency "EUR" .
e:p4 a r:Price ; r:amount 9.5 ; r:currency "EUR" .
e:t1 a r:Saw ; rdfs:label "Fine saw" ; r:madeBy e:m1 , e:m2 ; r:weight 7 ; r:stock "10" ; r:state "new" ;
    r:kind "saw"@en ; r:price e:p1 ; r:tested "2021-03-01"^^xsd:date ; r:fits e:t2 .
e:t2 a r:Saw ; rdfs:label "Coarse saw" ; r:madeBy e:m1 ; r:weight 9 ; r:stock "9" ; r:state "used" ;
    r:kind "saw"@en ; r:price e:p2 ; r:tested "2019-07-09"^^xsd:date ; r:fits e:t3 .
e:t3 a r:Axe ; rdfs:label "Hatchet" ; r:madeBy e:m2 ; r:weight 3 ; r:stock "120" ; r:state "new" ;
    r:kind "axe"@en ; r:price e:p3 ; r:tested "2022-01-01"^^xsd:date .
e:t4 a r:Axe ; rdfs:label "Felling axe" ; r:madeBy e:m2 ; r:weight 9 ; r:stock "7" ; r:state "used" ;
    r:kind "axe"@en ; r:price e:p4 ; r:tested "2020-05-05"^^xsd:date ; r:fits e:t3 .
"""


def open_workshop(more: str = "") -> SparqlGraph:
    """Open the workshop."""
    import pyoxigraph as ox

    store = ox.Store()
    store.load(f"{PREFIXES}{WORKSHOP}{more}".encode(), format=ox.RdfFormat.TURTLE)
    triples = store.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=ox.DefaultGraph())
    return open_triples(triples, "workshop")
