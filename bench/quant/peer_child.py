"""One peer quantizes one model: peer_child.py KIND MODEL.onnx CALIBRATE.npy TEST.npy OUT.npy

Runs under the interpreter that has the peer. Writes the logits of every test image, one row each. `peer_child.py KIND` alone prints the
packages that KIND needs: "name version", or "name" alone for those that this interpreter lacks.
"""
import importlib.metadata
import importlib.util
import os
import sys
import tempfile

# The module that is imported, and the package that has it.
NEEDS = {
    "f32": {"numpy": "numpy", "onnxruntime": "onnxruntime"},
    "ort": {"numpy": "numpy", "onnxruntime": "onnxruntime", "onnx": "onnx", "sympy": "sympy"},
    "openvino": {"numpy": "numpy", "openvino": "openvino", "nncf": "nncf"},
    "executorch": {"numpy": "numpy", "torch": "torch", "torchao": "torchao", "executorch": "executorch", "onnx": "onnx"},
    "litert": {"numpy": "numpy", "torch": "torch", "litert_torch": "litert-torch", "ai_edge_litert": "ai-edge-litert",
               "ai_edge_quantizer": "ai-edge-quantizer", "onnx": "onnx"},
}


def print_packages(kind):
    for module, package in NEEDS[kind].items():
        if importlib.util.find_spec(module) is None:
            print(package)
            continue
        names = importlib.metadata.packages_distributions().get(module, [package])
        print(package, importlib.metadata.version(package if package in names else names[0]))


if __name__ == "__main__" and len(sys.argv) == 2:  # before numpy is wanted, which may be missing
    print_packages(sys.argv[1])
    sys.exit()

import numpy as np


def single(x):
    return [x[i : i + 1] for i in range(len(x))]


def run_onnx(path, test):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.concatenate([session.run(None, {name: x})[0] for x in single(test)])


def f32(model, calibrate, test):
    return run_onnx(model, test)


def ort(model, calibrate, test):
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    import onnx

    name = onnx.load(model).graph.input[0].name

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.items = iter([{name: x} for x in single(calibrate)])

        def get_next(self):
            return next(self.items, None)

    with tempfile.TemporaryDirectory() as folder:
        prepared, out = os.path.join(folder, "p.onnx"), os.path.join(folder, "q.onnx")
        quant_pre_process(model, prepared)
        quantize_static(prepared, out, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, calibrate_method=CalibrationMethod.MinMax)
        return run_onnx(out, test)


def openvino(model, calibrate, test):
    import nncf
    import openvino as ov

    quantized = nncf.quantize(ov.Core().read_model(model), nncf.Dataset(single(calibrate)), subset_size=len(calibrate))
    compiled = ov.Core().compile_model(quantized, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    return np.concatenate([compiled(x)[0] for x in single(test)])


def torch_model(path):
    """The operators of a convolutional ONNX classifier as a PyTorch module."""
    import onnx
    import torch
    from onnx import helper, numpy_helper

    graph = onnx.load(path).graph
    constants = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in graph.initializer}

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps, self.products = [], torch.nn.ModuleList()
            for n in graph.node:
                a = {x.name: helper.get_attribute_value(x) for x in n.attribute}
                if n.op_type == "Conv":
                    w = constants[n.input[1]]
                    pads, groups = a.get("pads", [0] * 4), a.get("group", 1)
                    assert pads[:2] == pads[2:]
                    m = torch.nn.Conv2d(w.shape[1] * groups, w.shape[0], tuple(w.shape[2:]), tuple(a.get("strides", [1, 1])),
                                        tuple(pads[:2]), groups=groups)
                    m.weight.data, m.bias.data = w, constants[n.input[2]]
                elif n.op_type == "Gemm":
                    w = constants[n.input[1]] if a.get("transB", 0) else constants[n.input[1]].T.contiguous()
                    m = torch.nn.Linear(w.shape[1], w.shape[0])
                    m.weight.data, m.bias.data = w, constants[n.input[2]]
                else:
                    m = {"Clip": torch.nn.ReLU6, "GlobalAveragePool": lambda: torch.nn.AdaptiveAvgPool2d(1), "Flatten": torch.nn.Flatten,
                         "Relu": torch.nn.ReLU, "Add": torch.nn.Identity}[n.op_type]()
                self.products.append(m)
                self.steps.append((n.op_type, [i for i in n.input if i not in constants], n.output[0]))

        def forward(self, x):
            values = {graph.input[0].name: x}
            for (op, inputs, output), m in zip(self.steps, self.products):
                values[output] = values[inputs[0]] + values[inputs[1]] if op == "Add" else m(values[inputs[0]])
            return values[graph.output[0].name]

    return Model().eval()


def executorch(model, calibrate, test):
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    example = (torch.from_numpy(test[:1]),)
    graph = torch.export.export(torch_model(model), example).module()
    prepared = prepare_pt2e(graph, XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True)))
    with torch.no_grad():
        for x in single(calibrate):
            prepared(torch.from_numpy(x))
    quantized = torch.export.export(convert_pt2e(prepared), example)
    program = to_edge_transform_and_lower(quantized, partitioner=[XnnpackPartitioner()]).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return np.concatenate([method.execute([torch.from_numpy(x.copy())])[0].numpy() for x in single(test)])


def litert(model, calibrate, test):
    import litert_torch
    import torch
    from ai_edge_litert.interpreter import Interpreter
    from ai_edge_quantizer import quantizer, recipe

    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "f.tflite"), os.path.join(folder, "q.tflite")
        litert_torch.convert(torch_model(model), (torch.from_numpy(test[:1]),)).export(path)
        name = list(Interpreter(model_path=path).get_signature_list().values())[0]["inputs"][0]
        q = quantizer.Quantizer(path)
        q.load_quantization_recipe(recipe.static_wi8_ai8())
        ranges = q.calibrate({list(Interpreter(model_path=path).get_signature_list())[0]: [{name: x} for x in single(calibrate)]})
        q.quantize(ranges).export_model(out)
        interpreter = Interpreter(model_path=out, num_threads=1)
        interpreter.allocate_tensors()
        source, sink = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
        rows = []
        for x in single(test):
            if source["dtype"] != np.float32:
                scale, zero = source["quantization"]
                info = np.iinfo(source["dtype"])
                x = np.clip(np.round(x / scale) + zero, info.min, info.max).astype(source["dtype"])
            interpreter.set_tensor(source["index"], x)
            interpreter.invoke()
            y = interpreter.get_tensor(sink["index"])
            if sink["dtype"] != np.float32:
                y = (y.astype(np.float32) - sink["quantization"][1]) * sink["quantization"][0]
            rows.append(y)
        return np.concatenate(rows)


KINDS = {f.__name__: f for f in (f32, ort, openvino, executorch, litert)}

if __name__ == "__main__":
    kind, path, calibration, tests, output = sys.argv[1:]
    np.save(output, np.asarray(KINDS[kind](path, np.load(calibration), np.load(tests)), np.float32))
