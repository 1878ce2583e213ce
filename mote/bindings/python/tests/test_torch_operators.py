"""Operators of PyTorch through mote.torch, against eager: those that once went wrong, and decompositions of our own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mote
import mote.torch
from mote import _torch_experts

F = torch.nn.functional


def through_mote(op, *inputs):
    class Call(torch.nn.Module):
        def forward(self, *tensors):
            return op(*tensors)

    return mote.torch.compile(Call(), inputs, golden_examples=0)(*inputs)


def check(op, *inputs, **tolerance):
    torch.testing.assert_close(through_mote(op, *inputs), op(*inputs), **tolerance)


@pytest.mark.parametrize("mode", ["replicate", "reflect", "circular"])
@pytest.mark.parametrize("pads", [(-1, 2), (2, -1), (-1, -2), (-1, 2, 1, -1), (1, -1, -1, 2)])
def test_paddings_below_zero_cut_first(mode, pads):
    x = torch.arange(48.0).reshape(1, 2, 4, 6)
    check(lambda v: F.pad(v, pads, mode), x if len(pads) == 4 else x[0])


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(13, 11), (3, 20), (2, 3), (7, 9), (1, 4)])
def test_bytes_are_interpolated_exactly(mode, antialias, size):
    x = torch.randint(0, 256, (2, 3, 7, 9), dtype=torch.uint8, generator=torch.Generator().manual_seed(3))
    for corners in (False, True):
        check(lambda v: F.interpolate(v, size=size, mode=mode, align_corners=corners, antialias=antialias), x, rtol=0, atol=0)
    check(lambda v: F.interpolate(v, scale_factor=(1.7, 0.6), mode=mode, antialias=antialias), x, rtol=0, atol=0)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(13, 11), (3, 20), (2, 3), (7, 9), (1, 4)])
def test_antialiasing_with_aligned_corners(mode, size):
    for dtype in (torch.float32, torch.float64):
        x = torch.randn(2, 3, 7, 9, dtype=dtype)
        check(lambda v: F.interpolate(v, size=size, mode=mode, align_corners=True, antialias=True), x, rtol=1e-5, atol=1e-5)
        check(lambda v: torch.ops.aten._upsample_bilinear2d_aa.vec(v, None, True, [0.6, 1.0]), x, rtol=1e-5, atol=1e-5)


def test_epsilons_below_zero():
    check(lambda v, w: F.rms_norm(v, (3, 4), w, -0.01), torch.randn(2, 3, 4), torch.randn(3, 4))
    check(lambda v: F.rms_norm(v, (4,), eps=-0.01), torch.rand(2, 3, 4) + 1)


@pytest.mark.parametrize("size", [(5, 2), (2, 5), (3, 3), (4, 0), (3, 5)])
def test_resized_tensors_keep_their_elements(size):
    x = torch.arange(10.0).reshape(5, 2)
    found = through_mote(lambda v: torch.ops.aten.resize(v, list(size)), x)
    assert tuple(found.shape) == size
    most = min(found.numel(), 10)
    assert torch.equal(found.reshape(-1)[:most], x.reshape(-1)[:most])


@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_returned(value):
    assert through_mote(lambda v: v.item(), torch.tensor(value)) is value
    assert through_mote(lambda v: (v.item(), v), torch.tensor(value))[0] is value


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8, torch.uint8, torch.int64, torch.bool])
def test_exclusive_or_of_the_bits(dtype):
    x = (torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(1)) * 50).to(dtype)
    check(lambda v: torch.hash_tensor(v), x)
    check(lambda v: torch.hash_tensor(v, 1, keepdim=True), x)
    check(lambda v: torch.hash_tensor(v, -1), x)


@pytest.mark.parametrize("alpha", [True, False])
def test_truth_values_are_added_at_places(alpha):
    x, y = torch.tensor([[True, False], [False, False]]), torch.tensor([[False, True], [True, True]])
    check(lambda a, b, i: torch.index_add(a, 0, i, b, alpha=alpha), x, y, torch.tensor([1, 1]))


@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_several_dimensions(density):
    generator = torch.Generator().manual_seed(4)
    x, weight = torch.rand(40, 2, generator=generator), torch.rand(40, generator=generator)
    edges = [torch.tensor([0.0, 0.25, 0.5, 1.0]), torch.tensor([0.1, 0.7, 0.9])]
    check(lambda v, w: tuple(torch.histogramdd(v, [3, 4], weight=w, density=density)[1]), x, weight)
    check(lambda v, w: torch.histogramdd(v, [3, 4], weight=w, density=density)[0], x, weight)
    check(lambda v: torch.histogramdd(v, [3, 4], range=[0.2, 0.8, 0.1, 0.9], density=density)[0], x)
    check(lambda v, a, b: torch.histogramdd(v, [a, b], density=density)[0], x, *edges)
    check(lambda v, w: torch.histogram(v, 5, weight=w, density=density)[0], x[:, 0], weight)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
def test_counts_of_bytes(dtype):
    x = torch.tensor([1, 3, 3, 120], dtype=dtype)
    for weights in (None, torch.rand(4), torch.rand(4, dtype=torch.float64), torch.arange(4)):
        for least in (0, 2, 300):
            check(lambda v: torch.bincount(v, weights, minlength=least), x)
    check(lambda v: torch.bincount(v, minlength=3), x[:0])
    with pytest.raises(mote.CompileError, match="bincount"):
        through_mote(torch.bincount, x.to(torch.int32))


def test_batch_norm_of_nothing():
    for dtype in (torch.float32, torch.float16):
        none = torch.zeros(0, dtype=dtype)
        check(lambda v, m: F.batch_norm(v, m, m), none, none)


def test_squares_of_truth_values():
    check(torch.square, torch.tensor([True, False]))


def test_renorm_of_halves():
    check(lambda v: torch.renorm(v, 2, 1, 0.5), torch.randn(3, 4, 2, dtype=torch.float16))


def test_sums_of_one_operand_of_einsum():
    for dtype in (torch.int8, torch.uint8, torch.int32):
        x = torch.full((2, 3), 100, dtype=dtype)
        for equation in ("ij->i", "ij->", "ij->ji"):
            check(lambda v: torch.einsum(equation, v), x)
        check(lambda a, b: torch.einsum("ij,kj->ik", a, b), x, x)
        check(lambda a, b: torch.einsum("ij,k->k", a, b), x, x[0])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_linear_cross_entropy_in_chunks(reduction):
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    x, w, bias, weight = torch.randn(5, 3), torch.randn(4, 3), torch.randn(4), torch.rand(4)
    target = torch.tensor([0, 3, 2, 2, 1])

    def loss(x, w, target, bias, weight):
        return F.linear_cross_entropy(
            x, w, target, linear_bias=bias, weight=weight, reduction=reduction, ignore_index=2, options=options
        )

    check(loss, x, w, target, bias, weight)


def test_replicated_edges_of_what_is_cut_to_nothing():
    check(lambda v: F.pad(v, (-4, 5, 0, 0), "replicate"), torch.arange(24.0).reshape(1, 2, 3, 4))
    check(lambda v: F.pad(v, (2, -4), "replicate"), torch.arange(8.0).reshape(2, 4))


def test_masks_that_broadcast_and_ends_of_ranges():
    check(torch.masked_select, torch.arange(5.0), torch.arange(20).reshape(4, 5) % 3 > 0)
    check(lambda v: v + torch.linspace(0, 1, 50, dtype=torch.uint8), torch.zeros(50, dtype=torch.uint8))
    check(lambda v: v + torch.linspace(-2, -3, 1), torch.zeros(1))


def test_softmax_of_rows_out_of_reach():
    x = torch.randn(3, 4)
    x[1] = -torch.inf
    check(lambda v: torch.ops.aten._safe_softmax.default(v, -1), x)


def test_places_of_adaptive_maxima():
    for size, x in (((2, 3), torch.randn(2, 3, 5, 7)), ((4,), torch.randn(3, 9)), ((2, 1, 3), torch.randn(1, 2, 4, 3, 5))):
        pool = getattr(F, f"adaptive_max_pool{len(size)}d")
        check(lambda v: pool(v, size, return_indices=True), x)


def test_baddbmm_is_not_addbmm():
    c, a, b = torch.randn(2, 3, 5), torch.randn(2, 3, 4), torch.randn(2, 4, 5)
    check(lambda *t: torch.baddbmm(*t, beta=0.5, alpha=2), c, a, b)
    check(lambda *t: torch.addbmm(*t), c[0], a, b)


def test_narrow_copy_views_and_truth_values():
    x = torch.randn(3, 4)
    check(lambda v: torch.narrow_copy(v, 1, 1, 2), x)
    check(lambda v: v.view(torch.int32), x)
    flags = [torch.tensor(t) for t in ([[True, False], [False, False]], [True, True], [False, True])]
    check(torch.addr, *flags)
    check(lambda *t: torch.addr(*t, beta=0, alpha=2), *flags)


def test_different_elements():
    x = torch.tensor([[3, 1, 1], [3, 3, 2]])
    for y in (x, x.float(), x.to(torch.int8)):
        check(lambda v: torch.unique(v, return_inverse=True, return_counts=True), y)
        check(lambda v: torch.unique(v, dim=1), y)
        check(lambda v: torch.unique_consecutive(v, return_inverse=True, return_counts=True), y)
        check(lambda v: torch.unique_consecutive(v, dim=0, return_inverse=True), y)


@pytest.mark.parametrize("name", ["lgamma", "digamma", "erfinv", "bessel_j0", "bessel_y1", "i0e", "modified_bessel_k1", "airy_ai", "erfcx"])
def test_special_functions(name):
    op = getattr(torch.special, name, None) or getattr(torch, name)
    x = torch.cat([torch.linspace(-9, 9, 37), torch.tensor([1e-3, 0.3, 24.0, 26.0, 80.0])])
    if name == "erfinv":
        x = torch.linspace(-1, 1, 41)
    if name in ("bessel_y1", "modified_bessel_k1"):
        x = x[x >= 0]
    check(op, x, rtol=1e-5, atol=2e-6, equal_nan=True)


def spd(n):
    a = torch.randn(2, n, n, generator=torch.Generator().manual_seed(n))
    return a @ a.transpose(-1, -2) + torch.eye(n)


@pytest.mark.parametrize(
    "op",
    [
        torch.linalg.inv, torch.linalg.det, torch.linalg.slogdet, torch.linalg.cholesky, torch.linalg.qr, torch.linalg.eigvalsh,
        torch.linalg.svdvals, torch.linalg.pinv, torch.linalg.lu, torch.matrix_exp,
        lambda a: torch.linalg.solve(a, a[..., :2]),
        lambda a: torch.linalg.solve_triangular(a, a[..., :2], upper=True),
        lambda a: torch.linalg.norm(a, "nuc", dim=(1, 2)),
    ],
)  # fmt: skip
def test_linear_algebra(op):
    found, expected = through_mote(op, spd(4) / 4), op(spd(4) / 4)
    for f, e in zip(torch.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(expected)):
        torch.testing.assert_close(f, e, rtol=1e-4, atol=1e-4)
    if isinstance(expected, tuple):
        assert type(found) is type(expected)


def test_singular_vectors_make_the_matrix_again():
    a = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    a[:, 2] = a[:, 0]  # of rank 2
    for full in (False, True):
        u, s, vh = through_mote(lambda v: torch.linalg.svd(v, full_matrices=full), a)
        torch.testing.assert_close((u[:, :3] * s) @ vh, a, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(u.T @ u, torch.eye(u.shape[1]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("ends", [[1, 1, 4, 5], [0, 3, 6, 6]])
@pytest.mark.parametrize("rows", [3, 6])
def test_products_with_the_weights_of_experts(rows, ends):
    """Mixtures of experts: rows sorted by expert, each with its expert's weight; fewer rows than experts, as in decoding, and more."""
    ends = torch.tensor(ends, dtype=torch.int32).clamp(max=rows)
    # PyTorch exports its own operator for bfloat16 alone; transformers has one for the others.
    grouped = torch.ops.aten._grouped_mm
    for dtype, op in ((torch.float32, _torch_experts.grouped_product), (torch.bfloat16, lambda *t: grouped(*t))):
        x, weight = torch.randn(rows, 8, dtype=dtype), torch.randn(4, 8, 16, dtype=dtype)
        expected, begin = torch.zeros(rows, 16, dtype=dtype), 0
        for expert, end in enumerate(ends.tolist()):
            expected[begin:end] = x[begin:end] @ weight[expert]
            begin = end
        torch.testing.assert_close(through_mote(op, x, weight, ends)[:begin], expected[:begin])


