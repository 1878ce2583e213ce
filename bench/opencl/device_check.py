"""Judges an OpenCL device: conformance, whole models against the CPU, times. README.md says how."""

import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

MODELS = {
    "cifar10_resnet20_fp32.onnx": ["--dim", "N=1"],
    "fastestdet_coco.onnx": [],
    "mlperf_ic_resnet8_fp32.onnx": [],
    "mlperf_ic_resnet8_fp32.tflite": [],
    "mlperf_ic_resnet_large_fp32.tflite": [],
    "mlperf_vww_96_fp32.onnx": [],
    "mlperf_vww_mbv1_96_fp32.tflite": [],
    "mnist_cntk.onnx": [],
    "mp_face_det_short.tflite": [],
    "mp_hand_landmark_lite.tflite": [],
    "mp_selfie_seg.tflite": [],
    "ort_cnn_mnist_pytorch.onnx": [],
    "ppocrv4_det.onnx": ["--dim", "p2o.DynamicDimension.0=1", "--dim", "p2o.DynamicDimension.1=160", "--dim", "p2o.DynamicDimension.2=160"],
    "ppocrv4_rec.onnx": ["--dim", "p2o.DynamicDimension.0=1", "--dim", "x.2=48", "--dim", "p2o.DynamicDimension.1=160"],
    "squeezenet_v1.1_fp32.onnx": [],
    "tfl_deeplabv3_fp32.tflite": [],
    "tfl_mbv1_025_224_fp32.tflite": [],
    "torchvision_mobilenet_v2_fp32.onnx": [],
    "yunet_n_320_320.onnx": [],
}
# With 8-bit numbers: all of it must run on the device, and every bit must be the CPU's.
BYTE_MODELS = [
    "mlperf_ad_autoenc_int8.tflite",
    "mlperf_ic_resnet8_int8.tflite",
    "mlperf_ic_resnet_large_int8.tflite",
    "mlperf_kws_dscnn_int8.tflite",
    "mlperf_sww_int8.tflite",
    "mlperf_vww_mbv1_96_int8.tflite",
    "st_face_landmarks_192_qdq_int8.onnx",
    "tflm_hello_world_int8.tflite",
    "tflm_micro_speech_int8.tflite",
    "tflm_person_detect_int8.tflite",
    "torchvision_mobilenet_v2_qdq_int8.onnx",
]
LIMITS = {"opencl": 1e-3, "opencl_f16": 1e-2, "opencl_f16a": 1e-2}
HALF, DOTS = "cl_khr_fp16", "cl_khr_integer_dot_product"
BYTE_BENCH = "torchvision_mobilenet_v2_qdq_int8.onnx"


def device_extensions():
    """The name and extensions of the device that mote takes: the first GPU, else the first, or MOTE_OPENCL_DEVICE."""
    try:
        cl = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        return "no OpenCL", []
    platforms, count, found = (ctypes.c_void_p * 16)(), ctypes.c_uint(), []
    cl.clGetPlatformIDs(16, platforms, ctypes.byref(count))

    def text(device, what):
        room = ctypes.create_string_buffer(1 << 16)
        cl.clGetDeviceInfo(ctypes.c_void_p(device), what, ctypes.c_size_t(len(room)), room, None)
        return room.value.decode(errors="replace")

    for platform in platforms[:count.value]:
        devices, some, kind = (ctypes.c_void_p * 32)(), ctypes.c_uint(), ctypes.c_ulong()
        if cl.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_ulong(0xFFFFFFFF), 32, devices, ctypes.byref(some)) != 0:
            continue
        for d in devices[:some.value]:
            cl.clGetDeviceInfo(ctypes.c_void_p(d), 0x1000, ctypes.c_size_t(8), ctypes.byref(kind), None)
            found.append((d, bool(kind.value & 4)))
    if not found:
        return "no device", []
    wanted = os.environ.get("MOTE_OPENCL_DEVICE")
    device = found[int(wanted)][0] if wanted else next((d for d, gpu in found if gpu), found[0][0])
    return text(device, 0x102B), text(device, 0x1030).split()


