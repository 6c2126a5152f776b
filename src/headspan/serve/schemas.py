"""What a request and its answer look like; the OpenAPI description follows from this."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from headspan.plumbing.errors import shown
from headspan.serve.request_limits import Limits, RefusalError

Word = Annotated[str, Field(min_length=1, pattern=r"^[^\t\n\r\x00]+$")]
Arc = Annotated[
    tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]],
    Field(description="Head and dependent: words are 1 … n, the head 0 is the root."),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ArcConstraints(_Strict):
    """Arcs that the tree of one sentence must and must not have."""

    sentence: int = Field(1, ge=1, description="Which sentence of the request, from 1.")
    required: list[Arc] = []
    forbidden: list[Arc] = []


class ParseRequest(_Strict):
    """Text, words or CoNLL-U, and what is wanted beside the best tree."""

    text: str | None = Field(None, description="Raw text; its sentences and words are found.")
    words: list[list[Word]] | None = Field(None, description="Sentences as lists of words.")
    conllu: str | None = Field(None, description="Sentences in CoNLL-U.")
    lines: bool = Field(False, description="Each line of the text is a sentence.")
    format: Literal["json", "conllu"] = "json"
    confidence: bool = Field(False, description="Also give the probability of every arc.")
    best: int = Field(1, ge=1, description="Also give the best trees, so many of them.")
    constraints: list[ArcConstraints] = Field(
        [], description="The trees are then the best projective ones that fit."
    )
    retag: bool = Field(False, description="Predict tags also where the CoNLL-U has some.")
    draw: int | None = Field(
        None, ge=1, description="Also give the trees of this sentence, from 1, as CoNLL-U and SVG."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        given = [name for name in ("text", "words", "conllu") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"expected one of text, words and conllu, found {' and '.join(given) or 'none'}"
            )
        if self.format == "conllu" and (self.best > 1 or self.draw is not None):
            raise ValueError("best and draw need the format json")
        return self


class Drawing(BaseModel):
    """A tree as SVG without styles of its own; they are at /drawing.css."""

    arcs: str
    spans: str


class RankedTree(BaseModel):
    """One of the best trees of a sentence; under its constraints if it has some."""

    heads: list[int]
    relations: list[str]
    score: float
    conllu: str | None = Field(None, description="With draw.")
    drawing: Drawing | None = Field(None, description="With draw.")


class ParsedSentence(BaseModel):
    """A sentence with its tree; index k−1 of a list belongs to word k."""

    id: str | None
    text: str
    words: list[str]
    upos: list[str] | None = None
    xpos: list[str] | None = None
    feats: list[str] | None = None
    heads: list[int] = Field(description="0 is the root.")
    relations: list[str]
    spans: list[tuple[int, int]] = Field(
        description="The headed span of every word: from which to which fencepost it goes."
    )
    score: float
    confidences: list[float] | None = Field(None, description="With confidence.")
    best: list[RankedTree] | None = Field(None, description="With best > 1.")
    conllu: str | None = Field(None, description="With draw.")
    drawing: Drawing | None = Field(None, description="With draw.")


class ParseAnswer(BaseModel):
    """The sentences of a request in their order."""

    sentences: list[ParsedSentence]


class Problem(BaseModel):
    """Why a request was not answered."""

    detail: str


class Health(BaseModel):
    """How the service is."""

    status: Literal["ok"]
    version: str
    model: str
    waiting: int = Field(description="Words that wait to be parsed.")


class Model(BaseModel):
    """What a model can do."""

    name: str
    structure: str
    segments: bool = Field(description="Whether it finds sentences and words in raw text.")
    predicts: list[str] = Field(description="The columns of tags that it fills in.")
    reads: list[str] = Field(description="The columns of tags that it wants to see.")
    relations: list[str]


class Models(BaseModel):
    """The models of the service, and its limits."""

    models: list[Model]
    limits: dict[str, float]


def read_request(body: bytes, limits: Limits) -> ParseRequest:
    """A request from JSON; raises RefusalError with a sentence that says what is wrong."""
    try:
        asked = ParseRequest.model_validate_json(body)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        raise RefusalError(422, _sentence(problem)) from None
    if asked.best > limits.best:
        raise RefusalError(422, f"best is {asked.best}; the limit of this service is {limits.best}")
    return asked


def request_schema() -> dict[str, Any]:
    """The JSON schema of a request, in one piece."""
    schema = ParseRequest.model_json_schema()
    schema["properties"]["constraints"]["items"] = schema.pop("$defs")["ArcConstraints"]
    return schema


def _sentence(problem: Any) -> str:
    place = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":  # the last is a stranger's: any characters, any length
        return f"{'.'.join(place[:-1]) or 'the request'} has no field {shown(place[-1])}"
    where = ".".join(place)
    what: str = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "json_invalid":
        what = f"the request is not JSON: {what.removeprefix('Invalid JSON: ')}"
    return f"{where}: {what}" if where else what
