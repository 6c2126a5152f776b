"""A text in a language that a model has not learned.

Letters tell: a text is foreign if most of them belong to a script that the model does not know.
Within a script, the commonest words of a language tell: every text in the language is full of them,
and a model of this language, or of one close to it, has them among its own commonest words. Where
neither is clear, as in lists of names, tables and a few words, nothing is said.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

_WORD = re.compile(r"[^\W\d_]{2,}")
"""A word that counts. A single letter, which may be an initial or a variable, does not."""
_FEWEST_KNOWN = 100
"""Words that a model must know before anything is said."""
_COMMONEST_KNOWN = 300
"""Words of a model that are its commonest."""
_LETTERS_OF_SCRIPT = 10
"""Different letters of a script that a model must know to know the script."""
_FEWEST_LETTERS = 8
"""Letters of unknown scripts that a text must have before they count."""
_FEWEST_WORDS = 6
"""Words that a text in a known script must have before they count."""
_FEWEST_COMMON = 4
"""Different words of a text that must be among the commonest of its language, …"""
_COMMON_SHARE = 0.1
"""… and the least share of its words that are, …"""
_KNOWN_SHARE = 0.5
"""… of which at most this share is among the model's, if the language is foreign to it."""

_OF_SCRIPT = {
    "ARABIC": "Arabic", "ARMENIAN": "Armenian", "BENGALI": "Bengali", "CJK": "Chinese",
    "DEVANAGARI": "Hindi", "ETHIOPIC": "Amharic", "GEORGIAN": "Georgian", "GREEK": "Greek",
    "GUJARATI": "Gujarati", "GURMUKHI": "Punjabi", "HANGUL": "Korean", "HEBREW": "Hebrew",
    "HIRAGANA": "Japanese", "KANNADA": "Kannada", "KATAKANA": "Japanese", "KHMER": "Khmer",
    "LAO": "Lao", "MALAYALAM": "Malayalam", "MYANMAR": "Burmese", "SINHALA": "Sinhala",
    "TAMIL": "Tamil", "TELUGU": "Telugu", "THAI": "Thai", "TIBETAN": "Tibetan",
}  # fmt: skip
"""The language that is most often written in a script, by the script's name in Unicode."""

LANGUAGES = {
    "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "en": "English",
    "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French", "hr": "Croatian",
    "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "lt": "Lithuanian", "lv": "Latvian",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "tr": "Turkish", "vi": "Vietnamese",
    "bg": "Bulgarian", "ru": "Russian", "sr": "Serbian", "uk": "Ukrainian",
    "ar": "Arabic", "fa": "Persian", "ur": "Urdu",
    "el": "Greek", "he": "Hebrew", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "th": "Thai",
    "zh": "Chinese",
}  # fmt: skip
"""The names of languages by their ISO codes."""

