"""Every prompt there is, and one filled in of each kind."""

import pkgutil
from importlib import import_module
from typing import Any

import kgqa.prompts
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Path
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptFreely
from kgqa.prompts.answer_from_memory import AnswerBriefly, AnswerDirectly, ReasonAloud
from kgqa.prompts.apply_conditions import ApplyConditions
from kgqa.prompts.assess_found import AssessFound, EvaluateFound
from kgqa.prompts.attributes import Attribute, KnownAttributes, Mention
from kgqa.prompts.base import Prompt
from kgqa.prompts.candidates import ChainFindings
from kgqa.prompts.chain import Extension
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.choose_entities import ChooseEntities
from kgqa.prompts.compose_query import ComposeQuery, OfferedAttribute, OfferedChain
from kgqa.prompts.connect_topic import ConnectTopic, Share
from kgqa.prompts.decompose import Decompose, DecomposeAlong
from kgqa.prompts.diagnose import Diagnose, PastDecision, PrunedBranch
from kgqa.prompts.draft_query import DraftQuery
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.filter_found import FilterFound
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.prompts.judge_claim import JudgeClaim
from kgqa.prompts.outline_search import OutlineSearch
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.plans import PlanStep, SearchPlan
from kgqa.prompts.progress import Progress
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.prompts.recall_entities import JudgeDirection, RecallEntities
from kgqa.prompts.reflect import Reflect
from kgqa.prompts.revise_plan import ReviseAhead, ReviseGlobally, ReviseLocally, ReviseMixed
from kgqa.prompts.rewrite_question import ConversationTurn, RewriteQuestion
from kgqa.prompts.score_entities import ScoreEntities
from kgqa.prompts.select_entities import SelectEntities
from kgqa.prompts.select_relations import SelectRelations
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.prompts.translate_question import TranslateQuestion
from kgqa.prompts.update_memory import UpdateMemory
from kgqa.prompts.verify_chain import VerifyChain
from kgqa.prompts.verify_step import VerifyStep
from kgqa.tests.support.frontier import picking, pruning, scoring

_MODULES = [
    import_module(found.name) for found in pkgutil.iter_modules(kgqa.prompts.__path__, "kgqa.prompts.")
]

PROMPTS: list[type[Prompt[Any]]] = sorted(
    (
        kind
        for module in _MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Prompt) and kind.__module__ == module.__name__
        if hasattr(kind, "instructions")
    ),
    key=lambda kind: kind.name,
)


def chain(topic: str, *hops: str) -> Chain:
    """``chain("Ada", "child", "^lives_in")``: relations in order, ``^`` against the arrow."""
    return Chain(Entity(f"http://x/{len(topic)}", topic), tuple(map(hop, hops)))


def hop(text: str) -> Hop:
    return Hop(f"http://x/{text.removeprefix('^')}", not text.startswith("^"))


def path(topic: str, *steps: str) -> Path:
    """``path("Ada", "child", "Ben")``: relations and the names they lead to, in turn; ``""`` for none."""
    walked = Path(chain(topic).topic)
    for relation, name in zip(steps[::2], steps[1::2], strict=True):
        walked = walked.then(hop(relation), Entity(f"http://x/{len(name)}", name or None))
    return walked


def offer(relation: str, *heads: int) -> RelationCandidate:
    return RelationCandidate(hop(relation), heads)


def topics(*names: str) -> tuple[Entity, ...]:
    return tuple(chain(name).topic for name in names)


def held(target: Chain, name: str) -> Chain:
    """The chain, held to an entity of this name at its end."""
    return target.constrained_to(topics(name))


def ends(*names: str, returning: tuple[str, ...] = ()) -> tuple[Candidate, ...]:
    """Candidates of these names; those of ``returning`` come back to the topic."""
    return tuple(
        Candidate(Entity(f"http://x/{place}", name), name in returning) for place, name in enumerate(names)
    )


def went(target: Chain, reached: tuple[str, ...] = (), finding: str = "") -> PastDecision:
    """The decision that led to ``target``, and the names of all that it reached."""
    return PastDecision(target.upto(target.depth - 1), target, reached, len(reached), finding)


