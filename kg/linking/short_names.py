"""What English says for the names of countries and a few others: peoples and abbreviations.

Graphs that have further names of their entities know these as well; others do not.
"""

import re
from collections import defaultdict

from kgqa.kg.text import fold, strip_article

_SHORT = """
    Afghanistan: afghan | Albania: albanian | Algeria: algerian | Angola: angolan
    Argentina: argentine argentinian | Armenia: armenian | Australia: australian aussie
    Austria: austrian | Azerbaijan: azerbaijani | Bahamas: bahamian | Bangladesh: bangladeshi
    Barbados: barbadian | Belarus: belarusian | Belgium: belgian | Bolivia: bolivian
    Bosnia and Herzegovina: bosnian | Botswana: botswanan | Brazil: brazilian | Bulgaria: bulgarian
    Cambodia: cambodian | Cameroon: cameroonian | Canada: canadian | Chile: chilean | China: chinese prc
    Colombia: colombian | Costa Rica: costa_rican | Croatia: croatian | Cuba: cuban | Cyprus: cypriot
    Czech Republic: czech | Denmark: danish dane | Dominican Republic: dominican | Ecuador: ecuadorian
    Egypt: egyptian | El Salvador: salvadoran | England: english | Estonia: estonian | Ethiopia: ethiopian
    Europe: european | European Union: eu | Fiji: fijian | Finland: finnish finn | France: french
    Georgia: georgian | Germany: german | Ghana: ghanaian | Greece: greek | Guatemala: guatemalan
    Haiti: haitian | Honduras: honduran | Hungary: hungarian | Iceland: icelandic icelander
    India: indian | Indonesia: indonesian | Iran: iranian persian | Iraq: iraqi | Ireland: irish
    Israel: israeli | Italy: italian | Jamaica: jamaican | Japan: japanese | Jordan: jordanian
    Kazakhstan: kazakh | Kenya: kenyan | Kosovo: kosovar | Kuwait: kuwaiti | Laos: laotian
    Latvia: latvian | Lebanon: lebanese | Libya: libyan | Lithuania: lithuanian
    Luxembourg: luxembourgish | Madagascar: malagasy | Malaysia: malaysian | Malta: maltese
    Mexico: mexican | Moldova: moldovan | Mongolia: mongolian | Montenegro: montenegrin
    Morocco: moroccan | Myanmar: burmese burma | Namibia: namibian | Nepal: nepalese nepali
    Netherlands: dutch holland | New Zealand: new_zealander | Nicaragua: nicaraguan | Nigeria: nigerian
    North Korea: north_korean dprk | Norway: norwegian | Pakistan: pakistani | Palestine: palestinian
    Panama: panamanian | Paraguay: paraguayan | Peru: peruvian | Philippines: filipino philippine
    Poland: polish pole | Portugal: portuguese | Puerto Rico: puerto_rican | Romania: romanian
    Russia: russian | Rwanda: rwandan | Saudi Arabia: saudi ksa | Scotland: scottish scot
    Senegal: senegalese | Serbia: serbian serb | Singapore: singaporean | Slovakia: slovak slovakian
    Slovenia: slovene slovenian | Somalia: somali | South Africa: south_african
    South Korea: south_korean | Spain: spanish spaniard | Sri Lanka: sri_lankan | Sudan: sudanese
    Sweden: swedish swede | Switzerland: swiss | Syria: syrian | Taiwan: taiwanese | Tanzania: tanzanian
    Thailand: thai | Tunisia: tunisian | Turkey: turkish turk | Uganda: ugandan | Ukraine: ukrainian
    United Arab Emirates: uae emirati | United Kingdom: uk u_k britain great_britain british
    United States of America: usa us u_s u_s_a united_states america american | Uruguay: uruguayan
    United States: usa us u_s u_s_a united_states_of_america america american | Venezuela: venezuelan
    Vietnam: vietnamese | Wales: welsh | Yemen: yemeni | Zambia: zambian | Zimbabwe: zimbabwean
    Soviet Union: ussr soviet | Roman Empire: roman | Africa: african | Asia: asian
    World War I: ww1 wwi world_war_1 world_war_one first_world_war | United Nations: un
    World War II: ww2 wwii world_war_2 world_war_two second_world_war | John F. Kennedy: jfk
    Franklin D. Roosevelt: fdr | Martin Luther King, Jr.: mlk | National Basketball Association: nba
    National Football League: nfl | Major League Baseball: mlb | New York City: nyc
    Washington, D.C.: washington_dc
"""


def _read(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for entry in text.replace("\n", "|").split("|"):
        name, _, shorts = entry.strip().partition(":")
        for short in shorts.split():
            found[short.replace("_", " ")].append(name)
    return {short: tuple(names) for short, names in found.items()}


MAX_SHORT_CHARS = 60  # of what may stand for a name

_SHORT_NAMES = _read(_SHORT)
_FULL_NAMES = frozenset(fold(name) for names in _SHORT_NAMES.values() for name in names)


def is_full_name(folded: str) -> bool:
    """Return whether some folded words are a name that others stand for.

    >>> is_full_name("european union"), is_full_name("european")
    (True, False)
    """
    return folded in _FULL_NAMES


def full_names(folded: str) -> tuple[str, ...]:
    """Return the names that some folded words may stand for.

    >>> full_names("uk"), full_names("russians"), full_names("ulm")
    (('United Kingdom',), ('Russia',), ())
    >>> full_names("canadian prime ministers")[1:], full_names("president of the uk")[-1]
    (('prime minister of Canada', 'prime minister of the Canada'), 'president of the United Kingdom')
    >>> full_names("eastern european")[:1], full_names("us senate")[:2]
    (('eastern Europe',), ('United States of America senate', 'United States senate'))
    """
    folded = strip_article(folded)
    if len(folded) > MAX_SHORT_CHARS:
        return ()
    if found := _SHORT_NAMES.get(folded) or _SHORT_NAMES.get(folded.removesuffix("s"), ()):
        return found
    words = folded.split()
    first, *rest = words or [""]
    within = [" ".join((name, *rest)) for name in _SHORT_NAMES.get(first, ())]
    if len(rest) == 1:
        within += [f"{first} {name}" for name in _SHORT_NAMES.get(rest[0], ())]
    office, _, place = folded.partition(" of ")
    pairs = [(office, strip_article(place))]
    pairs += [(" ".join(words[n:]).removesuffix("s"), " ".join(words[:n])) for n in range(1, len(words))]
    offices = (
        f"{what} of {article}{name}"
        for what, whose in pairs
        for name in (*_SHORT_NAMES.get(whose, ()), *({whose} & _FULL_NAMES))
        for article in ("", "the ")
    )
    return (*within, *offices)


_POSSESSIVE = re.compile(r"['\u2019]s\b")


def respellings(text: str) -> list[str]:
    """Return a text with its possessives as plurals; several words also in the plural, names in the singular.

    >>> respellings("golden globe award"), respellings("the 49er's"), respellings("the award")
    (['golden globe awards'], ['the 49ers'], [])
    >>> respellings("Golden Globes"), respellings("public holidays")
    (['Golden Globe'], [])
    """
    spelt = _POSSESSIVE.sub("s", text)
    if spelt != text:
        return [spelt]
    if " " not in strip_article(text.lower()):
        return []
    if text.endswith("s"):
        return [] if text.islower() else [text.removesuffix("s")]
    return [f"{text}s"]