_COMMONEST = {  # words of one letter are left out; of languages that fit alike, the first is taken
    "cs": "se na je že do to za by pro ve jsem ale po jako od tak které který která jsou byl "
    "bylo byla si podle při nebo nebyl jeho není také než aby však už když co jak až jsme má jen "
    "ani mu ho jsi kde tím této další",
    "da": "og at det er en til af på for med der de den som har et ikke han var jeg om vi men "
    "fra sig ud kan skal så også hun ved efter eller når hvad blev havde være",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als "
    "auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über "
    "einen so zum war haben nur oder aber vor zur ich wir was man mein mir mich durch wenn doch "
    "ihr kann wurde diese dieser bis unter",
    "en": "the of and to in is that for it as was with be by on not he this are or his from at "
    "which but have an had they you were there one all we can her has been their if would will "
    "what do your my so me she him up no out",
    "es": "de la que el en los del se las por un para con no una su al lo como más pero sus le "
    "ya este sí porque esta entre cuando muy sin sobre también me hasta hay donde está fue ha era "
    "ser es son yo él ella mi si todo nos te qué eso había han tiene todos bien ni",
    "ca": "de la el que en els per les un una amb és no del al va es com més són ha si però "
    "també aquest aquesta seva pel dels han ser",
    "et": "ja on ei et see ka oli kui ta mis aga oma seda ma siis või ning nii nagu selle kes "
    "olid ole veel kuid üks mida välja sest pärast pole meie nad juba tema",
    "fi": "ja on ei se että oli ovat mutta myös hän joka kun niin kuin hänen ole mitä sen jos "
    "minä sitä tai vain olen ne vielä nyt siitä mukaan sekä jo ettei siinä olisi nämä tämä olla "
    "mikä siellä hyvin sitten koska kuitenkin hänet he me sinä joita joiden",
    "fr": "de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce "
    "il sont avec son aux ou mais nous on sa elle été cette comme ont ses être vous je tout fait "
    "leur si deux qu était avait lui ils tu mon ces me même ça cela sans bien donc moi très peut "
    "ma où",
    "hr": "je se na da za su od koji će ne iz što kao to bi ili kako koja samo ali nije sam do "
    "po koje biti nakon bio već prema može ga te",
    "hu": "az és hogy nem is egy meg ez de csak volt azt el van már mint ha még fel ki minden "
    "vagy ezt pedig le majd én kell amely be úgy után lesz vissza mert itt nagyon szerint nincs "
    "hogyan ami aki akkor most azonban között sem egyik nekem",
    "id": "yang dan di dengan untuk itu dari dalam ini tidak pada akan ke juga oleh adalah ada "
    "sebagai karena saya atau lebih telah bisa kami tersebut mereka dapat kita sudah seperti dia",
    "it": "di il che la in un per una sono con non del si da le dei alla al della più nel come "
    "ma ha lo anche se gli delle ci ho mi questo dal nella degli suo sua era essere io questa mio "
    "tutto chi cosa quando lui lei noi loro hanno stato dalle nei fu",
    "lt": "ir kad tai iš su buvo yra kaip bet ne jo už apie ar nuo jis tik po per jau dar aš "
    "taip labai gali iki prie kai nėra dėl",
    "lv": "un ir ka no ar par uz bija tas kas lai arī bet kā gan to tā vai pie viņš es nav "
    "tikai jau pēc līdz var būs tiek savu",
    "nl": "de van het een en in is dat op te zijn met voor niet die aan er om ook als maar bij "
    "uit dan door nog naar ze hij heeft je ik of wordt werd deze over tot zich wel was geen "
    "worden zo hebben kan we had meer dit al wij moeten wat daar moet nu ons hier kunnen heb zal "
    "mijn dus zou zij veel",
    "no": "og det er en som på til av for at med de har ikke den et om han var jeg fra men vi "
    "seg så ble kan skal hun etter eller også når ved ut blir hva være",
    "pl": "na się nie do to że jest jak po co tak za od ale przez dla jego są czy już tylko był "
    "być może było tym ze także oraz ma które który jako jej przy tego jeszcze",
    "pt": "de que do da em um para com não uma os no se na por mais as dos como mas foi ao ele "
    "das tem seu sua ou ser quando muito já está também pelo pela até isso eu são entre nos foram "
    "você me ela eles há estão era meu vai nós sem este seus minha sobre todos bem pode",
    "ro": "de și în la cu pe că nu din care este să se un ce au pentru mai sunt ca fi dar fost "
    "sau era le prin după iar acest această lui cei el am doar când ei îi",
    "sk": "sa na je že do to aj ako za po pre som ale sú by si od pri vo alebo bol bola bolo "
    "ktoré ktorý ktorá jeho nie keď už len tak čo podľa však ešte",
    "sl": "in je se na da so za ki pa ne bi kot tudi po iz ali bil še bilo bila od do to ni pri "
    "ter lahko sem kako kaj samo leta ko če",
    "sv": "och att det som en på är av för med till den har de inte om ett han men var jag från "
    "vi så kan hon ska eller också sig när efter skulle man nu sin mycket under hade vid",
    "tr": "ve bir bu da de için ile ne çok daha gibi olarak kadar sonra olan ben var mi ama en "
    "her değil diye ki ya şey kendi iki yok mı ise göre bana sen onu bunu onun oldu dedi hiç "
    "fakat zaman biraz iyi nasıl böyle başka bile şimdi artık bütün mu öyle neden ona bunun ancak "
    "beni benim sana olduğunu pek büyük",
    "vi": "và của là có trong cho không được một các người với này đã những để khi đến từ ra về "
    "như tôi đó cũng vào anh sẽ làm nhiều phải còn",
    "bg": "на да се за от не по като са че ще до това си при или но които който му ми към след "
    "ги беше има само още той както през бе те аз може която",
    "ru": "не на что он как это по но из за от то его все так же для она мы бы был только ее их "
    "они было если при уже ты ни или до вы быть",
    "sr": "је се на да за су од са који ће не из што као то би или како која само али није сам "
    "до по које бити након био већ према може га",
    "uk": "не на що та до як він за це про від його але так для по ми був її вони або які було "
    "також їх має під час бути вже ще",
    "ar": "في من على أن إلى التي الذي عن هذا لا مع ما هذه كان كل بعد كما قد هو لم بين أو ذلك هي "
    "حيث إن كانت قبل",
    "fa": "در به از که این را با است برای آن یک خود تا بر هم نیز می شد ما اما شده کرد بود او "
    "باید هر یا کند دارد",
    "ur": "کے کی میں کا ہے اور سے کو نے پر کہ ہیں اس یہ بھی نہیں ایک تھا ان جو وہ ہو تو گیا کر",
}