def values(*texts: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(Literal(text)) for text in texts)


def attribute(place: int, hops: str, of: tuple[Candidate, ...], *found: str | Literal) -> Attribute:
    """What the first candidates have, one each in their order: entities by name, or literals."""
    terms = [Entity(f"http://x/{each}", each) if isinstance(each, str) else each for each in found]
    pairs = zip((candidate.term for candidate in of), terms, strict=False)
    return Attribute(place, tuple(map(hop, hops.split())), tuple(pairs))


def said(question: str, *answers: str | Literal) -> ConversationTurn:
    """A question that was asked before, and its answers: entities by name, or literals."""
    terms = (Entity(f"http://x/{len(each)}", each) if isinstance(each, str) else each for each in answers)
    return ConversationTurn(question, answers=tuple(terms))


def dates(*texts: str) -> tuple[Literal, ...]:
    return tuple(Literal(text, "http://www.w3.org/2001/XMLSchema#date") for text in texts)


def offered_attribute(
    node: Chain, hops: str, of: tuple[Candidate, ...], *found: str | Literal
) -> OfferedAttribute:
    """What the nodes at the end of a chain have."""
    known = attribute(node.depth, hops, of, *found)
    return OfferedAttribute((node,), known.hops, known.values)


BRONTE_NOVELS = ends("Agnes Grey", "Jane Eyre", "Wuthering Heights")
BRONTES = ends("Anne Brontë", "Branwell Brontë", "Charlotte Brontë", "Emily Brontë")
PATRICK = chain("Patrick Brontë", "^father")
ANNES, ANNE = ends("Agnes Grey", "The Tenant of Wildfell Hall"), chain("Anne Brontë", "^author")
TEACHERS = topics("Ludwig van Beethoven", "Danube")
TAUGHT = chain("Ludwig van Beethoven", "taught_by")
BORN = chain("Danube", "^lies_on", "^born_in")
DANUBE = (
    ChainFindings(BORN, ends("Joseph Haydn"), met=(TAUGHT,)),
    ChainFindings(TAUGHT, ends("Antonio Salieri", "Joseph Haydn")),
)
FOUNDED = chain("Saxony", "^located_in", "university.founded")
NOVELS, EMILY = ends("Wuthering Heights"), chain("Emily Brontë", "^author")
NOETHER, BRIEST = "Emmy Noether", "Effi Briest"
TERRACE, FRIEDRICH = "The Garden Terrace", "Caspar David Friedrich"
RIVER = "Which river runs through the town that the painter of The Garden Terrace was born in?"
ALGAE = "Do lichens and corals both live in symbiosis with algae?"
PAINTED = path(TERRACE, "^painting.painter", FRIEDRICH)

