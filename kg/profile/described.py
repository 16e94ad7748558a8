"""The profile of a graph that is described by itself: in VoID, or by SHACL shapes.

Sources: VoID (W3C note, 2011, §4.3 class and property partitions), SHACL (W3C, 2017, §2 and §4).
"""

from collections import defaultdict
from collections.abc import Mapping

from kgqa.kg.profile.building import Ask
from kgqa.kg.profile.profile import ClassProfile, Profile, PropertyProfile
from kgqa.kg.sparql import profile_queries as queries
from kgqa.kg.sparql.decoding import read_integer
from kgqa.kg.terms import Entity, Literal, is_iri


def read_description(ask: Ask) -> Profile:
    """Return the profile that a graph's VoID partitions give, else its shapes; an empty one without."""
    return _read_void(ask) or _read_shapes(ask) or Profile()


def _read_void(ask: Ask) -> Profile | None:
    members: dict[str, int] = {}
    properties = defaultdict[str, dict[str, PropertyProfile]](dict)
    for class_, n, relation, facts, having in ask(queries.void_partitions()):
        if class_ and is_iri(class_.id):
            members[class_.id] = max(members.get(class_.id, 0), read_integer(n))
            if relation and is_iri(relation.id):
                known = read_integer(facts)
                each = PropertyProfile(relation.id, read_integer(having) or known, known)
                properties[class_.id][relation.id] = each
    return _profile(members, properties)


def _read_shapes(ask: Ask) -> Profile | None:
    members: dict[str, int] = {}
    properties = defaultdict[str, dict[str, PropertyProfile]](dict)
    for class_, relation, kind, datatype, value in ask(queries.shapes()):
        if not (class_ and relation and is_iri(class_.id) and is_iri(relation.id)):
            continue
        members[class_.id] = 0
        known = properties[class_.id].get(relation.id) or PropertyProfile(relation.id, 0, 0)
        values = {*known.values, *([value] if isinstance(value, Literal) else ())}
        properties[class_.id][relation.id] = PropertyProfile(
            relation.id,
            0,
            0,
            ends={**known.ends, **({kind.id: 0} if isinstance(kind, Entity) else {})},
            datatypes={**known.datatypes, **({datatype.id: 0} if isinstance(datatype, Entity) else {})},
            values=tuple(sorted(values)),
            is_enumeration=bool(values),
        )
    return _profile(members, properties)


def _profile(
    members: Mapping[str, int], properties: Mapping[str, Mapping[str, PropertyProfile]]
) -> Profile | None:
    classes = [
        ClassProfile(
            id,
            n,
            n,
            properties=tuple(
                sorted(properties.get(id, {}).values(), key=lambda each: (-each.having, each.relation))
            ),
        )
        for id, n in members.items()
    ]
    return Profile(tuple(sorted(classes, key=lambda each: (-each.members, each.id)))) if classes else None
