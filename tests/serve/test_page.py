"""The page in a real browser."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from headspan import conllu
from headspan.inference import Constraints
from headspan.model.parser import Parser
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
    with serving(create_app(parser, name="tiny", limits=Limits(words=60, sentence=40))) as address:
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
        lambda r: None if r.url.startswith((address, "data:")) else wrong.append(r.url),
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


def status(page: Page):  # type: ignore[no-untyped-def]
    return page.locator("#status")


def test_an_example_is_parsed_at_once_and_what_is_typed_thereafter(
    context: BrowserContext, address: str, parser: Parser
) -> None:
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#drawing svg")).to_be_visible()
    expect(page.locator("#model")).to_have_text("Model: tiny.")
    page.locator("#text").fill("")
    expect(page.locator("#result")).to_be_hidden()
    page.locator("#text").press_sequentially(TEXT)
    expect(page.locator("#drawing .word")).to_have_count(9)
    (expected,) = parser(TEXT)
    assert heads(page) == dict(enumerate(expected.heads, 1))
    expect(page.locator("#best li")).to_have_count(5)


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
    shown = f"{share:.1%}" if share >= 0.001 else "< 0.1%"
    expect(page.locator("#best li").first.locator(".share")).to_have_text(shown)
    page.locator("#best li").nth(1).locator("button").click()
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
    page.locator("#best li").nth(2).locator("button").click()
    expect(page.locator('#best [aria-current="true"] .rank')).to_have_text("3")
    assert heads(page) == dict(enumerate(expected.alternatives[2].heads, 1))
    page.locator("#best li").nth(0).locator("button").click()
    assert heads(page) == dict(enumerate(expected.heads, 1))


def test_everything_works_with_the_keyboard(context: BrowserContext, address: str) -> None:
    page = opened(context, address)
    expect(page.locator("#drawing [data-dependent]")).to_have_count(9)
    page.locator("#text").press("Tab")
    for _ in range(5):  # Parse, the views, three copies
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
    page.get_by_role("button", name="Copy link").click()
    expect(status(page)).to_have_text("The link is in the clipboard.")
    link = page.evaluate("navigator.clipboard.readText()")
    other = context.new_page()
    other.goto(link)
    expect(other.locator("#constraints li")).to_contain_text("every → flies")
    expect(other.locator("#drawing .span")).to_have_count(4)
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
    page.locator("#text").fill((TEXT + "\n\n") * 9)
    expect(status(page)).to_contain_text("more than 60 words")
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
