import gzip
from pathlib import Path

import pytest

from kgqa.priors.errors import BlueprintError
from kgqa.priors.training_questions import read_relations


def test_the_first_column_names_the_relations(tmp_path: Path) -> None:
    lines = b"#relation\tdomain\nfilm.film.director\tfilm.film\nhttp://x/r/born_in\n\n"
    plain, packed = tmp_path / "a.tsv", tmp_path / "a.tsv.gz"
    plain.write_bytes(lines)
    packed.write_bytes(gzip.compress(lines))
    assert read_relations(plain) == read_relations(packed) == {"film.film.director", "born_in"}


@pytest.mark.parametrize(
    ("name", "content"), [("a.gz", b"x"), ("a", b"\xff"), ("a", b"# none\n"), ("b", None)]
)
def test_a_file_without_relations_is_refused(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BlueprintError, match=f"{name}"):
        read_relations(tmp_path / name)
