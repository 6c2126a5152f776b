"""The schemas of requests and answers, from which the OpenAPI description is made."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator
from pydantic_core import PydanticCustomError

from headspan.plumbing.errors import shown
from headspan.render import WIDTH
from headspan.serve.request_limits import Limits, Refusal, RefusalError

Word = Annotated[str, Field(min_length=1, pattern=r"^[^\t\n\r\x00]+$")]
Words = Annotated[list[Word], Field(fail_fast=True)]
Arc = Annotated[
    tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]],
    Field(description="Head and dependent: words are 1 … n, the head 0 is the root."),
]

_UNKNOWN = "unknown_field"
_TOO_LONG = "too_long"
_COMMAS_PER_WORD = 5


class Strict(BaseModel):
    """A part of a request, without unknown fields.

    pydantic can forbid those, too, but makes an error of each: a million stop the service for a
    second.
    """

    model_config = ConfigDict(
        extra="allow", strict=True, frozen=True, json_schema_extra={"additionalProperties": False}
    )

    @model_validator(mode="after")
    def _known(self) -> Self:
        for name in self.model_extra or ():
            raise PydanticCustomError(_UNKNOWN, "unknown field {name}", {"name": shown(name)})
        return self


class ArcConstraints(Strict):
    """Arcs that the tree of a sentence must have, and arcs that it must not have."""

    sentence: int = Field(1, ge=1, description="The number of the sentence, from 1.")
    required: list[Arc] = Field([], fail_fast=True)
    forbidden: list[Arc] = Field([], fail_fast=True)


class ParseRequest(Strict):
    """Text, words or CoNLL-U, and what to return besides the best tree."""

    text: str | None = Field(None, description="Raw text, segmented by the service.")
    words: list[Words] | None = Field(None, description="Sentences as lists of words.")
    conllu: str | None = Field(None, description="Sentences in CoNLL-U.")
    model: str | None = Field(
        None, description="A model of the service, by its name; by default the first."
    )
    lines: bool = Field(False, description="Each line of the text is a sentence.")
    format: Literal["json", "conllu"] = "json"
    confidence: bool = Field(
        False, description="Also return the probability of every arc, head and relation."
    )
    best: int = Field(1, ge=1, description="The number of best trees to return per sentence.")
    constraints: list[ArcConstraints] = Field(
        [], description="The trees are then the best ones that satisfy them, without restored arcs."
    )
    retag: bool = Field(
        False, description="Predict tags and lemmas even where the CoNLL-U has them."
    )
    draw: int | None = Field(
        None,
        ge=1,
        description="The number of a sentence whose trees to return as CoNLL-U and SVG, too.",
    )
    width: int = Field(
        int(WIDTH),
        ge=200,
        le=100_000,
        description="The width of drawings in pixels; longer sentences continue in another row.",
    )
    compact: bool = Field(False, description="Draw closer together, and without tags.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        inputs = [name for name in ("text", "words", "conllu") if getattr(self, name) is not None]
        if len(inputs) != 1:
            raise ValueError(
                f"found {' and '.join(inputs) or 'no input'}; expected one of text, words, conllu"
            )
        if self.format == "conllu" and (self.best > 1 or self.draw is not None):
            raise ValueError("best and draw need the format json")
        return self


class DrawingAnswer(BaseModel):
    """A tree as SVG without styles, which are at /drawing.css."""

    arcs: str
    spans: str


class RankedTree(BaseModel):
    """One of the best trees of a sentence that satisfy its constraints."""

    heads: list[int]
    relations: list[str]
    score: float
    probability: float = Field(description="Its share of all trees of the sentence.")
    conllu: str | None = Field(None, description="Present with draw.")
    drawing: DrawingAnswer | None = Field(None, description="Present with draw.")


class ParsedSentence(BaseModel):
    """A sentence with its tree; index k−1 of each list belongs to word k."""

    id: str | None
    text: str
    words: list[str]
    lemmas: list[str] | None = None
    upos: list[str] | None = None
    xpos: list[str] | None = None
    feats: list[str] | None = None
    heads: list[int] = Field(description="0 is the root.")
    relations: list[str]
    starts: list[int | None] = Field(description="The position of every word in the text, …")
    ends: list[int | None] = Field(description="… and the position after its last character.")
    spans: list[tuple[int, int]] = Field(
        description="The headed span of every word: the fenceposts around it and all below it."
    )
    score: float
    confidences: list[float] | None = Field(
        None, description="Of arcs: head and relation. Present with confidence."
    )
    head_confidences: list[float] | None = Field(None, description="Present with confidence.")
    relation_confidences: list[float] | None = Field(
        None, description="If the head is right. Present with confidence."
    )
    best: list[RankedTree] | None = Field(None, description="Present with best > 1.")
    conllu: str | None = Field(None, description="Present with draw.")
    drawing: DrawingAnswer | None = Field(None, description="Present with draw.")


class ParseAnswer(BaseModel):
    """The sentences of a request, in order."""

    sentences: list[ParsedSentence]


class ErrorAnswer(BaseModel):
    """The reason why a request was refused."""

    detail: str


class Health(BaseModel):
    """The state of the service."""

    status: Literal["ok"]
    version: str
    model: str
    waiting: int = Field(description="Words waiting to be parsed.")


class ModelInfo(BaseModel):
    """A description of a model."""

    name: str
    structure: str
    segments: bool = Field(description="Whether it segments raw text.")
    predicts: list[str] = Field(description="The columns of tags and lemmas that it predicts.")
    reads: list[str] = Field(description="The tag columns that it reads.")
    relations: list[str]


class Models(BaseModel):
    """The models of the service, and its limits."""

    models: list[ModelInfo]
    limits: dict[str, float]


def read_request(body: bytes, limits: Limits) -> ParseRequest:
    """Read a request from JSON; raises RefusalError with a sentence that says what is wrong.

    Validation stops all other threads, and takes long if there are many values; so there must not
    be many. In a text, a comma is a word, too.
    """
    most = _COMMAS_PER_WORD * limits.words
    if body.count(b",") > most:
        detail = f"the request has more than {most:,} commas, the limit of this service"
        raise RefusalError(Refusal.TOO_LARGE, detail)
    try:
        request = _limited(limits.words).model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == _TOO_LONG:
            detail = f"{first['loc'][0]}: a request may not have more than {limits.words:,} words"
            raise RefusalError(Refusal.TOO_LARGE, detail) from None
        raise RefusalError(Refusal.UNUSABLE, _sentence(first)) from None
    if request.best > limits.best:
        raise RefusalError(
            Refusal.UNUSABLE,
            f"best is {request.best}; the limit of this service is {limits.best}",
        )
    return request


@lru_cache(maxsize=8)
def _limited(most: int) -> type[ParseRequest]:
    """The model of a request with so many sentences at most."""
    return create_model(
        "LimitedRequest",
        __base__=ParseRequest,
        words=(list[Words] | None, Field(None, fail_fast=True, max_length=most)),
        constraints=(list[ArcConstraints], Field([], fail_fast=True, max_length=most)),
    )


def request_schema() -> dict[str, Any]:
    """The JSON schema of a request, without references."""
    schema = ParseRequest.model_json_schema()
    schema["properties"]["constraints"]["items"] = schema.pop("$defs")["ArcConstraints"]
    return schema


def _sentence(problem: Any) -> str:
    """One sentence for a problem that pydantic reports."""
    where = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == _UNKNOWN:
        return f"{problem['msg']} in {where or 'the request'}"
    what: str = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "json_invalid":
        what = f"the request is not JSON: {what.removeprefix('Invalid JSON: ')}"
    return f"{where}: {what}" if where else what
