"""mote.compile: sources, options, errors."""

import warnings
import wave

import numpy as np
import pytest

import mote
from mote._compile import option_words


def test_options_become_the_command_lines_words():
    sizes = {"dim": {"seq": (1, 128), "batch": 2}, "shape": {"x": (1, 3), "s": ()}}
    words = option_words({**sizes, "no_fuse": True, "exact": False, "ram": "64k"})
    assert words == "--dim 'seq=1..128' --dim 'batch=2' --shape 'x=1x3' --shape 's=scalar' --no-fuse --ram '64k'"


def test_sources(digits_onnx):
    onnx = pytest.importorskip("onnx")
    x = np.ones((1, 8, 8), np.float32)
    expected = mote.compile(digits_onnx)(x)
    for source in (str(digits_onnx), digits_onnx.read_bytes(), onnx.load(str(digits_onnx))):
        np.testing.assert_array_equal(mote.compile(source)(x), expected)


def relu_model(*dims):
    """y = relu(x), sizes as numbers or names."""
    onnx = pytest.importorskip("onnx")
    value = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, dims) for n in ("x", "y")]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", value[:1], value[1:])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def test_an_open_batch_is_one():
    program = mote.compile(relu_model("batch", 3))
    assert list(program.inputs[0]["dims"]) == [1, 3]
    assert any("batch=1" in note for note in program.compiled["notes"])
    wide = mote.compile(relu_model("batch", 3), dim={"batch": (1, 4)})
    assert list(wide.inputs[0]["dims"]) == [4, 3] and not wide.compiled["notes"]
    with pytest.raises(mote.CompileError, match="seq") as raised:
        mote.compile(relu_model("batch", "seq"))
    (_, what, advice) = raised.value.problems[0][:3]
    assert "axis 1 of 'x'" in what and "dim={'batch': 1, 'seq': (1, 128)}" in advice


def test_what_is_no_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.onnx: no such file") as raised:
        mote.compile(tmp_path / "missing.onnx")
    assert isinstance(raised.value, mote.Error)
    with pytest.raises(mote.CompileError, match="expected an ONNX"):
        mote.compile(b"something else")
    with pytest.raises(TypeError, match="found int"):
        mote.compile(3)


def test_options_are_checked(digits_onnx):
    for options in ({"no_such_option": True}, {"dim": {"n": (3, 1)}}, {"ram": "plenty"}, {"alignment": 17}):
        with pytest.raises(mote.Error) as raised:
            mote.compile(digits_onnx, **options)
        assert raised.value.code == "InvalidArgument"


def test_what_is_not_built_says_so(digits_onnx):
    for options in ({"backends": ["opencl"]}, {"policy": "p.toml"}):
        with pytest.raises(mote.Error, match="not built yet") as raised:
            mote.compile(digits_onnx, **options)
        assert raised.value.code == "Unsupported"
    mote.compile(digits_onnx, backends=["cpu"])


def test_targets(digits_onnx, digits):
    x = np.ones((1, 8, 8), np.float32)
    program = mote.compile(digits_onnx, target="cortex-m4", io_in_arena=False)
    assert program.inspect()["evidence"]["target"] == "cortex-m4"
    np.testing.assert_allclose(program(x), digits(x), atol=1e-5)
    with pytest.raises(ValueError, match="target: expected a description"):
        mote.compile(digits_onnx, target="cortex-m99")


