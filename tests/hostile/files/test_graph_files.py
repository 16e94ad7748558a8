"""A file of RDF that is out for time, memory, the stack, the network or other files gives one line."""

import gzip
import os
import random
import subprocess
import sys
import time
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from kgqa.kg.errors import KGError, KGMalformed, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.store import input_guards, loading
from kgqa.kg.store.directory import build_store, open_store
from kgqa.kg.store.dump_filter import filter_dump
from kgqa.kg.store.loading import QuadReader
from kgqa.tests.hostile.conftest import Tried

TRIPLE = b'<http://x/a> <http://x/r> "b" .\n'
RDF = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://x/">'
LAUGHS = b'<!DOCTYPE r [<!ENTITY a0 "aaaaaaaaaa">%s]>' % b"".join(
    b'<!ENTITY a%d "%s">' % (at + 1, b"&a%d;" % at * 10) for at in range(10)
)
OUTSIDE = b'<!DOCTYPE r [<!ENTITY a10 SYSTEM "file:///etc/passwd">]>'
LONG = b'<!DOCTYPE r [<!ENTITY a10 "%s">]>' % (b"a" * 5_000)


def rdf(head: bytes) -> bytes:
    return (
        head + RDF + b'<rdf:Description rdf:about="http://x/a"><e:r>&a10;</e:r></rdf:Description></rdf:RDF>'
    )


def trix(head: bytes) -> bytes:
    terms = b"<uri>http://x/a</uri><uri>http://x/r</uri><plainLiteral>&a10;</plainLiteral>"
    space = b"http://www.w3.org/2004/03/trix/trix-1/"
    return head + b'<TriX xmlns="%s"><graph><triple>%s</triple></graph></TriX>' % (space, terms)


def nested(depth: int, opens: bytes = b"<<( ", closes: bytes = b" )>>") -> bytes:
    """Write a triple within a triple, and so on."""
    start = b"<http://x/a> <http://x/r> "
    return start + (opens + start) * depth + b"<http://x/a>" + closes * depth + b" .\n"


def bomb(start: bytes, size: int = 1 << 26) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(start), *(packer.compress(b"a" * (1 << 20)) for _ in range(size >> 20))]
    return b"".join([*parts, packer.flush()])


def hostile_files() -> dict[str, bytes]:
    """Make them when they are asked for: bombs take a second to pack."""
    return {
        "laughs.rdf": rdf(LAUGHS),
        "laughs.trix": trix(LAUGHS),
        "outside.rdf": rdf(OUTSIDE),
        "outside.trix": trix(OUTSIDE),
        "long.owl": rdf(LONG),
        "deep.rdf": RDF + b"<e:a><e:b>" * 100_000,
        "deep.xml": RDF + b"<e:a><e:b>" * 50_000 + b"</e:b></e:a>" * 50_000 + b"</rdf:RDF>",
        "deep.trix": b"<a>" * 100_000,
        "deep.nt": TRIPLE + nested(50_000),
        "deep.ttl": TRIPLE + nested(50_000),
        "lines.ttl": TRIPLE + nested(50_000, b"<<(\n# )>> .\r ", b" )>>"),
        "closed.trig": TRIPLE + nested(50_000, b"<<(", b"#)>> )>> )>>\n)>>"),
        "deep.nq.gz": gzip.compress(TRIPLE + nested(50_000, b"<<(", b")>>")),
        "deep.jsonld": b"[" * 1_000_000,
        "objects.jsonld": b'{"a":' * 300_000,
        "deep.hext": b"[" * 100_000 + b"\n",
        "remote.jsonld": b'{"@context":"http://127.0.0.1:9/c.jsonld","@id":"http://x/a","http://x/r":"b"}',
        "local.jsonld": b'{"@context":"file:///etc/passwd","@id":"http://x/a","http://x/r":"b"}',
        "line.nt.gz": bomb(b'<http://x/a> <http://x/r> "'),
        "comment.ttl.gz": bomb(b"#"),
        "attribute.rdf.gz": bomb(b'<a b="'),
        "text.trix.gz": bomb(b"<a>"),
        "cut.nt.gz": gzip.compress(TRIPLE * 1_000)[:-9],
        "unpacked.nt.gz": TRIPLE,
        "nul.nt": b"\0" * 100_000,
        "wide.ttl": TRIPLE.decode().encode("utf-16"),
        "half.nt": b'<http://x/a> <http://x/r> "\\uD800" .\n',
        "bracket.nt": b"<http://x/a> <http://x/\\u003e> <http://x/b> .\n",
        "odd.hext": b'["http://x/a b> .","http://x/r","x","http://x/d","",""]\n',
        "nothing.rdf": b"",
    }


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning:rdflib")
def test_a_hostile_file_gives_one_line(tmp_path: Path, tried: Tried) -> None:
    files = hostile_files()
    for name, content in files.items():
        path, start = tmp_path / name, time.process_time()
        path.write_bytes(content)
        with pytest.raises(KGMalformed) as caught:
            open_graph([path])
        assert len(str(caught.value).splitlines()) == 1, name
        assert "root:" not in str(caught.value), name
        assert time.process_time() - start < 5, name
    tried(inputs=len(files))


