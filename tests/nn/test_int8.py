import copy

import pytest
import torch
from torch import nn

from headspan.nn.int8 import Int8Linear, use_float32, use_int8
from headspan.nn.pretrained import empty_encoder
from headspan.plumbing.errors import HeadspanError
from headspan.runtime import int8


def plainly(linear: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """What Int8Linear computes, word for word."""
    weight_scale = linear.weight.abs().amax(1).clamp(min=1e-12) / 127
    weight = (linear.weight / weight_scale[:, None]).round().double()
    scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-12) / 127
    rows = torch.floor(x / scale + 0.5).double()
    found = (rows @ weight.t()).float() * (scale * weight_scale)
    return found if linear.bias is None else found + linear.bias


@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 1, 1), (7, 5, 3), (64, 384, 100)])
@pytest.mark.parametrize("bias", [False, True])
def test_int8_agrees_with_a_plain_computation(
    rows: int, inputs: int, outputs: int, bias: bool
) -> None:
    torch.manual_seed(rows)
    linear = nn.Linear(inputs, outputs, bias=bias)
    x = torch.randn(rows, inputs) * torch.logspace(-3, 3, rows)[:, None]
    with torch.no_grad():
        found = Int8Linear(linear)(x)
        expected = plainly(linear, x)
        exact = linear(x)
    # a number half way between two whole ones may go either way
    step = x.abs().amax(1, keepdim=True) / 127 * linear.weight.abs().amax(1)
    assert ((found - expected).abs() <= 1.01 * step + 1e-6).all()
    assert (found - expected).abs().gt(1e-3 * step + 1e-6).float().mean() < 0.05
    assert ((found - exact).abs() <= inputs * step + 1e-6).all()


def test_rows_of_zeros_and_other_shapes_work() -> None:
    linear = nn.Linear(4, 3)
    small = Int8Linear(linear)
    with torch.no_grad():
        found = small(torch.zeros(2, 5, 4))
        assert torch.equal(found, linear.bias.expand(2, 5, 3))
        assert small(torch.zeros(0, 4)).shape == (0, 3)
        x = torch.randn(6, 4)
        assert torch.equal(small(x.t().contiguous().t()), small(x))


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    torch.manual_seed(1)
    small = Int8Linear(nn.Linear(96, 70))
    x = torch.randn(50, 96)
    with torch.no_grad():
        together = small(x)
        for k in range(50):
            assert torch.equal(small(x[k : k + 1])[0], together[k])


def bert() -> nn.Module:
    torch.manual_seed(2)
    encoder = empty_encoder(
        {"model_type": "bert", "vocab_size": 50, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 128, "max_position_embeddings": 32}
    )  # fmt: skip
    return encoder.eval()


def test_an_encoder_keeps_its_weights_and_nearly_its_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(int8, "is_available", lambda: True)
    encoder = bert()
    before = copy.deepcopy(encoder)
    use_int8(encoder)
    assert sum(isinstance(module, Int8Linear) for module in encoder.modules()) == 2 * 6
    after = encoder.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.state_dict().items())
    assert len(after) == len(before.state_dict())
    ids = torch.randint(50, (3, 20))
    mask = torch.ones_like(ids)
    with torch.inference_mode():
        exact = before(input_ids=ids, attention_mask=mask).last_hidden_state
        found = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    assert not torch.equal(found, exact)
    assert torch.nn.functional.cosine_similarity(found, exact, dim=-1).min() > 0.999
    use_float32(encoder)
    with torch.inference_mode():
        assert torch.equal(encoder(input_ids=ids, attention_mask=mask).last_hidden_state, exact)


def test_training_is_not_in_int8() -> None:
    linear = nn.Linear(8, 8)
    x = torch.randn(3, 8, requires_grad=True)
    assert torch.equal(Int8Linear(linear)(x), linear(x))


def test_a_processor_without_the_instructions_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "_flags", lambda: {"avx2"})
    int8.is_available.cache_clear()
    try:
        with pytest.raises(HeadspanError, match="VNNI"):
            use_int8(bert())
    finally:
        int8.is_available.cache_clear()


def test_llvm_and_linux_agree_about_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    here = int8._flags().isdisjoint(int8._VNNI)
    monkeypatch.setattr(int8.sys, "platform", "elsewhere")
    assert int8._flags().isdisjoint(int8._VNNI) == here
