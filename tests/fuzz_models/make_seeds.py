#!/usr/bin/env python3
"""Writes the seeds of the model fuzzers: one small ONNX model for each of many operators, and some with control flow; for TensorFlow
Lite what seeds_tflite.py makes. Needs onnx, and for the latter tflite and flatbuffers.

make_seeds.py FOLDER [--all]        --all: every case of tests/tflite rather than one for each operator
"""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import seeds_tflite

F, I64, BOOL, U8, S8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT8
RANDOM = np.random.default_rng(1)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def floats(name, *dims):
    return constant(name, RANDOM.standard_normal(dims).astype(np.float32))


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name="/" + "".join(outputs), **attributes)


def model(op, inputs, outputs, constants=(), nodes=None, opset=17, **attributes):
    nodes = nodes or [node(op, [i[0] for i in inputs] + [c.name for c in constants], [o[0] for o in outputs], **attributes)]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, op, [info(*i) for i in inputs], [info(*o) for o in outputs], initializer=list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def unary():
    for op in ("Relu", "Sigmoid", "Tanh", "Erf", "Exp", "HardSwish", "Softplus", "Identity", "Abs", "Floor", "LeakyRelu", "Selu"):
        yield op, model(op, [("x", F, [2, 3])], [("y", F, [2, 3])])
    for op, more in (("Softmax", {"axis": 1}), ("LogSoftmax", {"axis": 0}), ("Flatten", {"axis": 1}), ("Transpose", {"perm": [1, 0]}),
                     ("ArgMax", {"axis": 1}), ("ReduceMean", {"axes": [1]}), ("Cast", {"to": I64}), ("LpNormalization", {"axis": 1})):
        kind = I64 if op in ("ArgMax", "Cast") else F
        yield op, model(op, [("x", F, [2, 3])], [("y", kind, None)], **more)


