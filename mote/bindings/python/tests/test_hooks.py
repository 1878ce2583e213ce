"""The user's own passes, memory planner, partition and operators."""

import numpy as np
import pytest

import mote
from conftest import ROOT
from mote import hooks


def test_a_pass_sees_the_graph(add_mul):
    seen = []

    def look(graph):
        for node in graph.nodes:
            seen.append((node.op, [v.name for v in node.inputs], node.outputs[0].dims, node.outputs[0].dtype, node.outputs[0].is_output))
        assert "add(" in str(graph) and "add(" in str(graph.nodes[0])

    mote.compile(add_mul, passes=[look], golden_examples=0)
    assert seen == [("add", ["a", "b"], [2, 3], "f32", True), ("mul", ["a", "b"], [2, 3], "f32", True)]


def test_a_pass_rewrites_the_graph(add_mul):
    """a + b becomes 2 * (a + b), a * b becomes a - b."""

    def rewrite(graph):
        add, mul = graph.nodes
        two = graph.constant(np.full((1,), 2, np.float32), "two")
        sub = graph.add(mul, "sub", mul.inputs)
        graph.replace(mul.outputs[0], sub.outputs[0])
        graph.erase(mul)
        plain = graph.add(add, "add", add.inputs)
        doubled = graph.add(add, "mul", [plain.outputs[0], two])
        graph.replace(add.outputs[0], doubled.outputs[0])
        graph.erase(add)
        with pytest.raises(mote.Error, match="not in the graph any more"):
            add.op

    for stage in ("passes", "late_passes"):
        program = mote.compile(add_mul, golden_examples=0, **{stage: [rewrite]})
        a = np.arange(6, dtype=np.float32).reshape(2, 3)
        total, difference = program(a, a + 1)
        np.testing.assert_array_equal(total, 2 * (2 * a + 1))
        np.testing.assert_array_equal(difference, np.full((2, 3), -1))


def test_an_early_pass_is_checked_against_its_own_reference(add_mul):
    def rewrite(graph):
        add = graph.nodes[0]
        other = graph.add(add, "sub", add.inputs)
        graph.replace(add.outputs[0], other.outputs[0])
        graph.erase(add)

    assert mote.compile(add_mul, passes=[rewrite]).validate()["passed"]


def test_attributes(digits_onnx):
    found = {}

    def look(graph):
        for node in graph.nodes:
            if node.op == "softmax":
                found.update(node.attributes)
                node.set_attributes({"axis": -1})
                with pytest.raises(mote.Error, match="no attribute 'nonsense'"):
                    node.set_attributes({"nonsense": 1})
            if node.op == "conv":
                assert isinstance(node.attributes["strides"], list)
            for value in node.inputs:
                if value is not None and value.is_constant:
                    found[value.name] = value.array()
                    assert value.array().shape == tuple(value.dims)

    mote.compile(digits_onnx, passes=[look])
    assert "axis" in found and len(found) > 4


