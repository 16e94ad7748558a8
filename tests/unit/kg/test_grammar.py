"""Comments are passed wherever SPARQL has them, and nowhere else."""

import pytest

from kgqa.kg.sparql.grammar import query_parser

PARTS = (
    *(
        "PREFIX",
        "a:",
        "<http://x/y#>",
        "SELECT",
        "DISTINCT",
        "?x",
        "(",
        "COUNT",
        "(",
        "*",
        ")",
        "AS",
        "?n",
        ")",
    ),
    *("{", "?x", "a:b/^", "<http://x#y>", "'#no'", ";", "a", "a:c", ".", "FILTER", "(", "?x", "<", "3", "||"),
    *("STR", "(", "?x", ")", "=", '"""#\n#"""', ")", "OPTIONAL", "{", "?x", "a:d", "1.5", "}", "}"),
    *("GROUP", "BY", "?x", "ORDER", "BY", "DESC", "(", "?n", ")", "LIMIT", "3"),
)


@pytest.mark.parametrize("comment", ["#\n", "# { <\n", "  #'\n\n\t# ##\r\n ", "\n#\n#"])
def test_a_comment_is_a_blank(comment: str) -> None:
    last = "" if comment.endswith("#") else "# the end"
    ends = comment if comment[-1].isspace() else f"{comment}\n"
    said = query_parser()(f"{comment}\n{ends.join(PARTS)}{last}")
    assert repr(said) == repr(query_parser()(" ".join(PARTS)))


@pytest.mark.parametrize(
    "query", ["ASK { ?s ?p 'a'#\n@en }", "ASK { ?s ?p 'a'#\n^^<a:b> }", "ASK { ?s ?#\np ?o }"]
)
def test_what_is_one_word_is_not_parted_by_a_comment(query: str) -> None:
    with pytest.raises(Exception, match="Expected AskQuery"):
        query_parser()(query)


def test_an_escaped_sign_begins_none() -> None:
    assert "#c" in repr(query_parser()(r"PREFIX a: <http://x/> ASK { ?s a:b\#c ?o }"))
