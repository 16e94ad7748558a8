"""Every format, gzipped or not, and one clear line for what cannot be read."""

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from typing import cast

import pyoxigraph as ox
import pytest

from kgqa.kg.errors import KGError, KGMalformed, KGUnavailable
from kgqa.kg.opening import open_graph, open_triples
from kgqa.kg.store.loading import QuadReader
from kgqa.kg.terms import Chain, Entity, Hop

TRIPLE = "<http://x/a> <http://x/r> <http://x/b>"
FORMATS = {
    "g.nt": f"{TRIPLE} .",
    "g.ttl": "@prefix : <http://x/> . :a :r :b .",
    "g.turtle": "@prefix : <http://x/> . :a :r :b .",
    "g.nq": f"{TRIPLE} <http://x/g> .",
    "g.trig": "@prefix : <http://x/> . :g { :a :r :b }",
    "g.n3": "@prefix : <http://x/> . :a :r :b .",
    "g.rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://x/">'
    '<rdf:Description rdf:about="http://x/a"><r rdf:resource="http://x/b"/></rdf:Description></rdf:RDF>',
    "g.jsonld": '{"@id": "http://x/a", "http://x/r": {"@id": "http://x/b"}}',
    "g.trix": '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple><uri>http://x/a</uri>'
    "<uri>http://x/r</uri><uri>http://x/b</uri></triple></graph></TriX>",
    "g.hext": '["http://x/a", "http://x/r", "http://x/b", "globalId", "", ""]',
}
FORMATS["g.owl"] = FORMATS["g.xml"] = FORMATS["g.rdf"]
FORMATS["g.json"] = FORMATS["ld.rdf"] = FORMATS["g.jsonld"]
FORMATS["t.rdf"] = FORMATS["t.owl"] = FORMATS["t.xml"] = f"# Turtle\n{FORMATS['g.ttl']}"
CHAIN = Chain(Entity("http://x/a"), (Hop("http://x/r"),))


