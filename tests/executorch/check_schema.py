"""check_schema.py XNNPACK_FBS: the tables of our description of the XNNPACK payload against those in the PyPI package `executorch`."""

import importlib.util
import pathlib
import re
import sys


def tables(text):
    """Tables, unions and enumerations as lists of (name, type or number)."""
    text = re.sub(r"//[^\n]*", "", text)
    found = {}
    for kind, name, body in re.findall(r"\b(table|union|enum)\s+(\w+)[^{]*\{([^}]*)\}", text):
        marks = ";" if kind == "table" else ","
        fields = [f.strip() for f in body.split(marks) if f.strip()]
        found[name] = [tuple(p.strip() for p in re.split("[:=]", re.sub(r"\(.*?\)|=\s*\w+$" if kind == "table" else r"\(.*?\)", "", f)))
                       for f in fields]
    return found


RENAMED = {
    "_XNNNode1x1": "Unary", "_XNNNode2x1": "Binary", "_XNNCat": "Cat", "_XNNNodeConv": "Conv", "_XNNPooling2D": "Pooling",
    "XNNFullyConnected": "FullyConnected", "XNNStaticTranspose": "Transpose", "XNNStaticResizeBilinear2D": "ResizeBilinear",
    "XNNStaticConstantPad": "ConstantPad", "XNNELU": "Elu", "XNNLeakyReLU": "LeakyRelu", "XNNStaticReshape": "Reshape",
    "XNNStaticSlice": "Slice", "XNNScaledDotProductAttention": "Attention", "XNNArgMaxPooling2d": "ArgMaxPooling",
    "XNNTensorValue": "TensorValue", "XNNQuantizedTensorValue": "QuantizedTensorValue", "XNNDatatype": "Datatype", "XNNGraph": "Graph",
    "XNode": "Node", "XValue": "Value", "XNodeUnion": "NodeUnion", "XValueUnion": "ValueUnion", "XNNQuantParams": "QuantParams",
    "Buffer": "Buffer", "OutputMinMax": "OutputMinMax", "ConstantDataOffset": "ConstantDataOffset", "PerTensorQuant": "PerTensorQuant",
    "PerChannelQuant": "PerChannelQuant", "PerTokenDynamicQuant": "PerTokenDynamicQuant", "PerChannelGroupQuant": "PerChannelGroupQuant",
}
FIELDS = {"xnodes": "nodes", "xvalues": "values", "xnode_union": "node", "xvalue_union": "value"}


def ours_of(name, entry):
    """A line of their table in our words."""
    if name == "XNodeUnion":
        return (entry[0], RENAMED[entry[1] if len(entry) > 1 else entry[0]])
    if name == "XNNDatatype":
        return (entry[0].replace("xnn_datatype_", ""), entry[1])
    words = [FIELDS.get(entry[0], RENAMED.get(entry[0], entry[0]))]
    for kind in entry[1:]:
        words.append(re.sub(r"\w+", lambda m: RENAMED.get(m.group(0), m.group(0)), kind))
    return tuple(words)


def main():
    spec = importlib.util.find_spec("executorch")
    if spec is None:
        print("skipped: no package executorch")
        return 77
    folder = pathlib.Path(list(spec.submodule_search_locations)[0]) / "backends" / "xnnpack" / "serialization"
    ours, wrong = tables(pathlib.Path(sys.argv[1]).read_text()), []
    # The runtime's description has the fields of older programs, the other one the newest.
    for file in ("schema.fbs", "runtime_schema.fbs"):
        for name, entries in tables((folder / file).read_text()).items():
            mine = ours.get(RENAMED.get(name, name))
            theirs = [ours_of(name, e) for e in entries]
            if mine is None or mine[:len(theirs)] != theirs:
                wrong.append(f"{file}, {name}: expected {theirs}, found {mine}")
    print("\n".join(wrong) or f"{len(ours)} tables agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
