#!/usr/bin/env python3
"""Floats of 8 and 4 bits, integers of 4 and 2: every code to a number, and numbers to codes, beside the onnx package's reference.

narrow_types.py MOTE
Numbers: every number of the type and every middle between two neighbours, each with its neighbours in f32, of both signs; infinities,
NaN, the ends of f32, and a million others. Every rule: saturated or not, the three roundings of float8e8m0, f32 and f16. All codes must be
equal, and all numbers (NaN to NaN). Saturated ones also beside ONNX Runtime (without, it makes 448 of what lies between 464 and 480 in
float8e4m3fn, where the reference has NaN). QuantizeLinear and DequantizeLinear: per tensor, along an axis, in blocks, as weights.
Then what moves elements.
Exit codes: 0 well, 1 not, 77 skipped (no onnx or ml_dtypes in this Python).
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)
try:
    import onnxruntime as ort
except ImportError:
    ort = None

FLOAT8 = ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ")
FLOATS = FLOAT8 + ("FLOAT8E8M0", "FLOAT4E2M1")
INTEGERS = ("INT4", "UINT4", "INT2", "UINT2")


def dtype_of(name):
    return helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name))


def codes(array):
    """As programs have them: a byte for each element."""
    if array.dtype.name in ("int4", "int2"):
        return array.astype(np.int8)
    if array.dtype.name in ("uint4", "uint2"):
        return array.astype(np.uint8)
    return array.view(np.uint8) if array.dtype.name.startswith("float8_") or array.dtype.name.startswith("float4_") else array


def all_values(name):
    t = dtype_of(name)
    if name in INTEGERS:
        info = ml_dtypes.iinfo(t)
        return np.arange(int(info.min), int(info.max) + 1, dtype=np.int8).astype(t)
    return np.arange(16 if name == "FLOAT4E2M1" else 256, dtype=np.uint8).view(t)


def numbers(name):
    """Everything at which rounding may change its mind, and a million others."""
    rng = np.random.default_rng(11)
    own = np.sort(np.abs(all_values(name).astype(np.float32)))
    own = np.unique(own[np.isfinite(own)]).astype(np.float64)
    ends = np.array([own[-1] * f for f in (1.03125, 1.0625, 1.125, 1.25, 1.5, 2)])  # where the next number would be, and beyond
    places = np.concatenate([own, (own[1:] + own[:-1]) / 2, own[1:] * 0.75, own[1:] * 1.5, ends])
    places = places[places <= np.finfo(np.float32).max].astype(np.float32)
    near = np.concatenate([places, np.nextafter(places, np.float32(np.inf)), np.nextafter(places, np.float32(0))])
    special = np.array([0, 1e-45, 1.1754944e-38, 3.4028235e38, np.inf, np.nan, 1e-40, 5.877471754111438e-39], np.float32)
    spread = rng.integers(0, 2**32, 500_000, dtype=np.uint32).view(np.float32)
    inside = np.ldexp(rng.uniform(1, 2, 500_000), rng.integers(-20, 18, 500_000)).astype(np.float32) * rng.choice([-1, 1], 500_000)
    x = np.concatenate([near, -near, special, -special, spread, inside.astype(np.float32)])
    return x[~(np.isnan(x) & np.signbit(x))]  # the sign of a NaN means nothing


def model(nodes, inputs, outputs, constants=(), opset=25):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=12)


def info(name, element, shape):
    return helper.make_tensor_value_info(name, getattr(TensorProto, element), shape)


def mote_runs(mote, proto, feeds):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "m.onnx").write_bytes(proto.SerializeToString())
        made = subprocess.run([mote, "compile", folder / "m.onnx", "-o", folder / "m.mote", "--golden-examples", "0"], capture_output=True,
                              text=True)
        if made.returncode != 0:
            sys.exit(f"compile: {made.stdout}{made.stderr}")
        command = [mote, "run", folder / "m.mote", "--output", folder]
        for name, value in feeds.items():
            np.save(folder / f"{name}.in.npy", codes(value))
            command += ["--input", f"{name}={folder / f'{name}.in.npy'}"]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"run: {ran.stdout}{ran.stderr}")
        return np.load(folder / "y.npy")


def reference(proto, feeds):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return codes(np.asarray(ReferenceEvaluator(proto).run(None, feeds)[0]))


def judge(what, found, expected):
    same = found.dtype == expected.dtype and found.shape == expected.shape
    equal = same and np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
    if not equal:
        at = np.flatnonzero(found.ravel() != expected.ravel())[:5] if same else []
        print(f"WRONG {what}: {found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}",
              [(int(i), found.ravel()[i], expected.ravel()[i]) for i in at])
    return 0 if equal else 1


def cast(source, target, shape, **attributes):
    node = helper.make_node("Cast", ["x"], ["y"], to=getattr(TensorProto, target), **attributes)
    return model([node], [info("x", source, shape)], [info("y", target, shape)])


def runtime_judges(x, found, target):
    """ONNX Runtime's own conversion there and back, where it has one: Python gets no arrays of all these types from it."""
    if ort is None or target not in FLOAT8:
        return 0
    there = helper.make_node("Cast", ["x"], ["c"], to=getattr(TensorProto, target))
    back = helper.make_node("Cast", ["c"], ["y"], to=TensorProto.FLOAT)
    proto = model([there, back], [info("x", "FLOAT", x.shape)], [info("y", "FLOAT", x.shape)], opset=19)
    proto.ir_version = 9
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    expected = ort.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, {"x": x})[0]
    return judge(f"cast to {target} beside ONNX Runtime", found.view(dtype_of(target)).astype(np.float32), expected)


