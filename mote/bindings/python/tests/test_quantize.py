"""mote.compile(quantize=...): the schemes, data in every form, budgets, errors."""

import numpy as np
import pytest

import mote


@pytest.fixture(scope="module")
def samples(digits):
    """Images the bundled model knows, and what it takes them for."""
    random = np.random.default_rng(0)
    images = (np.abs(np.sin(np.arange(64) * random.uniform(0.05, 0.4, (40, 1)))) * 16).astype(np.float32).reshape(40, 8, 8)
    return images, [int(digits(x[None]).argmax()) for x in images]


def test_int8_with_data_in_every_form(digits_onnx, digits, samples, tmp_path):
    images, _ = samples
    np.save(tmp_path / "images.npy", images)
    forms = (tmp_path, images, [x[None] for x in images], [{"image": x[None]} for x in images], iter(images[:, None]))
    programs = [mote.compile(digits_onnx, quantize="int8", calibrate=data, int8_everywhere=True) for data in forms]
    prints = {p.inspect()["evidence"]["quant.calibration.sha256"] for p in programs}
    assert len(prints) == 1
    cost = programs[0].compiled["quantization"]
    assert cost["outputs"][0]["cosine"] > 0.98 and cost["evidence"]["quant.scheme"] == "int8"
    x = images[:1]
    np.testing.assert_allclose(programs[0](x), digits(x), atol=0.1)


@pytest.mark.parametrize(
    "scheme, options",
    [
        ("int8-dynamic", {}),
        ("int8-weights", {}),
        ("int4-weights", {"group": 32, "asymmetric": True}),
        ("fp16-weights", {}),
        ("int16x8", {}),
    ],
)
def test_schemes(digits_onnx, digits, samples, scheme, options):
    images, _ = samples
    data = {"calibrate": images} if scheme == "int16x8" else {}
    program = mote.compile(digits_onnx, quantize=scheme, test=images, **data, **options)
    assert program.compiled["quantization"]["outputs"][0]["cosine"] > 0.95
    assert program(images[:1]).shape == digits(images[:1]).shape


def test_budget(digits_onnx, samples):
    images, labels = samples
    data = {"calibrate": images[:20], "test": images[20:], "truth": labels[20:]}
    program = mote.compile(digits_onnx, quantize="int8", int8_everywhere=True, max_drop=0, **data)
    output = program.compiled["quantization"]["outputs"][0]
    assert output["accuracy"] >= output["accuracy_f32"]
    with pytest.raises(mote.CompileError, match="min_sqnr"):
        mote.compile(digits_onnx, quantize="int8", int8_everywhere=True, min_sqnr=200, **data)


def test_wrong_options(digits_onnx, samples, tmp_path):
    images, labels = samples
    for options, text in (
        ({"quantize": "int3"}, "int3"),
        ({"quantize": "int8"}, "calibrate="),
        ({"calibrate": images}, "quantize="),
        ({"quantize": "int8", "calibrate": 3}, "found int"),
        ({"quantize": "int8", "calibrate": [object()]}, "sample 0"),
        ({"quantize": "int8", "calibrate": images, "observer": "best"}, "best"),
        ({"quantize": "int8", "calibrate": images, "max_drop": 1}, "truth"),
        ({"quantize": "int8", "calibrate": tmp_path / "nowhere"}, "nowhere"),
        ({"quantize": "int8", "calibrate": np.zeros((4, 3), np.float32)}, "image"),
    ):
        with pytest.raises(mote.Error, match=text):
            mote.compile(digits_onnx, **options)
