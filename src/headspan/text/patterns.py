"""Patterns of things that are one token: addresses, names on the web, emoticons, numbers.

A segmenter uses those that its treebank does not contradict: whether 5% or 10:30 is one token is a
convention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from headspan.plumbing.errors import HeadspanError, shown

_END = r"[^\s<>\"“”«».,;:!?'’()\[\]{}|*…]"
"""A character that an address can end with."""
_ENDINGS = (
    "docx?|xlsx?|pptx?|pdf|txt|csv|tsv|zip|tgz|tar|gz|exe|dll|html?|jpe?g|png|gif|svg|mp[34]|avi|"
    "mov|py|js|json|xml|ya?ml|toml|md|tex|sh|sql|log|conllu"
)
_TITLES = "Mr|Mrs|Ms|Dr|Prof|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Sen|Rep|Gov|Pres|Mme|Sr|Sra"
_NUMBERED = "[Ff]igs?|Art|[Ss]ec|[Vv]ol|[Cc]h|pp?|para|Eq|[Aa]pprox|[Cc]a"
_MONTHS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
_AREAS = "ft|feet|foot|in(?=\\.)|inch(?:es)?|y(?:ar)?ds?|mi(?:les?)?|k?m|cm|mm|met(?:er|re)s?"
_SAID = (
    "said|says|asked|asks|replied|replies|answered|answers|cried|cries|shouted|shouts|whispered|"
    "whispers|exclaimed|yelled|screamed|demanded|inquired|enquired|murmured|muttered|added|"
    "repeated|thought|wondered|begged|gasped|laughed|sighed|snapped"
)
_NO_NAMES = (
    "I|You|He|She|It|We|They|This|That|These|Those|Who|What|When|Where|Why|How|If|As|After|Before|"
    "Then|There|And|But|So|No|Nobody|Everyone|Everybody|Someone|Somebody|People|All|Some|Most|Many|"
    "Few|Both|Others?|My|Your|His|Her|Its|Our|Their|The|An?|Nothing|Something|Everything|Anything|"
    "Anyone|Anybody|One|None|Another|Each|Several|Police|Officials|Authorities|Witnesses|Critics|"
    "Experts|Analysts|Residents|Reports|Yesterday|Later|Now|Yes|Even|Not"
)
_SPEAKER = (
    r"I|you|he|she|it|we|they|(?:the|my|her|his|our|their|an?)(?:\s\w+){1,2}|"
    rf"(?!(?:{_NO_NAMES})\b)[A-Z][\w.]+(?:\s[A-Z]\w+)?"
)
_PREFIXES = (
    "anti bi bio co counter cross cyber de e ex extra infra inter intra macro mega meta micro mid "
    "mini mono multi neo non over post pre pro pseudo psycho re semi socio sub super trans tri "
    "ultra un"
).split()
"""Prefixes that English treebanks do not separate, though they separate the parts of compounds."""
_PREFIX = "|".join(f"[{prefix[0].upper()}{prefix[0]}]{prefix[1:]}" for prefix in _PREFIXES)
_CUT_UNITS = "oz|lbs?|ft|yds?|mins?|secs?|hrs?|tb?sps?|gal|qt|pt"
_UNITS = (
    "[kcmµμn]?m|[km]?g|mcg|[µμ]g|ml|mL|dl|dL|lbs?|oz|ft|mph|[kKMGT]B|[kKMG]?Hz|[kKM]W|kWh|[kKM]|"
    "[aApP]\\.?[mM]|mins?|hrs?|secs?|ms|mM|[µμ]M"
)
_EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"  # flags
    "|[0-9#*]\ufe0f?\u20e3"  # keycaps
    "|[\u203c\u2049\u2139\u231a-\u23ff\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d"
    "\U0001f000-\U0001f0ff\U0001f170-\U0001f1e5\U0001f200-\U0001faff]"
    "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*)"
)

PATTERNS = {
    "url": rf"(?:(?:https?|ftp|file)://|mailto:|www\.)\S*{_END}/?",
    "email": r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}(?![\w-])",
    "file": r"(?<![\w./\\@:-])(?:[A-Za-z]:\\|~?/)?(?:[\w.-]+[/\\])*[\w-]+(?:\.[\w-]+)*"
    rf"\.(?:{_ENDINGS})\b(?![\w@-])",
    "site": r"(?<![\w.@/-])(?:[A-Za-z0-9-]+\.)+(?:com|org|net|edu|gov|info|io|co\.uk|eu)"
    rf"(?:/\S*{_END}/?)?(?![\w@-])",
    "path": r"(?<![\w./~-])~?(?:/[\w.+-]*[\w+-]){2,}/?(?![\w/])",
    "hashtag": r"(?<![\w&#/])#\w*[^\W\d_]\w*",
    "mention": r"(?<![\w@.])@\w+",
    "emoji": f"{_EMOJI}(?:\u200d{_EMOJI})*",
    "emoticon": r"(?<![\w:;=])(?:>?[:;=][-o^'*]?[()\[\]{}DPpSsOo/\\|*3><]+"
    r"|(?<![()\[\]])[()\[\]]+[-o^'*]?[:;=](?![\w-])|<3+|\^[_.-]?\^|[xX]D+|[oO]_+[oO]|¯\\_\(ツ\)_/¯)(?![\w/])",
    "time": r"(?<![\w:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])",
    "version": r"(?<![\w.])[vV]?\d+(?:\.\d+){2,}(?![\w])",
    "phone": r"(?<![\w.-])(?:\+\d{1,3}[.-])?(?:\d{2,4}[.-]){1,3}\d{3,4}[.-]\d{3,4}(?![\w-])",
    "number": r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])(?!,\d)",
    "decimal": r"(?<![\w.,])\d+\.\d+(?![\w])(?!\.\d)",
    "ordinal": r"(?<![\w.,])\d+(?:st|nd|rd|th)\b",
    "amount": rf"(?<![\w.,/:-])(?:\d{{1,2}}:)?\d+(?:[.,]\d+)*(?=(?:{_UNITS})(?!\w))",
    "unit": rf"(?<=\d)(?:{_UNITS})(?![\w'’])|(?<=°)[CF](?!\w)",
    "fraction": r"(?<![\w/.,-])\d{1,2}/\d{1,2}(?![\w/-])",
    "code": r"(?<![\w'’./@#&=-])(?:[A-Za-z]{2,}\d{1,2}[A-Za-z]?|\d{1,3}[ABDEGHJ])(?![\w'’-])"
    r"|(?<![\w&])[A-Z]{1,3}&[A-Z]{1,2}(?![\w'’&])|(?<!\w)C(?:\+\+|#)(?![\w+#])",
    "prefix": rf"(?<![\w'’-])(?:(?:{_PREFIX})-(?!(?:and|the|to|or)\b)[^\W\d_]+|[Mm]id-\d+s?)"
    r"(?![\w'’-])",
    "clipped": r"(?<!\w)['’](?:em|til|cause|bout|cuz)(?!\w)|(?<!\w)['’]n['’](?!\w)"
    r"|(?<![\w'’])(?<!\d\s)['’]\d(?:0s|\d(?![^'’\n]{1,300}[,.?!…]['’](?!['’\w])))"
    r"(?![\w'’/%°-]|[.,:]\d)",
    "run": r"(?<![A-Z]\.[A-Z])(?<!\betc)(?<!\bJr)(?<![\[.])\.{2,}|\${2,}|_{2,}|[!?]{2,}"
    r"|(?<![-=<>|+*])(?:-{2,}|={2,}|\*{2,})(?![-=<>|+*])",
    "with": r"(?<![\w/])[wWbB]/[oOcC]?(?=\s)",
    "abbreviation": rf"(?<![\w.])(?:(?:{_TITLES})\.(?=\s[^\W\d_])"
    rf"|(?:(?<![?!]\s)[Nn]os?|{_NUMBERED})\.(?=\s\d)|(?:vs?|incl|cf|e\.g|i\.e)\.(?=\s\S)"
    rf"|(?:{_MONTHS})\.(?=\s\d)|(?:[Ss]q|[Cc]u)\.(?=\s(?:{_AREAS})\b)"
    rf"|(?<=\d\s)(?:{_CUT_UNITS})\.(?=\s[a-z])|(?<=\bet\s)al\.(?=\s[^A-Z\s]|[,;)]))",
    "speech": rf"(?<=[?!…])[\"”’'](?=\s(?:(?:{_SPEAKER})\s)?(?:{_SAID})\b"
    r"(?!\s(?:that|so|nothing|no)\b))",
    "mark": r"[()\[\]\"“”—§°]|(?<=[^\W\d_])[,;](?=[^\W\d_])|[$£€¥](?=\d)"
    r"|(?<=\w)[<>=≤≥](?=[\d.])"
    r"|(?<!\w)['‘](?=\w(?:[^'’\n]|(?<=\w)['’](?=\w)){1,300}[,.?!…]['’](?!['’\w]))"
    r"|(?<=[,.?!…])['’](?!['’\w])|(?<=n['’]t)[.,?!](?=[\"”'’])|(?<=\bet\s)al\.",
}
"""By name. Of matches that begin at the same place, the first pattern's is taken."""
_MAY_BEGIN = r"(?!\s)(?:(?<![A-Za-z])|(?![A-Za-z]))(?:(?<=\d)|(?=[A-Za-z]*[^A-Za-z\s]|[xX]D))"
"""Where a match can begin: at a word with another character than letters. This saves time."""
WITHIN_SENTENCES = "abbreviation", "speech"
"""The patterns whose matches never end a sentence. That of speech is a closing quotation mark
before who says it."""