def test_decompositions_serve_files(tmp_path):
    class Module(torch.nn.Module):
        def forward(self, x):
            return torch.lgamma(x), torch.median(x)

    x = torch.rand(7) + 0.5
    exported = torch.export.export(Module(), (x,)).run_decompositions(mote.torch.decompositions())
    torch.export.save(exported, tmp_path / "m.pt2")
    found = mote.compile(tmp_path / "m.pt2")(x)
    for f, e in zip(found, Module()(x)):
        torch.testing.assert_close(f, e)


def test_samples_of_opinfo():
    """A part of tests/torch/samples.py; all of it with MOTE_FULL_DATA=1."""
    script = pathlib.Path(__file__).parents[4] / "tests/torch/samples.py"
    pytest.importorskip("expecttest", reason="torch's samples need expecttest")
    words = ["--least", "99.5"]
    if "MOTE_FULL_DATA" not in os.environ:
        words = ["--least", "100", "--samples", "2", "--dtypes", "float32,uint8,bool", "--ops"]
        words.append("topk,sort,median,mode,nn.functional.pad,nn.functional.interpolate,narrow_copy,baddbmm,addr,unique,linalg.lu,gcd,"
                     "where,special.zeta,fft.irfft,searchsorted,frexp,histc,nextafter")  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run([sys.executable, str(script), *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
