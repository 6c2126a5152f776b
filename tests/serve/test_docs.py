"""The requests in docs/serving.md are answered as the page says."""

import json
import re
import shlex
from dataclasses import asdict

import pytest
from fastapi.testclient import TestClient

from conftest import ROOT
from headspan.serve import Limits

PAGE = (ROOT / "docs/serving.md").read_text(encoding="utf-8")
CALLS = re.findall(r"^curl (.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_calls() -> None:
    assert len(CALLS) == 2


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_the_page_are_answered(client: TestClient, call: str) -> None:
    address, header, kind, data, body = shlex.split(call.replace("\\\n", " "))
    assert (header, data) == ("-H", "-d")
    name, _, value = kind.partition(": ")
    path = address.removeprefix("http://127.0.0.1:8000")
    answer = client.post(path, content=body, headers={name: value})
    assert answer.status_code == 200, answer.text
    request = json.loads(body)
    for sentence in answer.json()["sentences"]:
        assert ("confidences" in sentence) == request.get("confidence", False)
        assert len(sentence.get("best", [0])) == request.get("best", 1)
        for arcs in request.get("constraints", []):
            assert all(sentence["heads"][d - 1] == h for h, d in arcs["required"])
            assert all(sentence["heads"][d - 1] != h for h, d in arcs["forbidden"])


def test_the_page_names_all_fields_and_limits(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()["paths"]["/parse"]["post"]["requestBody"]
    fields = schema["content"]["application/json"]["schema"]["properties"]
    assert all(f'"{name}"' in PAGE or f"`{name}`" in PAGE for name in fields)
    for name, number in asdict(Limits()).items():
        assert name == "body" or f"| {number:,.0f} |" in PAGE, name