def images():
    x, y = ("x", F, [1, 3, 8, 8]), ("y", F, None)
    yield "Conv", model("Conv", [x], [y], [floats("w", 4, 3, 3, 3), floats("b", 4)], pads=[1, 1, 1, 1], strides=[2, 2])
    yield "ConvDepthwise", model("Conv", [x], [y], [floats("w", 3, 1, 3, 3)], group=3, auto_pad="SAME_UPPER")
    yield "ConvTranspose", model("ConvTranspose", [x], [y], [floats("w", 3, 2, 2, 2)], strides=[2, 2])
    yield "MaxPool", model("MaxPool", [x], [y], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    yield "AveragePool", model("AveragePool", [x], [y], kernel_shape=[3, 3], count_include_pad=1, pads=[1, 1, 1, 1])
    yield "GlobalAveragePool", model("GlobalAveragePool", [x], [y])
    moments = [floats(n, 3) for n in "sbm"] + [constant("v", np.ones(3, np.float32))]
    yield "BatchNormalization", model("BatchNormalization", [x], [y], moments)
    yield "InstanceNormalization", model("InstanceNormalization", [x], [y], [floats("s", 3), floats("b", 3)])
    yield "Resize", model("Resize", [x], [y], [constant("r", np.float32([])), constant("s", np.float32([1, 1, 2, 2]))], mode="linear")
    yield "Pad", model("Pad", [x], [y], [constant("p", np.int64([0, 0, 1, 1, 0, 0, 1, 1]))], mode="reflect")
    yield "DepthToSpace", model("DepthToSpace", [("x", F, [1, 4, 2, 2])], [y], blocksize=2)
    yield "LRN", model("LRN", [x], [y], size=3)
    yield "GridSample", model("GridSample", [x, ("g", F, [1, 4, 4, 2])], [y])


def moves():
    x, y = ("x", F, [4, 6]), ("y", F, None)
    yield "Reshape", model("Reshape", [x], [y], [constant("s", np.int64([0, 2, -1]))])
    yield "ReshapeRun", model("Reshape", [x, ("s", I64, [2])], [("y", F, [8, 3])])
    yield "Slice", model("Slice", [x], [y], [constant(n, np.int64([v])) for n, v in (("b", 1), ("e", -1), ("a", 1), ("t", 2))])
    yield "Gather", model("Gather", [x], [y], [constant("i", np.int64([0, -1]))], axis=1)
    yield "GatherND", model("GatherND", [x], [y], [constant("i", np.int64([[0, 1], [3, 2]]))])
    yield "ScatterND", model("ScatterND", [x], [y], [constant("i", np.int64([[1]])), floats("u", 1, 6)])
    yield "Concat", model("Concat", [x, ("z", F, [4, 6])], [y], axis=-1)
    yield "Split", model("Split", [x], [("y", F, None), ("z", F, None)], axis=1)
    yield "Expand", model("Expand", [("x", F, [1, 6])], [y], [constant("s", np.int64([4, 6]))])
    yield "Tile", model("Tile", [x], [y], [constant("r", np.int64([2, 1]))])
    yield "TopK", model("TopK", [x], [("v", F, None), ("i", I64, None)], [constant("k", np.int64([2]))])
    yield "NonZero", model("NonZero", [x], [("y", I64, [2, 24])])
    yield "OneHot", model("OneHot", [("x", I64, [3])], [y], [constant("d", np.int64(4)), constant("v", np.float32([0, 1]))])
    yield "Where", model("Where", [("c", BOOL, [4, 6]), x, ("z", F, [6])], [y])
    yield "CumSum", model("CumSum", [x], [y], [constant("a", np.int64(1))])
    yield "Einsum", model("Einsum", [x, ("z", F, [6, 5])], [y], equation="ij,jk->ik")


def products():
    x, y = ("x", F, [2, 4]), ("y", F, None)
    yield "MatMul", model("MatMul", [x], [y], [floats("w", 4, 3)])
    yield "Gemm", model("Gemm", [x], [y], [floats("w", 3, 4), floats("b", 3)], transB=1)
    yield "LayerNormalization", model("LayerNormalization", [x], [y], [floats("s", 4), floats("b", 4)])
    yield "LSTM", model("LSTM", [("x", F, [3, 1, 4])], [y], [floats("w", 1, 8, 4), floats("r", 1, 8, 2), floats("b", 1, 16)], hidden_size=2)
    yield "GRU", model("GRU", [("x", F, [3, 1, 4])], [y], [floats("w", 1, 6, 4), floats("r", 1, 6, 2)], hidden_size=2)
    scale, zero = constant("s", np.float32(0.1)), constant("z", np.uint8(128))
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             node("DequantizeLinear", ["w", "s", "zw"], ["wd"]), node("MatMul", ["d", "wd"], ["m"]),
             node("QuantizeLinear", ["m", "s", "z"], ["mq"]), node("DequantizeLinear", ["mq", "s", "z"], ["y"])]
    weights = constant("w", RANDOM.integers(-9, 9, (4, 3)).astype(np.int8))
    yield "QdqMatMul", model("Qdq", [x], [y], [scale, zero, weights, constant("zw", np.int8(0))], nodes)
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("MatMulInteger", ["q", "w", "z"], ["i"]),
             node("Cast", ["i"], ["f"], to=F), node("Mul", ["f", "s"], ["y"])]
    yield "DynamicQuantize", model("Dynamic", [x], [y], [weights], nodes)


def control():
    x, y = ("x", F, [2, 3]), ("y", F, [2, 3])
    info = helper.make_tensor_value_info
    branch = [helper.make_graph([node(op, ["x"], [op])], op, [], [info(op, F, [2, 3])]) for op in ("Neg", "Abs")]
    choose = node("If", ["c"], ["y"], then_branch=branch[0], else_branch=branch[1])
    yield "If", model("If", [("c", BOOL, []), x], [y], nodes=[choose])
    steps = [node("Add", ["a", "a"], ["b"]), node("Identity", ["go"], ["on"]), node("Identity", ["b"], ["seen"])]
    body = helper.make_graph(steps, "body", [info("i", I64, []), info("go", BOOL, []), info("a", F, [2, 3])],
                             [info("on", BOOL, []), info("b", F, [2, 3]), info("seen", F, [2, 3])])
    yield "Loop", model("Loop", [x], [y, ("s", F, None)], [constant("n", np.int64(3)), constant("t", np.bool_(True))],
                        [node("Loop", ["n", "t", "x"], ["y", "s"], body=body)])
    shape = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "one"], ["d"]), node("Concat", ["minus", "d"], ["to"], axis=0),
             node("Reshape", ["x", "to"], ["y"])]
    yield "Shapes", model("Shapes", [x], [("y", F, None)], [constant("one", np.int64([1])), constant("minus", np.int64([-1]))], shape)


