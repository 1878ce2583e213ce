"""The runtimes that are compared, each behind the same few calls. A class is used in a process of its own (child.py).

start(threads)   imports; what that costs is not counted
load(path)       until the first inference could begin
inputs()         [(shape, dtype)] of what run() takes, or None where the runtime does not tell
run(arrays)      hands the inputs over, runs, fetches the outputs
"""
import ctypes
import os

import numpy as np

# What to install, and the name to import; both are said where a runtime is missing.
PACKAGES = {"onnxruntime": ("onnxruntime", "onnxruntime"), "openvino": ("openvino", "openvino"), "ncnn": ("ncnn", "ncnn"),
            "mnn": ("MNN", "MNN"), "litert": ("ai-edge-litert", "ai_edge_litert"), "executorch": ("executorch", "executorch"),
            "iree": ("iree-base-runtime", "iree.runtime"), "pytorch": ("torch", "torch")}


class Mote:
    """Through the C interface of the shared library, inputs and outputs bound to the arrays, as an application would."""
    TYPES = {1: "f4", 2: "f8", 3: "f2", 5: "i1", 6: "u1", 7: "i2", 8: "u2", 9: "i4", 10: "u4", 11: "i8", 12: "u8", 13: "?"}

    class Info(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_uint32),
                    ("dims", ctypes.c_int32 * 8), ("dynamic", ctypes.c_uint32), ("quantized", ctypes.c_uint32), ("scale", ctypes.c_float),
                    ("zero_point", ctypes.c_int32), ("bytes", ctypes.c_uint64), ("in_bank", ctypes.c_uint32)]

    class Options(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("memory_limit", ctypes.c_uint64), ("instance", ctypes.c_void_p),
                    ("scratch", ctypes.c_void_p), ("banks", ctypes.c_void_p), ("bank_count", ctypes.c_uint32), ("threads", ctypes.c_uint32)]

    def start(self, threads):
        self.lib = ctypes.CDLL(os.environ["MOTE_LIBRARY"])
        self.options = self.Options(struct_size=ctypes.sizeof(self.Options), threads=threads)
        self.lib.mote_version.restype = ctypes.c_char_p
        self.version = self.lib.mote_version().decode()

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"libmote: status {status:#x}")

    def load(self, path):
        self.program, self.instance = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.lib.mote_program_open_file(path.encode(), None, ctypes.byref(self.program), None))
        self.check(self.lib.mote_instance_create(self.program, ctypes.byref(self.options), ctypes.byref(self.instance), None))

    def tensors(self, kind):
        found = []
        for i in range(getattr(self.lib, f"mote_program_{kind}_count")(self.program, 0)):
            info = self.Info(struct_size=ctypes.sizeof(self.Info))
            self.check(getattr(self.lib, f"mote_program_{kind}_info")(self.program, 0, i, ctypes.byref(info)))
            scale = (info.scale, info.zero_point) if info.quantized else None
            found.append((list(info.dims[:info.rank]), np.dtype(self.TYPES[info.dtype]), scale))
        return found

    def inputs(self):
        return [(shape, dtype) for shape, dtype, _ in self.tensors("input")]

    def prepare(self, arrays):
        self.out = [np.empty(shape, dtype) for shape, dtype, _ in self.tensors("output")]
        for bind, buffers in ((self.lib.mote_instance_bind_input, arrays), (self.lib.mote_instance_bind_output, self.out)):
            for i, a in enumerate(buffers):
                self.check(bind(self.instance, 0, i, ctypes.c_void_p(a.ctypes.data), ctypes.c_uint64(a.nbytes), None))
        return arrays

    def run(self, arrays):
        self.check(self.lib.mote_instance_run(self.instance, 0, None, None))
        return self.out

    def quantization(self, kind):
        return [q for _, _, q in self.tensors(kind)]