def run(command, environment=None):
    """With the environment this script was given: drivers that it loads may change that of the process, and so hide devices."""
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, **(environment or {})})


def conformance(program, failures):
    begin = time.time()
    r = run([program, "opencl"])
    line = next((l for l in r.stdout.splitlines() if l.startswith("opencl on ")), "no result: " + r.stderr[-300:])
    print(f"conformance: {line} ({time.time() - begin:.0f} s)")
    for l in r.stdout.splitlines():
        if l.startswith("opencl, "):
            print("   ", l)
    if r.returncode != 0:
        print("    ended with", r.returncode, "after", *r.stdout.splitlines()[-3:], sep="\n    ")
        failures.append("conformance")
    return line


def executed(what, extension, extensions):
    """Whether the device has what a form of kernels needs; otherwise the report says that it was not executed."""
    if extension in extensions:
        return True
    print(f"NOT EXECUTED: {what}: the device has no {extension}")
    return False


def whole_model(mote, model, options, backend, folder, failures):
    """Compiles a model for the backend alone and compares the examples it carries; the largest error is relative to the largest value."""
    out = folder / f"{model.stem}.{backend}.mote"
    made = run([mote, "compile", model, "-o", out, "--backends", backend, *options])
    result = {"model": model.name, "backend": backend, "whole": made.returncode == 0}
    if made.returncode != 0:
        made = run([mote, "compile", model, "-o", out, "--backends", backend + ",cpu", *options])
    if made.returncode != 0:
        result["error"] = made.stderr.strip()[-200:]
    else:
        text = run([mote, "inspect", out, "--placement"]).stdout
        ops = re.findall(r"^\s*\d+\s+(\S+)\s+\S+", text.split("\n\n")[1], re.M) if "\n\n" in text else []
        result["share"] = sum(o == backend for o in ops) / max(1, len(ops))
        test = run([mote, "selftest", out, "--json"])
        try:
            outputs = json.loads(test.stdout)["results"]
            result["error_ratio"] = max(o["largest_error"] / (o["largest_expected"] or 1) for o in outputs)
        except (ValueError, KeyError):
            result["error"] = (test.stderr or test.stdout).strip()[-300:]
    well = "error" not in result and result["error_ratio"] <= LIMITS[backend]
    if not well:
        failures.append(f"{model.name} on {backend}")
    print(f"{model.name:40} {backend:11} {'whole' if result['whole'] else 'in part':8} {100 * result.get('share', 0):5.1f} % of operators, "
          f"largest error {result.get('error_ratio', float('nan')):.2e} {'ok' if well else 'WRONG ' + result.get('error', '')}")
    return result


def all_models(mote, models, backend, folder, failures):
    for model in MODELS:
        if not (models / model).exists():
            print(f"SKIPPED: {model} is not there")
    return [whole_model(mote, models / m, options, backend, folder, failures) for m, options in MODELS.items() if (models / m).exists()]


def byte_model(mote, model, folder, failures, form):
    """form: the environment, and what it is called."""
    out = folder / f"{model.stem}.bytes.mote"
    made = run([mote, "compile", model, "-o", out, "--backends", "opencl"])
    test = run([mote, "selftest", out, "--json"], form[0]) if made.returncode == 0 else made
    try:
        error = max(o["largest_error"] for o in json.loads(test.stdout)["results"])
    except (ValueError, KeyError):
        error = float("nan")
    if error != 0:
        failures.append(f"{model.name} on opencl")
    print(f"{model.name:40} opencl      8-bit, {form[1]}, largest error {error:g} "
          f"{'ok' if error == 0 else 'WRONG ' + test.stderr.strip()[-200:]}")
    return {"model": model.name, "backend": "opencl", "form": form[1], "error": error}


def bench(mote, program, runs, environment=None):
    r = run([mote, "bench", program, "--runs", runs, "--duration", 60, "--json"], environment)
    return json.loads(r.stdout) if r.returncode == 0 else {"error": r.stderr}