def sequences():
    x, n, y = ("x", F, [6, 4]), ("n", I64, []), ("y", F, None)
    info, sequence = helper.make_tensor_value_info, helper.make_tensor_sequence_value_info
    steps = [node("Gather", ["x", "i"], ["row"]), node("SequenceInsert", ["s", "row"], ["s2"]), node("Identity", ["c"], ["c2"])]
    body = helper.make_graph(steps, "body", [info("i", I64, []), info("c", BOOL, []), sequence("s", F, None)],
                             [info("c2", BOOL, []), sequence("s2", F, None)])
    loop = [node("SequenceEmpty", [], ["e"]), node("Loop", ["n", "t", "e"], ["q"], body=body)]
    joined = [node("ConcatFromSequence", ["q"], ["y"], axis=0, new_axis=1), node("SequenceLength", ["q"], ["len"])]
    yield "SequenceLoop", model("SequenceLoop", [x, n], [y, ("len", I64, [])], [constant("t", np.bool_(True))], loop + joined)
    split = [node("SplitToSequence", ["x", "n"], ["q"], axis=0), node("ConcatFromSequence", ["q"], ["y"], axis=0)]
    yield "SplitToSequence", model("SplitToSequence", [x, n], [y], nodes=split)
    branch = [helper.make_graph([node("SequenceConstruct", ["x"] * k, [q])], "b", [], [sequence(q, F, None)])
              for k, q in ((1, "q1"), (2, "q2"))]
    choose = [node("If", ["c"], ["q"], then_branch=branch[0], else_branch=branch[1]), node("SequenceInsert", ["q", "x"], ["r"]),
              node("SequenceAt", ["r", "n"], ["y"])]
    made = model("SequenceIf", [("c", BOOL, []), x, n], [y], nodes=choose)
    made.graph.output.append(sequence("r", F, None))
    yield "SequenceIf", made


def classic():
    x, scores = ("x", F, [3, 2]), ("scores", F, None)

    def ml(name, nodes, inputs, outputs):
        made = model(name, inputs, outputs, nodes=nodes)
        made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 2))
        return made

    def list_of(*dims):
        return [float(v) for v in RANDOM.standard_normal(int(np.prod(dims)))]

    machine = dict(classlabels_strings=["a", "b", "c"], vectors_per_class=[1, 2, 1], coefficients=list_of(2, 4),
                   support_vectors=list_of(4, 2), rho=list_of(3), prob_a=[-1.0, -2.0, -1.5], prob_b=list_of(3), kernel_type="RBF",
                   kernel_params=[0.5, 0.0, 3.0])
    svm = node("SVMClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", **machine)
    zip_map = node("ZipMap", ["scores"], ["map"], domain="ai.onnx.ml", classlabels_strings=["a", "b", "c"])
    yield "SVMClassifier", ml("SVMClassifier", [svm, zip_map], [x], [("label", TensorProto.STRING, None), ("map", F, None)])
    one_hot = node("OneHotEncoder", ["t"], ["y"], domain="ai.onnx.ml", cats_strings=["red", "green"])
    encode = node("LabelEncoder", ["t"], ["k"], domain="ai.onnx.ml", keys_strings=["red", "blue"], values_int64s=[4, 7])
    text = ("t", TensorProto.STRING, [3, 1])
    yield "Texts", ml("Texts", [one_hot, encode], [text], [("y", F, None), ("k", I64, None)])


def main(folder, *options):
    folder = pathlib.Path(folder)
    for kind in ("onnx", "tflite"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for family in (unary, images, moves, products, control, sequences, classic):
        for name, proto in family():
            (folder / "onnx" / f"{name}.onnx").write_bytes(proto.SerializeToString())
    for name, data in seeds_tflite.seeds("--all" in options):
        (folder / "tflite" / f"{name}.tflite").write_bytes(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
