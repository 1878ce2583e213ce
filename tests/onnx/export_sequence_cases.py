"""Writes models that build sequences while they run, as exporters of detection models do (a loop that appends, parts of a tensor), with
ONNX Runtime's results: python export_sequence_cases.py OUT_DIR, in the form export_cases.py describes.
"""
import sys

import export_cases

X = [6, 4]


class Case:
    rtol, atol, options = 1e-4, 1e-5, []

    def __init__(self, name, model, data_sets):
        self.name, self.model, self.data_sets = name, model, data_sets


class Maker:
    def __init__(self, onnx, ort, np):
        self.onnx, self.ort, self.np = onnx, ort, np
        self.node, self.info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
        self.sequence = onnx.helper.make_tensor_sequence_value_info
        self.F, self.I, self.B = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
        self.x = np.random.RandomState(3).randn(*X).astype(np.float32)

    def constant(self, name, value):
        return self.onnx.numpy_helper.from_array(self.np.array(value), name)

    def case(self, name, nodes, feeds, outputs, constants=()):
        """outputs: (name, element type)."""
        helper = self.onnx.helper
        inputs = [self.info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()]
        graph = helper.make_graph(nodes, name, inputs, [self.info(n, t, None) for n, t in outputs], list(constants))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        session = self.ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return Case(name, model, [(list(feeds.values()), session.run(None, feeds))])

    def appending_body(self):
        """Appends row i of x, twice as large, to the sequence it carries."""
        steps = [self.node("Gather", ["x", "i"], ["row"], axis=0), self.node("Add", ["row", "row"], ["twice"]),
                 self.node("SequenceInsert", ["s", "twice"], ["s2"]), self.node("Identity", ["c"], ["c2"])]
        carried = [self.info("i", self.I, []), self.info("c", self.B, []), self.sequence("s", self.F, None)]
        return self.onnx.helper.make_graph(steps, "body", carried, [self.info("c2", self.B, []), self.sequence("s2", self.F, None)])

    def loops(self):
        constants = [self.constant("t", True), self.constant("last", self.np.int64(-1))]
        feeds = {"x": self.x, "n": self.np.array(4, self.np.int64)}
        loop = self.node("Loop", ["n", "t", "e"], ["q"], body=self.appending_body())
        outputs = [("y", self.F), ("len", self.I), ("end", self.F)]
        for axis, new_axis in ((0, 1), (1, 1), (0, 0)):
            nodes = [self.node("SequenceEmpty", [], ["e"]), loop, self.node("SequenceLength", ["q"], ["len"]),
                     self.node("ConcatFromSequence", ["q"], ["y"], axis=axis, new_axis=new_axis),
                     self.node("SequenceAt", ["q", "last"], ["end"])]
            yield self.case("append_axis_%d_new_%d" % (axis, new_axis), nodes, feeds, outputs, constants)
        nodes = [self.node("SequenceConstruct", ["p"], ["e"]), loop, self.node("ConcatFromSequence", ["q"], ["y"], axis=0, new_axis=1)]
        yield self.case("append_to_some", nodes, dict(feeds, p=self.x[0]), [("y", self.F)], constants[:1])

    def splits(self):
        feeds = {"x": self.x, "k": self.np.array(4, self.np.int64)}
        nodes = [self.node("SplitToSequence", ["x", "k"], ["q"], axis=0), self.node("ConcatFromSequence", ["q"], ["y"], axis=0),
                 self.node("SequenceLength", ["q"], ["len"]), self.node("SequenceAt", ["q", "last"], ["end"])]
        outputs = [("y", self.F), ("len", self.I), ("end", self.F)]
        yield self.case("split_by_size", nodes, feeds, outputs, [self.constant("last", self.np.int64(-1))])
        nodes = [self.node("SplitToSequence", ["x", "k"], ["q"], axis=0), self.node("SequenceAt", ["q", "j"], ["y"])]
        feeds = {"x": self.x, "k": self.np.array([1, 3, 2], self.np.int64), "j": self.np.array(1, self.np.int64)}
        yield self.case("split_by_list", nodes, feeds, [("y", self.F)])

    def branches(self):
        """Sequences of three elements or of one."""
        def branch(name, count):
            steps = [self.node("SequenceConstruct", ["x"] * count, [name])]
            return self.onnx.helper.make_graph(steps, name, [], [self.sequence(name, self.F, None)])

        nodes = [self.node("If", ["c"], ["q"], then_branch=branch("three", 3), else_branch=branch("one", 1)),
                 self.node("SequenceLength", ["q"], ["len"]), self.node("ConcatFromSequence", ["q"], ["y"], axis=1),
                 self.node("SequenceInsert", ["q", "x"], ["r"]), self.node("ConcatFromSequence", ["r"], ["z"], axis=0)]
        for truth in (True, False):
            feeds = {"x": self.x, "c": self.np.array(truth)}
            yield self.case("if_lengths_%s" % truth, nodes, feeds, [("len", self.I), ("y", self.F), ("z", self.F)])


def main(out):
    try:
        import numpy as np
        import onnx
        import onnxruntime
    except ImportError as e:
        print("skipped: the Python package is missing: %s" % e)
        return 77
    maker = Maker(onnx, onnxruntime, np)
    cases = [c for family in (maker.loops, maker.splits, maker.branches) for c in family()]
    return export_cases.export(out, cases, onnx, np, all_plain=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
