"""Who discovered an element, with the spellings of the source put right."""

import re

_INSTITUTIONS = {99, 100, 102}
_DISPUTED = {4, 78}
"""Beryllium: the source names those who isolated it under the year of its discovery.
Platinum: a person two centuries older than the year."""

_USUAL_NAMES = {
    "A. Crawford": "Adair Crawford",
    "A.A.Bussy": "Antoine Bussy",
    "A.E.Larsh": "Almon Larsh",
    "A.F.Fourcory": "Antoine François Fourcroy",
    "A.Ghiorso": "Albert Ghiorso",
    "A.C.Wohl": "Arthur Wahl",
    "Antoine J. Balard": "Antoine Jérôme Balard",
    "Axel Cronstedt": "Axel Fredrik Cronstedt",
    "Baron Rayleigh": "Lord Rayleigh",
    "C.D. Coryell": "Charles Coryell",
    "C.F. Aver von Welsbach": "Carl Auer von Welsbach",
    "Carl Mosander": "Carl Gustaf Mosander",
    "Charles Hatchet": "Charles Hatchett",
    "D.R.Corson": "Dale Corson",
    "E.M. McMillan": "Edwin McMillan",
    "E.M.McMillan": "Edwin McMillan",
    "E.Segré": "Emilio Segrè",
    "Émillo Segrè": "Emilio Segrè",
    "Fausto": "Fausto Elhuyar",
    "Fredrich Ernst Dorn": "Friedrich Ernst Dorn",
    "Fredrich Soddy": "Frederick Soddy",
    "Fredrich Stromeyer": "Friedrich Stromeyer",
    "G. Kirchoff": "Gustav Kirchhoff",
    "G.T.Seaborg": "Glenn Seaborg",
    "George Brandt": "Georg Brandt",
    "Gustov Kirchoff": "Gustav Kirchhoff",
    "H.V.Collet-Descoltils": "Hippolyte-Victor Collet-Descotils",
    "Hans Christian Oersted": "Hans Christian Ørsted",
    "J. Berzelius": "Jöns Jacob Berzelius",
    "J.A. Marinsky": "Jacob Marinsky",
    "J.L. Gay-Lussac": "Joseph Louis Gay-Lussac",
    "J.L. Soret": "Jacques-Louis Soret",
    "J.W.Kennedy": "Joseph Kennedy",
    "Johann Arfwedson": "Johan August Arfwedson",
    "Johann Gadolin": "Johan Gadolin",
    "Johann Gahn": "Johan Gottlieb Gahn",
    "Joseph Priestly": "Joseph Priestley",
    "Juan José de Elhuyar": "Juan José Elhuyar",
    "Jöns Berzelius": "Jöns Jacob Berzelius",
    "K.R.MacKenzie": "Kenneth MacKenzie",
    "K.Street Jr.": "Kenneth Street",
    "Karl Klaus": "Karl Ernst Claus",
    "L.E. Glendenin": "Lawrence Glendenin",
    "L.J. Thénard": "Louis Jacques Thénard",
    "L.N.Vauquelin": "Louis Nicolas Vauquelin",
    "L.O.Morgan": "Leon Morgan",
    "Lars Nilson": "Lars Fredrik Nilson",
    "Louis Vauquelin": "Louis Nicolas Vauquelin",
    "M. Klaproth": "Martin Heinrich Klaproth",
    "M. W. Travers": "Morris Travers",
    "M.W. Travers": "Morris Travers",
    "Marguerite Derey": "Marguerite Perey",
    "Martin Klaproth": "Martin Heinrich Klaproth",
    "Nils Langet": "Abraham Langlet",
    "Nils Sefström": "Nils Gabriel Sefström",
    "P.H. Abelson": "Philip Abelson",
    "P.T.Cleve": "Per Teodor Cleve",
    "Per Theodor Cleve": "Per Teodor Cleve",
    "Pierre": "Pierre Curie",
    "R. Bunsen": "Robert Bunsen",
    "R.A.James": "Ralph James",
    "R.M.Latimer": "Robert Latimer",
    "S.G.Tompson": "Stanley Thompson",
    "S.Tenant": "Smithson Tennant",
    "Sir H. Davy": "Humphry Davy",
    "Sir Humphrey Davy": "Humphry Davy",
    "Sir William Crookes": "William Crookes",
    "Sir William Ramsay": "William Ramsay",
    "Sir William Ramsey": "William Ramsay",
    "Smithson Tenant": "Smithson Tennant",
    "T. Richter": "Theodor Richter",
    "T.Sikkeland": "Torbjørn Sikkeland",
    "W. von Hisinger": "Wilhelm Hisinger",
    "William Wollaston": "William Hyde Wollaston",
}


def discoverers(atomic_number: int, text: str | None) -> list[str]:
    """The people a source text names, under their usual names.

    >>> discoverers(88, "Pierre and Marie Curie")
    ['Pierre Curie', 'Marie Curie']
    """
    unnamed = text is None or text.startswith("Known to the ancients")
    if unnamed or atomic_number in _INSTITUTIONS | _DISPUTED:
        return []
    names = re.split(r"\s*[,;]\s*|\s+and\s+", text or "")
    return [_USUAL_NAMES.get(name, name) for name in names]
