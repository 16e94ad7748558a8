"""Terms and relations of a graph as parts of an English sentence."""

from collections.abc import Sequence

from kgqa.kg.proof.values import kind_of
from kgqa.kg.sparql.derived import derived_label
from kgqa.kg.terms import Entity, Hop, Literal, Term, local_name, one_line, plain_term
from kgqa.kg.text import FUNCTION_WORDS, in_plural, in_words, singular, spaced, word_set

MAX_TERMS_SAID = 3

_PLURAL_NOUNS = word_set("arms customs games goods headquarters sales sports students")
"""Words that begin a noun where others in "-s" would be a verb, as in "plays position"."""

_ACTIVE = word_set(
    """
    appeared belonged competed debuted died graduated happened lived occurred participated played
    resided served starred studied worked
    """
)
"""Words in "-ed" that stand before "in" and the like without "is": nothing else tells them from "located"."""

_COMPARED = {
    "!=": ("other than", "other than"),
    "<": ("less than", "before"),
    "<=": ("at most", "not after"),
    ">": ("more than", "after"),
    ">=": ("at least", "not before"),
    "year": ("in", "in"),
    "type": ("of the type", "of the type"),
}
"""How a comparison is said of numbers, and of dates."""


def say_term(term: Term) -> str:
    """Return a term by its name, a text in quotation marks; by its id without namespace if it has none."""
    term = plain_term(term)
    if isinstance(term, Entity):
        return one_line(term.name or in_words(local_name(term.id))) or term.id
    return one_line(f'"{term.value}"' if kind_of(term) == "text" else term.value)


def say_class(term: Term) -> str:
    """Return what one of a class is called: where it has no name of its own, in small letters.

    >>> [say_class(Entity(f"http://x/{name}")) for name in ("BillOfMaterial", "RNA_part")]
    ['bill of material', 'RNA part']
    """
    said, local = say_term(term), local_name(term.id)
    if said not in {local, in_words(local)}:
        return said
    return " ".join(each if each.isupper() else each.lower() for each in spaced(said).split())


def say_terms(terms: Sequence[Term]) -> str:
    """Return some terms, as one or another of them is meant.

    >>> say_terms([Entity(f"http://x/{name}") for name in ("Lima", "Quito", "Bogota", "La_Paz", "Sucre")])
    'Lima, Quito, Bogota or 2 more'
    """
    names = [*dict.fromkeys(map(say_term, terms))]
    more = len(names) - MAX_TERMS_SAID
    return list_words([*names[:MAX_TERMS_SAID], f"{more} more"] if more > 0 else names, "or")


def say_compared(operator: str, value: Term) -> str:
    """Return what a value is that compares so with another; for other operators the other alone."""
    is_date = isinstance(value, Literal) and kind_of(value) == "date"
    return f"{say_operator(operator, of_dates=is_date)}{say_term(value)}"


def say_operator(operator: str, *, of_dates: bool = False) -> str:
    """Return what stands before a value that another is compared with, and a space; of "=" nothing."""
    words = _COMPARED.get(operator, ("", ""))[of_dates]
    return f"{words} " if words else ""