class OnnxRuntime:
    def start(self, threads):
        import onnxruntime
        self.ort, self.threads, self.version = onnxruntime, threads, onnxruntime.__version__

    def load(self, path):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        self.session = self.ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.names = [i.name for i in self.session.get_inputs()]

    def inputs(self):
        types = {"float": "f4", "uint8": "u1", "int8": "i1", "int64": "i8", "int32": "i4", "bool": "?", "double": "f8", "float16": "f2"}
        shape = lambda i: [d if isinstance(d, int) and d > 0 else 1 for d in i.shape]
        return [(shape(i), np.dtype(types[i.type[len("tensor("):-1]])) for i in self.session.get_inputs()]

    def run(self, arrays):
        return self.session.run(None, dict(zip(self.names, arrays)))


class OpenVino:
    def start(self, threads):
        import openvino
        self.ov, self.threads, self.version = openvino, threads, openvino.__version__

    def load(self, path):
        options = {"INFERENCE_NUM_THREADS": self.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
        if "fp32" in os.path.basename(path):
            options["INFERENCE_PRECISION_HINT"] = "f32"
        self.model = self.ov.Core().compile_model(path, "CPU", options)
        self.request = self.model.create_infer_request()

    def inputs(self):
        shape = lambda i: [d.get_length() if d.is_static else 1 for d in i.get_partial_shape()]
        return [(shape(i), np.dtype(i.get_element_type().to_dtype())) for i in self.model.inputs]

    def run(self, arrays):
        found = self.request.infer(dict(enumerate(arrays)), share_inputs=True)
        return [found[i] for i in range(len(self.model.outputs))]


class Ncnn:
    def start(self, threads):
        import ncnn
        self.ncnn, self.threads, self.version = ncnn, threads, getattr(ncnn, "__version__", "")

    def load(self, path):
        self.net = self.ncnn.Net()
        self.net.opt.num_threads = self.threads
        self.net.opt.use_vulkan_compute = False
        if "fp32" in os.path.basename(path):
            for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage"):
                setattr(self.net.opt, name, False)
        if self.net.load_param(path) or self.net.load_model(path[:-len(".param")] + ".bin"):
            raise RuntimeError("the model cannot be loaded")

    def inputs(self):
        return None

    def run(self, arrays):
        extractor = self.net.create_extractor()
        for name, a in zip(self.net.input_names(), arrays):
            extractor.input(name, self.ncnn.Mat(a[0] if a.ndim > 1 else a))
        found = [extractor.extract(name) for name in self.net.output_names()]
        if any(status for status, _ in found):
            raise RuntimeError("extract failed")
        return [np.array(mat) for _, mat in found]


class Mnn:
    def start(self, threads):
        import MNN
        self.mnn, self.threads, self.version = MNN, threads, MNN.version()
        self.types = {"f4": MNN.Halide_Type_Float, "i4": MNN.Halide_Type_Int, "u1": MNN.Halide_Type_Uint8}

    def load(self, path):
        self.interpreter = self.mnn.Interpreter(path)
        memory = "low" if ".int8." in os.path.basename(path) else "normal"
        self.session = self.interpreter.createSession({"backend": "CPU", "numThread": self.threads, "precision": "high", "memory": memory})
        self.ins = sorted(self.interpreter.getSessionInputAll(self.session).items())
        self.outs = self.interpreter.getSessionOutputAll(self.session)

    def inputs(self):
        return [(list(t.getShape()), np.dtype("f4")) for _, t in self.ins]

    def host(self, array):
        return self.mnn.Tensor(tuple(array.shape), self.types[array.dtype.str[1:]], array, self.mnn.Tensor_DimensionType_Caffe)

    def run(self, arrays):
        for (_, tensor), a in zip(self.ins, arrays):
            tensor.copyFromHostTensor(self.host(a))
        if self.interpreter.runSession(self.session):
            raise RuntimeError("runSession failed")
        found = []
        for tensor in self.outs.values():
            host = self.host(np.empty(tensor.getShape(), np.float32))
            tensor.copyToHostTensor(host)
            found.append(np.array(host.getNumpyData(), copy=True).reshape(tensor.getShape()))
        return found


class LiteRt:
    def start(self, threads):
        import ai_edge_litert
        from ai_edge_litert.interpreter import Interpreter
        self.Interpreter, self.threads, self.version = Interpreter, threads, getattr(ai_edge_litert, "__version__", "")

    def load(self, path):
        self.interpreter = self.Interpreter(model_path=path, num_threads=self.threads)
        self.interpreter.allocate_tensors()
        self.ins, self.outs = self.interpreter.get_input_details(), self.interpreter.get_output_details()

    def inputs(self):
        return [(list(d["shape"]), np.dtype(d["dtype"])) for d in self.ins]

    def run(self, arrays):
        for d, a in zip(self.ins, arrays):
            self.interpreter.set_tensor(d["index"], a)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(d["index"]) for d in self.outs]

    def quantization(self, kind):
        return [d["quantization"] if d["quantization"][0] else None for d in (self.ins if kind == "input" else self.outs)]