def test_samples_in_labels_out(keyword):
    """Steps of 20 ms of a sound; the network runs every fourth time."""
    program = mote.compile(keyword / "whistle.tflite", audio_frontend="micro", streaming=4)
    assert [list(i["dims"]) for i in program.inputs] == [[320]]
    labels = (keyword / "labels.txt").read_text().split()
    for sound in ("rising", "warble"):
        with wave.open(str(keyword / f"{sound}.wav")) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        program.reset_state()
        heard = np.stack([np.array(program(step)).ravel() for step in samples[: len(samples) // 320 * 320].reshape(-1, 320)])
        assert labels[int(heard.max(axis=0)[1:].argmax()) + 1] == sound  # noise comes first
    with pytest.raises(mote.Error, match="audio_frontend"):
        mote.compile(keyword / "whistle.tflite", audio_frontend="no such")


def test_options_are_kept_as_evidence(digits_onnx):
    program = mote.compile(digits_onnx, no_fuse=True, licence="Apache-2.0", metadata={"key": "text"})
    evidence = program.inspect()["evidence"]
    assert evidence["options"] == "--no-fuse" and evidence["licence"] == "Apache-2.0"
    assert program.inspect()["metadata"]["key"] == "text"
    assert program.inspect()["instruction_count"] > mote.compile(digits_onnx).inspect()["instruction_count"]


def test_labels_that_fit_no_output_are_said(digits_onnx, tmp_path):
    nine = [str(i) for i in range(9)]
    with pytest.warns(UserWarning, match="labels: 9 labels fit no output: along its last axis 'probabilities' has 10"):
        program = mote.compile(digits_onnx, labels=nine)
    assert len(program.compiled["warnings"]) == 1
    (tmp_path / "nine.txt").write_text("\n".join(nine) + "\n")
    with pytest.warns(UserWarning, match=r"nine\.txt: 9 labels"):
        mote.compile(digits_onnx, labels=tmp_path / "nine.txt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mote.compile(digits_onnx, labels=[*nine, "9"]).compiled["warnings"] == []


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("preprocess.image.means", "0.5", r"metadata\['preprocess.image.means'\]: .* \(did you mean 'preprocess.image.mean'\?\)"),
        ("preprocess.sound", "yes", "no command reads this key"),
        ("preprocess.image.mean", "much", "expected numbers, found 'much'"),
        ("preprocess.image.channels", "CMYK", "RGB, BGR or GRAY"),
        ("preprocess.image.std", "0", "numbers other than 0"),
        ("preprocess.image.layout", "CHX", "letters of N H W C"),
    ],
)
def test_metadata_that_nothing_reads_is_refused(digits_onnx, key, value, said):
    with pytest.raises(mote.Error, match=said):
        mote.compile(digits_onnx, metadata={key: value})


def test_names_that_nearly_fit_are_named(digits_onnx):
    with pytest.raises(mote.CompileError, match=r"shape\['imag'\]|did you mean 'image'"):
        mote.compile(digits_onnx, shape={"imag": (1, 8, 8)})
    with pytest.raises(mote.CompileError) as error:
        mote.compile(digits_onnx, quantize="int8-weights", keep_float=["no such node"])
    assert "no operator that quantizing changes comes from a node of that name" in str(error.value)


def test_what_the_compiler_says(digits_onnx):
    compiled = mote.compile(digits_onnx, print_after="plan", time_passes=True).compiled
    assert compiled["frontend"] == "onnx" and "after plan" in compiled["log"] and "verify" in compiled["log"]
    assert compiled["peak_bytes"] >= compiled["lower_bound_bytes"] > 0 and "import" in compiled["stages_s"]


def test_golden_examples_of_arrays(digits_onnx, digits):
    x = np.full((1, 8, 8), 3, np.float32)
    program = mote.compile(digits_onnx, golden=[{"image": x, "probabilities": digits(x)}])
    records = program.golden_records()
    assert len(records) == 2 and records[0]["data"] == x.tobytes()
    assert program.validate()["passed"]
    assert mote.compile(digits_onnx, golden_examples=0).golden_records() == []
    with pytest.raises(mote.Error, match="no examples"):
        mote.compile(digits_onnx, golden_examples=0).validate()


def test_external_weights(digits_onnx, digits, tmp_path):
    program = mote.compile(digits_onnx, external_weights=tmp_path / "w.bin")
    program.save(tmp_path / "p.mote")
    x = np.ones((1, 8, 8), np.float32)
    np.testing.assert_array_equal(mote.load(tmp_path / "p.mote", weights=tmp_path / "w.bin")(x), digits(x))
    with pytest.raises(mote.Error):
        mote.load(tmp_path / "p.mote")
    assert (tmp_path / "p.mote").stat().st_size < len(digits.image.data())
