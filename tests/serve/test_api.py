"""Requests to the service, and its answers and refusals."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headspan import HeadspanError, __version__, conllu
from headspan.conllu import Sentence
from headspan.inference import Constraints
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.serve import Limits, create_app
from headspan.serve.constraint_schema import contradiction

WORDS = "the dog sees a cat with every hearing .".split()
CONLLU = """# sent_id = mwe
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\t_\tADP\t_\t_\t_\t_\t_\t_
2\tle\t_\tDET\t_\t_\t_\t_\t_\tSpaceAfter=No
3\t<b>\t_\tNOUN\t_\t_\t_\t_\t_\t_

"""


def ask(client: TestClient, **body: Any) -> Any:
    answer = client.post("/parse", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["sentences"]


def refused(client: TestClient, status: int, **body: Any) -> str:
    answer = client.post("/parse", json=body)
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["detail"]
    detail: str = answer.json()["detail"]
    return detail


def small(parser: Parser, **limits: Any) -> TestClient:
    app = create_app(parser, limits=Limits(**limits))
    return TestClient(app, base_url="http://localhost")


def test_words_are_parsed_as_the_parser_does(client: TestClient, parser: Parser) -> None:
    answered = ask(client, words=[WORDS, WORDS[:5]], confidence=True, best=3)
    expected = [p.as_json() for p in parser.parse([WORDS, WORDS[:5]], confidence=True, k=3)]
    assert [s["heads"] for s in answered] == [list(s["heads"]) for s in expected]
    assert answered[0]["relations"] == list(expected[0]["relations"])
    assert answered[0]["confidences"] == pytest.approx(expected[0]["confidences"], abs=1e-3)
    assert [tree["score"] for tree in answered[0]["best"]] == pytest.approx(
        [tree["score"] for tree in expected[0]["best"]], abs=1e-3
    )
    assert len({tuple(tree["heads"]) for tree in answered[0]["best"]}) == 3


def test_text_is_segmented_and_parsed(client: TestClient, parser: Parser) -> None:
    text = "the dog sees a cat.\n\nevery Arrow flies!"
    answered = ask(client, text=text)
    assert [s["words"] for s in answered] == [list(s.forms) for s in parser(text)]
    assert [s["heads"] for s in answered] == [list(s.heads) for s in parser(text)]
    assert ask(client, text="") == []
    (line, other) = ask(client, text="the dog sees a cat. a dog\nflies", lines=True)
    assert (line["text"], other["text"]) == ("the dog sees a cat. a dog", "flies")


def test_a_request_chooses_its_model(
    parser: Parser, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Parser.load(model_folder)
    chain = [Parse.of(Sentence.from_words(WORDS).with_parse(range(len(WORDS)), ["x"] * len(WORDS)))]
    app = create_app(parser, name="tiny", further={"chains": other})
    with TestClient(app, base_url="http://localhost") as client:
        monkeypatch.setattr(other, "parse", lambda sentences, **_: chain)

        def heads(**asked: str) -> list[int]:
            got = client.post("/parse", json={"words": [WORDS], **asked})
            answer: list[int] = got.json()["sentences"][0]["heads"]
            return answer

        assert heads() == heads(model="tiny") == list(parser.parse_words(WORDS).heads)
        assert heads(model="chains") == list(range(len(WORDS)))
        assert [model["name"] for model in client.get("/models").json()["models"]] == [
            "tiny",
            "chains",
        ]
        why = "the service has no model 'fr'; expected one of tiny, chains"
        assert refused(client, 422, words=[WORDS], model="fr") == why
        assert client.get("/health").json()["model"] == "tiny"


def test_conllu_is_answered_with_conllu(client: TestClient, parser: Parser) -> None:
    answer = client.post("/parse", json={"conllu": CONLLU, "format": "conllu"})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == conllu.to_text(parser.parse(list(conllu.parse(CONLLU))))
    assert "1-2\tdu" in answer.text
    answer = client.post("/parse", json={"conllu": CONLLU, "format": "conllu", "confidence": True})
    assert answer.text.count("HeadConfidence=") == 3


def test_constrained_trees_satisfy_their_constraints(client: TestClient, parser: Parser) -> None:
    constraints = [{"sentence": 2, "required": [[8, 2]], "forbidden": [[0, 3]]}]
    free, bound = ask(client, words=[WORDS, WORDS], constraints=constraints, best=3)
    assert free["best"][0]["heads"] == free["heads"]
    assert bound["best"][0]["heads"] == bound["heads"]
    assert len(bound["best"]) == 3
    assert all(tree["heads"][1] == 8 and tree["heads"][2] != 0 for tree in bound["best"])
    (expected,) = parser.parse(
        [WORDS], constraints=[Constraints(required_arcs=[(8, 2)], forbidden_arcs=[(0, 3)])]
    )
    assert free["heads"] == list(parser.parse_words(WORDS).heads)
    assert bound["heads"] == list(expected.heads)
    assert bound["heads"][1] == 8
    assert bound["heads"][2] != 0
    assert bound["score"] <= free["score"]


@pytest.mark.parametrize(
    ("required", "forbidden", "why"),
    [
        ([(1, 2)], [(1, 2)], "the arc 1 → 2 is both required and forbidden"),
        ([(1, 2), (3, 2)], [], "the arc 1 → 2 and the arc 3 → 2 are required, but a word has one head"),
        ([(0, 2), (0, 3)], [], "the arc 0 → 2 and the arc 0 → 3 are required, but a tree has one root"),
        ([(1, 3), (2, 4)], [], "the arc 1 → 3 and the arc 2 → 4 are required, but they cross"),
        ([(0, 3), (4, 2)], [], "the arc 0 → 3 and the arc 4 → 2 are required, but they cross"),
        ([(1, 2), (2, 1)], [], "the arcs 1 → 2 → 1 are required, but they form a cycle"),
        ([(5, 1), (1, 3), (3, 5)], [], "the arcs 1 → 3 → 5 → 1 are required, but they form a cycle"),
        ([(1, 3), (3, 4), (0, 1), (3, 2)], [(2, 1)], None),
    ],
)  # fmt: skip
def test_contradictory_constraints_are_explained(
    required: Any, forbidden: Any, why: str | None
) -> None:
    assert contradiction(required, forbidden) == why
    crossing = why is not None and why.endswith("but they cross")
    assert contradiction(required, forbidden, projective=False) == (None if crossing else why)


def test_sentences_without_words_count_as_one_word(client: TestClient) -> None:
    assert "more than 20,000 words" in refused(client, 413, words=[[]] * 30_000)
    assert "more than 20,000 words" in refused(client, 413, conllu="#\n\n" * 30_000)
    assert ask(client, words=[[]] * 3) == ask(client, conllu="\n".join(["", *["#\n"] * 3]))


@pytest.mark.parametrize("length", [b"\xb2", b"9" * 5000, b"99999999"])
def test_a_content_length_that_is_wrong_does_no_harm(client: TestClient, length: bytes) -> None:
    headers = {b"Content-Length": length, b"Content-Type": b"application/json"}
    request = client.build_request("POST", "/parse", content=b'{"text": "a"}', headers=headers)
    assert client.send(request).status_code in (200, 413)


def test_many_constraints_are_refused_at_once(client: TestClient) -> None:
    arcs = [[k + 1, k] for k in range(1, 20_000)]  # comparing all pairs would take minutes
    assert "a sentence may have 200 words" in refused(
        client, 422, words=[WORDS], constraints=[{"required": arcs}]
    )


def test_constraints_that_leave_no_tree_are_refused(client: TestClient) -> None:
    def said(**constraints: Any) -> str:
        return refused(client, 422, words=[["a", "b"], ["a", "b"]], constraints=[constraints])

    assert said(required=[[1, 2], [2, 1]]).startswith("constraints of sentence 1: the arcs 1 → 2")
    none_left = "sentence 2: no tree satisfies the constraints"
    assert said(sentence=2, forbidden=[[0, 1], [0, 2]]) == none_left
    assert (
        said(required=[[3, 1]])
        == "sentence 1: there is no arc from 3 to 1 in a sentence of 2 words"
    )
    assert said(sentence=3) == "constraints: there is no sentence 3; the request has 2"


def test_drawings_show_the_trees_and_escape_markup(client: TestClient) -> None:
    (answered,) = ask(client, conllu=CONLLU, draw=1, best=2)
    for tree in (answered, *answered["best"]):
        assert tree["drawing"]["arcs"].startswith("<svg")
        assert "&lt;b&gt;" in tree["drawing"]["arcs"]
        assert "<b>" not in tree["drawing"]["arcs"]


def test_drawings_have_the_width_and_the_density_that_are_asked_for(client: TestClient) -> None:
    words = ["the", "dog", "sees", "a", "cat"] * 6
    for width in (300, 800):
        (answered,) = ask(client, words=[words], draw=1, best=2, width=width)
        for tree in (answered, *answered["best"]):
            for view in ("arcs", "spans"):
                assert f'width="{width}"' in tree["drawing"][view].partition(">")[0]
    (answered,) = ask(client, conllu=CONLLU, draw=1)
    (compact,) = ask(client, conllu=CONLLU, draw=1, compact=True)
    assert 'class="tag"' in answered["drawing"]["arcs"]
    assert 'class="tag"' not in compact["drawing"]["arcs"]
    assert "greater than or equal to 200" in refused(client, 422, words=[["a"]], draw=1, width=1)


def test_other_trees_are_compared_with_the_one_that_is_shown(client: TestClient) -> None:
    (answered,) = ask(client, words=[["the", "dog", "sees", "a", "cat"]], draw=1, best=3)
    shown = answered["heads"], answered["relations"]
    for tree in answered["best"]:
        compared = "only in the best tree" in tree["drawing"]["arcs"]
        assert compared == ((tree["heads"], tree["relations"]) != shown)
        (sentence,) = conllu.parse(tree["conllu"])
        assert list(sentence.heads) == tree["heads"]


def test_a_refusal_says_in_one_sentence_what_is_wrong(client: TestClient, parser: Parser) -> None:
    def said(**body: Any) -> str:
        return refused(client, 422, **body)

    assert said() == "found no input; expected one of text, words, conllu"
    assert (
        said(text="a", words=[["a"]]) == "found text and words; expected one of text, words, conllu"
    )
    assert said(text="a", colour="red") == "unknown field 'colour' in the request"
    assert said(text="a", constraints=[{"colour": []}]) == "unknown field 'colour' in constraints.0"
    assert said(text=7) == "text: Input should be a valid string"
    assert said(words=[["a\tb"]]).startswith("words.0.0: String should match pattern")
    assert said(words=[[""]]).startswith("words.0.0: String should have at least 1 character")
    assert said(text="a", best=2, format="conllu") == "best and draw need the format json"
    assert said(text="a", best=51) == "best is 51; the limit of this service is 50"
    assert said(words=[["a"]], draw=2) == "draw: there is no sentence 2; the request has 1"
    assert said(conllu="1\ta\n").startswith("conllu: text:1: found")
    answer = client.post(
        "/parse", content=b'{"text": ', headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("the request is not JSON: ")
    deep = b'{"text": ' + b"[" * 100_000
    answer = client.post("/parse", content=deep, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    answer = client.post("/parse", content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert client.get("/parse").status_code == 405
    assert client.get("/nothing").json() == {"detail": "Not Found"}


def test_requests_beyond_the_limits_are_refused(parser: Parser) -> None:
    with small(parser, body=2000, words=20, sentence=10, drawn=15) as client:
        assert ask(client, words=[["a"] * 10] * 2)
        assert "more than 20 words" in refused(client, 413, words=[["a"] * 7] * 3)
        assert "more than 20 words" in refused(client, 413, text="the dog sees a cat.\n\n" * 5)
        long = refused(client, 422, words=[["a"], ["a"] * 11])
        assert long == "sentence 2 has 11 words; the limit of this service is 10"
        assert "more than 15 words" in refused(client, 413, words=[["a"] * 8], draw=1, best=2)
        assert "larger than 2,000 bytes" in refused(client, 413, text="a" * 2000)

        def unannounced() -> Any:
            yield b'{"text": "'
            for _ in range(100):
                yield b"a" * 100

        answer = client.post(
            "/parse", content=unannounced(), headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 413
        assert ask(client, text="the dog sees a cat.")


def test_a_text_is_bounded_while_it_is_segmented(parser: Parser) -> None:
    with small(parser, words=100, waiting=100) as client:
        assert "more than 100 words" in refused(client, 413, text="the dog sees a cat.\n\n" * 300)
        assert client.get("/health").json()["waiting"] == 0


def test_the_token_is_required_where_there_is_one(parser: Parser) -> None:
    app = create_app(parser, token="geheim")
    with TestClient(app, base_url="http://localhost") as client:
        for headers in ({}, {"Authorization": "Bearer falsch"}, {"Authorization": "Basic geheim"}):
            answer = client.post("/parse", json={"text": "a"}, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/models").status_code == 401
        assert client.get("/health").status_code == 200
        assert client.get("/").status_code == 200
        client.headers["Authorization"] = "Bearer geheim"
        assert client.post("/parse", json={"text": "a"}).status_code == 200
        assert client.get("/models").status_code == 200


@pytest.mark.parametrize("token", ["", " ", "\t"])
def test_an_empty_token_is_refused(parser: Parser, token: str) -> None:
    with pytest.raises(HeadspanError, match="the token of the service is empty"):
        create_app(parser, token=token)


def test_only_known_host_names_are_answered(parser: Parser) -> None:
    with TestClient(create_app(parser, hosts={"parser.local", "::1"})) as client:

        def status(host: str) -> int:
            return client.get("/health", headers={"Host": host}).status_code

        assert status("parser.local") == status("PARSER.local:8000") == status("[::1]:8000") == 200
        assert status("evil.example") == status("evil.example:8000") == status("") == 421
        for wrong in (
            "[parser.local]",
            "[parser.local]:80",
            "parser.local]",
            "[::1",
            "::1",
            "[::1]x",
        ):
            assert status(wrong) == 421
    with TestClient(create_app(parser, hosts=None)) as client:
        assert client.get("/health", headers={"Host": "anything"}).status_code == 200


def test_headers_are_strict_and_only_named_origins_may_ask(
    client: TestClient, parser: Parser
) -> None:
    for path in ("/", "/health", "/nothing", "/openapi.json"):
        headers = client.get(path, headers={"Origin": "http://evil.example"}).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
    preflight = {"Origin": "http://friend.example", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization,content-type"}  # fmt: skip
    assert "access-control-allow-origin" not in client.options("/parse", headers=preflight).headers
    app = create_app(parser, token="geheim", origins=["http://friend.example"])
    with TestClient(app, base_url="http://localhost") as shared:
        answer = shared.options("/parse", headers=preflight)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "http://friend.example"
        evil = preflight | {"Origin": "http://evil.example"}
        assert "access-control-allow-origin" not in shared.options("/parse", headers=evil).headers


def test_health_models_and_openapi_describe_the_service(client: TestClient, parser: Parser) -> None:
    health = client.get("/health").json()
    assert health == {"status": "ok", "version": __version__, "model": "tiny", "waiting": 0}
    (model,) = client.get("/models").json()["models"]
    assert model["segments"]
    assert model["relations"] == list(parser.vocabularies.relations)
    assert client.get("/models").json()["limits"]["words"] == Limits().words
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {"/parse", "/health", "/models"}
    post = described["paths"]["/parse"]["post"]
    assert {"200", "413", "422", "503"} <= set(post["responses"])
    body = post["requestBody"]["content"]["application/json"]["schema"]
    assert "conllu" in body["properties"]
    _references_resolve(described)
    for path in ("/docs", "/redoc"):
        assert client.get(path).status_code == 404


def _references_resolve(described: Any) -> None:
    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if "$ref" in node:
                target = described
                for part in node["$ref"].removeprefix("#/").split("/"):
                    target = target[part]
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(described)


def test_logs_do_not_hold_texts(
    client: TestClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from headspan.serve import logs

    logs.configure()
    logging.getLogger("py.warnings").warning("a warning\n")  # what captureWarnings makes of one
    ask(client, text="the secret dog flies.")
    client.get("/secret?text=secret")
    client.post("/parse", content=b'{"text": "secret', headers={"Content-Type": "application/json"})

    def broken(*_: Any) -> Any:
        raise ValueError("secret")

    monkeypatch.setattr("headspan.serve.app.make_answer", broken)
    answer = client.post("/parse", json={"text": "the secret dog flies."})
    assert answer.status_code == 500
    assert answer.json() == {"detail": "the service failed; its log says where"}
    said = capsys.readouterr().err
    assert "secret" not in said
    warning, *lines = [json.loads(line) for line in said.splitlines()]
    assert (warning["level"], warning["event"]) == ("warning", "a warning")
    assert [line["status"] for line in lines] == [200, 404, 422, 500]
    assert lines[0]["path"] == "/parse"
    assert lines[0]["sentences"] == 1
    assert lines[0]["words"] >= 4
    assert lines[3]["error"] == "ValueError"