def casts(mote):
    wrong = 0
    for name in FLOATS:
        x = numbers(name)
        rules = [{}]
        if name in FLOAT8:
            rules = [{"saturate": 1}, {"saturate": 0}]
        if name == "FLOAT8E8M0":
            rules = [{"saturate": s, "round_mode": m} for s in (1, 0) for m in ("up", "down", "nearest")]
        for rule in rules:
            proto = cast("FLOAT", name, x.shape, **rule)
            found = mote_runs(mote, proto, {"x": x})
            wrong += judge(f"f32 to {name} {rule}", found, reference(proto, {"x": x}))
            if rule.get("saturate") == 1:
                wrong += runtime_judges(x, found, name)
        with np.errstate(all="ignore"):
            half = x.astype(np.float16)
        proto = cast("FLOAT16", name, half.shape)
        wrong += judge(f"f16 to {name}", mote_runs(mote, proto, {"x": half}), reference(proto, {"x": half}))
        print(f"{name}: {len(rules)} rules, {x.size} numbers")
    for name in FLOATS + INTEGERS:
        x = all_values(name)
        for target in ("FLOAT", "FLOAT16") if name in FLOATS else ("FLOAT", "INT8", "UINT8", "INT32"):
            proto = cast(name, target, x.shape)
            wrong += judge(f"{name} to {target}", mote_runs(mote, proto, {"x": x}), reference(proto, {"x": x}))
        for target in FLOATS if name in FLOATS else INTEGERS:
            if target in (name, "FLOAT8E8M0") or (name, target) == ("FLOAT8E8M0", "FLOAT4E2M1"):  # the reference has none of these
                continue
            proto = cast(name, target, x.shape)
            expected = reference(proto, {"x": x}) if name in FLOATS else codes(x.astype(np.int8).astype(dtype_of(target)))
            wrong += judge(f"{name} to {target}", mote_runs(mote, proto, {"x": x}), expected)
    for name in INTEGERS:
        x = np.arange(-300, 300).astype(np.float32) / 2
        proto = cast("FLOAT", name, x.shape)
        wrong += judge(f"f32 to {name}", mote_runs(mote, proto, {"x": x}), reference(proto, {"x": x}))
    return wrong