WORKED: list[Prompt[Any]] = [
    AdaptBlueprint(
        "In which country was the painter of The Night Watch born?",
        topics("The Night Watch"),
        (
            SolvedQuestion(
                "who is the mother of the author of [ENT]",
                (("book.written_work.author", "people.person.parents"),),
            ),
        ),
        ("location.location.containedby", "people.person.place_of_birth", "visual_art.artwork.artist"),
    ),
    AdaptBlueprint(
        "Which plays by Schiller had their premiere in Mannheim?",
        topics("Friedrich Schiller", "Mannheim"),
        (SolvedQuestion("which books by [ENT] were printed in [ENT]", (("^written_by",), ("^printed_in",))),),
        ("first_staged_in", "located_in", "written_by"),
    ),
    AdaptFreely(
        "In which country was the painter of The Night Watch born?",
        (
            SolvedQuestion(
                "who is the mother of the author of Effi Briest",
                (("book.written_work.author", "people.person.parents"),),
            ),
        ),
    ),
    AnswerBriefly("Which two seas does the Kiel Canal join?"),
    AnswerDirectly("Which two seas does the Kiel Canal join?"),
    ApplyConditions(
        "Which of the Brontë sisters died in Scarborough?",
        PATRICK,
        BRONTES,
        KnownAttributes(
            PATRICK,
            (
                attribute(1, "place_of_death", BRONTES, "Scarborough", "Haworth", "Haworth", "Haworth"),
                attribute(1, "gender", BRONTES, "Female", "Male", "Female", "Female"),
                attribute(1, "died", BRONTES, *dates("1849-05-28", "1848-09-24", "1855-03-31", "1848-12-19")),
            ),
            mentions=(Mention("Scarborough", found=((0, BRONTES[0].term),)),),
        ),
    ),
    ApplyConditions(
        "Which of the novels by Emily Brontë was first printed in Edinburgh?",
        EMILY,
        NOVELS,
        KnownAttributes(
            EMILY,
            (attribute(1, "place_of_publication", NOVELS, "London"),),
            mentions=(Mention("Edinburgh"),),
        ),
    ),
    ApplyConditions(
        "Which of the novels by Anne Brontë has the most pages?",
        ANNE,
        ANNES,
        KnownAttributes(ANNE, (attribute(1, "published", ANNES, *dates("1847", "1848")),)),
    ),
    DraftQuery(
        "Which orchards outside Kent grow over two kinds of apple, and how many trees has each in all?",
        prefixes=("o: <http://orchards.example/ns/>",),
        classes=(
            "o:Orchard, 40 members, named by rdfs:label",
            '  o:county: text such as "Devon", "Kent"',
            "  o:plot -> o:Plot, several each",
            "o:Plot, 212 members",
            "  o:grows -> o:Kind",
            "  o:trees: numbers as text (to compare or add, cast with xsd:decimal) 4 … 310",
            "o:Kind, 31 members, named by rdfs:label",
            '  o:fruit: text one of "apple", "pear", "plum"',
        ),
        found=('"Kent": o:county "Kent" of 3 o:Orchard', '"apple": o:fruit "apple" of 16 o:Kind'),
    ),
    ComposeQuery(
        "Which of Patrick Brontë's daughters who wrote novels died in Scarborough?",
        (
            OfferedChain(PATRICK, BRONTES),
            OfferedChain(
                chain("Patrick Brontë", "^father", "^author"), BRONTE_NOVELS, named=(1,), passed=((),)
            ),
        ),
        (
            offered_attribute(
                PATRICK, "place_of_death", BRONTES, "Scarborough", "Haworth", "Haworth", "Haworth"
            ),
            offered_attribute(
                PATRICK, "gender", (*BRONTES[1:], BRONTES[0]), "Male", "Female", "Female", "Female"
            ),
        ),
        mentions=(Mention("Scarborough", found=((0, BRONTES[0].term),)),),
    ),
    AssessFound(
        "Which river flows through the home town of Clara Schumann?",
        (
            ChainFindings(chain("Clara Schumann", "born_in"), ends("Leipzig")),
            ChainFindings(chain("Clara Schumann", "spouse"), ends("Robert Schumann")),
        ),
    ),
    AssessFound("Which of Beethoven's teachers was born in a town on the Danube?", DANUBE, topics=TEACHERS),
    AssessFound(
        "How long is the longest river of Saxony?",
        (ChainFindings(chain("Saxony", "population"), values("4042422")),),
    ),
    ChooseEntities(
        "When was the university opened that Lise Meitner studied at?",
        chain("Lise Meitner", "educated_at"),
        ends("Akademisches Gymnasium", "University of Vienna"),
    ),
    CheckSufficiency(
        "When was the university opened that Lise Meitner studied at?",
        chain("Lise Meitner", "educated_at"),
        ends("Akademisches Gymnasium", "University of Vienna"),
        Progress(("Find the university that Lise Meitner studied at.", "Find when it was opened."), 0, ()),
    ),
    CheckSufficiency(
        "Which of Beethoven's teachers was born in a town on the Danube?",
        chain("Ludwig van Beethoven", "taught_by"),
        ends("Antonio Salieri", "Joseph Haydn"),
        Progress(("Find Beethoven's teachers.", "Choose those born in a town on the Danube."), 0, ()),
        awaited=topics("Danube"),
        topics=TEACHERS,
    ),
    CheckSufficiency(
        "How long is the longest river of Saxony?",
        chain("Saxony", "population"),
        values("4042422"),
        Progress((), 0, ()),
    ),
    ConnectTopic(
        "Which of Beethoven's teachers were born in Vienna?",
        chain("Ludwig van Beethoven", "taught_by"),
        chain("Vienna").topic,
        ((1, hop("died_in")), (1, hop("born_in"))),
        (
            Share(2, 0, 5, ("Antonio Salieri", "Joseph Haydn")),
            Share(1, 1, 5, ("Johann Schenk",)),
        ),
        topics=topics("Ludwig van Beethoven", "Vienna"),
    ),
    Decompose("In which town did the composer of Vltava go to school?"),
    Decompose("Which is the deepest of the lakes that the Rhine flows through?"),
    DecomposeAlong(
        "In which town did the composer of Vltava go to school?",
        (SolvedQuestion("Who taught the composer of [composition]?", (("composed_by", "student_of"),)),),
    ),
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
    EvaluateFound(
        "Which river flows through the home town of Clara Schumann?",
        (ChainFindings(chain("Clara Schumann", "born_in"), ends("Leipzig")),),
        subgoals=("Find her home town.", "Find the river there."),
        known=("She comes from Leipzig.",),
    ),
    EvaluateFound("Which of Beethoven's teachers was born in a town on the Danube?", DANUBE, topics=TEACHERS),
    EvaluateFound(
        "When was the oldest university of Saxony founded?",
        (ChainFindings(FOUNDED, values("1409-12-02", "1765-11-21", "1828-05-01")),),
    ),
    FilterFound(
        "When was the university opened that Lise Meitner studied at?",
        (
            ChainFindings(
                chain("Lise Meitner", "educated_at"), ends("Akademisches Gymnasium", "University of Vienna")
            ),
            ChainFindings(chain("Lise Meitner", "award"), ends("Leibniz Medal")),
        ),
        subgoals=("Find the university.", "Find when it was opened."),
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
    JudgeDirection(
        "Who was the mother of the author of Effi Briest?",
        (
            held(chain(BRIEST, "author"), "Theodor Fontane")
            .then(hop("spouse"))
            .constrained_to(topics("Emilie Rouanet")),
        ),
        (ChainFindings(chain(BRIEST, "author"), ends("Theodor Fontane")),),
    ),
    JudgeClaim(
        "Do mosses take up water by roots?",
        (
            path("moss", "lacks", "root"),
            path("moss", "takes_up_water_by", "leaf surface"),
            path("moss", "grows_on", "bark"),
        ),
    ),
    JudgeClaim(
        ALGAE,
        (
            path("lichen", "symbiont", "green algae"),
            path("coral", "^partner_of", "zooxanthellae"),
            path("coral", "^partner_of", "zooxanthellae", "kind_of", "algae"),
        ),
    ),
    JudgeClaim("Does birch sap lower a fever?", (path("birch sap", "contains", "xylitol"),)),
    OutlineSearch(
        "Which plays by Schiller had their premiere in Mannheim?",
        topics("Friedrich Schiller", "Mannheim"),
        (SolvedQuestion("which books by [ENT] were printed in [ENT]", (("^written_by",), ("^printed_in",))),),
        ("first_staged_in", "located_in", "written_by"),
    ),
    picking(
        "Who of Beethoven's teachers was born in a town on the Danube?",
        (
            chain("Ludwig van Beethoven", "taught_by", "born_in"),
            chain("Ludwig van Beethoven", "taught_by", "pupil"),
            chain("Danube", "^lies_on", "country"),
            chain("Danube", "^lies_on", "^born_in"),
        ),
        topics=topics("Ludwig van Beethoven", "Danube"),
    ),
    PlanSteps(RIVER, topics(TERRACE)),
    PlanSteps(ALGAE, topics("lichen", "coral"), depth=4),
    pruning(
        "In which town did the composer of Vltava go to school?",
        chain("Vltava"),
        (hop("composed_by"), hop("musical_key"), hop("^recorded_work")),
        2,
    ),
    PruneRelations(
        "Which of Beethoven's teachers was born in a town on the Danube?",
        chain("Danube", "^lies_on"),
        (Extension(chain("Danube", "^lies_on", "country")), Extension(chain("Danube", "^lies_on", "mayor"))),
        reached=("Ulm", "Passau"),
        topics=TEACHERS,
    ),
    ReasonAloud("In which sea does the river that flows through Meissen end?"),
    RecallEntities(
        "Who was the mother of the author of Effi Briest?",
        (chain(BRIEST), held(chain(BRIEST, "author"), "Theodor Fontane")),
        "His wife has nothing to do with his mother.",
    ),
    Reflect(
        "Who was the mother of the author of Effi Briest?",
        (ChainFindings(chain(BRIEST, "author", "spouse"), ends("Emilie Rouanet")),),
        (ChainFindings(chain(BRIEST), ()), ChainFindings(chain(BRIEST, "author"), ends("Theodor Fontane"))),
    ),
    ReviseAhead(
        "In which town did the builder of the Sayner Hütte go to school?",
        SearchPlan(
            (
                PlanStep(
                    "Begin with who built it.",
                    "Sayner Hütte architect",
                    (("Sayner Hütte", "built by", "Carl Ludwig Althans"),),
                ),
                PlanStep("Then the town of his school.", "Karl Friedrich Schinkel school town"),
            ),
            ("Neuruppin",),
        ),
        1,
        (path("Sayner Hütte", "architect", "Carl Ludwig Althans"),),
        (path("Sayner Hütte", "architect", "Carl Ludwig Althans"),),
        (offer("person.educated_at", 0), offer("person.employer", 0)),
    ),
    ReviseGlobally(
        RIVER,
        SearchPlan(
            (
                PlanStep("Begin with the palace that has this terrace.", "The Garden Terrace palace"),
                PlanStep("Then the river there.", "Sanssouci river"),
            ),
            ("Havel",),
        ),
        2,
        (path(FRIEDRICH, "person.nationality", "Germany"), PAINTED),
    ),
    ReviseLocally(
        RIVER,
        SearchPlan(
            (
                PlanStep(
                    "Begin with who painted it.",
                    "The Garden Terrace painter",
                    ((TERRACE, "painted by", FRIEDRICH),),
                ),
                PlanStep("Then the river of the town where he was born.", "Carl Blechen birthplace river"),
            ),
            ("Spree",),
        ),
        1,
        (PAINTED,),
    ),
    ReviseMixed(
        RIVER,
        SearchPlan(
            (
                PlanStep("Begin with who painted it.", "The Garden Terrace painter"),
                PlanStep(
                    "Then where he was born.",
                    "Caspar David Friedrich place of birth",
                    ((FRIEDRICH, "born in", "Dresden"),),
                ),
            ),
            ("Elbe",),
        ),
        2,
        (path(FRIEDRICH, "person.place_of_birth", "Greifswald"), PAINTED),
        (path(FRIEDRICH, "person.place_of_birth", "Greifswald"),),
        (offer("town.country", 0), offer("town.lies_on", 0)),
    ),
    ScoreEntities(
        "When was the university opened that Lise Meitner studied at?",
        (
            ChainFindings(
                chain("Lise Meitner", "educated_at"), ends("Akademisches Gymnasium", "University of Vienna")
            ),
        ),
    ),
    scoring(
        "In which town did the composer of Vltava go to school?",
        (chain("Vltava", "composed_by"), chain("Vltava", "musical_key"), chain("Vltava", "^recorded_work")),
        2,
    ),
    SelectEntities(
        "In which museums can pictures by Franz Marc be seen?",
        PlanStep(
            "Find his pictures.",
            "Franz Marc pictures",
            (("Franz Marc", "painted", "The Tower of Blue Horses"),),
        ),
        '"Franz Marc" <-painting.painter- ?',
        tuple(end.term for end in ends("Blue Horse I", "The Yellow Cow", "Tyrol")),
        12,
    ),
    SelectEntities(
        "Which of the towns on the Neckar is the seat of an old university in Swabia?",
        PlanStep("Choose the university town.", "towns on the Neckar"),
        '"Neckar" <-lies_on- ?',
        tuple(end.term for end in ends("Heilbronn", "Tübingen", "Rottweil")),
        3,
    ),
    SelectRelations(
        RIVER,
        PlanStep(
            "Then where this painter was born.",
            "Caspar David Friedrich place of birth",
            ((FRIEDRICH, "born in", "Greifswald"),),
        ),
        (PAINTED,),
        (offer("person.nationality", 0), offer("person.place_of_birth", 0), offer("^painting.painter", 0)),
    ),
    SelectRelations(
        ALGAE,
        PlanStep("Find what each lives in symbiosis with.", "lichen and coral symbiosis"),
        (path("lichen"), path("coral")),
        (offer("found_in", 0, 1), offer("symbiont", 0), offer("^partner_of", 1)),
        topics=topics("lichen", "coral"),
    ),
    VerifyChain(
        "Which of Beethoven's teachers was born in a town on the Danube?",
        chain("Ludwig van Beethoven", "taught_by"),
        ends("Antonio Salieri", "Joseph Haydn"),
        awaited=topics("Danube"),
        topics=topics("Ludwig van Beethoven", "Danube"),
    ),
    VerifyChain(
        "How long is the longest river of Saxony?",
        chain("Saxony", "population"),
        values("4042422"),
    ),
    VerifyChain(
        "When was the oldest university of Saxony founded?",
        FOUNDED,
        values("1409-12-02", "1765-11-21", "1828-05-01"),
    ),
    VerifyStep(
        RIVER,
        PlanStep(
            "Then where this painter was born.",
            "Caspar David Friedrich place of birth",
            ((FRIEDRICH, "born in", "Dresden"),),
        ),
        2,
        (path(TERRACE, "^painting.painter", FRIEDRICH, "person.place_of_birth", "Greifswald"), PAINTED),
    ),
    VerifyStep(
        "Who conducted the first performance of Bolero?",
        PlanStep(
            "Find who conducted it first.",
            "Bolero first conductor",
            (("Bolero", "first conducted by", "Walther Straram"),),
        ),
        1,
        (
            path("Bolero", "premiere", "", "conductor", "Walther Straram"),
            path("Bolero", "premiere", "", "venue", "Palais Garnier"),
        ),
    ),
    VerifyStep(
        "Who wrote the libretto of the opera that opened the Markgräfliches Opernhaus?",
        PlanStep(
            "Find the opera that opened it.",
            "Markgräfliches Opernhaus opening opera",
            (("Markgräfliches Opernhaus", "opened with", "Il trionfo di Ezio"),),
        ),
        1,
        (path("Markgräfliches Opernhaus", "opening", ""),),
    ),
    RewriteQuestion(
        "and the Inn?",
        (
            said("Which river flows through Passau?", "Danube", "Ilz", "Inn"),
            said("How long is the Ilz?", Literal("65 km")),
        ),
    ),
    RewriteQuestion("Where was he born?", (said("Who composed Vltava?", "Bedřich Smetana"),)),
    RewriteQuestion(
        "Which of them is the deepest?",
        (said("Which lakes does the Rhine flow through?", "Lake Constance", "Lake Toma"),),
    ),
    RewriteQuestion("Which moons does Saturn have?", (said("Who composed Vltava?", "Bedřich Smetana"),)),
    TranslateQuestion(
        "Welche Brücken über die Donau hat das Büro Kübler & Sohn nach 1990 gebaut?", "English"
    ),
    TranslateQuestion("How many lighthouses stand on Réunion?", "French"),
    UpdateMemory(
        "Which river flows through the home town of Clara Schumann?",
        (ChainFindings(chain("Clara Schumann", "born_in"), ends("Leipzig")),),
        subgoals=("Find her home town.", "Find the river there."),
    ),
]
"""The worked examples of the instructions, as the prompts that they are examples of."""
