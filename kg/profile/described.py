"""The profile of a graph that is described by itself: in VoID, or by SHACL shapes.

Sources: VoID (W3C note, 2011, §4.3 class and property partitions), SHACL (W3C, 2017, §2 and §4).
"""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue

from kgqa.builds import replace_file
from kgqa.files import read_file
from kgqa.home import cache_folder
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


MAX_SECONDS_WAITED = 5.0
"""Until which a profile is waited for; then the graph is asked without one, and later calls have it."""

_log = logging.getLogger("kgqa.kg")


def kept_profile(fingerprint: str, make: Callable[[], Profile]) -> Profile:
    """Return the profile of a graph by its fingerprint, made now if it is new; empty where that takes long.

    It is made in a thread of its own, and kept for the next time, whoever still waits for it.
    """
    path = cache_folder() / "profiles" / f"{fingerprint}.json"
    with suppress(OSError, ValueError):
        return Profile.read(read_file(path))
    made: SimpleQueue[Profile] = SimpleQueue()

    def run() -> None:
        try:
            profile = make()
            made.put(profile)
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, lambda file: file.write(profile.write()))
        except Exception as error:  # the endpoint's, the disk's, or of a process that is ending
            made.put(Profile())
            _log.info("no profile of the endpoint: %s", error)

    threading.Thread(target=run, name="kgqa-profile", daemon=True).start()
    try:
        return made.get(timeout=MAX_SECONDS_WAITED)
    except Empty:
        return Profile()
