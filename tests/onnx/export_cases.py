"""Writes the node tests of the onnx package as files: python export_cases.py OUT_DIR.

One folder per case with model.onnx and input_i.npy, output_i.npy; cases.tsv lists them: name, operators, plain (1: inputs and outputs
are tensors of number types), rtol, atol, inputs, outputs. Elements of 2 and 4 bits and floats of 8 are written as programs have them: codes
of a byte each. Values that numpy cannot hold plainly are left out: the case is not plain then.
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


def operators(model):
    """The operator a case is about: that of its name for expanded ones, else of its nodes."""
    names = sorted({n.op_type for n in model.graph.node})
    return ",".join(names) if len(names) <= 3 else "%s...(%d)" % (names[0], len(names))


def write_case(case, folder, numpy, onnx, plain_types):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(case.model.SerializeToString())
    graph = case.model.graph
    plain = all(is_plain(v, plain_types) for v in list(graph.input) + list(graph.output))
    inputs, outputs = case.data_sets[0]
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            array = as_array(value, numpy, onnx.numpy_helper, onnx.TensorProto)
            if array is None:
                plain = False
            else:
                numpy.save(os.path.join(folder, "%s_%d.npy" % (kind, i)), array)
    return (case.name, operators(case.model), str(int(plain)), repr(case.rtol), repr(case.atol), str(len(inputs)), str(len(outputs)))


def export(out, cases, onnx, numpy):
    plain_types = [getattr(onnx.TensorProto, t) for t in PLAIN]
    rows = [write_case(c, os.path.join(out, c.name), numpy, onnx, plain_types) for c in cases]
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
