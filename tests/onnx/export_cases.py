"""Writes the node tests of the onnx package as files: python export_cases.py OUT_DIR.

One folder per case with model.onnx and input_i.npy, output_i.npy; cases.tsv lists them: name, operators, plain (1: inputs and outputs
are tensors of number types), rtol, atol, inputs, outputs. Elements of 2 and 4 bits and floats of 8 are written as programs have them: codes
of a byte each. Sequences count as so many inputs or outputs as they have elements, absent optionals as none; the file `options` has what
the compiler must be told of them, one line each: "shape NAME 2 3", "dim NAME 3" or "dim NAME 1 3", "max_trips 5". Strings are written as
texts, input_i.txt: the shape, then one element a line. Values that numpy cannot hold plainly are left out: the case is not plain then.
"""
import hashlib
import os
import sys
import warnings

PLAIN = ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "BOOL",
         "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0", "FLOAT4E2M1", "INT4", "UINT4", "INT2", "UINT2")


def is_plain(value, plain_types):
    return value.type.WhichOneof("value") == "tensor_type" and value.type.tensor_type.elem_type in plain_types


def as_array(value, numpy, numpy_helper, TensorProto):
    """The value as an array that .npy holds (bf16 as its bytes, '<V2'), or None."""
    if isinstance(value, TensorProto):
        if value.data_type == TensorProto.STRING:
            return None
        value = numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)) or value is None:
        return None
    value = numpy.asarray(value)
    if value.dtype.name == "bfloat16":
        return value.view(numpy.dtype("V2"))
    if value.dtype.name in ("int4", "uint4", "int2", "uint2"):
        return value.astype("uint8" if value.dtype.name[0] == "u" else "int8")
    if value.dtype.name.startswith(("float8_", "float4_")):
        return value.view("uint8")  # the codes, one to a byte
    return value if value.dtype.isbuiltin == 1 and value.dtype.kind in "fiub" else None


# Cases whose sizes are the values of an input: the compiler is told the value, or a range up to so many times the value.
SIZES_FROM = {"test_affine_grid_": ("size", 1), "test_center_crop_pad_": ("shape", 2)}


def value_ranges(case, values_of):
    """Options with ranges for what an input holds."""
    for prefix, (name, most) in SIZES_FROM.items():
        if case.name.startswith(prefix) and case.name.endswith("_expanded") and name in values_of:
            return ["dim %s[%d] %d %d" % (name, i, v if most == 1 else 1, most * v) for i, v in enumerate(values_of[name])]
    return []


def flat(value):
    """The tensors of a value: the elements of sequences, nothing where an optional is absent."""
    if value is None:
        return []
    return [t for v in value for t in flat(v)] if isinstance(value, (list, tuple)) else [value]


def border_options(name, kind, value, numpy):
    """What the compiler must be told of an input that is a sequence or an optional."""
    lines = []
    if kind.WhichOneof("value") == "optional_type":
        lines.append("dim %s.present %d" % (name, value is not None))
        kind = kind.optional_type.elem_type
    if value is None or kind.WhichOneof("value") != "sequence_type":
        return lines
    lines.append("dim %s.length %d" % (name, len(value)))
    return lines + [" ".join(["shape %s_%d" % (name, i)] + [str(d) for d in numpy.shape(v)]) for i, v in enumerate(value)]


def write_text(path, value, numpy, numpy_helper, TensorProto):
    """False where the value is no array of strings."""
    if isinstance(value, TensorProto):
        value = numpy_helper.to_array(value) if value.data_type == TensorProto.STRING else None
    if value is None or numpy.asarray(value).dtype.kind not in "OUS":
        return False
    value = numpy.asarray(value)
    texts = [v.decode() if isinstance(v, bytes) else str(v) for v in value.reshape(-1)]
    with open(path, "w") as f:
        f.write("".join(t + "\n" for t in [" ".join(str(d) for d in value.shape)] + texts))
    return True


def operators(model):
    """The operator a case is about: that of its name for expanded ones, else of its nodes."""
    names = sorted({n.op_type for n in model.graph.node})
    return ",".join(names) if len(names) <= 3 else "%s...(%d)" % (names[0], len(names))


def write_case(case, folder, numpy, onnx, plain_types, all_plain):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(case.model.SerializeToString())
    graph = case.model.graph
    plain = all(is_plain(v, plain_types) for v in list(graph.input) + list(graph.output))
    inputs, outputs = case.data_sets[0]
    values_of = dict(zip([i.name for i in graph.input], inputs))
    options = [line for v in graph.input for line in border_options(v.name, v.type, values_of.get(v.name), numpy)]
    if options:  # inputs beside them may have open sizes, too
        options += [" ".join(["shape", n] + [str(d) for d in v.shape]) for n, v in values_of.items() if isinstance(v, numpy.ndarray)]
    for n in graph.node if options else []:
        if n.op_type == "Loop" and n.input[0] in values_of:
            options.append("max_trips %d" % values_of[n.input[0]])
    options += value_ranges(case, values_of) + getattr(case, "options", [])
    if options:
        with open(os.path.join(folder, "options"), "w") as f:
            f.write("".join(line + "\n" for line in options))
    inputs, outputs = flat(list(inputs)), flat(list(outputs))
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            array = as_array(value, numpy, onnx.numpy_helper, onnx.TensorProto)
            if write_text(os.path.join(folder, "%s_%d.txt" % (kind, i)), value, numpy, onnx.numpy_helper, onnx.TensorProto):
                plain = False
                continue
            if array is None:
                plain = False
            else:
                numpy.save(os.path.join(folder, "%s_%d.npy" % (kind, i)), array)
    return (case.name, operators(case.model),
            str(int(plain or all_plain)), repr(case.rtol), repr(case.atol), str(len(inputs)), str(len(outputs)))


def export(out, cases, onnx, numpy, all_plain=False):
    """all_plain: none of the cases may be refused."""
    plain_types = [getattr(onnx.TensorProto, t) for t in PLAIN]
    rows = [write_case(c, os.path.join(out, c.name), numpy, onnx, plain_types, all_plain) for c in cases]
    with open(os.path.join(out, "cases.tsv"), "w") as f:
        f.writelines("\t".join(r) + "\n" for r in sorted(rows))
    print("%d cases, %d of plain tensors" % (len(rows), sum(r[2] == "1" for r in rows)))
    return 0


def main(out):
    try:
        import numpy
        import onnx
        from onnx.backend.test.loader import load_model_tests
    except ImportError as e:
        print("skipped: the Python package is missing: %s" % e)
        return 77
    warnings.simplefilter("ignore")
    # The cases take a while to make; they stay as long as neither onnx nor this file changes.
    stamp = os.path.join(out, "made_by")
    version = "onnx %s, exporter %s" % (onnx.__version__, hashlib.sha256(open(__file__, "rb").read()).hexdigest())
    if os.path.exists(stamp) and open(stamp).read() == version:
        return 0
    status = export(out, load_model_tests(kind="node"), onnx, numpy)
    with open(stamp, "w") as f:
        f.write(version)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