def list_words(words: Sequence[str], last: str = "and") -> str:
    """Return words as a list.

    >>> list_words(["a"]), list_words(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def say_relation(hop: Hop) -> str:
    """Return what a relation is called, in words, without a verb that only joins it to what follows.

    >>> relations = ("hasTopping", "film.film.release_date", "ISBNCode", "player.position_s", "containedby")
    >>> [say_relation(Hop(f"http://x/{each}")) for each in relations]
    ['topping', 'release date', 'ISBN code', 'position', 'contained by']
    """
    name = hop.name or derived_label(hop.relation) or local_name(hop.relation)
    own, gloss, _ = name.partition(" (")  # "prefLabel in French (called)" (`said_names`)
    if gloss and own.partition(" in ")[0] in hop.relation:
        kind, of_language, language = own.partition(" in ")
        name = f"{spaced(kind).lower()}{of_language}{language}"
    if " " not in name:
        words = spaced(in_words(local_name(name).rpartition(".")[2])).replace("edby", "ed by").split()
        if hop.name is None or len(words) > 1:
            words = [each if each.isupper() and len(each) > 1 else each.lower() for each in words]
        name = " ".join(words)
    name = name.removeprefix("has ").removeprefix("is ").removesuffix(" s")
    noun = name.removeprefix("in ")  # "in language"
    return one_line(noun if FUNCTION_WORDS.isdisjoint(noun.split()) else name) or one_line(hop.relation)


def is_verbal(relation: str) -> bool:
    """Return whether a relation ends in what joins it to what follows, or begins with a verb that has such.

    >>> [is_verbal(each) for each in ("located in", "written in script", "plays in club", "plays position")]
    [True, True, True, True]
    >>> [is_verbal(each) for each in ("countries of origin", "age at death", "sports team", "places lived")]
    [False, False, False, False]
    """
    first, last = relation.partition(" ")[0], relation.rpartition(" ")[2]
    if ends_in_verb(relation):
        return False
    is_of_one = " " in relation and last == singular(last) and " of " not in relation
    joins = is_joined(relation) and (first.endswith(("ed", "en")) or singular(first) != first)
    return last.lower() in FUNCTION_WORDS or joins or (_may_act(first) and is_of_one)


def is_noun(relation: str, *, had: bool = False) -> bool:
    """Return whether a relation is surely a noun; one in "hasTopping" is, as it is ``had``.

    "founded" is none, and "treats", "plays for country" or "starring" may be verbs.
    """
    *before, last = relation.partition(" of ")[0].split() or [""]
    first = before[0] if before else last
    may_act = _may_act(first) or (last.endswith("ing") and not before)
    is_none = (last.endswith("ed") and not before) or is_verbal(relation) or first.lower() in FUNCTION_WORDS
    return not is_none and (had or ends_in_verb(relation) or not may_act)


def _may_act(word: str) -> bool:
    """Return whether a word in "-s" may be a verb, or the plural of a noun."""
    return word.endswith("s") and singular(word) != word and word not in _PLURAL_NOUNS


def ends_in_verb(relation: str) -> bool:
    """Return whether a relation is a noun and what is done with it.

    >>> [ends_in_verb(each) for each in ("currency used", "languages spoken", "countries spoken in")]
    [True, True, True]
    >>> [ends_in_verb(each) for each in ("written by", "character created by", "mainly spoken in")]
    [False, False, False]
    """
    first, *words = relation.split() or [""]
    if len(words) > 1 and singular(first) != first and words[-1] in FUNCTION_WORDS - {"by"}:
        words.pop()
    last = words[-1] if words else ""
    if singular(first) != first and last.endswith(("en", "wn")):
        return True
    return last.endswith("ed") and not last.endswith("eed") and first not in FUNCTION_WORDS  # "dog breed"


def plural_of(relation: str) -> str:
    """Return what is called so as several things.

    >>> [plural_of(each) for each in ("capital", "place lived", "people born here", "iso alpha 3")]
    ['capitals', 'places lived', 'people born here', 'iso alpha 3']
    """
    noun, _, verb = relation.rpartition(" ")
    if is_plural(relation) or not relation[-1:].isalpha():
        return relation
    return f"{in_plural(noun)} {verb}" if ends_in_verb(relation) else in_plural(relation)


def singular_of(relation: str) -> str:
    """Return what is called so as one thing.

    >>> [singular_of(each) for each in ("capitals", "places lived", "countries of origin")]
    ['capital', 'place lived', 'country of origin']
    """
    noun, _, verb = relation.rpartition(" ")
    if ends_in_verb(relation):
        return f"{singular_of(noun)} {verb}"
    head, of, rest = relation.partition(" of ")
    before, space, last = head.rpartition(" ")
    return f"{before}{space}{singular(last)}{of}{rest}"


def is_plural(relation: str) -> bool:
    """Return whether a relation is called as several things are.

    >>> [is_plural(each) for each in ("parts", "people born here", "languages spoken", "capital")]
    [True, True, True, False]
    """
    first = relation.partition(" ")[0]
    if singular(first) != first and not first.endswith("s"):
        return True
    return relation[-1:].isalpha() and singular_of(relation) != relation


def before_gap(relation: str) -> str:
    """Return a relation with its verb (`with_verb`) as it stands behind what it leads to.

    >>> before_gap("is located in country"), before_gap("works at"), before_gap("plays position")
    ('is located in', 'works at', 'plays')
    """
    words, _, last = relation.rpartition(" ")
    is_whole = last in FUNCTION_WORDS or words.endswith((" of", " the"))
    return relation if is_whole else words


def is_joined(relation: str) -> bool:
    """Return whether the second word of a relation joins the first to what follows, as in "born in place"."""
    return relation.partition(" ")[2].partition(" ")[0] in FUNCTION_WORDS - {"of"}


def with_verb(relation: str, *, several: bool = False) -> str:
    """Return such a relation with its verb, in the number of who does it.

    >>> [with_verb(each) for each in ("located in", "died in", "works at", "was born in")]
    ['is located in', 'died in', 'works at', 'was born in']
    >>> [with_verb(each, several=True) for each in ("works at", "member of", "composed of")]
    ['work at', 'are members of', 'are composed of']
    """
    first, space, rest = relation.partition(" ")
    if space and first in {"was", "were"}:
        return f"{'were' if several else 'was'} {rest}"
    if space and (first.lower() in FUNCTION_WORDS or (first in _ACTIVE and not relation.endswith(" by"))):
        return relation
    if space and (plain := singular(first)) != first:
        return f"{plain} {rest}" if several else relation
    if relation.endswith(" by") and " " in rest and not first.endswith(("ed", "en")):
        return f"{'have' if several else 'has'} {relation}"  # "costume design by"
    noun = relation.removesuffix(" of") if several else ""
    if noun and noun != relation and " " not in noun and is_noun(noun):
        return f"are {plural_of(noun)} of"
    return f"{be(several)} {relation}"


def be(several: bool) -> str:
    """Return "is" or "are"."""
    return "are" if several else "is"


def of_which(relation: str, node: str, *, several: bool = False, is_long: bool = False) -> str:
    """Return a noun phrase for what a relation leads to from a node, whose words may be many.

    >>> of_which("capital", "Peru"), of_which("capital", "Peru", several=True), of_which("located in", "Lima")
    ('the capital of Peru', 'capitals of Peru', 'what Lima is located in')
    >>> of_which("capital", "it")
    'its capital'
    """
    if is_verbal(relation) and node.startswith("what "):
        return f'{"things that are " * several}the "{relation}" of {node}'
    if is_verbal(relation):
        node = f"({node})" if is_long else node
        return f"{'things that' if several else 'what'} {node} {before_gap(with_verb(relation))}"
    if node == "it":
        return f"its {plural_of(relation) if several else relation}"
    if ends_in_verb(relation) and not is_long:
        return f"{node}'s {plural_of(relation) if several else relation}"
    return f"{plural_of(relation)} of {node}" if several else f"the {relation} of {node}"
