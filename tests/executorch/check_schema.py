"""check_schema.py FOLDER: our descriptions of programs (executorch.fbs), .ptd files (flat_tensor.fbs) and payloads of the XNNPACK delegate
(xnnpack.fbs) against those in the PyPI package `executorch`."""

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
IDENTIFIER = r'file_identifier\s+"(\w+)"'
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


def check_xnnpack(ours, package):
    """What differs: the runtime's description has the fields of older programs, the other one the newest."""
    wrong = []
    for file in ("schema.fbs", "runtime_schema.fbs"):
        for name, entries in tables((package / "backends" / "xnnpack" / "serialization" / file).read_text()).items():
            mine = ours.get(RENAMED.get(name, name))
            theirs = [ours_of(name, e) for e in entries]
            if mine is None or mine[:len(theirs)] != theirs:
                wrong.append(f"{file}, {name}: expected {theirs}, found {mine}")
    return wrong


def check_prefix(ours, file):
    """Ours may leave out fields at the end of a table, which nobody reads; unions and enumerations must be whole."""
    text, wrong = file.read_text(), []
    given, whole = tables(text), set(re.findall(r"\b(?:union|enum)\s+(\w+)", text))
    for name, mine in ours.items():
        theirs = [tuple("byte" if w.split(".")[-1] == "ScalarType" else w for w in e) for e in given.get(name, [])]
        if name not in given or (mine != theirs if name in whole else mine != theirs[:len(mine)]):
            wrong.append(f"{file.name}, {name}: expected {theirs or 'no such table'}, found {mine}")
    return wrong, re.findall(IDENTIFIER, text)


def main():
    spec = importlib.util.find_spec("executorch")
    if spec is None:
        print("skipped: no package executorch")
        return 77
    package, folder = pathlib.Path(list(spec.submodule_search_locations)[0]), pathlib.Path(sys.argv[1])
    ours = tables((folder / "xnnpack.fbs").read_text())
    wrong, count = check_xnnpack(ours, package), len(ours)
    for name, theirs in (("executorch.fbs", "schema/program.fbs"), ("flat_tensor.fbs", "extension/flat_tensor/serialize/flat_tensor.fbs")):
        text = (folder / name).read_text()
        found, marks = check_prefix(tables(text), package / theirs)
        wrong += found
        count += len(tables(text))
        if marks != re.findall(IDENTIFIER, text):
            wrong.append(f"{name}: expected the identifier {marks}")
    print("\n".join(wrong) or f"{count} tables agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
