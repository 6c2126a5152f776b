"""A file on the page: the requests of an annotator."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest
from fastapi.testclient import TestClient

import headspan
from headspan import conllu
from headspan.annotate import Session
from headspan.cli.annotate import annotate
from headspan.model.parser import Parser
from headspan.serve import annotating as serve_annotating
from headspan.serve import create_app

TOKEN = "secret"
TEXT = "She saw the man with the telescope. Don't panic! Time flies like an arrow."
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def fast() -> Parser:
    return headspan.load("en-fast")


@pytest.fixture
def annotator(tmp_path: Path, fast: Parser) -> Iterator[TestClient]:
    (tmp_path / "in.txt").write_text(TEXT)
    session = Session.open(tmp_path / "in.txt", fast, annotator="anna")
    app = create_app(fast, token=TOKEN, session=session)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(app, base_url="http://127.0.0.1:8000", headers=headers) as client:
        yield client


def post(client: TestClient, path: str, status: int = 200, **body: object) -> dict:  # type: ignore[type-arg]
    answer = client.post(f"/annotate/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()  # type: ignore[no-any-return]


def test_a_correction_is_answered_with_the_new_tree(annotator: TestClient, tmp_path: Path) -> None:
    shown = post(annotator, "sentence", number=1, width=700)
    assert shown["heads"][6] == 4
    assert shown["along"]
    assert shown["drawing"]["arcs"].startswith("<svg")
    assert 0 < shown["confidences"][6] < 1
    change = {"do": "head", "sentence": 1, "word": 7, "head": 2}
    changed = post(
        annotator, "change", revision=shown["revision"], change=change, compared="before"
    )
    assert changed["heads"] == [2, 0, 4, 2, 7, 7, 2, 2]
    assert changed["marks"]["HeadBy"][6] == "anna"
    assert "only in the tree before" in changed["drawing"]["arcs"]
    assert changed["undo"]
    assert not changed["redo"]
    assert (tmp_path / "in.annotated.conllu.journal").stat().st_size > 200  # saved by now
    trees = post(annotator, "trees", number=1)
    assert len(trees["best"]) == 5
    assert all(tree["heads"][6] == 2 for tree in trees["best"])
    undone = post(annotator, "change", revision=changed["revision"], change={"do": "undo"})
    assert undone["heads"] == shown["heads"]
    spans = post(annotator, "sentence", number=1, spans=True)
    assert set(spans["drawing"]) == {"spans"}


def test_a_stale_or_impossible_change_is_refused(annotator: TestClient) -> None:
    shown = post(annotator, "sentence", number=1)
    change = {"do": "confirm-sentence", "sentence": 1}
    post(annotator, "change", revision=shown["revision"], change=change)
    stale = post(annotator, "change", 409, revision=shown["revision"], change=change)
    assert "another window has changed the file" in stale["detail"]
    for wrong, detail in (
        ({"do": "fly"}, "the operation is 'fly'"),
        ({"do": "head", "sentence": 1, "word": 99, "head": 1}, "there is no word 99"),
        ({"do": "head", "sentence": 9, "word": 1, "head": 2}, "there is no sentence 9"),
    ):
        refused = post(annotator, "change", 422, revision=1, change=wrong)
        assert detail in refused["detail"]
    assert "number" in post(annotator, "sentence", 422)["detail"]
    assert "unknown field" in post(annotator, "sentence", 422, number=1, more=2)["detail"]
    assert "there is no sentence 7" in post(annotator, "sentence", 422, number=7)["detail"]
    assert annotator.post("/annotate/state", content="{}").status_code == 415
    large = annotator.post("/annotate/state", json={"window": "x" * (1 << 20)})
    assert large.status_code == 413


def test_only_who_has_the_token_and_comes_from_here_is_answered(annotator: TestClient) -> None:
    body = {"number": 1}
    assert (
        annotator.post("/annotate/sentence", json=body, headers={"Authorization": ""}).status_code
        == 401
    )
    for origin, status in (
        ("http://127.0.0.1:8000", 200),
        ("http://127.0.0.1:9000", 403),
        ("http://evil.example", 403),
        ("null", 403),
    ):
        headers = {"Origin": origin}
        answer = annotator.post("/annotate/sentence", json=body, headers=headers)
        assert answer.status_code == status
    answer = annotator.post("/annotate/sentence", json=body, headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert annotator.get("/annotate/sentence").status_code == 405


def test_lists_state_and_windows(annotator: TestClient) -> None:
    listed = post(annotator, "sentences", word="time")
    assert listed["numbers"] == [3]
    assert listed["rows"][0]["text"] == "Time flies like an arrow."
    assert post(annotator, "sentences", count=1)["numbers"] == [1, 2, 3]
    first = post(annotator, "state", window="one")
    assert first["windows"] == 1
    assert first["progress"]["sentences"] == 3
    assert "nsubj" in first["lists"]["deprels"]
    assert first["output"] == "in.annotated.conllu"
    assert post(annotator, "state", window="two")["windows"] == 2
    assert "order" in post(annotator, "sentences", 422, order="random")["detail"]


def test_everything_is_written_when_the_service_stops(tmp_path: Path, fast: Parser) -> None:
    (tmp_path / "in.conllu").write_text(
        conllu.to_text([conllu.Sentence.from_words(["Hello", EVIL, "world"])])
    )
    session = Session.open(tmp_path / "in.conllu", fast, annotator="anna")
    app = create_app(fast, session=session)
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        shown = post(client, "sentence", number=1)
        assert "<script" not in shown["drawing"]["arcs"]
        change = {"do": "confirm-sentence", "sentence": 1}
        post(client, "change", revision=shown["revision"], change=change)
        assert "data-annotates" in client.get("/").text
    assert "# confirmed_by = anna" in (tmp_path / "in.annotated.conllu").read_text()
    assert not (tmp_path / "in.annotated.conllu.journal").exists()


def test_nobody_waits_for_the_validator(
    annotator: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, may_end = threading.Event(), threading.Event()

    def slow(*_: object) -> list[str]:
        began.set()
        assert may_end.wait(60)
        return ["fine"]

    monkeypatch.setattr(serve_annotating, "official", slow)
    with ThreadPoolExecutor(2) as pool:
        validated = pool.submit(post, annotator, "validate", number=1)
        try:
            assert began.wait(60)
            shown = pool.submit(post, annotator, "sentence", number=1)
            assert shown.result(30)["number"] == 1
        finally:
            may_end.set()
        assert validated.result(60) == {"lines": ["fine"]}


def test_saving_goes_on_after_any_error(
    tmp_path: Path, fast: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_annotating, "_SAVED_EVERY", 0.01)
    (tmp_path / "in.txt").write_text(TEXT)
    session = Session.open(tmp_path / "in.txt", fast, annotator="anna")
    annotating = serve_annotating.Annotating(session)
    problems: list[str] = []

    def failing() -> None:
        problems.append(annotating.problem)
        if len(problems) == 1:
            raise RuntimeError("the disk is on fire")
        annotating._stopping.set()

    monkeypatch.setattr(session, "save", failing)
    annotating._saving()
    assert problems == ["", "not saved: RuntimeError: the disk is on fire"]
    assert annotating.problem == ""
    session.abandon()


def test_the_service_does_not_wait_for_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: Queue[tuple[str, threading.Thread]] = Queue()

    def run(_: object, *, ready: Callable[[str], None], **__: object) -> bool:
        ready("http://127.0.0.1:8000/")
        return True

    monkeypatch.setattr("headspan.serve.run", run)
    monkeypatch.setattr(
        "webbrowser.open", lambda page: opened.put((page, threading.current_thread()))
    )
    (tmp_path / "in.txt").write_text(TEXT)
    annotate(str(tmp_path / "in.txt"), model="en-fast", annotator="anna")
    page, thread = opened.get(timeout=60)
    assert page.startswith("http://127.0.0.1:8000/#token=")
    assert thread is not threading.current_thread()
    assert thread.daemon


def test_a_service_without_a_file_has_no_such_routes(client: TestClient) -> None:
    assert client.post("/annotate/state", json={}).status_code == 404
    assert "data-annotates" not in client.get("/").text
