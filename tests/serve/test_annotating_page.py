"""The page of an annotator in a real browser."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import headspan
from headspan import conllu
from headspan.annotate import Session
from headspan.annotate.confirmations import with_comment
from headspan.conllu import Sentence
from headspan.model.parser import Parser
from headspan.serve import create_app

from .serving import serving
from .test_page import CHROMIUM, EVIL, FLAGS

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs a browser: chromium is not installed")
TEN = (
    "She saw the man with the telescope. Don't panic! Time flies like an arrow. "
    "The horse raced past the barn fell. Nobody had expected it so early in the year. "
    "Was the old keeper right after all? She tied her boat twice. The storm closed the harbour. "
    "We left before dawn. They were told to wait behind the island."
)


@pytest.fixture(scope="module")
def fast() -> Parser:
    return headspan.load("en-fast")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, address: str, width: int = 1200, height: int = 900) -> Iterator[Page]:
    """A page; scripts that fail, dialogs and requests to other places are mistakes."""
    context = browser.new_context(viewport={"width": width, "height": height})
    wrong: list[str] = []
    origin = address.partition("/#")[0]
    context.on(
        "request",
        lambda r: None if r.url.startswith((origin, "data:", "blob:")) else wrong.append(r.url),
    )
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    context.on(
        "console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    expect(page.locator("#tree .word").first).to_be_visible()
    yield page
    context.close()
    assert not wrong


@contextmanager
def annotating(path: Path, parser: Parser, **options: object) -> Iterator[tuple[str, Session]]:
    session = Session.open(path, parser, annotator="anna", **options)  # type: ignore[arg-type]
    with serving(create_app(parser, token="secret", session=session)) as address:
        yield f"{address}/#token=secret", session


@contextmanager
def command(path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`headspan annotate` as a process, and the address that it prints; its errors are logged."""
    program = [sys.executable, "-m", "headspan", "annotate", str(path), "--no-browser"]
    with path.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(
            [*program, "--model", "en-fast", "--annotator", "anna"],
            stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        yield process, re.search(r"http://127\.0\.0\.1\S+", process.stdout.readline())[0]  # type: ignore[index]
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def word(page: Page, k: int):  # type: ignore[no-untyped-def]
    return page.locator(f'#tree .word[data-word="{k}"]')


def arc(page: Page, head: int, dependent: int):  # type: ignore[no-untyped-def]
    return page.locator(f'#tree .arc[data-head="{head}"][data-dependent="{dependent}"]:not(.other)')


def typed(page: Page, key: str, answer: str) -> None:
    page.keyboard.press(key)
    expect(page.locator("#answer")).to_be_focused()
    page.keyboard.type(answer)
    page.keyboard.press("Enter")
    expect(page.locator("#ask")).to_be_hidden()


def shown(page: Page, number: int) -> None:
    expect(page.locator("#which")).to_contain_text(f"Sentence {number} of")
    expect(page.locator("#tree :focus")).to_have_attribute("data-word", "1")


def test_ten_sentences_without_a_mouse_and_with_a_crash(chromium: Browser, tmp_path: Path) -> None:
    path, output = tmp_path / "ten.txt", tmp_path / "ten.annotated.conllu"
    path.write_text(TEN)
    with command(path) as (process, address), opened(chromium, address) as page:
        shown(page, 1)
        for _ in range(6):
            page.keyboard.press("ArrowRight")
        typed(page, "h", "saw")
        expect(arc(page, 2, 7)).to_be_visible()
        typed(page, "r", "obl:mine")
        expect(arc(page, 2, 7)).to_have_class(re.compile("confirmed"))
        expect(page.locator("#problems")).to_contain_text("the treebank has no relation obl:mine")
        page.keyboard.press("Enter")
        shown(page, 2)
        typed(page, "u", "VERB")
        expect(page.locator("#word")).to_contain_text("VERB")
        for number in range(2, 6):
            page.keyboard.press("Enter")
            shown(page, number + 1)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        page.keyboard.press("Enter")
        expect(page.locator("#notice")).to_contain_text("nothing that you do now is saved")
        expect(page.locator("#said")).to_contain_text("Not saved")
        expect(page.locator("#saved")).to_have_text("")
    with command(path) as (_, address), opened(chromium, address) as page:
        expect(page.locator("#done")).to_contain_text("5 of 10 sentences confirmed")
        typed(page, "g", "6")
        shown(page, 6)
        page.keyboard.press("z")  # the history is there, too
        expect(page.locator("#said")).to_have_text("Undone.")
        page.keyboard.press("y")
        typed(page, "g", "6")
        shown(page, 6)
        for number in range(6, 11):
            if number == 8:
                page.keyboard.press("s")
                expect(page.locator("#tree .span-confirmed")).to_have_count(1)
            page.keyboard.press("Enter")
            if number < 10:
                shown(page, number + 1)
        expect(page.locator("#said")).to_have_text("All of these sentences are confirmed.")
        expect(page.locator("#saved")).to_contain_text("Saved")
    sentences = list(conllu.read(output))
    assert [s.comment("confirmed_by") for s in sentences] == ["anna"] * 10
    assert (sentences[0].heads[6], sentences[0].deprels[6]) == (2, "obl:mine")
    assert sentences[1].upos[0] == "VERB"
    assert "UposBy=anna" in sentences[1].misc[0]
    assert "SpanBy=anna" in sentences[7].misc[0]
    assert not (tmp_path / "ten.annotated.conllu.journal").exists()
    assert (tmp_path / "ten.log").read_text().splitlines() == [  # and no line for each request
        f"headspan: what you do is saved in {output}; Ctrl-C ends it",
        f"headspan: 10 of 10 sentences are confirmed in {output}",
    ]


def test_words_are_dragged_and_clicked(chromium: Browser, tmp_path: Path, fast: Parser) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    with (
        annotating(tmp_path / "a.txt", fast) as (address, session),
        opened(chromium, address) as page,
    ):
        word(page, 4).hover()
        page.mouse.down()
        page.locator("#sentence-text").hover()
        page.mouse.up()  # dropped beside the words, and forgotten
        word(page, 2).hover()
        page.mouse.up()
        page.mouse.down()
        word(page, 6).hover()
        word(page, 7).hover()
        expect(word(page, 2)).to_have_attribute("aria-pressed", "true")
        assert page.evaluate("String(getSelection())") == ""
        page.mouse.up()
        expect(arc(page, 2, 7)).to_be_visible()
        assert session.revision == 1
        word(page, 4).click()
        expect(word(page, 4)).to_have_attribute("aria-pressed", "true")
        word(page, 7).click()
        expect(arc(page, 4, 7)).to_be_visible()
        page.locator("#compared").select_option("before")
        expect(page.locator("#tree .arc.other")).to_have_count(1)
        page.get_by_role("button", name="Undo").click()
        expect(arc(page, 2, 7)).to_be_visible()
        page.locator("#trees button").first.click()
        expect(page.locator("#said")).to_contain_text("was taken")
        page.get_by_role("button", name="Confirm", exact=True).click()
        shown(page, 2)
        page.locator("#filters [name=word]").fill("arrow")
        expect(page.locator("#sentences li")).to_have_count(1)
        page.locator("#sentences button").click()
        shown(page, 3)
        assert session.progress().confirmed == 1


def test_words_and_sentences_change(chromium: Browser, tmp_path: Path, fast: Parser) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    with (
        annotating(tmp_path / "a.txt", fast) as (address, session),
        opened(chromium, address) as page,
    ):
        shown(page, 1)
        page.keyboard.press("ArrowRight")
        typed(page, "t", "s aw")
        expect(page.locator("#tree .word")).to_have_count(9)
        page.keyboard.press("j")
        expect(page.locator("#tree .word")).to_have_count(8)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+S")
        expect(page.locator("#tree .word")).to_have_count(4)
        expect(page.locator("#which")).to_contain_text("of 11")
        page.keyboard.press("Shift+J")
        expect(page.locator("#tree .word")).to_have_count(8)
        for view in ("spans", "table", "arcs"):
            page.keyboard.press("v")
            expect(page.locator(f'#looks input[value="{view}"]')).to_be_checked()
            expect(page.locator("#tree .word")).to_have_count(8)
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_contain_text("Confirm the headed span")
        assert session.sentences[0].text == "She saw the man with the telescope."


def test_what_is_typed_or_held_down_changes_nothing_unseen(
    chromium: Browser, tmp_path: Path, fast: Parser
) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    with (
        annotating(tmp_path / "a.txt", fast) as (address, session),
        opened(chromium, address) as page,
    ):
        shown(page, 1)
        page.keyboard.press("r")
        expect(page.locator("#answer")).to_be_focused()
        page.locator("#sentences button").nth(2).click()
        shown(page, 3)
        expect(page.locator("#ask")).to_be_hidden()  # it was about sentence 1
        page.keyboard.press("u")
        expect(page.locator("#answer")).to_be_focused()
        word(page, 2).focus()
        page.locator("#answer").fill("VERB")
        page.keyboard.press("Enter")
        expect(page.locator("#ask")).to_be_hidden()
        expect(page.locator("#saved")).to_contain_text("Saved")
        page.keyboard.press("r")
        expect(page.locator("#answer")).to_be_focused()
        word(page, 4).focus()
        page.locator("#answer").fill("obl:mine")
        page.keyboard.press("Enter")
        expect(page.locator("#problems")).to_contain_text("no relation obl:mine")
        changed = session.sentences[2]
        assert [changed.deprels.index("obl:mine"), changed.upos[0]] == [1, "VERB"]
        for _ in range(5):
            page.keyboard.down("Enter")  # from the second on, repeated
        page.keyboard.up("Enter")
        shown(page, 4)
        page.keyboard.press("n")  # after all that was to come
        shown(page, 5)
        assert session.progress().confirmed == 1


def test_what_is_typed_is_understood_or_refused(
    chromium: Browser, tmp_path: Path, fast: Parser
) -> None:
    (tmp_path / "a.txt").write_text("She saw 99 men. Don't panic!")
    with (
        annotating(tmp_path / "a.txt", fast) as (address, session),
        opened(chromium, address) as page,
    ):
        shown(page, 1)
        said = page.locator("#said")
        typed(page, "h", "")
        expect(said).to_have_text("Nothing was typed; nothing has changed.")
        typed(page, "h", "98")
        expect(said).to_have_text("There is no such word.")
        typed(page, "g", "two")
        expect(said).to_have_text("Expected the number of a sentence.")
        page.keyboard.press("b")
        expect(said).to_have_text("No sentence of the list comes before this one.")
        assert session.revision == 0
        typed(page, "h", "99")  # not a number of a word, but a word
        expect(arc(page, 3, 1)).to_be_visible()
        expect(said).to_have_text("“She” is now below “99”.")
        typed(page, "r", "NMOD")
        typed(page, "u", "noun")
        expect(page.locator("#word")).to_contain_text("NOUN")
        assert (session.sentences[0].deprels[0], session.sentences[0].upos[0]) == ("nmod", "NOUN")


def test_the_keyboard_never_loses_its_place(
    chromium: Browser, tmp_path: Path, fast: Parser
) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    with annotating(tmp_path / "a.txt", fast) as (address, _), opened(chromium, address) as page:
        shown(page, 1)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("c")
        expect(page.locator("#compared")).to_have_value("parser")
        expect(word(page, 2)).to_be_focused()
        page.evaluate("document.querySelector('#tree svg').dataset.old = ''")
        page.set_viewport_size({"width": 1000, "height": 900})
        expect(page.locator("#tree svg:not([data-old])")).to_be_visible()
        page.keyboard.press("ArrowRight")
        expect(word(page, 3)).to_be_focused()
        page.locator("#trees button").first.press("Enter")
        expect(page.locator("#said")).to_contain_text("was taken")
        expect(word(page, 3)).to_be_focused()
        page.get_by_role("button", name="Confirm arc").press("Enter")
        expect(word(page, 3)).to_be_focused()
        page.locator("#sentence-text").click()
        expect(word(page, 3)).not_to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(word(page, 4)).to_be_focused()
        page.keyboard.press("/")
        for key in ("Tab", "Tab"):
            page.keyboard.press(key)
        page.keyboard.type("arrow")
        page.keyboard.press("Enter")
        shown(page, 3)
        page.keyboard.press("n")
        expect(page.locator("#said")).to_have_text("No sentence of the list comes after this one.")


def test_a_long_sentence_does_not_hide_what_is_asked_and_said(
    chromium: Browser, tmp_path: Path, fast: Parser
) -> None:
    conllu.write([Sentence.from_words("bark and run and".split() * 15)], tmp_path / "a.conllu")
    with (
        annotating(tmp_path / "a.conllu", fast) as (address, _),
        opened(chromium, address, height=500) as page,
    ):
        shown(page, 1)
        page.keyboard.press("h")
        expect(page.locator("#answer")).to_be_in_viewport()
        expect(word(page, 1)).to_be_in_viewport()
        page.keyboard.type("cat")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_be_in_viewport()
        expect(word(page, 1)).to_be_in_viewport()


def test_every_command_can_be_clicked(chromium: Browser, tmp_path: Path, fast: Parser) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    with annotating(tmp_path / "a.txt", fast) as (address, _), opened(chromium, address) as page:
        shown(page, 1)
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        page.locator("#keys summary").click()
        page.get_by_role("button", name="Join the word with the next one").click()
        expect(page.locator("#tree .word")).to_have_count(7)


def test_two_windows_are_noticed(chromium: Browser, tmp_path: Path, fast: Parser) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    with (
        annotating(tmp_path / "a.txt", fast) as (address, _),
        opened(chromium, address) as one,
        opened(chromium, address) as two,
    ):
        shown(one, 1)
        shown(two, 1)
        expect(one.locator("#notice")).to_contain_text("open in 2 windows")
        typed(one, "h", "3")
        expect(arc(one, 3, 1)).to_be_visible()
        expect(arc(two, 3, 1)).to_be_visible()  # it looks every few seconds


def test_sixty_words_hostile_text_and_a_phone(
    chromium: Browser, tmp_path: Path, fast: Parser
) -> None:
    words = ["Dogs", EVIL, "that", *"bark and run and".split() * 14, "sleep", "."]
    assert len(words) >= 60
    other = fast.parse_words(words).with_parse(
        [0] + [1] * (len(words) - 1), ["root"] + ["dep"] * (len(words) - 1)
    )
    sentences = [Sentence.from_words(words), Sentence.from_words([EVIL, "&amp;", "'\""])]
    conllu.write(sentences, tmp_path / "a.conllu")
    conllu.write([other], tmp_path / "b.conllu")
    with annotating(tmp_path / "a.conllu", fast, against=tmp_path / "b.conllu") as (
        address,
        session,
    ):
        with opened(chromium, address) as page:
            expect(page.locator("#tree .word")).to_have_count(len(words))
            shown(page, 1)
            typed(page, "h", "5")
            expect(arc(page, 5, 1)).to_be_visible()
            page.locator("#compared").select_option("other")
            expect(page.locator("#tree .arc.other").first).to_be_visible()
            typed(page, "l", EVIL)
            expect(page.locator("#word")).to_contain_text(EVIL)
            for view in ("spans", "table", "arcs"):
                page.keyboard.press("v")
                expect(page.locator(f'#looks input[value="{view}"]')).to_be_checked()
            page.keyboard.press("n")
            shown(page, 2)
            typed(page, "h", EVIL)
            expect(page.locator("#said")).to_contain_text("There is no such word.")
        assert session.sentences[0].lemmas[0] == EVIL
        with opened(chromium, address, width=390) as page:
            expect(page.locator("#tree .word")).to_have_count(len(words))
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= 390
            expect(page.locator("#sentences li")).to_have_count(2)


def test_a_very_long_word_does_not_widen_the_page(
    chromium: Browser, tmp_path: Path, fast: Parser
) -> None:
    words = Sentence.from_words(["https://" + "w" * 300, "."])
    conllu.write([with_comment(words, "sent_id", "x" * 200)], tmp_path / "a.conllu")
    with annotating(tmp_path / "a.conllu", fast) as (address, _):
        for width in (1200, 390):
            with opened(chromium, address, width=width) as page:
                shown(page, 1)
                expect(page.locator("#word b")).to_contain_text("www")
                assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_the_token_nothing_is_shown(
    chromium: Browser, tmp_path: Path, fast: Parser
) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    with annotating(tmp_path / "a.txt", fast) as (address, _):
        context = chromium.new_context()
        page = context.new_page()
        page.goto(address.partition("#")[0])
        expect(page.locator("#notice")).to_contain_text("lacks its token")
        expect(page.locator("#tree .word")).to_have_count(0)
        context.close()