def one_of(names: Sequence[str]) -> re.Pattern[str]:
    """A pattern that matches wherever one of those with the given names does, as that group."""
    alternatives = "|".join(f"(?P<{name}>{PATTERNS[name]})" for name in names) or r"(?!)"
    return re.compile(f"{_MAY_BEGIN}(?:{alternatives})")


def check_names(names: Any) -> tuple[str, ...]:
    """The names of patterns, in the order in which they are tried; raises HeadspanError."""
    if not isinstance(names, list) or not all(isinstance(n, str) and n in PATTERNS for n in names):
        raise HeadspanError(
            f"the segmenter's patterns are {shown(names)}; expected some of {', '.join(PATTERNS)}"
        )
    return tuple(name for name in PATTERNS if name in names)


def agreed(texts: Iterable[tuple[str, set[int]]]) -> tuple[str, ...]:
    """The patterns that a treebank does not contradict.

    texts: of each text, the positions of the last characters of its tokens. A pattern is
    contradicted if more than a quarter of its matches, and more than a few, are not tokens.
    """
    matches, tokens = dict.fromkeys(PATTERNS, 0), dict.fromkeys(PATTERNS, 0)
    every = one_of(tuple(PATTERNS))
    for text, ends in texts:
        for match in every.finditer(text):
            first, last, name = match.start(), match.end() - 1, match.lastgroup or ""
            before = first == 0 or first - 1 in ends or text[first - 1].isspace()
            whole = before and last in ends and not any(k in ends for k in range(first, last))
            matches[name] += 1
            tokens[name] += whole
    wrong = {name: matches[name] - tokens[name] for name in PATTERNS}
    return tuple(name for name in PATTERNS if wrong[name] <= 3 + matches[name] / 4)
