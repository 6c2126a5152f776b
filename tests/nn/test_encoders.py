import pytest

from headspan.nn.pretrained import empty_encoder
from headspan.plumbing.errors import HeadspanError


def test_encoders_come_from_transformers() -> None:
    small = {"model_type": "roberta", "vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 1,
             "num_attention_heads": 2, "intermediate_size": 8}  # fmt: skip
    assert type(empty_encoder(small)).__name__ == "RobertaModel"


@pytest.mark.parametrize(
    "table",
    [
        {"hidden_size": "x"}, {"hidden_size": -1}, {"hidden_size": 10, "num_attention_heads": 3},
        {"num_hidden_layers": 10**9}, {"vocab_size": 10**9},
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_an_error(table: dict[str, object]) -> None:
    with pytest.raises(HeadspanError, match="the encoder"):
        empty_encoder({"model_type": "bert", **table})
