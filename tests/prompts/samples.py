"""Every prompt there is, and one filled in of each kind."""

import pkgutil
from importlib import import_module
from typing import Any

import kgqa.prompts
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, Exemplar
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.prompts.base import Prompt
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.diagnose import Decided, Diagnose, PrunedBranch
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.prompts.progress import Progress
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.prompts.verify_chain import VerifyChain

_MODULES = [
    import_module(found.name) for found in pkgutil.iter_modules(kgqa.prompts.__path__, "kgqa.prompts.")
]

PROMPTS: list[type[Prompt[Any]]] = sorted(
    (
        kind
        for module in _MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Prompt) and kind.__module__ == module.__name__
        if kind is not Prompt
    ),
    key=lambda kind: kind.name,
)


def chain(topic: str, *hops: str) -> Chain:
    """``chain("Ada", "child", "^lives_in")``: relations in order, ``^`` against the arrow."""
    return Chain(Entity(f"http://x/{len(topic)}", topic), tuple(map(hop, hops)))


def hop(text: str) -> Hop:
    return Hop(f"http://x/{text.removeprefix('^')}", not text.startswith("^"))


def topics(*names: str) -> tuple[Entity, ...]:
    return tuple(chain(name).topic for name in names)


def ends(*names: str, returning: tuple[str, ...] = ()) -> tuple[Candidate, ...]:
    """Candidates of these names; those of ``returning`` come back to the topic."""
    return tuple(
        Candidate(Entity(f"http://x/{place}", name), name in returning) for place, name in enumerate(names)
    )


def went(target: Chain, reached: tuple[str, ...] = (), finding: str = "") -> Decided:
    """The decision that led to ``target``, and the names of all that it reached."""
    return Decided(target.upto(target.depth - 1), target, reached, len(reached), finding)


def values(*texts: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(Literal(text)) for text in texts)


NOETHER, BRIEST = "Emmy Noether", "Effi Briest"

WORKED: list[Prompt[Any]] = [
    AdaptBlueprint(
        "In which country was the painter of The Night Watch born?",
        topics("The Night Watch"),
        (
            Exemplar(
                "who is the mother of the author of [ENT]",
                (("book.written_work.author", "people.person.parents"),),
            ),
        ),
        ("location.location.containedby", "people.person.place_of_birth", "visual_art.artwork.artist"),
    ),
    AdaptBlueprint(
        "Which plays by Schiller had their premiere in Mannheim?",
        topics("Friedrich Schiller", "Mannheim"),
        (Exemplar("which books by [ENT] were printed in [ENT]", (("^written_by",), ("^printed_in",))),),
        ("first_staged_in", "located_in", "written_by"),
    ),
    AnswerDirectly("Which two seas does the Kiel Canal join?"),
    CheckSufficiency(
        "Who wrote the words of the song Mondnacht?",
        chain("Mondnacht", "lyrics_by"),
        ends("Joseph von Eichendorff"),
        Progress(("Find who wrote the words of Mondnacht.",), 0, ()),
    ),
    CheckSufficiency(
        "When was the university opened that Lise Meitner studied at?",
        chain("Lise Meitner", "educated_at"),
        ends("Akademisches Gymnasium", "University of Vienna"),
        Progress(("Find the university that Lise Meitner studied at.", "Find when it was opened."), 0, ()),
    ),
    CheckSufficiency(
        "Which of Robert Schumann's songs set words by Eichendorff?",
        chain("Robert Schumann", "^composed_by"),
        ends("Mondnacht", "Widmung"),
        Progress(
            ("Find the songs that Robert Schumann composed.", "Choose those with words by Eichendorff."),
            0,
            (),
        ),
    ),
    Decompose("In which town did the composer of Vltava go to school?"),
    Decompose("Which is the deepest of the lakes that the Rhine flows through?"),
    Diagnose(
        "How many students has the university that Emmy Noether taught at?",
        "wrong_type",
        Progress(
            ("Find the university that Emmy Noether taught at.", "Find how many students it has."), 1, ()
        ),
        (
            went(chain(NOETHER, "person.residence"), ("Bryn Mawr", "Göttingen")),
            went(chain(NOETHER, "person.residence", "town.population"), ("119801", "8201")),
        ),
        (
            PrunedBranch(1, chain(NOETHER, "person.employer"), waiting=False, relevance=1.0),
            PrunedBranch(1, chain(NOETHER, "person.field"), waiting=False, relevance=0.21),
            PrunedBranch(2, chain(NOETHER, "person.residence", "town.mayor"), waiting=True, relevance=None),
        ),
        "person.employer -> university.student_count",
    ),
    Diagnose(
        "Who was the mother of the author of Effi Briest?",
        "wrong_type",
        Progress(
            ("Find the author of Effi Briest.", "Find the mother of this author."),
            1,
            ("Theodor Fontane wrote it.",),
        ),
        (
            went(chain(BRIEST, "book.author"), ("Theodor Fontane",), "Theodor Fontane wrote it."),
            went(chain(BRIEST, "book.author", "person.spouse"), ("Emilie Rouanet",)),
        ),
        (
            PrunedBranch(2, chain(BRIEST, "book.author", "person.sibling"), waiting=False, relevance=0.52),
            PrunedBranch(2, chain(BRIEST, "book.author", "person.mother"), waiting=False, relevance=0.48),
        ),
        "book.author -> person.spouse",
    ),
    FilterCandidates(
        "Which of the Brontë sisters died in Scarborough?",
        chain("Patrick Brontë", "^father"),
        ends("Anne Brontë", "Branwell Brontë", "Charlotte Brontë", "Emily Brontë"),
    ),
    InferFromEvidence(
        "Which opera by Weber did Berlin see first?",
        (
            Segment(chain("Carl Maria von Weber", "^composed_by"), ends("Der Freischütz", "Euryanthe")),
            Segment(chain("Berlin", "^located_in"), ends("Schauspielhaus")),
        ),
        ("Der Freischütz opened the Schauspielhaus.",),
        ("Find which of the operas had its first night in Berlin.",),
    ),
    InferFromEvidence(
        "Who taught the painter of The Monk by the Sea?",
        (Segment(chain("The Monk by the Sea", "painted_by"), ends("Caspar David Friedrich")),),
        ("Caspar David Friedrich painted it.",),
        ("Find who taught this painter.",),
    ),
    PruneRelations(
        "In which town did the composer of Vltava go to school?",
        chain("Vltava"),
        (hop("composed_by"), hop("musical_key"), hop("^recorded_work")),
        2,
    ),
    VerifyChain(
        "Which rivers flow through the home town of Clara Schumann?",
        chain("Clara Schumann", "born_in"),
        ends("Leipzig"),
    ),
    VerifyChain(
        "Which of Robert Schumann's songs set words by Eichendorff?",
        chain("Robert Schumann", "^composed_by"),
        ends("Mondnacht", "Widmung", "Zwielicht"),
    ),
]
"""The worked examples of the instructions, as the prompts that they are examples of."""