def test_the_pass_of_the_documentation():
    onnx = pytest.importorskip("onnx")
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [5])
    nodes = [onnx.helper.make_node("Gelu", ["x"], ["g"]), onnx.helper.make_node("Elu", ["g"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "t", [value("x")], [value("y")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)
    names = {}
    text = (ROOT / "docs" / "python.md").read_text()
    exec(text[text.index("def cheaper_gelu") : text.index('mote.compile("model.onnx", passes')], names)
    x = np.linspace(-3, 3, 5, dtype=np.float32)
    expected = np.maximum(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), 0)
    np.testing.assert_allclose(mote.compile(model, passes=[names["cheaper_gelu"]])(x), expected, atol=1e-6)


def test_handles_end_with_the_pass(add_mul):
    kept = []
    mote.compile(add_mul, passes=[lambda graph: kept.extend([graph, graph.nodes[0], graph.nodes[0].inputs[0]])], golden_examples=0)
    for use in (lambda: kept[0].nodes, lambda: kept[1].op, lambda: kept[2].name):
        with pytest.raises(mote.Error, match="while the pass runs"):
            use()


def test_what_a_pass_raises_comes_out(add_mul):
    with pytest.raises(ZeroDivisionError):
        mote.compile(add_mul, passes=[lambda graph: 1 / 0])


def test_changes_that_would_break_the_graph_are_refused(add_mul):
    def wrong(graph):
        add, mul = graph.nodes
        with pytest.raises(mote.Error, match="is used"):
            graph.erase(add)
        with pytest.raises(mote.Error, match="another type"):
            graph.replace(add.outputs[0], graph.constant(np.zeros((1,), np.float32)))
        with pytest.raises(mote.Error, match="no such operator"):
            graph.add(add, "nonsense", add.inputs)
        with pytest.raises(mote.Error):
            graph.add(add, "matmul", [add.inputs[0], add.inputs[1]])

    mote.compile(add_mul, passes=[wrong], golden_examples=0)


def test_own_memory_planner(digits_onnx, digits):
    calls = []

    def one_after_the_other(buffers):
        calls.append(buffers)
        offsets, end = [], 0
        for b in buffers:
            assert isinstance(b, hooks.Buffer) and b.first <= b.last
            end = -(-end // b.alignment) * b.alignment
            offsets.append(end)
            end += b.bytes
        return offsets

    program = mote.compile(digits_onnx, planner=one_after_the_other)
    assert calls and program.inspect()["certificate"]["arena_bytes"] >= sum(b.bytes for b in calls[0])
    x = np.ones((1, 8, 8), np.float32)
    np.testing.assert_array_equal(program(x), digits(x))


@pytest.mark.parametrize(
    "planner, text",
    [(lambda b: [0] * len(b), "writes tensor|overlap"), (lambda b: [], "one for each buffer"), (lambda b: [1] * len(b), "not aligned")],
)
def test_wrong_plans_are_refused(digits_onnx, planner, text):
    with pytest.raises(mote.Error, match=text):
        mote.compile(digits_onnx, planner=planner)


def test_own_partition(digits_onnx):
    asked = []

    def cpu(nodes):
        asked.extend(node.op for node in nodes)
        return ["cpu"] * len(nodes)

    mote.compile(digits_onnx, partition=cpu)
    assert "conv" in asked
    with pytest.raises(mote.Error, match="backend 'npu'"):
        mote.compile(digits_onnx, partition=lambda nodes: ["npu"] * len(nodes))
    with pytest.raises(mote.Error, match="one for each node"):
        mote.compile(digits_onnx, partition=lambda nodes: [])


def test_operators_in_python(add_mul):
    @mote.custom_op("test::mean_of_two", inputs=2)
    def mean_of_two(inputs, outputs, attributes):
        outputs[0][...] = (inputs[0] + inputs[1]) / 2 + attributes[0]

    def use_it(graph):
        add = graph.nodes[0]
        own = graph.add_custom(add, "test::mean_of_two", add.inputs, add.outputs, b"\x01\x00\x00\x00")
        graph.replace(add.outputs[0], own.outputs[0])
        graph.erase(add)

    assert "test::mean_of_two" in mote.custom_op_names()
    program = mote.compile(add_mul, passes=[use_it])
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(program(a, a + 2)[0], a + 2)
    assert "test::mean_of_two" in program.inspect()["ops"]
    np.testing.assert_array_equal(mote.load(program.image.data())(a, a)[0], a + 1)


def test_what_an_operator_raises_comes_out(add_mul):
    trouble = []

    @mote.custom_op("test::trouble")
    def run(inputs, outputs, attributes):
        if trouble:
            raise KeyError("trouble")
        outputs[0][...] = inputs[0]

    def use_it(graph):
        add = graph.nodes[0]
        own = graph.add_custom(add, "test::trouble", add.inputs[:1], add.outputs)
        graph.replace(add.outputs[0], own.outputs[0])
        graph.erase(add)

    program = mote.compile(add_mul, passes=[use_it])
    a = np.zeros((2, 3), np.float32)
    program(a, a)
    trouble.append(1)
    with pytest.raises(KeyError, match="trouble"):
        program(a, a)
    trouble.clear()
    program(a, a)


def test_an_operator_cannot_run_its_own_program(add_mul):
    programs = []

    @mote.custom_op("test::again")
    def run(inputs, outputs, attributes):
        for program in programs:
            program(inputs[0], inputs[0])
        outputs[0][...] = inputs[0]

    def use_it(graph):
        add = graph.nodes[0]
        own = graph.add_custom(add, "test::again", add.inputs[:1], add.outputs)
        graph.replace(add.outputs[0], own.outputs[0])
        graph.erase(add)

    program = mote.compile(add_mul, passes=[use_it])
    programs.append(program)
    a = np.zeros((2, 3), np.float32)
    with pytest.raises(mote.Error) as raised:
        program(a, a)
    assert raised.value.code == "Busy"


def test_programs_need_their_operators(add_mul):
    with pytest.raises(mote.Error):
        mote.load_custom_ops("missing.so")


def test_pass_names():
    assert "fold" in hooks.pass_names()