class ExecuTorch:
    def start(self, threads):
        import torch
        from executorch.extension.pybindings import _portable_lib
        torch.set_num_threads(threads)
        if hasattr(_portable_lib, "_unsafe_reset_threadpool"):
            _portable_lib._unsafe_reset_threadpool(threads)
        self.lib, self.torch, self.version = _portable_lib, torch, "torch " + torch.__version__

    def load(self, path):
        self.program = self.lib._load_program(path)
        self.method = self.program.load_method("forward")

    def inputs(self):
        meta = self.method.method_meta() if hasattr(self.method, "method_meta") else self.program.method_meta("forward")
        types = {6: "f4", 3: "i4", 4: "i8", 0: "u1", 1: "i1"}
        tensors = [meta.input_tensor_meta(i) for i in range(meta.num_inputs())]
        return [(list(t.sizes()), np.dtype(types[t.dtype()])) for t in tensors]

    def run(self, arrays):
        return [o.numpy() for o in self.method([self.torch.from_numpy(a) for a in arrays])]


class Iree:
    def start(self, threads):
        import iree.runtime
        self.rt, self.threads, self.version = iree.runtime, threads, getattr(getattr(iree.runtime, "version", None), "VERSION", "")

    def load(self, path):
        if self.threads > 1:
            self.rt.flags.parse_flags(f"--task_topology_group_count={self.threads}")
        config = self.rt.Config("local-task" if self.threads > 1 else "local-sync")
        module = self.rt.VmModule.mmap(config.vm_instance, path)
        names = [n for n in module.function_names if not n.startswith("__") and not n.endswith("$async")]
        self.function = self.rt.load_vm_module(module, config)[names[0]]

    def inputs(self):
        return None

    def run(self, arrays):
        found = self.function(*arrays)
        return [np.asarray(o.to_host()) for o in (found if isinstance(found, (tuple, list)) else [found])]


class PyTorch:
    """A traced module, frozen and rewritten for inference."""

    def start(self, threads):
        import torch
        torch.set_num_threads(threads)
        self.torch, self.version = torch, torch.__version__

    def load(self, path):
        self.torch.backends.quantized.engine = "x86"
        module = self.torch.jit.freeze(self.torch.jit.load(path, map_location="cpu").eval())
        # The rewriting knows no 8-bit operators.
        self.module = module if ".int8." in path else self.torch.jit.optimize_for_inference(module)

    def inputs(self):
        return None

    def run(self, arrays):
        with self.torch.inference_mode():
            found = self.module(*[self.torch.from_numpy(a) for a in arrays])
        return [o.numpy() for o in (found if isinstance(found, (tuple, list)) else [found])]


RUNTIMES = {"mote": Mote, "onnxruntime": OnnxRuntime, "openvino": OpenVino, "ncnn": Ncnn, "mnn": Mnn, "litert": LiteRt,
            "executorch": ExecuTorch, "iree": Iree, "pytorch": PyTorch}
