"""mote/api/aten.hpp, compiled against the PyTorch wheel: its kernels run inside a program, on the program's own memory."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mote


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    from torch.utils import cpp_extension

    folder = tmp_path_factory.mktemp("aten")
    source = pathlib.Path(__file__).with_name("aten_ops.cc")
    includes = [f"-I{mote.include_folder()}"] + [f"-isystem{path}" for path in cpp_extension.include_paths()]
    libraries = [f"-L{path}" for path in cpp_extension.library_paths()] + ["-lc10", "-ltorch_cpu"]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
    command = ["c++", "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", abi, *includes, str(source), "-o",
               str(folder / "aten_ops.so"), *libraries]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder / "aten_ops.so"


def test_kernels_of_pytorch_run_in_a_program(library, add_mul):
    assert mote.load_custom_ops(library) == ["motetest::aten_shrink"]

    def use_it(graph):
        add = graph.nodes[0]
        plain = graph.add(add, "add", add.inputs)
        own = graph.add_custom(add, "motetest::aten_shrink", [plain.outputs[0]], add.outputs)
        graph.replace(add.outputs[0], own.outputs[0])
        graph.erase(add)

    program = mote.compile(add_mul, passes=[use_it])
    a = torch.linspace(-1, 1, 6).reshape(2, 3)
    expected = torch.nn.functional.softshrink(a + a, 0.5)
    torch.testing.assert_close(program(a, a)[0], expected)
    np.testing.assert_array_equal(program(a.numpy(), a.numpy())[0], expected.numpy())
