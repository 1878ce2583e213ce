"""What operators that Mote does not take become before they reach it: PyTorch's own decompositions, and where it has none, these."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
import torch._refs  # registers decompositions
from torch import Tensor
from torch._decomp import global_decomposition_table

from . import _torch_eigen, _torch_experts, _torch_fft, _torch_linalg, _torch_order, _torch_polynomials, _torch_special
from ._torch_order import searchsorted, too_many

# --- numbers ---


def frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    wide = x.to(torch.float64)
    plain = (wide != 0) & torch.isfinite(wide)
    size = torch.where(plain, wide.abs(), torch.ones_like(wide))
    exponent = torch.floor(torch.log2(size)) + 1
    part = size * torch.exp2(-exponent)
    # The logarithm may be rounded across a power of two.
    exponent = torch.where(part >= 1, exponent + 1, torch.where(part < 0.5, exponent - 1, exponent))
    part = torch.where(part >= 1, part / 2, torch.where(part < 0.5, part * 2, part))
    mantissa = torch.where(plain, torch.where(wide < 0, -part, part), wide)
    return mantissa.to(x.dtype), torch.where(plain, exponent, torch.zeros_like(exponent)).to(torch.int32)


def _steps(dtype: torch.dtype) -> int:
    """Divisions that Euclid's algorithm takes at most: as many as there are Fibonacci numbers in the type."""
    return {1: 13, 2: 24, 4: 47, 8: 92}[dtype.itemsize]


def gcd(a: Tensor, b: Tensor) -> Tensor:
    dtype = torch.result_type(a, b)
    a, b = torch.broadcast_tensors(a.to(dtype).abs(), b.to(dtype).abs())  # type: ignore[no-untyped-call]
    for _ in range(_steps(dtype)):
        a, b = torch.where(b == 0, a, b), torch.where(b == 0, b, torch.remainder(a, torch.where(b == 0, torch.ones_like(b), b)))
    return a


def lcm(a: Tensor, b: Tensor) -> Tensor:
    common = gcd(a, b)
    a = a.to(common.dtype)
    return (torch.where(common == 0, a, torch.floor_divide(a, torch.where(common == 0, torch.ones_like(common), common))) * b).abs()


# --- places ---


def nonzero_static(x: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    flat = (x != 0).reshape(-1)
    n = flat.shape[0]
    places = torch.sort(torch.where(flat, torch.arange(n), torch.full((), n)))[0][:size]
    if size > n:
        places = torch.cat([places, torch.full((size - n,), n)])
    columns, step = [], n
    for side in x.shape:
        step = step // side if side else 0
        columns.append(torch.remainder(torch.div(places, max(step, 1), rounding_mode="floor"), max(side, 1)))
    if not columns:
        return torch.zeros((size, 0), dtype=torch.int64)
    found = torch.stack(columns, 1)
    return torch.where((places == n).unsqueeze(1), torch.full_like(found, fill_value), found)


def repeat_interleave(repeats: Tensor, *, output_size: int | None = None) -> Any:
    if output_size is None:
        return NotImplemented
    ends = torch.cumsum(repeats, 0)
    return searchsorted(ends, torch.arange(output_size), right=True)


def resize(x: Tensor, size: list[int], *, memory_format: Any = None) -> Any:
    """The elements in their order; PyTorch gives those that come on top no value, here they are 0."""
    wanted = math.prod(size)
    known = all(isinstance(s, int) for s in (*x.shape, *size))
    if not known or memory_format not in (None, torch.contiguous_format, torch.preserve_format):
        return NotImplemented
    if list(x.shape) == list(size):
        return x.clone()
    if not x.is_contiguous():
        return NotImplemented
    flat = x.reshape(-1)[:wanted]
    return torch.cat([flat, flat.new_zeros(wanted - flat.numel())]).reshape(size)


def segment_reduce(
    x: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None,
) -> Any:  # fmt: skip
    bounds = lengths if lengths is not None else offsets
    if bounds is None or indices is not None:
        return NotImplemented
    bounds = bounds.to(torch.int64)
    if lengths is not None:
        ends = torch.cumsum(bounds, -1)
        begins = ends - bounds
    else:
        begins, ends = bounds[..., :-1], bounds[..., 1:]
    n = x.shape[axis]
    if too_many(x.numel(), begins.shape[-1]):
        return NotImplemented
    place = torch.arange(n)
    member = (place >= begins.unsqueeze(-1)) & (place < ends.unsqueeze(-1))  # (before, segments, n)
    trailing = x.dim() - axis - 1
    member = member.reshape(*member.shape, *[1] * trailing)
    data = x.unsqueeze(axis)
    none = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}[reduce]
    inside = torch.where(member, data, torch.full((), none, dtype=x.dtype))
    along = axis + 1
    count = member.sum(along)
    if reduce in ("max", "min"):
        y = inside.amax(along) if reduce == "max" else inside.amin(along)
    else:
        y = inside.prod(along) if reduce == "prod" else inside.sum(along)
    if initial is not None:
        start = torch.full((), float(initial), dtype=x.dtype)
        if reduce in ("max", "min"):
            y = torch.maximum(y, start) if reduce == "max" else torch.minimum(y, start)
        else:
            y = y * start if reduce == "prod" else y + start
    if reduce == "mean":
        empty = torch.full_like(y, math.nan) if initial is None else y
        y = torch.where(count > 0, y / count.clamp(min=1).to(x.dtype), empty)
    return y


