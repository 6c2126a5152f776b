"""The page in a real browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from headspan import conllu
from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.parser import Parser
from headspan.render import arcs_svg
from headspan.serve import Limits, create_app

from .serving import serving

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs a browser: chromium is not installed")

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
expect.set_options(timeout=60_000)
TEXT = "the dog sees a cat with every hearing ."
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture(scope="module")
def address(parser: Parser) -> Iterator[str]:
    with serving(
        create_app(parser, name="tiny", limits=Limits(words=60, sentence=40, body=10_000))
    ) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser, address: str) -> Iterator[BrowserContext]:
    """A browser that notes what must never happen: scripts that fail, dialogs, foreign requests."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    wrong: list[str] = []
    context.on(
        "request",
        lambda r: (
            None if r.url.startswith((address, "data:", f"blob:{address}")) else wrong.append(r.url)
        ),
    )
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    context.on(
        "console",
        lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None,
    )
    yield context
    context.close()
    assert not wrong


def opened(context: BrowserContext, address: str, text: str = TEXT, more: str = "") -> Page:
    page = context.new_page()
    page.set_default_timeout(60_000)  # the machine may be busy
    page.goto(f"{address}/#text={quote(text)}{more}")
    return page


def heads(page: Page) -> dict[int, int]:
    """The tree that is drawn: the head of each word."""
    arcs = page.locator("#drawing [data-dependent]:not(.other)").all()
    return {
        int(arc.get_attribute("data-dependent") or 0): int(arc.get_attribute("data-head") or 0)
        for arc in arcs
    }


def word(page: Page, k: int):  # type: ignore[no-untyped-def]
    return page.locator(f'#drawing .word[data-word="{k}"]')