async def found(*paths):
    return [candidate.term.id for candidate in await open_graph(paths).follow_chain(CHAIN)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("zipped", [False, True])
async def test_format(tmp_path, name, zipped):
    path = tmp_path / (f"{name}.gz" if zipped else name)
    content = FORMATS[name].encode()
    path.write_bytes(gzip.compress(content) if zipped else content)
    assert await found(path) == ["http://x/b"]


async def test_upper_case_suffixes(tmp_path):
    (tmp_path / "G.NT.GZ").write_bytes(gzip.compress(FORMATS["g.nt"].encode()))
    assert await found(tmp_path / "G.NT.GZ") == ["http://x/b"]


async def test_several_files_are_one_graph(tmp_path):
    (tmp_path / "1.nt").write_text(f"{TRIPLE} .")
    (tmp_path / "2.ttl").write_text("<http://x/a> <http://x/r> <http://x/c>, <http://x/b> .")
    assert await found(tmp_path / "1.nt", str(tmp_path / "2.ttl")) == ["http://x/b", "http://x/c"]


async def test_blank_nodes_of_two_files_stay_apart(tmp_path):
    for name in "12":
        (tmp_path / f"{name}.nt").write_text("<http://x/a> <http://x/r> _:same .")
    assert await found(tmp_path / "1.nt", tmp_path / "2.nt") == ["_:b1", "_:b2"]


async def test_blank_nodes_have_the_same_ids_each_time(tmp_path):
    path = tmp_path / "g.ttl"
    path.write_text("<http://x/a> <http://x/r> [ <http://x/r> [] ], [] .")
    assert await found(path) == await found(path) != []


def test_fingerprint_depends_on_content_only(tmp_path):
    (tmp_path / "1.nt").write_text(f"{TRIPLE} .\n")
    (tmp_path / "2.nt.gz").write_bytes(gzip.compress(f"{TRIPLE} .\n".encode()))
    (tmp_path / "3.nt").write_text("<http://x/a> <http://x/r> 'other' .".replace("'", '"'))
    first, second, third = (open_graph([tmp_path / name]).fingerprint for name in ("1.nt", "2.nt.gz", "3.nt"))
    assert first == second != third


BOM = b"\xef\xbb\xbf"
FORMS = {
    "nt": f"{TRIPLE} .\n",
    "ttl": f"{TRIPLE} .\n",
    "csv": "head,relation,tail\nAda,lives in,Ulm\n",
    "rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
    '<rdf:Description rdf:about="http://x/a"><x:r rdf:resource="http://x/b"/></rdf:Description></rdf:RDF>',
    "jsonld": '{"@id": "http://x/a", "http://x/r": {"@id": "http://x/b"}}',
}
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", FORMS)
def test_a_file_is_the_same_compressed_or_marked_as_utf8(tmp_path, suffix):
    text, prints = FORMS[suffix].encode(), set()
    for packed, pack in PACKERS.items():
        for mark in (b"", BOM):
            (path := tmp_path / f"{len(mark)}.{suffix.upper()}{packed}").write_bytes(pack(mark + text))
            graph = open_graph([path])
            assert len(graph.relations) == 1
            prints.add(graph.fingerprint)
    assert len(prints) == 1


def wants_memory(text: bytes) -> bytes:
    """Pack into an .xz whose header asks for 512 MiB to unpack it."""
    packed = bytearray(lzma.compress(text))
    header = packed[12 : 12 + 4 * packed[12] + 4]
    header[4] = 34  # the size of its dictionary
    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    return bytes(packed[:12] + header + packed[12 + len(header) :])


def test_an_xz_of_several_streams_is_read_whole(tmp_path):
    lines = [f"<http://x/{n}> <http://x/r> <http://x/b> .\n".encode() for n in range(3)]
    path = tmp_path / "films.nt.xz"
    path.write_bytes(b"\0\0\0\0".join(map(lzma.compress, lines)) + b"\0\0\0\0")
    assert len([*QuadReader([path]).quads()]) == 3


MANY = b"".join(b"<http://x/%d> <http://x/r> <http://x/b> .\n" % i for i in range(999))
BAD = {
    "text.nt": (b"hello, I am no RDF\n", KGMalformed, "text.nt, line 1: not readable as nt: "),
    "late.nt": (f"{TRIPLE} .\n{TRIPLE}\n".encode(), KGMalformed, "late.nt, line "),
    "text.ttl": (b"<html><body>no</body></html>", KGMalformed, "text.ttl, line 1: not readable as ttl: "),
    "binary.ttl": (bytes(range(256)), KGMalformed, "binary.ttl"),
    "binary.nt": (bytes(range(256)), KGMalformed, "binary.nt"),
    "relative.nt": (b"<a> <b> <c> .", KGMalformed, "relative.nt, line 1"),
    "half.rdf": (b"<rdf:RDF", KGMalformed, "half.rdf"),
    "half.jsonld": (b'{"@id": ', KGMalformed, "half.jsonld"),
    "half.json": (b'{"@id": ', KGMalformed, "half.json, line 1: not readable as jsonld: "),
    "scalars.json": (b"[1, 2", KGMalformed, "scalars.json, line 1: not readable as jsonld: "),
    "rows.json": (b'[{"name": "Aller"}]', KGUnavailable, "rows.json is JSON, but no JSON-LD: "),
    "remote.jsonld": (
        b'{"@context": ["https://x.test/ctx", {"y": "http://y/"}], "@id": "http://x/a", "name": "b"}',
        KGMalformed,
        "its context stands elsewhere (https://x.test/ctx), and nothing is fetched; write the context itself",
    ),
    "local.json": (
        b'{"@context": "ctx.json", "@id": "http://x/a", "name": "b"}',
        KGMalformed,
        "its context stands elsewhere (ctx.json)",
    ),
    "entities.xml": (
        b'<!DOCTYPE Ontology [\n <!ENTITY a "http://a" >\n <!ENTITY b "http://b" >\n]>\n'
        b'<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>',
        KGUnavailable,
        "entities.xml is an ontology in OWL/XML, which is no RDF; save it as Turtle",
    ),
    "half.trix": (b"<TriX", KGMalformed, "half.trix"),
    "half.hext": (b"[", KGMalformed, "half.hext"),
    "cut.nt.gz": (gzip.compress(MANY)[:-99], KGMalformed, "cut.nt.gz: damaged or incomplete file: "),
    "no.nt.gz": (b"not gzip", KGMalformed, "no.nt.gz: damaged or incomplete file: "),
    "cut.ttl.bz2": (bz2.compress(MANY)[:-9], KGMalformed, "cut.ttl.bz2: damaged or incomplete file: "),
    "no.csv.bz2": (b"not bzip2", KGMalformed, "no.csv.bz2: "),
    "cut.nt.xz": (lzma.compress(MANY)[:-9], KGMalformed, "cut.nt.xz: damaged or incomplete file: "),
    "wide.nt.xz": (wants_memory(MANY), KGMalformed, "wide.nt.xz: damaged or incomplete file: Memory usage l"),
    "no.nt.xz": (b"not xz", KGMalformed, "no.nt.xz: damaged or incomplete file: "),
    "empty.nt": (b"", KGUnavailable, "empty.nt holds no triples"),
    "comment.ttl": (b"# nothing\n", KGUnavailable, "comment.ttl holds no triples"),
    "graph.txt": (b"x", KGUnavailable, "graph.txt: unknown kind of file; known are .csv, .hext, .json, "),
    "graph": (b"x", KGUnavailable, "graph: unknown kind of file"),
    "graph.gz": (b"x", KGUnavailable, "graph.gz: unknown kind of file"),
}  # fmt: skip


@pytest.mark.parametrize("value", ['{"@value": "v"}', '{"@list": ["v"]}', '{"@set": ["v"]}'])
def test_json_ld_needs_no_ids(tmp_path, value):
    (tmp_path / "g.json").write_text(f'[{{"http://x/r": [{value}]}}]', encoding="utf-8")
    assert [*QuadReader([tmp_path / "g.json"]).quads()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", BAD)
def test_unreadable_file(tmp_path, name):
    content, kind, line = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kind) as caught:
        open_graph([tmp_path / name])
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(KGUnavailable, match=r"^no such file: .*nowhere\.nt$"):
        open_graph([tmp_path / "nowhere.nt"])


def test_folder_that_is_no_store(tmp_path):
    with pytest.raises(KGUnavailable, match="is a folder, but not one"):
        open_graph([tmp_path])


def test_no_sources():
    with pytest.raises(KGError, match="no graph given"):
        open_graph([])


@pytest.mark.parametrize("iri", ["urn:kgqa:blank:b1", "\\u0075rn:kgqa:blank:b1"])
def test_what_a_filter_of_dumps_calls_blank_nodes_are_blank_nodes(iri: str, tmp_path: Path) -> None:
    """In all files the same, and none of those that are blank nodes there."""
    paths = [tmp_path / "one.nt", tmp_path / "two.nt"]
    for path in paths:
        path.write_text(
            f"_:a <http://x/r> <http://x/o> .\n<http://x/s> <http://x/r> <{iri}> .\n"
            f"<{iri}> <http://x/q> _:a .\n"
        )
    store = ox.Store()
    QuadReader(paths).load(store)
    read = {str(quad) for quad in QuadReader(paths).quads()}
    assert {str(quad) for quad in store} == read
    assert len({quad.subject for quad in store}) == 4  # s, what the filter has named, and two others
    assert len(read) == 5


@pytest.mark.parametrize("relation", ["urn:kgqa:blank:b1", "\\u0075rn:kgqa:blank:b1"])
def test_no_relation_stands_for_a_blank_node(relation: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.nt"
    path.write_text(f"_:a <http://x/r> <http://x/o> .\n<http://x/s> <{relation}> <http://x/o> .\n")
    with pytest.raises(KGMalformed, match="are blank nodes to kgqa; rename them"):
        list(QuadReader([path]).quads())
    with pytest.raises(KGMalformed, match="are blank nodes to kgqa; rename them"):
        QuadReader([path]).load(ox.Store())


async def test_blank_nodes_of_a_question_s_own_graph_lead_on() -> None:
    text = b"<http://x/a> <http://x/p> _:b1 .\n_:b1 <http://x/q> <http://x/c> .\n"
    graph = open_triples(text, "the graph of a question")
    chain = Chain(Entity("http://x/a"), (Hop("http://x/p"), Hop("http://x/q")))
    assert [end.term.id for end in await graph.follow_chain(chain)] == ["http://x/c"]
    (blank,) = await graph.follow_chain(chain.upto(1))
    assert Hop("http://x/q") in await graph.extend_chain(Chain(cast(Entity, blank.term)))


LINES = r"""# _:none
_:b2 <http://x/_:r> "_:no" .
<http://x/a> <http://x/r> _:b.2 . # _:none
  _:b2	<http://x/r>	_:b.2.
_:\u00e9 <http://x/r> "a\"_:b2 ." .
<http://x/\\u0061> <http://x/r> <<( <http://x/a> <http://x/r> <http://x/a> )>> .
<http://x/a> <http://x/r> "> _:b2" .""".replace("\\u00e9", "\u00e9").replace("\\\\", "\\")


@pytest.mark.parametrize(("name", "graph"), [("g.nt", ""), ("g.nq", " _:g ")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_nodes_are_named_in_the_text_as_in_parsed_triples(
    tmp_path: Path, name: str, graph: str, end: str
) -> None:
    path = tmp_path / name
    more = f"_:z <http://x/r> _:y {graph}.\n" * 2
    path.write_bytes(f"{LINES}\n{more}".replace("\n", end).encode())
    loaded, parsed = ox.Store(), ox.Store()
    (reader := QuadReader([path])).load(loaded)
    parsed.extend(QuadReader([path]).quads())
    assert set(loaded) == set(parsed) and len(loaded) == 7
    assert reader.fingerprint == open_graph([path]).fingerprint


@pytest.mark.parametrize("line", ["<http://x/a> _:p <http://x/b> .", "_:a- <http://x/r> _:\u00d7 ."])
def test_blank_nodes_where_none_may_be_are_not_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "g.nt").write_text(f"{TRIPLE} .\n{line}\n", encoding="utf-8")
    with pytest.raises(KGMalformed, match=r"g\.nt, line 2: "):
        open_graph([tmp_path / "g.nt"])


@pytest.mark.parametrize("packed", [False, True])
def test_how_much_is_read_is_told(tmp_path, packed):
    lines = "".join(f"<http://x/a{n}> <http://x/r> <http://x/b> .\n" for n in range(20_000)).encode()
    first, last = tmp_path / "a.nt", tmp_path / ("b.nt.gz" if packed else "b.ttl")
    first.write_bytes(lines)
    last.write_bytes(gzip.compress(lines) if packed else lines)
    told = list[float]()
    QuadReader([first, last], told.append).load(ox.Store())
    assert told == sorted(told)
    assert (0 < told[0] < 0.5 or packed, told[-1], len(set(told)) >= 5) == (True, 1.0, True)
