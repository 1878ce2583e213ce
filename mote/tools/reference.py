"""Runs a model in the runtime it was made for, for `mote validate`.

python3 reference.py JOB.json
JOB: {"model", "runtime": "onnxruntime" | "onnxruntime-optimized" | "litert" | "torch" | "executorch", "all": bool,
      "samples": [{"NAME": "in.npy", ...}], "out": FOLDER}
Writes OUT/<sample>_<number>.npy for each output (with "all" also for intermediate values) and OUT/result.json:
{"runtime": "onnxruntime 1.31.1", "outputs": [names], "values": [names of all files, the outputs first]}
"""
import json
import os
import sys

import numpy as np


def onnx_session(model, everything, optimized):
    import onnxruntime as ort

    options = ort.SessionOptions()
    # The model as it is written, unless asked: optimised, ONNX Runtime computes quantized models with integers.
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.log_severity_level = 3
    if not everything:
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    import onnx

    proto = onnx.load(model)
    known = {o.name for o in proto.graph.output}
    for node in proto.graph.node:
        for name in node.output:
            if name and name not in known:
                known.add(name)
                proto.graph.output.append(onnx.ValueInfoProto(name=name))
    path = os.path.join(os.path.dirname(os.path.abspath(model)), "")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", path)
    return ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run_onnx(job):
    import onnxruntime as ort

    optimized = job["runtime"] == "onnxruntime-optimized"
    session = onnx_session(job["model"], job["all"], optimized)
    plain = len(onnx_session(job["model"], False, False).get_outputs()) if job["all"] else len(session.get_outputs())
    names = [o.name for o in session.get_outputs()]
    kinds = {i.name: i for i in session.get_inputs()}
    results = [session.run(names, {n: a for n, a in sample.items() if n in kinds}) for sample in load(job)]
    return f"onnxruntime {ort.__version__}{' (optimised)' if optimized else ''}", names[:plain], names, results


def signature_names(model):
    """Names of the first signature by those of the tensors: a program may use either."""
    from ai_edge_litert.interpreter import Interpreter

    names = {}
    # An interpreter of its own: a runner keeps hold of memory, and no other call is allowed then.
    interpreter = Interpreter(model)
    for key in list(interpreter.get_signature_list())[:1]:
        runner = interpreter.get_signature_runner(key)
        for table in (runner.get_input_details(), runner.get_output_details()):
            names.update({detail["name"]: name for name, detail in table.items()})
    return names


def run_litert(job):
    from importlib.metadata import version

    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(job["model"], experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1,
                              experimental_preserve_all_tensors=job["all"])
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    alias = signature_names(job["model"])
    names, results = [], []
    for sample in load(job):
        values = list(sample.values())
        arrays = [sample.get(d["name"], sample.get(alias.get(d["name"]), values[i])) for i, d in enumerate(inputs)]
        for detail, array in zip(inputs, arrays):
            if tuple(detail["shape"]) != array.shape:
                interpreter.resize_tensor_input(detail["index"], array.shape)
        interpreter.allocate_tensors()
        interpreter.reset_all_variables()
        for detail, array in zip(inputs, arrays):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        names, row = [alias.get(d["name"], d["name"]) for d in outputs], [interpreter.get_tensor(d["index"]) for d in outputs]
        if job["all"]:
            for detail in interpreter.get_tensor_details():
                try:
                    row.append(interpreter.get_tensor(detail["index"]))
                    names = names + [detail["name"]]
                except ValueError:
                    continue  # no memory of its own
        results.append(row)
    return f"ai-edge-litert {version('ai-edge-litert')} (reference kernels)", names[: len(outputs)], names, results


def run_micro(job):
    from importlib.metadata import version

    from tflite_micro import runtime

    results = []
    for sample in load(job):
        interpreter = runtime.Interpreter.from_file(job["model"])
        for i, array in enumerate(sample.values()):
            interpreter.set_input(array, i)
        interpreter.invoke()
        row = []
        while True:
            try:
                row.append(np.array(interpreter.get_output(len(row))))
            except (IndexError, ValueError, RuntimeError):
                break
        results.append(row)
    names = [f"output{i}" for i in range(len(results[0]))]
    return f"tflite-micro {version('tflite-micro')}", names, names, results


def run_torch(job):
    import torch
    from torch.utils import _pytree as pytree

    results = []
    for sample in load(job):
        program = torch.export.load(job["model"])  # anew: a run may change its buffers
        given = [torch.from_numpy(array) for array in sample.values()]
        args, kwargs = pytree.tree_unflatten(given, program.call_spec.in_spec)
        with torch.no_grad():
            found = pytree.tree_leaves(program.module()(*args, **kwargs))
        results.append([t.numpy() if isinstance(t, torch.Tensor) else np.asarray(t) for t in found])
    names = [f"output{i}" for i in range(len(results[0]))]
    return f"torch {torch.__version__} (eager)", names, names, results


def load_method(model):
    """The method of an ExecuTorch program, with the .ptd file beside it that its data lies in: the runtime takes one at most."""
    from pathlib import Path

    from executorch.runtime import Runtime

    errors = []
    for data in [None, *sorted(Path(model).resolve().parent.glob("*.ptd"))]:
        program = Runtime.get().load_program(model, **({"data_path": data} if data else {}))
        try:
            return program.load_method("forward" if "forward" in program.method_names else sorted(program.method_names)[0])
        except RuntimeError as error:
            errors.append(error)
    raise errors[0]


def run_executorch(job):
    from importlib.metadata import version

    import torch
    import executorch.kernels.quantized  # noqa: F401  registers kernels that the runtime does not have by itself

    results = []
    for sample in load(job):
        method = load_method(job["model"])  # anew: a run may change its state
        found = method.execute([torch.from_numpy(array) for array in sample.values()])
        results.append([t.numpy() if isinstance(t, torch.Tensor) else np.asarray(t) for t in found])
    names = [f"output{i}" for i in range(len(results[0]))]
    return f"executorch {version('executorch')}", names, names, results


def load(job):
    return [{name: np.load(path) for name, path in sample.items()} for sample in job["samples"]]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        job = json.load(f)
    if job["runtime"].startswith("onnxruntime"):
        runtime, outputs, values, results = run_onnx(job)
    elif job["runtime"] == "torch":
        runtime, outputs, values, results = run_torch(job)
    elif job["runtime"] == "executorch":
        runtime, outputs, values, results = run_executorch(job)
    else:
        try:
            runtime, outputs, values, results = run_litert(job)
        except (ValueError, RuntimeError) as error:
            # LiteRT refuses some models made for microcontrollers.
            try:
                runtime, outputs, values, results = run_micro(job)
            except Exception:
                raise error from None
    for s, row in enumerate(results):
        for i, value in enumerate(row):
            np.save(os.path.join(job["out"], f"{s}_{i}.npy"), np.asarray(value))
    with open(os.path.join(job["out"], "result.json"), "w", encoding="utf-8") as f:
        json.dump({"runtime": runtime, "outputs": outputs, "values": values}, f)


if __name__ == "__main__":
    try:
        main()
    except ImportError as missing:
        sys.exit(f"MISSING {missing}")
    except Exception as error:  # the caller prints it
        sys.exit(f"{type(error).__name__}: {error}")