def test_what_is_no_file_is_not_waited_for(tmp_path: Path, tried: Tried) -> None:
    os.mkfifo(tmp_path / "pipe.nt")
    (tmp_path / "folder.nt").mkdir()
    (tmp_path / "zeros.ttl").symlink_to("/dev/zero")
    (tmp_path / "round.nt").symlink_to("round.nt")
    paths = [tmp_path / name for name in ("pipe.nt", "folder.nt", "zeros.ttl", "round.nt", "none.nt")]
    for path in paths:
        with pytest.raises(KGUnavailable):
            QuadReader([path])
    for path in paths[:2]:
        with pytest.raises(KGUnavailable, match="no regular file"):
            filter_dump([path], tmp_path / "out.nt")
    tried(inputs=7)


def test_a_namespace_may_be_an_entity_and_a_triple_may_be_quoted(tmp_path: Path) -> None:
    (tmp_path / "a.owl").write_bytes(b'<!DOCTYPE r [<!ENTITY a10 "http://x/">]>' + rdf(b""))
    (tmp_path / "a.nt").write_bytes(nested(1))
    assert len([*QuadReader([tmp_path / "a.owl", tmp_path / "a.nt"]).quads()]) == 2


SHALLOW = {
    "texts.nt": b'<http://x/a> <http://x/r> "a << b <<( c" .\n' * 20_000,
    "triples.nt": nested(1) * 20_000,
    "triples.nq": nested(90) * 1_000,
    "names.ttl": TRIPLE + b"<< <http://x/a> <http://x/r> <http://x/b> >> <http://x/r> 'a << b'.\n" * 20_000,
    "triples.trig": nested(20) * 4 + b"# <<( \n" * 20,
}
DEEPER = {"line.nt": nested(101), "lines.ttl": nested(60, b"<<(\n") * 2, "text.trig": b"#" + b"<<(" * 101}


def test_a_file_is_looked_through_ahead_only_where_it_may_be_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    ahead: list[Path] = []
    monkeypatch.setattr(loading, "check_nesting", ahead.append)
    for name, content in (SHALLOW | DEEPER).items():
        (tmp_path / name).write_bytes(content)
        assert [*QuadReader([tmp_path / name]).quads()] or name == "text.trig"
    assert [path.name for path in ahead] == [*DEEPER]
    tried(inputs=len(SHALLOW) + len(DEEPER))


def test_no_way_to_read_a_text_in_blocks_hides_how_deep_it_is(tried: Tried) -> None:
    draw = random.Random(4)
    for case in range(2_000):
        text = b"".join(draw.choices((b"<", b"<<", b"<<(", b"(", b")>>", b"\n", b"a"), k=40))
        deepest = max(line.count(b"<<(") for line in text.split(b"\n"))
        for lines, depth in ((True, deepest), (False, text.count(b"<<("))):
            seen, left = input_guards.NestingDepth(lines=lines), text
            found = [0]
            while left:
                size = draw.randint(1, 9)
                found.append(seen.max_depth(left[:size]))
                left = left[size:]
            assert max(found) == depth, (case, text)
    tried(inputs=case + 1)