_COMMON_WORDS = {
    LANGUAGES[code]: frozenset(_WORD.findall(words)) for code, words in _COMMONEST.items()
}
"""The commonest words of languages, by the names of the languages."""


class KnownLanguage:
    """The language that a model knows, by its words, the most frequent first."""

    def __init__(self, words: Sequence[str]) -> None:
        self._enough = len(words) >= _FEWEST_KNOWN
        self._commonest = frozenset(_WORD.findall(" ".join(words[:_COMMONEST_KNOWN]).lower()))
        letters = _scripts(set("".join(words).lower()))
        self._scripts = {name for name, count in letters.items() if count >= _LETTERS_OF_SCRIPT}

    def foreign(self, text: str) -> str | None:
        """The language of a text, or its script, if the model does not know it: `French`.

        None if the model knows it, or if that is not clear.
        """
        if not self._enough:
            return None
        words, scripts = _ordinary_words(text), _scripts(text.lower())
        unknown = {name: n for name, n in scripts.items() if name not in self._scripts}
        letters = sum(unknown.values())
        if 2 * letters <= scripts.total():
            return self._foreign_by_words(words)
        if letters < _FEWEST_LETTERS:
            return None
        if scripts["HIRAGANA"] + scripts["KATAKANA"] > letters / 10:
            return "Japanese"
        script = max(unknown, key=unknown.__getitem__)
        return _language(words) or _OF_SCRIPT.get(script) or script.title()

    def _foreign_by_words(self, words: Sequence[str]) -> str | None:
        language = _language(words) if len(words) >= _FEWEST_WORDS else None
        if language is None:
            return None
        common = [word for word in words if word in _COMMON_WORDS[language]]
        known = sum(word in self._commonest for word in common)
        return language if known <= _KNOWN_SHARE * len(common) else None


def _ordinary_words(text: str) -> list[str]:
    """The words of a text in lower case, without those with an initial capital: names."""
    return [word.lower() for word in _WORD.findall(text) if word.isupper() or not word[0].isupper()]


def _language(words: Sequence[str]) -> str | None:
    """The language whose commonest words a text has most often; None if it has few of them."""
    counts = Counter(words)
    common = {name: counts.keys() & table for name, table in _COMMON_WORDS.items()}
    sums = {name: sum(map(counts.__getitem__, found)) for name, found in common.items()}
    language = max(sums, key=sums.__getitem__)
    enough = sums[language] >= _COMMON_SHARE * len(words)
    return language if enough and len(common[language]) >= _FEWEST_COMMON else None


def _scripts(letters: Iterable[str]) -> Counter[str]:
    """The number of letters of each script."""
    scripts = Counter[str]()
    for letter, count in Counter(letters).items():
        if letter.isalpha():
            scripts[_script(letter)] += count
    return scripts


@cache
def _script(letter: str) -> str:
    """The first word of a letter's name in Unicode, such as LATIN or CJK."""
    plain = unicodedata.normalize("NFKC", letter)[0]  # wide and mathematical letters are LATIN
    return unicodedata.name(plain, "").partition(" ")[0].partition("-")[0]