def show(what, r, failures):
    if "p50_us" in r:
        print(f"{what}: median of {r['runs']} runs {r['p50_us'] / 1000:.3f} ms, p90 {r['p90_us'] / 1000:.3f} ms")
    elif r:
        failures.append(what)
        print(f"{what}: {r}")
    return r


def resnet50(mote, folder, runs, failures, backends):
    """Of each backend, its error against PyTorch and its time."""
    try:
        import numpy
        import torch
        import torchvision
    except ImportError as e:
        print(f"SKIPPED: ResNet-50: {e}")
        return {}
    torch.manual_seed(1)
    model = torchvision.models.resnet50(weights=None).eval()
    x = torch.rand(1, 3, 224, 224) * 4 - 2
    onnx = folder / "resnet50.onnx"
    torch.onnx.export(model, (x,), str(onnx), input_names=["x"], output_names=["y"], dynamo=False)
    with torch.no_grad():
        expected = model(x).numpy()
    numpy.save(folder / "x.npy", x.numpy())
    results = {}
    for backend in backends:
        out = folder / f"resnet50.{backend}.mote"
        made = run([mote, "compile", onnx, "-o", out, "--backends", backend])
        ran = run([mote, "run", out, "--input", f"x={folder / 'x.npy'}", "--output", folder]) if made.returncode == 0 else made
        if ran.returncode != 0:
            failures.append(f"ResNet-50 on {backend}")
            print(f"ResNet-50 on {backend}:", ran.stderr[-300:])
            continue
        error = float(numpy.abs(numpy.load(folder / "y.npy") - expected).max() / numpy.abs(expected).max())
        well = error <= LIMITS[backend]
        print(f"ResNet-50 on {backend} against PyTorch on the CPU: largest error {error:.2e} {'ok' if well else 'WRONG'}")
        if not well:
            failures.append(f"ResNet-50 on {backend}")
        results[backend] = {"error_ratio": error, **show(f"resnet50, {backend}", bench(mote, out, runs), failures)}
    return results


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", type=pathlib.Path, required=True)
    p.add_argument("--models", type=pathlib.Path, required=True)
    p.add_argument("--runs", type=int, default=200)
    p.add_argument("--json", type=pathlib.Path)
    a = p.parse_args()
    mote = (a.bin / "mote").resolve()
    failures = []
    name, extensions = device_extensions()
    report = {"device": name, "extensions": [e for e in (HALF, DOTS) if e in extensions], "models": [], "bytes": [], "times": {}}
    print(f"{name}: {' '.join(report['extensions']) or 'neither ' + HALF + ' nor ' + DOTS}")
    half, dots = executed("opencl_f16a", HALF, extensions), executed("dot products of bytes", DOTS, extensions)
    backends = ["opencl", "opencl_f16"] + (["opencl_f16a"] if half else [])
    forms = [({"MOTE_OPENCL_EXTENSIONS": "0"}, "without extensions")] + ([({}, "dot products")] if dots else [])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for backend in backends:
            report["models"] += all_models(mote, a.models, backend, folder, failures)
            report["times"]["mobilenet_v2", backend] = show(
                f"mobilenet_v2, {backend}", bench(mote, folder / f"torchvision_mobilenet_v2_fp32.{backend}.mote", a.runs), failures)
        for form in forms:
            report["bytes"] += [byte_model(mote, a.models / m, folder, failures, form) for m in BYTE_MODELS if (a.models / m).exists()]
            program = folder / f"{pathlib.Path(BYTE_BENCH).stem}.bytes.mote"
            report["times"]["mobilenet_v2 8-bit", form[1]] = show(f"mobilenet_v2, 8-bit, {form[1]}",
                                                                  bench(mote, program, a.runs, form[0]), failures)
        report["resnet50"] = resnet50(mote, folder, a.runs, failures, backends)
        report["conformance"] = conformance((a.bin / "backend_conformance").resolve(), failures)
    if a.json:
        report["times"] = {", ".join(k): v for k, v in report["times"].items()}
        a.json.write_text(json.dumps(report, indent=1))
    print("all well" if not failures else "FAILED: " + ", ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
