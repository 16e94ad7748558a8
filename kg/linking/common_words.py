"""Words of English that questions use for what they ask about: by themselves they seldom name a topic."""

from kgqa.kg.text import EVERYDAY_WORDS

_COMMON = """
    earthquake now singer singers
    administration affair affairs age agency agent airport airports album albums ancient animal animals
    april area areas army art artist artists atlantic august award awards ball band bands baseball
    basketball battle battles beat beer bird birds body book books border bordering borders box boy bridge
    brother brothers building buildings business businesses cancer capital capitals car career cast
    celebrity center century chair champion champions championship championships chancellor character chief
    child choose church churches classic club clubs coach coaches code college colleges color colors colour
    colours command commander composed composer conference considered constitution continent continents
    counties county court creator creators culture currencies currency current currently dance dated dates
    day december decision degree degrees democracy designer developer diet director discover discovered
    disease diseases district dog dollar drink drug earliest east eastern education educational election
    elections emperor empire employer end energy engine episode episodes ethnic event events evil exchange
    executive facilities facility fame family famous fantasy fashion fear february federal festival fiction
    fictional field fight fish flag flags floor flower food football force forces foreign form former forms
    fought founder founders friday friend friends front future game games geographical gift girl goal god
    gods gold golden government governmental governments governor graduate graduated ground group groups
    guard guide guitar gulf head headquarters health heart hero high hill historical history home horse
    hospital host hotel hour house household human idea income independence independent influence influenced
    inspiration inspired instrument instruments invent invented inventor island islands january jersey july
    june jurisdiction king kingdom kingdoms kings lady lake lakes land law laws lead leader leaders leading
    league leave left letter level library life light line literature local lord lose love low magazine
    magazines mainly major majority man manager march mascot may mayor media men mention meter military
    minister ministers minute model modern monarch monday money monument most mountain mountains museum
    music musical musician mystery native natural nature near neighbor neighborhood network newspaper night
    north northern novel novels november nuclear ocean oceans october offense office officer official oil
    order organisation organizations overall owner page painter painting paintings paper park parties party
    peace percent performance performer period physician picture pictures pitcher plan planet planets plant
    poem poet police political politician politicians politics pope popular population position positions
    power practice pray premier president presidential presidents previous price prime prince princess
    principal prison prize prizes pro producer products professional professor program project prophet
    province public publisher queen question race radio reach real record red region regions reign
    relationship relative religious resident restaurant result return rich right ring river rivers road rock
    role roles room round rule ruler rules sacred sail saturday school schools science scientist screenplay
    script scripts sea search season seasons seat secretary sell senate senator senators september service
    ship shop side single sister sisters size society soldier soldiers song songs south southern space
    speaker speaking special species sport sports stadium stand states station stations step store stories
    street student students studio study style subject sunday surgery symbol system systems table teacher
    teachers team technology television temple term territories territory test text theater theatre theory
    three thursday time timezone today tomb top tour tourist town towns track trade traditional train
    translator travel treatment tree trial tribe trip troops true tuesday tv twin universe universities
    university vice video view village voice voiced voices volcano vote war wars water weapon weather
    website wednesday week weekend west western white wide wild wind wine winner winners winter wish woman
    women wonder wood worth writing young zone
"""

COMMON_WORDS = EVERYDAY_WORDS | frozenset(_COMMON.split())
"""Everyday words (`kgqa.kg.text`), and what there are classes and relations of in most graphs."""
