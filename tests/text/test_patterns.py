"""Patterns of tokens, and which of them a treebank agrees with."""

import pytest

from headspan import HeadspanError
from headspan.text.patterns import PATTERNS, agreed, check_names, one_of

EVERY = one_of(tuple(PATTERNS))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("See https://a.example/b?c=d#e, or www.example.com.", ["https://a.example/b?c=d#e", "www.example.com"]),
        ("(http://example.net/x_(y)/z)", ["(", "http://example.net/x_(y)/z", ")"]),
        ("Mail jane.doe+x@mail.example.org!", ["jane.doe+x@mail.example.org"]),
        ("Open C:\\tmp\\a.txt and ~/b/c.tar.gz.", ["C:\\tmp\\a.txt", "~/b/c.tar.gz"]),
        ("#one and # two, a#b", ["#one"]),
        ("@sam: hi, x@y", ["@sam"]),
        ("🥛. 👍🏽 👨‍👩‍👧‍👦 🇫🇷🇩🇪 1️⃣", ["🥛", "👍🏽", "👨‍👩‍👧‍👦", "🇫🇷", "🇩🇪", "1️⃣"]),
        ("fun :-) and :( or :D <3", [":-)", ":(", ":D", "<3"]),
        ("at 10:30, not 1:2:3:4", ["10:30"]),
        ("v2.10.3 of 1,250,000.50 and 3.14.", ["v2.10.3", "1,250,000.50", "3.14"]),
        ("call 555-123-4567", ["555-123-4567"]),
        ("the 3rd w/ milk", ["3rd", "w/"]),
        ("35mm, 10:30pm, 2.5 kg, 5Gb", ["35", "mm", "10:30", "pm", "2.5"]),
        ("1/2 cup, 12/25, 1/2/3", ["1/2", "12/25"]),
        ("AT&T uses C++, C# and A&B's", ["AT&T", "C++", "C#"]),
        ("at 20°C. Roe v. Wade; Lee et al. (2019), et al.", ["°", "C", "v.", "al.", "(", ")", "al."]),
        ("SX40 and 3B, but Q1 and B1a2", ["SX40", "3B"]),
        ("/usr/local, ~/a/b/ or /x/", ["/usr/local", "~/a/b/"]),
        ("Tell 'em ’til", ["'em", "’til"]),
        ('red,white;blue 1,2 "f(x)" $5 § p<.05', [",", ";", '"', "(", ")", '"', "$", "§", "<"]),
        ("co-author, Non-stop, mid-1980s, over-the-top, UN-led", ["co-author", "Non-stop", "mid-1980s"]),
        ("What?! Well... $$$ -- ==> U.S..", ["?!", "...", "$$$", "--"]),
        ("Dr. Lee, No. 5, vs. them. No. Dr.", ["Dr.", "No.", "vs."]),
        ("Jan. 5, in Jan. He has 90 sq. ft. at sq. Three", ["Jan.", "sq."]),
        ("3 oz. of gin. 5 lbs. It is 2 sq. miles. Approx. 5", ["oz.", "sq.", "Approx."]),
        ("Go? No. 2 of us. Lee et al. 2019, et al. The", ["al.", "al."]),
        ("Rock 'n' roll of the '60s, in '69, 'twas '5' or '20'", ["'n'", "'60s", "'69"]),
        ("'10.5 million,' he said", ["'", "10.5", "'"]),
        ("at 32 '54.2\", '10:30', '20 people died,' '50% of", ["54.2", '"', "10:30", "'", "'"]),
        ("Really? Fig. 3 and p. 5, but 90 sq. in the house", ["Fig.", "p."]),
        ('"I don\'t." "You can’t!" I didn\'t.', ['"', ".", '"', '"', "!", '"']),
        ("'No,' said Tom, and I didn't say 'it's the boys' 'cars', 'no!'", ["'", "'", "'", "'"]),
    ],
)  # fmt: skip
def test_matches(text: str, tokens: list[str]) -> None:
    assert [match[0] for match in EVERY.finditer(text)] == tokens


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('"Is it?" I asked him.', True),
        ("“Is it?” said Dr. Lee.", True),
        ("“Stop!” the old man shouted.", True),
        ("“Stop!” the man whom we shouted", False),
        ("“Stop!” my mother shouted.", True),
        ("‘Well…’ Mary Ann replied", True),
        ('"Is it?" He asked twice.', False),
        ('He said "Stop!" Everyone laughed.', False),
        ('They chanted "Freedom!" Witnesses said so.', False),
        ('He asked "Why?" I thought so too.', False),
        ('"It is." I asked him.', False),
        ('"Is it?" I had no idea.', False),
        ('"Is it?" Nobody knew what she said.', False),
    ],
)
def test_who_speaks_belongs_to_the_sentence(text: str, inside: bool) -> None:
    names = [match.lastgroup for match in EVERY.finditer(text)]
    assert ("speech" in names) == inside


def test_a_treebank_can_disagree() -> None:
    times = " ".join(["10:30"] * 20)
    whole = set(range(4, len(times), 6))
    assert "time" in agreed([(times, whole)])
    divided = whole | {k - 3 for k in whole} | {k - 2 for k in whole}
    assert "time" not in agreed([(times, divided)])
    assert set(agreed([("no matches", {1, 9})])) == set(PATTERNS)


def test_names_are_checked() -> None:
    assert check_names(["time", "url"]) == ("url", "time")
    for wrong in (["x"], "url", {"url": 1}, [["url"]], None, 3):
        with pytest.raises(HeadspanError, match="the segmenter's patterns are"):
            check_names(wrong)
    assert one_of(()).search("https://example.com") is None
