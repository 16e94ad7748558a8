"""Questions that the sample graph cannot answer: it does not say so of a topic, or does not have it.

Of the first kind, the topic is in the graph and what is asked of it is no relation there. Of the second, what
is asked about has no name in the graph; another thing that the question names may.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from kgqa.scripts.sample.questions.draft import Topic
from kgqa.scripts.sample.questions.lookup import Lookup, QuestionError

Record: TypeAlias = dict[str, object]

_RELATION = {
    "Country": """
        Who is the president of {France}?
        Which king rules {Norway}?
        What is the national anthem of {Japan}?
        Which colours are on the flag of {Ghana}?
        What is the highest mountain in {Switzerland}?
        Which river is the longest in {Poland}?
        Who won the last election in {Canada}?
        Which dish is {Hungary} famous for?
        What is the national animal of {Australia}?
        How high is the rate of unemployment in {Spain}?
        Which sea lies south of {Turkey}?
        Who was the first prime minister of {India}?
        When did {Ghana} become independent?
        Which religion do most people in {Thailand} follow?
        What is the motto of {Brazil}?
        Which football club has won the most titles in {Argentina}?
        How many soldiers does {Egypt} have?
        Which wars has {Portugal} fought?
        What does {Chile} export?
        Which side of the road do people drive on in {Kenya}?
        Who painted the most famous picture of {Mexico}?
        Which writers were born in {Ireland}?
        What is the literacy rate of {Nepal}?
        Which deserts are in {Namibia}?
        Who is the richest person in {Sweden}?
        Which political parties are there in {Denmark}?
        How much rain falls in {Iceland}?
        Which volcanoes are in {Ecuador}?
        What is the minimum wage in {Belgium}?
        Which trees grow in {Finland}?
        How many lakes are there in {Estonia}?
        Who wrote the constitution of {Liberia}?
        Which sport is the most popular in {New Zealand}?
        What is the voltage of electricity in {Uruguay}?
        Which Olympic medals has {Jamaica} won?
    """,
    "City": """
        Who is the mayor of {Hamburg}?
        Which river flows through {Budapest}?
        When was {Casablanca} founded?
        Which universities are in {Bologna}?
        Which football team plays in {Liverpool}?
        Who built the cathedral of {Cologne}?
        Which museum should I see in {Amsterdam}?
        Which famous painters lived in {Delft}?
        How many underground lines does {Osaka} have?
        What is the weather like in {Nairobi}?
        Which bridges are in {Saint Petersburg}?
        Which newspaper is printed in {Chicago}?
        Who designed the opera house of {Sydney}?
        What is the twin town of {Kyoto}?
        Which theatre in {Vienna} is the oldest?
        Which companies have their headquarters in {Seattle}?
        What do people call the old quarter of {Marrakesh}?
        How expensive is a flat in {Mumbai}?
    """,
    "Airport": """
        How many passengers use {London Heathrow Airport} in a year?
        Which airline has its base at {Incheon International Airport}?
        How long is the runway of {Narita International Airport}?
        Who designed {Zurich Airport}?
        How many terminals does {Oslo Gardermoen Airport} have?
    """,
    "Language": """
        How many vowels does {Finnish} have?
        Who invented {Esperanto}?
        How many cases are there in the grammar of {Hungarian}?
        Which poems were written in {Sanskrit}?
        How do you say good morning in {Swahili}?
        How many tones does {Vietnamese} have?
        Which dictionary of {Welsh} is the best?
        Which words did English borrow from {Hindi}?
    """,
    "Currency": """
        Who is shown on the banknotes of the {Japanese Yen}?
        Which bank prints the {Swiss Franc}?
        What is the exchange rate of the {Polish Zloty}?
        What is the {Czech Koruna} made of?
        How high is the inflation of the {Argentine Peso}?
        Which coins of the {Danish Krone} have a hole?
    """,
    "Element": """
        What is the price of {gold}?
        What colour does {copper} burn with?
        What does {sulfur} smell like?
        Which minerals contain {lithium}?
        Which thermometers contain {mercury}?
        Which illness does a lack of {iodine} cause?
        What is {tungsten} used for?
        Which company sells the most {cobalt}?
        How hard is {titanium} on the scale of Mohs?
        Who is {curium} named after?
        How much {calcium} is in a glass of milk?
        Which acids dissolve {platinum}?
        How poisonous is {arsenic}?
        Which alloys contain {nickel}?
        How fast does sound travel in {iron}?
        Which star has the most {helium}?
        How much {neon} is in the air?
    """,
    "Isotope": """
        Which museums use {carbon-14}?
        What does a gram of {plutonium-238} cost?
        Which spacecraft carried {plutonium-238}?
    """,
    "Subdivision": """
        Who is the governor of {Texas}?
        Which bird is the symbol of {California}?
        Which wine is made in {Burgenland}?
        When did {Alaska} become a state?
        Which rivers are in {Utah}?
        Which national parks are in {Utah}?
        Which senators does {Ohio} have?
        Which orchids grow in {Hawaii}?
    """,
}
"""What the graph does not say, by the class of the topic; braces around its name."""

_TOPIC = """
    What is the capital of {Wakanda}?
    Which currency is used in {Narnia}?
    Which languages are spoken in {Gondor}?
    On which continent is the {Land of Oz}?
    Who discovered {kryptonite}?
    What is the symbol of {adamantium}?
    In which year was {unobtainium} discovered?
    Which country does {Freedonia} belong to?
    What is the melting point of {vibranium}?
    What is the population of {Ruritania}?
    Which airport serves {Gotham City}?
    Which countries border {Westeros}?
    What is the capital of {Brobdingnag}?
    Which time zone does {Hogwarts} keep?
    Which script is {Dothraki} written in?
    What is the code of the {Galleon} as a currency?
    Which language is spoken in {Lilliput}?
    Who was the first king of {Camelot}?
    What is the area of {Mordor}?
    Which currency was used in {Zamunda} before?
    Who wrote the {tragedy of Hamlet}?
    Who composed the {Moonlight Sonata}?
    Who painted the {Mona Lisa}?
    When was {Ludwig van Beethoven} born?
    Which films did {Charlie Chaplin} direct?
    Who was the wife of {Wolfgang Amadeus Mozart}?
    Where did {Ferdinand Magellan} die?
    Who wrote {Don Quixote}?
    Which books did {Jane Austen} write?
    Who directed {Citizen Kane}?
    Which novels did {Fyodor Dostoevsky} write?
    Where was {Leonardo da Vinci} born?
    Which concertos did {Carl Maria von Weber} write?
    Which symphonies did {Gustav Mahler} write?
    Who is the author of {War and Peace}?
    When did {Johann Sebastian Bach} die?
    Which operas did {Giuseppe Verdi} compose?
    Who were the parents of {William Shakespeare}?
    Which poem did {Virgil} write?
    Who taught {Aristotle}?
    How high is {Mount Kilimanjaro}?
    How deep is {Lake Baikal}?
    Where does the {Amazon River} end?
    How long is the {Great Wall of China}?
    Who built the {Taj Mahal}?
    Which architect designed the {Eiffel Tower}?
    In which country is {Stonehenge}?
    Which sea does the {river Rhine} flow into?
    How old is the {Great Sphinx}?
    How high are the {Iguazu Falls}?
    Which mountains does the {Brenner Pass} cross?
    In which city is the {Colosseum}?
    Which river feeds {Lake Titicaca}?
    In which country is the {Matterhorn}?
    How tall is the {Statue of Liberty}?
    Who commanded at the {battle of Waterloo}?
    When did the {Thirty Years' War} end?
    Who signed the {Magna Carta}?
    Which treaty ended the {Crimean War}?
    Who sailed on the {Mayflower}?
    Who led the {Peasants' Revolt}?
    When did the {Titanic} sink?
    Who sank the {Spanish Armada}?
    Who invented the {steam engine}?
    Who discovered {penicillin}?
    Who invented the {telephone}?
    When was the {printing press} invented?
    Who discovered the {law of gravity}?
    Who formulated the {theory of relativity}?
    What is the boiling point of {aqua regia}?
    Which plant does {quinine} come from?
    What is the formula of {table salt}?
    How much does a {blue whale} weigh?
    How long do {giant tortoises} live?
    Which animals eat {eucalyptus leaves}?
    How many legs does a {spider} have?
    What do {pandas} eat?
    How fast does a {cheetah} run?
    How many teeth does a {great white shark} have?
    How long is a {giraffe}'s neck?
    Which bones are in the {human hand}?
    What is the largest organ of the {human body}?
    How many chambers does the {heart} have?
    How far is {Neptune} from its sun?
    Which moons does {Saturn} have?
    When does {Halley's Comet} come back?
    Who was the first person in {outer space}?
    How hot is the {surface of Venus}?
    Who is the captain of the {Nautilus}?
    Who killed {Achilles}?
    Which labours did {Heracles} do?
    Who is the father of {Zeus}?
    Who wrote the {Odyssey}?
    Who were the friends of {Robin Hood}?
    Which detective lives at {221B Baker Street}?
    Who is the sidekick of {Sherlock Holmes}?
    Who lost a glass slipper in {Cinderella}?
    How many dwarfs does {Snow White} meet?
    Who climbed the {beanstalk}?
    What is the rule of {offside}?
"""
"""What is asked of things that are not in the graph; braces around what these are called."""


def build_unanswerable(triples: list[str]) -> Iterator[Record]:
    """Return the questions as records without answers.

    Raises:
        QuestionError: if a topic of the first kind is not in the graph, or one of the second is.
    """
    lookup = Lookup(triples)
    lines = [(kind, line) for kind, text in _RELATION.items() for line in _lines(text)]
    for number, (kind, line) in enumerate(lines, 1):
        question, name = _unbraced(line)
        found = lookup.find(Topic(kind, name))
        yield _record("relation", number, question, [{"id": found.value, "name": lookup.name(found)}])
    for number, line in enumerate(_lines(_TOPIC), 1):
        question, name = _unbraced(line)
        if lookup.is_name(name):
            raise QuestionError(f"the graph knows something called {name}")
        yield _record("topic", number, question, [])


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def _unbraced(line: str) -> tuple[str, str]:
    """Return a question and what stood in braces in it.

    >>> _unbraced("Who rules {Peru}?")
    ('Who rules Peru?', 'Peru')
    """
    before, name, after = re.split(r"[{}]", line)
    return f"{before}{name}{after}", name


def _record(kind: str, number: int, question: str, topics: list[dict[str, str]]) -> Record:
    known = {"id": f"{kind}-{number:03}", "question": question, "topic_entities": topics, "answers": []}
    return {**known, "kind": kind, "split": "test"}