def test_looking_ahead_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep.ttl").write_bytes(nested(200))

    def sleeping(_: str) -> "subprocess.Popen[bytes]":
        command = (sys.executable, "-c", "import time; time.sleep(60)")
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    assert len([*QuadReader([tmp_path / "deep.ttl"]).quads()]) == 1
    monkeypatch.setattr(input_guards, "start_module", sleeping)
    monkeypatch.setattr(input_guards, "MIN_SECONDS", 0.2)
    with pytest.raises(KGMalformed, match="take too long"):
        [*QuadReader([tmp_path / "deep.ttl"]).quads()]


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning:rdflib")
def test_xml_is_looked_through_in_the_encoding_that_it_is_parsed_in(tmp_path: Path, tried: Tried) -> None:
    said, head = "\u00e9+ADwAYQA+-", "<?xml version='1.0' encoding='%s'?>"
    for encoding in ("utf-8", "utf-7", "iso-8859-1", "utf-16"):
        for written in ("utf-8", "iso-8859-1", "utf-16"):
            name, same = f"{encoding}-{written}", encoding == "utf-8"
            for suffix, content in ((".trix", trix(b"")), (".rdf", rdf(b""))):
                text = (head % encoding) + content.decode().replace("&a10;", said)
                path = tmp_path / (name + suffix)
                path.write_bytes(text.encode(written))
                if written == "utf-8" and (same or suffix == ".trix"):
                    assert [str(quad.object) for quad in QuadReader([path]).quads()] == [f'"{said}"'], (
                        path.name
                    )
                else:
                    with pytest.raises(KGMalformed):
                        [*QuadReader([path]).quads()]
    tried(inputs=24)


def test_a_line_without_end_is_filtered_in_little_memory(tmp_path: Path, tried: Tried) -> None:
    (tmp_path / "line.nt.gz").write_bytes(bomb(TRIPLE + b"#", 1 << 27))
    out = tmp_path / "out.nt"
    tracemalloc.start()
    try:
        filter_dump([tmp_path / "line.nt.gz"], out)
        assert tracemalloc.get_traced_memory()[1] < 110_000_000
    finally:
        tracemalloc.stop()
    assert out.read_bytes() == TRIPLE
    tried(inputs=1)


BROKEN = (
    b"",
    b"\xff\xfe",
    b"[" * 100_000,
    b"[]",
    b'{"version": 5}',
    b'{"version": 5, "source": 1, "fingerprint": null, "triples": "x", "predicates": [1]}',
    b'{"version": 5, "source": "", "fingerprint": "", "triples": 1, "predicates": {"x> ?p ?o } #": 1}}',
    *(
        b'{"version": 5, "build": %s, "identity": 1, "source": "", "fingerprint": "", "triples": 1, '
        b'"predicates": {}}' % build
        for build in (b"[]", b'".."', b'"build-/../../../../etc"', b'"build-0123456789abcdef"')
    ),
    b"SQLite format 3\0" + b"\xff" * 4_096,
)


def test_a_store_that_was_tampered_with_gives_one_line(tmp_path: Path, tried: Tried) -> None:
    (tmp_path / "g.nt").write_bytes(TRIPLE)
    folder = tmp_path / "store"
    build_store([tmp_path / "g.nt"], folder)
    (build,) = folder.glob("build-*")
    for file in (folder / "kgqa.json", build / "names.sqlite", build / "store" / "IDENTITY"):
        kept = file.read_bytes()
        for content in BROKEN:
            file.write_bytes(content)
            with pytest.raises(KGError) as caught:
                open_store(folder)
            assert len(str(caught.value).splitlines()) == 1
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(KGError):
            open_store(folder)
        file.unlink()
        file.write_bytes(kept)
    spoilt = [file for file in sorted((build / "store").iterdir()) if file.stat().st_size]
    for file in spoilt:
        kept = file.read_bytes()
        for content in (b"", b"\xff" * len(kept), kept[: len(kept) // 2], kept + b"\0" * 1_000):
            file.write_bytes(content)
            with suppress(KGError, OSError, RuntimeError):
                list(open_store(folder).store)
        file.write_bytes(kept)
    tried(inputs=3 * (len(BROKEN) + 1) + 4 * len(spoilt))
