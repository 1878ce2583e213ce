"""Models with one operator that Mote does not have, an input and what their own runtime gives; for partial_cli_test.

partial_models.py FOLDER prints the models that could be written with the packages at hand.
"""

import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(sys.argv[1])
X = np.random.default_rng(1).standard_normal((2, 10), dtype=np.float32)


def save(name: str, x: np.ndarray, y: np.ndarray) -> None:
    stem = name.rsplit(".", 1)[0]
    np.save(FOLDER / f"{stem}_x.npy", np.ascontiguousarray(x))
    np.save(FOLDER / f"{stem}_y.npy", np.ascontiguousarray(y))
    print(name)


def unfold_onnx() -> None:
    """An operator of ONNX Runtime's own between two of ONNX, run by ONNX Runtime."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    f = TensorProto.FLOAT
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("UnfoldTensor", ["a"], ["b"], name="unfold", domain="com.microsoft", dim=1, size=4, step=2),
        helper.make_node("Sqrt", ["b"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", f, [2, 10])],
        [helper.make_tensor_value_info("y", f, [2, 4, 4])],
        value_info=[helper.make_tensor_value_info("b", f, [2, 4, 4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    onnx.save(model, FOLDER / "unfold.onnx")
    session = onnxruntime.InferenceSession(str(FOLDER / "unfold.onnx"), providers=["CPUExecutionProvider"])
    save("unfold.onnx", X, session.run(None, {"x": X})[0])


def wave_tflite() -> None:
    """A custom operator before NEG. LiteRT has no kernel for it: the expected output is its definition."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    def tensor(name: str) -> schema.TensorT:
        t = schema.TensorT()
        t.name, t.shape, t.type, t.buffer = name, list(X.shape), schema.TensorType.FLOAT32, 0
        return t

    def operator(code: int, source: int, to: int) -> schema.OperatorT:
        o = schema.OperatorT()
        o.opcodeIndex, o.inputs, o.outputs = code, [source], [to]
        return o

    custom, neg = schema.OperatorCodeT(), schema.OperatorCodeT()
    custom.builtinCode = custom.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
    custom.customCode = "Wave"
    neg.builtinCode = neg.deprecatedBuiltinCode = schema.BuiltinOperator.NEG
    graph = schema.SubGraphT()
    graph.tensors = [tensor("x"), tensor("a"), tensor("y")]
    graph.inputs, graph.outputs = [0], [2]
    graph.operators = [operator(0, 0, 1), operator(1, 1, 2)]
    model = schema.ModelT()
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [custom, neg], [graph], [schema.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    (FOLDER / "wave.tflite").write_bytes(bytes(builder.Output()))
    save("wave.tflite", X, -(2.5 * X + 1))


def curve_pt2() -> None:
    """A custom operator of PyTorch, run by PyTorch."""
    import torch

    @torch.library.custom_op("motetest::curve", mutates_args=())
    def curve(x: torch.Tensor, factor: float) -> torch.Tensor:
        return factor * x + 1

    @curve.register_fake
    def _(x: torch.Tensor, factor: float) -> torch.Tensor:
        return torch.empty_like(x)

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(curve(x, 2.5))

    net, x = Net(), torch.from_numpy(X)
    torch.export.save(torch.export.export(net, (x,)), str(FOLDER / "curve.pt2"))
    save("curve.pt2", X, net(x).numpy())


for make in (unfold_onnx, wave_tflite, curve_pt2):
    try:
        make()
    except ImportError as error:
        print(f"skipped {make.__name__}: {error}", file=sys.stderr)
