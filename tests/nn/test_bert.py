import pytest
import torch

from headspan.nn.bert import Bert, is_plain_bert
from headspan.nn.pretrained import empty_encoder, encoder_table
from headspan.plumbing.errors import HeadspanError


@pytest.mark.parametrize("ragged", [False, True])
def test_bert_computes_the_same_as_transformers(ragged: bool) -> None:
    from transformers import BertConfig, BertModel

    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=50, hidden_size=24, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=40, max_position_embeddings=32,
    )  # fmt: skip
    theirs = BertModel(config, add_pooling_layer=False).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    table = encoder_table(theirs)
    assert is_plain_bert(table)
    ours = Bert(table)
    ours.load_state_dict(theirs.state_dict())
    ids = torch.randint(50, (5, 17))
    mask = torch.ones_like(ids)
    if ragged:
        mask = (torch.arange(17) < torch.tensor([17, 3, 9, 1, 16])[:, None]).long()
    with torch.inference_mode():
        expected = theirs(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        found = ours(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    assert len(found.hidden_states) == 4
    for one, other in zip(found.hidden_states, expected.hidden_states, strict=True):
        assert torch.allclose(one[mask.bool()], other[mask.bool()], atol=1e-5)


def test_other_encoders_come_from_transformers() -> None:
    assert not is_plain_bert({"model_type": "bert", "hidden_act": "relu"})
    assert not is_plain_bert({"model_type": "roberta"})
    small = {"model_type": "roberta", "vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 1,
             "num_attention_heads": 2, "intermediate_size": 8}  # fmt: skip
    assert type(empty_encoder(small)).__name__ == "RobertaModel"


@pytest.mark.parametrize(
    "table",
    [
        {"hidden_size": "x"}, {"hidden_size": -1}, {"hidden_size": 10, "num_attention_heads": 3},
        {"num_hidden_layers": 10**9}, {"vocab_size": True},
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_an_error(table: dict[str, object]) -> None:
    with pytest.raises(HeadspanError, match="the encoder"):
        empty_encoder({"model_type": "bert", **table})
    with pytest.raises(HeadspanError, match="expected a table"):
        empty_encoder(None)


def test_a_large_encoder_takes_no_memory_before_its_weights_fit() -> None:
    encoder = empty_encoder(
        {"model_type": "bert", "vocab_size": 10**7, "hidden_size": 10**6, "num_attention_heads": 1}
    )
    assert next(encoder.parameters()).is_meta