# --- scattering ---


def index_reduce(x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    if x.dim() == 0:
        return index_reduce(x.reshape(1), 0, index, source.reshape(-1), reduce, include_self=include_self).reshape(())
    shape = [1] * x.dim()
    shape[dim] = -1
    places = index.reshape(shape).expand(source.shape)
    return torch.scatter_reduce(x, dim, places, source, reduce, include_self=include_self)


def put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    flat = torch.index_put(x.reshape(-1), (index.reshape(-1),), source.reshape(-1), accumulate)
    return flat.reshape(x.shape)


# --- others ---


def angle(x: Tensor) -> Any:
    if x.is_complex():
        return NotImplemented
    result = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    y = torch.where(x < 0, torch.full((), math.pi, dtype=result), torch.zeros((), dtype=result))
    return torch.where(torch.isnan(x), x, y) if x.is_floating_point() else y


def nextafter(a: Tensor, b: Tensor) -> Tensor:
    """By the bits: neighbours of one sign are neighbours as integers."""
    dtype = torch.result_type(a, b)
    a, b = torch.broadcast_tensors(a.to(dtype), b.to(dtype))  # type: ignore[no-untyped-call]
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    one = torch.ones((), dtype=bits)
    step = torch.where((b > a) == (a > 0), one, -one)
    y = (a.clone().view(bits) + step).view(dtype)
    smallest = torch.ones(a.shape, dtype=bits).view(dtype)
    y = torch.where(a == 0, torch.where(b < 0, -smallest, smallest), y)
    return torch.where(torch.isnan(a) | torch.isnan(b), a + b, torch.where(a == b, b, y))


def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    wide = x.to(torch.float64)
    if x.dim() == 0 or x.numel() == 0:
        return x.clone()
    most = wide.amax(dim, keepdim=True)
    most = torch.where(torch.isfinite(most), most, torch.zeros_like(most))
    return (torch.log(torch.cumsum(torch.exp(wide - most), dim)) + most).to(x.dtype)


def trilinear(
    a: Tensor, b: Tensor, c: Tensor, expand1: list[int], expand2: list[int], expand3: list[int], sumdim: list[int], unroll_dim: int = 1
) -> Tensor:
    for places, which in ((expand1, 0), (expand2, 1), (expand3, 2)):
        for place in sorted(places):
            a, b, c = (x.unsqueeze(place) if i == which else x for i, x in enumerate((a, b, c)))
    product = a * b * c
    return product.sum(sumdim, dtype=product.dtype) if sumdim else product


def as_strided_scatter(x: Tensor, src: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> Tensor:
    places = torch.as_strided_copy(torch.arange(x.numel()).reshape(x.shape), size, stride, storage_offset)
    return torch.scatter(x.reshape(-1), 0, places.reshape(-1), src.reshape(-1)).reshape(x.shape)


def diagonal_scatter(x: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    places = torch.diagonal_copy(torch.arange(x.numel()).reshape(x.shape), offset, dim1, dim2)
    return torch.scatter(x.reshape(-1), 0, places.reshape(-1), src.reshape(-1)).reshape(x.shape)


def hash_tensor(x: Tensor, dim: list[int] | None = None, *, keepdim: bool = False, mode: int = 0) -> Any:
    """Exclusive or of the elements' bits, of floats as doubles."""
    bits = x.to(torch.float64).view(torch.int64) if x.is_floating_point() else x.to(torch.int64)
    places = sorted({d % max(x.dim(), 1) for d in dim}) if dim else list(range(x.dim()))
    if mode != 0 or not all(isinstance(x.shape[d], int) for d in places[: x.dim()]):
        return NotImplemented
    for d in places if x.dim() else ():
        while (n := bits.shape[d]) > 1:
            half = n // 2
            folded = bits.narrow(d, 0, half) ^ bits.narrow(d, half, half)
            bits = folded if n % 2 == 0 else torch.cat([folded, bits.narrow(d, n - 1, 1)], d)
    if x.dim() and not keepdim:
        bits = bits.squeeze(places)
    return bits.to(torch.uint64)


# --- losses ---


def _chunked_loss(
    x: Tensor, linear: Tensor, target: Tensor, bias: Tensor | None, weight: Tensor | None, reduction: str, ignored: int
) -> Tensor:
    """Chunks save memory while training; the loss is that of all at once, in at least 32 bits."""
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = torch.nn.functional.linear(x.to(wide), linear.to(wide), None if bias is None else bias.to(wide))
    weight = None if weight is None else weight.to(wide)
    return torch.nn.functional.cross_entropy(logits, target, weight=weight, reduction=reduction, ignore_index=ignored).to(x.dtype)


def linear_cross_entropy(
    x: Tensor, linear: Tensor, target: Tensor, bias: Tensor | None, weight: Tensor | None, reduction: str, ignore_index: int,
    label_smoothing: float, chunk: int, policy: str, dtype: torch.dtype, retain: bool, *gradients: bool,
) -> Any:  # fmt: skip
    if any(gradients) or label_smoothing != 0:
        return NotImplemented
    loss = _chunked_loss(x, linear, target, bias, weight, reduction, ignore_index)
    return loss, x.new_empty((0, 0)), x.new_empty((0, 0)), x.new_empty((0,))


def linear_cross_entropy_of_each(
    x: Tensor, linear: Tensor, target: Tensor, bias: Tensor | None, weight: Tensor | None, ignore_index: int, chunk: int, policy: str,
    dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    return _chunked_loss(x, linear, target, bias, weight, "none", ignore_index)


def convert_element_type(x: Tensor, dtype: torch.dtype) -> Tensor:
    """What references of PyTorch's own decompositions (renorm of f16) end in."""
    return x.to(dtype)


def _of_torch_nn() -> dict[Any, Callable[..., Any]]:
    """Operators that a module of PyTorch registers itself."""
    try:
        import torch.nn.modules.linear_cross_entropy  # noqa: F401
    except ImportError:  # this PyTorch has none
        return {}
    ops = torch.ops.torch_nn
    return {
        ops._linear_cross_entropy_batch_chunked.default: linear_cross_entropy,
        ops._linear_cross_entropy_batch_chunked_no_reduction.default: linear_cross_entropy_of_each,
    }


def _own() -> dict[Any, Callable[..., Any]]:
    aten = torch.ops.aten
    return {
        aten.frexp.Tensor: frexp,
        aten.gcd.default: gcd,
        aten.lcm.default: lcm,
        aten.nonzero_static.default: nonzero_static,
        aten.repeat_interleave.Tensor: repeat_interleave,
        aten.resize.default: resize,
        aten.segment_reduce.default: segment_reduce,
        aten.index_reduce.default: index_reduce,
        aten.put.default: put,
        aten.angle.default: angle,
        aten.nextafter.default: nextafter,
        aten.logcumsumexp.default: logcumsumexp,
        aten._trilinear.default: trilinear,
        aten.as_strided_scatter.default: as_strided_scatter,
        aten.diagonal_scatter.default: diagonal_scatter,
        aten.hash_tensor.default: hash_tensor,
        torch.ops.prims.convert_element_type.default: convert_element_type,
        **_of_torch_nn(),
        **_torch_order.table(),
        **_torch_special.table(),
        **_torch_polynomials.table(),
        **_torch_linalg.table(),
        **_torch_eigen.table(),
        **_torch_fft.table(),
        **_torch_experts.table(),
    }


@functools.cache
def table(kept: frozenset[str]) -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator, without those of operators in `kept`."""
    # torch.export's own go first: they keep what core ATen has.
    default: Any = torch.export.default_decompositions()
    further = {op: f for op, f in global_decomposition_table["post_autograd"].items() if isinstance(op, torch._ops.OpOverload)}
    every = {**further, **dict(default.items()), **_own()}
    return {op: function for op, function in every.items() if str(op) not in kept}