def until(page: Page, condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; a function in the page would need eval, which is forbidden."""
    for _ in range(600):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not happen within a minute")


def status(page: Page):  # type: ignore[no-untyped-def]
    return page.locator("#status")


def test_an_empty_page_invites_and_parses_what_is_chosen_or_typed(
    context: BrowserContext, address: str, parser: Parser
) -> None:
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#model")).to_have_text("Model: tiny.")
    expect(page.locator("#result")).to_be_hidden()
    expect(page.get_by_text("What you can do here")).to_be_visible()
    page.get_by_role("button", name="Two readings").click()
    expect(page.locator("#drawing svg")).to_be_visible()
    expect(page.locator("#empty")).to_be_hidden()
    expect(page.locator("#text")).to_have_value("I saw the man with the telescope.")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#result")).to_be_hidden()
    expect(page.locator("#empty")).to_be_visible()
    page.locator("#text").press_sequentially(TEXT)
    expect(page.locator("#drawing .word")).to_have_count(9)
    (expected,) = parser(TEXT)
    assert heads(page) == dict(enumerate(expected.heads, 1))
    expect(page.locator("#best li")).to_have_count(5)


def test_the_page_chooses_the_model(browser: Browser, parser: Parser) -> None:
    with serving(create_app(parser, name="tiny", further={"other": parser})) as address:
        context = browser.new_context()
        page = opened(context, address, TEXT, "&model=missing")
        expect(page.locator("#drawing svg")).to_be_visible()
        expect(page.get_by_label("Model")).to_have_value("tiny")
        expect(page.locator("#model")).to_be_empty()
        with page.expect_response("**/parse") as got:
            page.get_by_label("Model").select_option("other")
        assert got.value.ok
        assert got.value.request.post_data_json["model"] == "other"
        until(page, lambda: "model=other" in page.url)
        again = context.new_page()
        with again.expect_response("**/parse") as got:
            again.goto(page.url)
        assert got.value.request.post_data_json["model"] == "other"
        expect(again.get_by_label("Model")).to_have_value("other")
        context.close()


def test_every_example_is_within_the_limits_of_a_service(browser: Browser, parser: Parser) -> None:
    with serving(create_app(parser)) as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        for name in page.locator("#examples b").all_inner_texts():
            page.get_by_role("button", name=name).click()
            expect(page.locator("#drawing .word").first).to_be_visible()
            page.get_by_role("button", name="Clear").click()
            expect(page.locator("#examples")).to_be_visible()
        context.close()


def test_views_highlight_headed_spans(
    context: BrowserContext, address: str, parser: Parser
) -> None:
    page = opened(context, address)
    (expected,) = parser(TEXT, confidence=True)
    root = expected.heads.index(0) + 1
    word(page, root).hover()
    assert "the dog sees a cat with every hearing ." in page.locator("#about").inner_text()
    band, last = page.locator("#drawing .light").bounding_box(), word(page, 9).bounding_box()
    assert band is not None
    assert last is not None
    assert band["x"] + band["width"] >= last["x"] + last["width"] - 1
    leaf = next(k for k in range(1, 10) if k not in expected.heads)
    word(page, leaf).hover()
    assert page.locator("#about b").inner_text() == expected.forms[leaf - 1]
    narrow = page.locator("#drawing .light").bounding_box()
    assert narrow is not None
    assert narrow["width"] < band["width"] / 2
    page.get_by_role("radio", name="Headed spans").check(force=True)
    expect(page.locator("#drawing .span")).to_have_count(9)
    word(page, root).hover()
    expect(page.locator("#drawing .span.lit")).to_have_attribute("data-word", str(root))
    page.get_by_role("radio", name="Table").check(force=True)
    rows = page.locator("#drawing tbody tr")
    expect(rows).to_have_count(9)
    assert f"{expected.confidences[0]:.0%}" in rows.first.inner_text()
    word(page, root).hover()
    expect(page.locator("#drawing tr.lit")).to_have_count(9)


def test_constraints_by_clicking(context: BrowserContext, address: str, parser: Parser) -> None:
    page = opened(context, address)
    expect(page.locator("#drawing [data-dependent]")).to_have_count(9)
    free = heads(page)
    assert free[2] != 8
    word(page, 8).click()
    expect(word(page, 8)).to_have_attribute("aria-pressed", "true")
    word(page, 2).click()
    page.get_by_role("button", name="Require", exact=True).click()
    expect(status(page)).to_have_text("Required: hearing → dog.")
    bound = heads(page)
    assert bound[2] == 8
    assert bound != free
    expect(page.locator("#best li")).to_have_count(5)
    (expected,) = parser(TEXT)
    (under,) = parser.parse([expected], constraints=[Constraints(required_arcs=[(8, 2)])], k=2)
    share = under.alternatives[0].probability
    shown = f"{share:.1%}" if share >= 0.001 else f"{share:.3%}" if share >= 1e-5 else "< 0.001%"
    expect(page.locator("#best li").first.locator(".percent")).to_have_text(shown)
    page.locator("#best [data-tree]").nth(1).click()
    assert heads(page)[2] == 8
    page.locator("#best li").first.locator("button").click()
    word(page, 2).click()
    word(page, 8).click()
    page.get_by_role("button", name="Require", exact=True).click()
    circle = "the arcs dog → hearing → dog are required, but they form a cycle"
    expect(status(page)).to_contain_text(circle)
    expect(page.locator("#constraints li")).to_have_count(1)
    assert heads(page) == bound
    page.get_by_role("button", name="Remove: hearing → dog, required").click()
    expect(status(page)).to_have_text("Removed: hearing → dog.")
    assert heads(page) == free
    head, dependent = next((h, d) for d, h in free.items() if h)
    word(page, head).click()
    word(page, dependent).click()
    page.get_by_role("button", name="Forbid", exact=True).click()
    expect(status(page)).to_contain_text("Forbidden: ")
    assert heads(page)[dependent] != head


def test_another_of_the_best_trees_can_be_shown(
    context: BrowserContext, address: str, parser: Parser
) -> None:
    page = opened(context, address)
    (expected,) = parser(TEXT, k=5)
    page.locator("#best [data-tree]").first.wait_for()
    unfold(page)
    page.locator('#best [data-tree="3"]').click()
    third = page.locator('#best [aria-current="true"]')
    expect(third).to_have_attribute("data-tree", "3")
    expect(third.locator(".percent")).to_have_text(f"{expected.alternatives[2].probability:.1%}")
    assert heads(page) == dict(enumerate(expected.alternatives[2].heads, 1))
    expect(page.locator("#drawing")).to_contain_text("only in the best tree")
    page.locator("#best li").nth(0).locator("button").click()
    assert heads(page) == dict(enumerate(expected.heads, 1))
    rest = 1 - sum(tree.probability for tree in expected.alternatives)
    expect(page.locator("#rest")).to_have_text(f"All other trees together: {rest:.1%}")
    widths = [
        bar.evaluate("bar => parseFloat(bar.style.width)")
        for bar in page.locator("#best .share > span").all()
    ]
    listed = sorted((100 * tree.probability for tree in expected.alternatives), reverse=True)
    assert sorted(widths, reverse=True) == pytest.approx(listed, abs=0.001)


def unfold(page: Page) -> None:
    """Show the trees that differ only in punctuation, if there are any."""
    page.locator("#punctuation").evaluate("details => { details.open = true; }")


def answered(**best: object) -> dict[str, object]:
    """A sentence as the service returns it, with trees and probabilities of our choice."""
    words = ["I", "saw", "the", "man", "with", "the", "telescope", "."]
    relations = ["nsubj", "root", "det", "obj", "case", "det", "nmod", "punct"]
    heads = [2, 0, 4, 2, 7, 7, 4, 2]
    drawing = {
        "arcs": arcs_svg(Sentence.from_words(words, heads=heads, deprels=relations), styled=False)
    }
    drawing["spans"] = drawing["arcs"]
    return {
        "id": "1", "text": " ".join(words), "words": words, "heads": heads, "relations": relations,
        "conllu": "", "drawing": drawing, "score": 1.0, "best": best["best"],
    }  # fmt: skip


def test_differences_are_said_in_words_and_punctuation_comes_last(
    context: BrowserContext, address: str
) -> None:
    base = answered(best=[])

    def tree(probability: float, **changes: tuple[int, str]) -> dict[str, object]:
        heads, relations = list(base["heads"]), list(base["relations"])  # type: ignore[call-overload]
        for word, (head, relation) in changes.items():
            k = int(word.removeprefix("w")) - 1
            heads[k], relations[k] = head, relation
        same = {"conllu": "", "drawing": base["drawing"], "score": 1.0}
        return {"heads": heads, "relations": relations, "probability": probability, **same}

    best = [
        tree(0.5), tree(0.2, w8=(4, "punct")), tree(0.1, w7=(2, "obl")),
        tree(0.05, w7=(4, "acl")), tree(0.00004, w6=(5, "det"), w1=(4, "nsubj"), w3=(2, "det")),
    ]  # fmt: skip
    page = context.new_page()
    answer = {"sentences": [answered(best=best)]}
    page.route("**/parse", lambda route: route.fulfill(json=answer))
    page.goto(f"{address}/#text=I")
    rows = page.locator("#best > ol li")
    expect(rows).to_have_count(4)
    assert rows.locator(".what").all_inner_texts() == [
        "The best tree: telescope modifies man",
        "telescope modifies saw, not man",
        "telescope modifies man as acl, not nmod",
        "I is the subject of man, not saw; the (3) determines saw, not man; 1 more change",
    ]
    assert rows.locator(".percent").all_inner_texts() == ["50.0%", "10.0%", "5.0%", "0.004%"]
    expect(page.locator("#punctuation li")).to_be_hidden()
    expect(page.locator("#punctuation summary")).to_have_text(
        "1 tree that differs only in punctuation"
    )
    page.locator("#punctuation summary").click()
    expect(page.locator("#punctuation li")).to_contain_text("20.0%")
    expect(page.locator("#punctuation li")).to_contain_text(". belongs to man, not saw")
    expect(page.locator("#rest")).to_have_text("All other trees together: 15.0%")
    page.locator("#labels summary").click()
    expect(page.locator("#labels")).to_contain_text("nmod")
    expect(page.locator("#labels")).to_contain_text("noun that modifies a noun")


def test_everything_works_with_the_keyboard(context: BrowserContext, address: str) -> None:
    page = opened(context, address)
    expect(page.locator("#drawing [data-dependent]")).to_have_count(9)
    page.locator("#text").press("Tab")
    for _ in range(8):  # Parse, the file, Clear, the views, three for the zoom, Compact
        page.keyboard.press("Tab")
    focused = page.locator(":focus")
    expect(focused).to_have_attribute("data-word", "1")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("data-word", "8")
    page.keyboard.press("Enter")
    expect(word(page, 8)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(word(page, 8)).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Space")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(focused).to_have_text("Require")
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text("Required: hearing → dog.")
    expect(focused).to_have_attribute("data-word", "2")


@pytest.mark.parametrize("view", ["arcs", "spans", "table"])
def test_markup_in_a_text_stays_text(context: BrowserContext, address: str, view: str) -> None:
    page = opened(context, address, f"the {EVIL} dog", f"&view={view}")
    expect(page.locator("#drawing .word").first).to_be_visible()
    for k in range(1, page.locator("#drawing .word").count() + 1):
        word(page, k).hover()
    word(page, 2).click()
    word(page, 1).click()
    assert page.locator("img, #drawing script").count() == 0
    assert "onerror" in page.locator("#drawing").inner_text()


def test_markup_in_conllu_stays_text(context: BrowserContext, address: str) -> None:
    rows = [
        f"# sent_id = {EVIL}", f"# text = {EVIL}", f"1-2\t{EVIL}\t_\t_\t_\t_\t_\t_\t_\t_",
        f"1\t{EVIL}\t_\t{EVIL}\t_\t_\t2\t{EVIL}\t_\t_", f'2\t"]]>&amp;\'\t_\t{EVIL}\t_\t_\t0\troot\t_\t{EVIL}',
    ]  # fmt: skip
    page = opened(context, address, "\n".join(rows))
    expect(page.locator("#drawing .word")).to_have_count(2)
    assert EVIL in page.locator("#drawing").inner_text()
    for name in ("Headed spans", "Table"):
        page.get_by_role("radio", name=name).check(force=True)
        word(page, 1).hover()
        assert EVIL in page.locator("#about").inner_text()
    word(page, 2).click()
    word(page, 1).click()
    page.get_by_role("button", name="Require", exact=True).click()
    expect(page.locator("#constraints li")).to_contain_text(EVIL)
    assert page.locator("img, #drawing script").count() == 0
    page.locator("#text").fill(f"1\t{EVIL}\t_\t_\n")
    expect(status(page)).to_contain_text("expected 10 columns")
    assert "<img" in status(page).inner_text()
    expect(page.locator("#result")).to_be_hidden()


def test_a_link_restores_sentence_view_and_constraints(
    context: BrowserContext, address: str, parser: Parser
) -> None:
    text = "the dog sees a cat.\n\nevery Arrow flies !"
    page = opened(context, address, text, "&sentence=2&view=spans&require=2.1.3")
    expect(page.locator("#sentences button")).to_have_count(2)
    expect(page.locator("#sentences [aria-current=true]")).to_contain_text("every Arrow flies !")
    expect(page.locator("#constraints li")).to_contain_text("every → flies required")
    unfold(page)
    page.locator('#best [data-tree="2"]').click()
    page.get_by_role("button", name="Copy link").click()
    expect(status(page)).to_have_text("The link is in the clipboard.")
    link = page.evaluate("navigator.clipboard.readText()")
    other = context.new_page()
    other.goto(link)
    expect(other.locator("#constraints li")).to_contain_text("every → flies")
    expect(other.locator("#drawing .span")).to_have_count(4)
    expect(other.locator("#best [aria-current=true]")).to_have_attribute("data-tree", "2")
    assert other.url == page.url == link
    other.get_by_role("radio", name="Table").check(force=True)
    assert "view=table" in other.url
    other.get_by_role("radio", name="Headed spans").check(force=True)
    other.locator("#sentences button").first.click()
    expect(other.locator("#sentences [aria-current=true]")).to_contain_text("the dog")
    expect(other.locator("#constraints")).to_be_hidden()
    other.get_by_role("button", name="Copy CoNLL-U").click()
    expect(status(other)).to_have_text("CoNLL-U is in the clipboard.")
    copied = other.evaluate("navigator.clipboard.readText()")
    assert list(conllu.parse(copied)) == [parser(text)[0].plain()]
    other.get_by_role("button", name="Copy SVG").click()
    expect(status(other)).to_have_text("The SVG is in the clipboard.")
    svg = other.evaluate("navigator.clipboard.readText()")
    drawn = ElementTree.fromstring(svg)
    assert ".headspan" in (drawn.findtext("{http://www.w3.org/2000/svg}style") or "")
    assert len(drawn.findall(".//*[@class='span']")) == 5


@pytest.mark.parametrize("width", [1152, 390])
def test_a_long_sentence_fits_its_panel(browser: Browser, parser: Parser, width: int) -> None:
    """66 words on a desktop and on a phone: in rows, nothing outside, one row on request."""
    long = "the dog sees a cat with every " * 9 + "hearing , ."
    with serving(create_app(parser)) as address:
        context = browser.new_context(viewport={"width": width, "height": 844})
        page = opened(context, address, long)
        expect(page.locator("#drawing .word")).to_have_count(66)
        drawing = page.locator("#drawing")
        assert drawing.evaluate("e => e.scrollWidth <= e.clientWidth")
        assert page.locator("html").evaluate("e => e.scrollWidth") <= width
        assert drawing.evaluate("e => e.firstChild.getBoundingClientRect().width") == pytest.approx(
            drawing.evaluate("e => e.clientWidth"), abs=2
        )  # not scaled down
        rows = len(drawing.evaluate(ROWS))
        assert rows > 3
        page.get_by_role("button", name="Larger").click()
        expect(page.locator("#zoom")).to_have_text("125%")
        until(page, lambda: len(drawing.evaluate(ROWS)) > rows)
        assert drawing.evaluate("e => e.scrollWidth <= e.clientWidth")
        page.get_by_label("One row").check()
        until(page, lambda: len(drawing.evaluate(ROWS)) == 1)
        assert drawing.evaluate("e => e.scrollWidth > 3 * e.clientWidth")
        drawing.evaluate("e => { e.scrollLeft = 0; }")
        page.get_by_role("button", name="Go to root").click()
        expect(page.locator("#drawing .word.top")).to_be_in_viewport()
        assert "onerow=1" in page.url
        assert "zoom=1.25" in page.url
        context.close()


ROWS = "e => [...new Set([...e.querySelectorAll('.form')].map(form => form.getAttribute('y')))]"


def test_a_drawing_follows_the_width_of_the_window(context: BrowserContext, address: str) -> None:
    page = opened(context, address, TEXT + " " + TEXT)
    page.set_viewport_size({"width": 1200, "height": 800})
    expect(page.locator("#drawing .word")).to_have_count(18)
    page.set_viewport_size({"width": 420, "height": 800})
    until(page, lambda: len(page.locator("#drawing").evaluate(ROWS)) > 2)
    words = page.locator("#drawing .word")
    span = page.locator("#drawing .light")
    root = page.locator("#drawing .word.top")
    root.hover()
    rows = len(page.locator("#drawing").evaluate(ROWS))
    expect(span).to_have_count(rows)  # one band per row
    expect(words).to_have_count(18)


def test_a_compact_drawing_has_no_tags(context: BrowserContext, address: str) -> None:
    rows = "\n".join(f"{k}\tword\t_\tNOUN" + "\t_" * 6 for k in range(1, 4))
    page = opened(context, address, rows)
    expect(page.locator("#drawing .tag")).to_have_count(3)
    page.get_by_label("Compact").check()
    expect(page.locator("#drawing .tag")).to_have_count(0)
    expect(page.locator("#drawing .word")).to_have_count(3)


def test_the_table_has_all_columns(context: BrowserContext, address: str) -> None:
    rows = [
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_", "1\tde\tde\tADP\tIN\tA=b|C=d\t_\t_\t2:case\tGloss=of",
        "2\tle\tle\tDET\tDT\t_\t_\t_\t_\t_",
    ]  # fmt: skip
    page = opened(context, address, "\n".join(rows), "&view=table")
    expect(page.locator("#drawing tbody tr")).to_have_count(3)
    assert page.locator("#drawing th").all_inner_texts() == [
        "ID", "Form", "Lemma", "UPOS", "XPOS", "Head", "Relation", "Confidence", "Headed span",
        "Feats", "Deps", "Misc",
    ]  # fmt: skip
    token, first, _ = page.locator("#drawing tbody tr").all()
    expect(token).to_contain_text("du")
    for value in ("ADP", "A=b | C=d", "2:case", "Gloss=of"):
        expect(first).to_contain_text(value)


def test_a_text_has_an_overview_with_the_least_certain_arcs(
    context: BrowserContext, address: str, parser: Parser
) -> None:
    text = "the dog sees a cat.\n\nevery Arrow flies !\n\na cat sees every dog."
    page = opened(context, address, text)
    rows = page.locator("#sentences button")
    expect(rows).to_have_count(3)
    expect(page.locator("#overview h2")).to_contain_text("3 sentences, 14 words")
    least = []
    for sentence, row in zip(parser(text, confidence=True), rows.all(), strict=True):
        sure = {
            word: confidence
            for word, confidence, relation in zip(
                sentence.forms, sentence.confidences, sentence.deprels, strict=True
            )
            if relation != "punct"
        }
        word = min(sure, key=lambda word: sure[word])
        least.append(sure[word])
        expect(row.locator(".doubt")).to_contain_text(word)
        expect(row.locator(".sure")).to_have_text(f"{sure[word]:.0%}")
    page.get_by_label("Least certain first").check()
    order = sorted(range(3), key=lambda k: least[k])
    assert [int(row.get_attribute("data-number") or 0) - 1 for row in rows.all()] == order
    with page.expect_download() as download:
        page.get_by_role("button", name="Download all as CoNLL-U").click()
    parsed = list(conllu.read(download.value.path()))
    assert [sentence.heads for sentence in parsed] == [sentence.heads for sentence in parser(text)]
    assert "Confidence=" in parsed[0].misc[0]


def test_files_are_opened_and_saved(
    context: BrowserContext, address: str, parser: Parser, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_bytes(TEXT.encode() + b"\r\n")
    page = context.new_page()
    page.goto(address)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open file").click()
    chooser.value.set_files(tmp_path / "mine.txt")
    expect(page.locator("#text")).to_have_value(TEXT + "\n")
    expect(page.locator("#drawing .word")).to_have_count(9)
    saved = {}
    for kind in ("CoNLL-U", "SVG", "PNG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download {kind}", exact=True).click()
        saved[kind] = Path(download.value.path()).read_bytes()
        assert download.value.suggested_filename == f"headspan-1.{kind.lower().replace('-', '')}"
    assert list(conllu.parse(saved["CoNLL-U"].decode())) == [parser(TEXT + "\n")[0].plain()]
    assert ElementTree.fromstring(saved["SVG"]).get("class") == "headspan"
    assert saved["PNG"].startswith(b"\x89PNG")
    (tmp_path / "huge.txt").write_bytes(b"dog " * 3_000)
    page.locator("#file").set_input_files(tmp_path / "huge.txt")
    expect(status(page)).to_contain_text(
        "huge.txt is too large: 12,000 bytes, and the service takes 10,000."
    )
    expect(page.locator("#text")).to_have_value(TEXT + "\n")


def test_the_page_fits_a_narrow_screen(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = opened(context, address, TEXT + " " + TEXT)
    for name in ("Arcs", "Headed spans", "Table"):
        page.get_by_role("radio", name=name).check(force=True)
        expect(page.locator("#drawing .word").first).to_be_visible()
        assert page.locator("html").evaluate("e => e.scrollWidth") <= 390
    page.get_by_role("radio", name="Arcs").check(force=True)
    word(page, 9).tap()
    word(page, 2).tap()
    page.get_by_role("button", name="Require", exact=True).tap()
    expect(page.locator("#constraints li")).to_have_count(1)
    context.close()


def test_errors_are_shown_and_busy_services_asked_again(
    context: BrowserContext, address: str
) -> None:
    page = opened(context, address)
    page.locator("#text").fill("dog " * 45)
    expect(status(page)).to_contain_text("the limit of this service is 40")
    page.route("**/parse", lambda route: route.abort())
    page.locator("#text").fill("the dog")
    expect(status(page)).to_have_text("The service is not answering.")
    page.unroute("**/parse")
    page.route(
        "**/parse",
        lambda route: route.fulfill(
            status=503, headers={"Retry-After": "1"}, json={"detail": "too much waits"}
        ),
        times=1,
    )
    page.get_by_role("button", name="Parse").click()
    expect(status(page)).to_contain_text("trying again in 1 s")
    expect(page.locator("#drawing .word")).to_have_count(2)


def test_an_error_disappears_when_the_text_changes(context: BrowserContext, address: str) -> None:
    page = opened(context, address, "dog " * 45)
    expect(page.locator("#status.problem")).to_be_visible()
    page.route("**/parse", lambda route: None)  # no answer makes it disappear
    page.locator("#text").fill("the dog")
    expect(page.locator("#status.problem")).to_have_count(0, timeout=300)


def test_a_long_text_waits_for_the_button(context: BrowserContext, address: str) -> None:
    page = opened(context, address)
    expect(page.locator("#drawing .word")).to_have_count(9)
    page.route("**/parse", lambda route: None)
    page.locator("#text").fill("dog" * 1_500)
    expect(status(page)).to_have_text("Press Enter or Parse.")
    page.wait_for_timeout(600)
    expect(status(page)).to_have_text("Press Enter or Parse.")
    assert page.locator("#result").evaluate("e => e.inert")  # the tree of another text
    page.locator("#text").press("Enter")
    expect(status(page)).to_have_text("Parsing …")


def test_the_page_says_that_it_waits(context: BrowserContext, address: str) -> None:
    page = context.new_page()
    held: list[Route] = []
    page.route("**/parse", lambda route: held.append(route))
    page.goto(f"{address}/#text={quote(TEXT)}")
    expect(status(page)).to_have_text("Parsing …")
    expect(page.locator("main")).to_have_attribute("aria-busy", "true")
    expect(page.locator("#empty")).to_be_hidden()
    held[0].continue_()
    expect(page.locator("#drawing .word")).to_have_count(9)
    expect(status(page)).to_have_text("")
    expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")


def test_what_is_over_a_limit_is_not_sent(context: BrowserContext, address: str) -> None:
    page = context.new_page()
    sent: list[Route] = []
    page.route("**/parse", lambda route: sent.append(route))
    page.goto(address)
    expect(page.locator("#model")).to_contain_text("tiny")
    rows = "".join(f"{k}\tdog" + "\t_" * 8 + "\n" for k in range(1, 42))
    for text, problem in [
        (
            (TEXT + "\n\n") * 9,
            "This text is too long: 81 words, and the service takes 60 at a time.",
        ),
        (f"{rows}", "Sentence 1 is too long: 41 words, and the service takes 40."),
        ("é" * 5_000, "This text is too large: "),
    ]:
        page.locator("#text").fill(text)
        page.get_by_role("button", name="Parse").click()
        expect(status(page)).to_contain_text(problem)
        expect(page.locator("#status.problem")).to_be_visible()
    assert not sent


def test_text_typed_before_the_service_answers_is_kept(
    context: BrowserContext, address: str
) -> None:
    page = context.new_page()
    asked: list[Route] = []
    page.route("**/models", lambda route: asked.append(route))
    page.goto(f"{address}/#text={quote(TEXT)}")
    page.locator("#text").fill("the dog")
    page.wait_for_timeout(600)
    asked[0].continue_()
    expect(page.locator("#model")).to_contain_text("tiny")
    expect(page.locator("#drawing .word")).to_have_count(2)
    expect(page.locator("#text")).to_have_value("the dog")


def test_the_page_asks_for_the_token(browser: Browser, parser: Parser) -> None:
    with serving(create_app(parser, token="geheim")) as address:
        context = browser.new_context()
        page = opened(context, address)
        expect(status(page)).to_contain_text("requires its token")
        page.get_by_label("This service requires its token").fill("geheim")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#drawing .word")).to_have_count(9)
        expect(page.locator("#token")).to_be_hidden()
        context.close()


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    folder = Path(__file__).parents[2] / "src/headspan/serve/page"
    for file in folder.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        assert "innerHTML" not in text