def grids(rng, rows, columns):
    """Scales for x (rows, columns): attributes and shape."""
    return (({}, ()), ({"axis": 1}, (columns,)), ({"axis": -2}, (rows,)), ({"axis": 1, "block_size": 4}, (rows, -(-columns // 4))))


def quantized(mote):
    wrong, rng, shape = 0, np.random.default_rng(5), (6, 20)
    for name in FLOAT8 + ("FLOAT4E2M1",) + INTEGERS:
        t = dtype_of(name)
        for attributes, of_scale in grids(rng, *shape):
            scale = rng.uniform(0.1, 2, of_scale).astype(np.float32)
            zero = np.zeros(of_scale, t) if name not in INTEGERS else rng.integers(0, 2, of_scale).astype(t)
            x = (rng.normal(0, 1, shape) * rng.choice([1, 30], shape)).astype(np.float32)
            given = [info("s", "FLOAT", of_scale), info("z", name, of_scale)]
            for what, node, feed, source, target in (
                    ("quantize", "QuantizeLinear", x, "FLOAT", name),
                    ("dequantize", "DequantizeLinear", rng.choice(all_values(name), shape), name, "FLOAT")):
                proto = model([helper.make_node(node, ["x", "s", "z"], ["y"], **attributes)], [info("x", source, shape), *given],
                              [info("y", target, shape)])
                feeds = {"x": feed, "s": scale, "z": zero}
                wrong += judge(f"{what} {name} {attributes}", mote_runs(mote, proto, feeds), reference(proto, feeds))
                if what == "dequantize":  # the same as weights
                    constants = [onnx.numpy_helper.from_array(v, k) for k, v in feeds.items() if k != "s"]
                    proto = model(proto.graph.node, given[:1], [info("y", target, shape)], constants)
                    found, expected = mote_runs(mote, proto, {"s": scale}), reference(proto, {"s": scale})
                    wrong += judge(f"{what} constant {name} {attributes}", found, expected)
    return wrong


def chosen(then, otherwise):
    """An If with these two operators as branches."""
    branches = [helper.make_graph([node], node.op_type, [], [info(node.output[0], "FLOAT8E4M3FN", (6, 4))]) for node in (then, otherwise)]
    return helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])


def repeated():
    """A Loop that adds 1 to the float8 it carries, and gives what it was in each trip."""
    node = helper.make_node
    nodes = [node("Identity", ["go"], ["on"]), node("Cast", ["v"], ["f"], to=TensorProto.FLOAT), node("Add", ["f", "one"], ["g"]),
             node("Cast", ["g"], ["next"], to=TensorProto.FLOAT8E4M3FN), node("Identity", ["v"], ["was"])]
    carried = [info(name, "FLOAT8E4M3FN", (4, 6)) for name in ("v", "next", "was")]
    body = helper.make_graph(nodes, "body", [info("i", "INT64", ()), info("go", "BOOL", ()), carried[0]],
                             [info("on", "BOOL", ()), *carried[1:]])
    return node("Loop", ["three", "", "x"], ["last", "y"], body=body)


def moved(mote):
    """Operators that move elements, subgraphs and sequences, beside the reference (of Loop: beside numpy)."""
    rng, node, f8 = np.random.default_rng(3), helper.make_node, dtype_of("FLOAT8E4M3FN")
    x, update = (rng.normal(0, 3, shape).astype(np.float32).astype(f8) for shape in ((4, 6), (1, 6)))
    numbers_of = {"two": [2, 4], "one": [1], "three": 3, "line": [1, 24], "turned": [6, 4], "wide": [2, 4, 6], "pads": [1, 0, 0, 0],
                  "places": [[3, 2, 1, 0, 1, 2]]}
    constants = [onnx.numpy_helper.from_array(np.array(v, np.int64), k) for k, v in numbers_of.items()]
    codes4 = rng.integers(0, 16, (64, 96)).astype(np.uint8)
    constants += [onnx.numpy_helper.from_array(v, k) for k, v in (
        ("w4", codes4.view(dtype_of("FLOAT4E2M1"))), ("i4", (codes4.astype(np.int8) - 8).astype(dtype_of("INT4"))),
        ("s8", np.abs(rng.normal(0, 1, (4, 96))).astype(np.float32).astype(f8)))]
    transposed, reshaped = node("Transpose", ["x"], ["t"]), node("Reshape", ["x", "turned"], ["r"])
    weights = [node("Cast", ["s8"], ["s"], to=TensorProto.FLOAT), node("DequantizeLinear", ["w4", "s"], ["y"], axis=0, block_size=16)]
    f8_name, wrong = "FLOAT8E4M3FN", 0
    cases = (("Split", f8_name, (4, 6), [node("Split", ["x", "two"], ["a", "b"], axis=1), node("Concat", ["b", "a"], ["y"], axis=1)]),
             ("Slice", f8_name, (2, 6), [node("Slice", ["x", "one", "three_"], ["y"])]),
             ("Gather", f8_name, (4, 2), [node("Gather", ["x", "two_"], ["y"], axis=1)]),
             ("Reshape", f8_name, (24,), [node("Reshape", ["x", "line"], ["l"]), node("Squeeze", ["l"], ["y"])]),
             ("Pad", f8_name, (5, 6), [node("Pad", ["x", "pads"], ["y"])]),
             ("Expand", f8_name, (2, 4, 6), [node("Expand", ["x", "wide"], ["y"])]),
             ("Where", f8_name, (4, 6), [node("Where", ["c", "x", "u"], ["y"])]),
             ("ScatterElements", f8_name, (4, 6), [node("ScatterElements", ["x", "places", "u"], ["y"])]),
             ("Shape", "INT64", (2,), [node("Shape", ["x"], ["y"])]),
             ("If", f8_name, (6, 4), [transposed, chosen(node("Identity", ["t"], ["a"]), reshaped)]),
             ("Sequence", f8_name, (1, 6), [node("SequenceConstruct", ["x", "u"], ["q"]), node("SequenceAt", ["q", "at"], ["y"])]),
             ("int4 weights", "INT4", (96, 64), [node("Transpose", ["i4"], ["y"])]),
             ("float4 weights with float8 scales", "FLOAT", (64, 96), weights),
             ("Loop", f8_name, (3, 4, 6), [repeated()]))
    constants += [onnx.numpy_helper.from_array(np.array(v, np.int64), k) for k, v in (("three_", [3]), ("two_", [5, 0]), ("at", 1))]
    for name, element, shape, nodes in cases:
        for condition in (True, False) if name == "If" else (True,):
            feeds = {"x": x, "u": update, "c": np.array(condition)}
            given = [info("x", f8_name, (4, 6)), info("u", f8_name, (1, 6)), info("c", "BOOL", ())]
            extra = [onnx.numpy_helper.from_array(np.float32(1), "one")] if name == "Loop" else []
            proto = model(nodes, given, [info("y", element, shape)], [k for k in constants if not extra or k.name != "one"] + extra)
            if name == "Loop":
                rows = [x]
                while len(rows) < 3:
                    rows.append((rows[-1].astype(np.float32) + 1).astype(f8))
                expected = codes(np.stack(rows))
            else:
                expected = reference(proto, feeds)
            wrong += judge(f"moved by {name}", mote_runs(mote, proto, feeds), expected)
    return wrong


def borders(mote):
    """A program tells which types its codes are of, and its examples (any bytes as codes) come out the same again."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        for source, target in (("FLOAT4E2M1", "FLOAT8E5M2"), ("INT2", "UINT4")):
            path.write_bytes(cast(source, target, (3, 5)).SerializeToString())
            subprocess.run([mote, "compile", path, "-o", path.with_suffix(".mote")], check=True, capture_output=True)
            inspect = [mote, "inspect", path.with_suffix(".mote"), "--json"]
            shown = subprocess.run(inspect, check=True, capture_output=True, text=True).stdout
            method = json.loads(shown)["methods"][0]
            found = [method[kind][0]["element"].upper() for kind in ("inputs", "outputs")]
            tested = subprocess.run([mote, "selftest", path.with_suffix(".mote")], capture_output=True, text=True)
            if found != [source, target] or tested.returncode != 0:
                print(f"WRONG borders: {found}, expected {[source, target]}; selftest: {tested.stdout}{tested.stderr}")
                wrong += 1
    return wrong


def main(mote):
    wrong = casts(mote) + quantized(mote) + moved(mote) + borders(mote)
    print("well" if wrong == 0 else f"{wrong} wrong")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
