"""Decompositions of Fourier transforms whose results are real, into products with matrices of cosines and sines.

There are no complex elements in Mote: those of complex results are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

_MOST = 2048  # points of a transform


def _fit(x: Tensor, dim: int, n: int) -> Tensor:
    """Cut, or filled with zeros behind."""
    have = x.shape[dim]
    if have >= n:
        return x.narrow(dim, 0, n)
    shape = list(x.shape)
    shape[dim] = n - have
    return torch.cat([x, x.new_zeros(shape)], dim)


def _angles(rows: int, columns: int, n: int) -> Tensor:
    # The product is reduced before it is scaled, so that large ones lose nothing.
    product = torch.arange(rows).unsqueeze(1) * torch.arange(columns).unsqueeze(0)
    return torch.remainder(product, n).to(torch.float64) * (2 * math.pi / n)


def _along(x: Tensor, dim: int, matrix: Tensor) -> Tensor:
    return (x.movedim(dim, -1) @ matrix).movedim(-1, dim)


def _complex(re: Tensor, im: Tensor, dim: int, sign: int) -> tuple[Tensor, Tensor]:
    n = re.shape[dim]
    angles = _angles(n, n, n)
    c, s = torch.cos(angles), sign * torch.sin(angles)
    return _along(re, dim, c) - _along(im, dim, s), _along(re, dim, s) + _along(im, dim, c)


def _to_real(re: Tensor, im: Tensor, dim: int, n: int, sign: int) -> Tensor:
    """Of the half that is there; the other half is its conjugate."""
    half = n // 2 + 1
    angles = _angles(half, n, n)
    weight = torch.full((half, 1), 2.0, dtype=torch.float64)
    place = torch.arange(half).unsqueeze(1)
    weight = torch.where((place == 0) | (2 * place == n), torch.ones_like(weight), weight)
    return _along(re, dim, weight * torch.cos(angles)) - sign * _along(im, dim, weight * torch.sin(angles))


def _scale(norm: str | None, forward: bool, count: int) -> float:
    whole = (norm or "backward") == ("forward" if forward else "backward")
    return 1 / count if whole else 1 / math.sqrt(count) if norm == "ortho" else 1.0


def _transform(x: Tensor, sizes: Sequence[int | None] | None, dims: Sequence[int] | None, norm: str | None, forward: bool) -> Any:
    """irfftn, or hfftn (forward)."""
    if x.is_complex():
        return NotImplemented
    dims = [dims] if isinstance(dims, int) else dims
    sizes = [sizes] if isinstance(sizes, int) else sizes
    if dims is None:
        dims = list(range(-len(sizes), 0)) if sizes is not None else list(range(x.dim()))
    dims = [d % x.dim() for d in dims]
    given = list(sizes) if sizes is not None else [None] * len(dims)
    lengths = [x.shape[d] if n is None or n == -1 else n for d, n in zip(dims, given)]
    if given[-1] is None or given[-1] == -1:
        lengths[-1] = 2 * (x.shape[dims[-1]] - 1)
    if any(not isinstance(n, int) or n > _MOST for n in lengths):
        return NotImplemented
    result = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    re = x.to(torch.float64)
    for d, n in zip(dims[:-1], lengths[:-1]):
        re = _fit(re, d, n)
    re = _fit(re, dims[-1], lengths[-1] // 2 + 1)
    im, sign = torch.zeros_like(re), -1 if forward else 1
    for d in dims[:-1]:
        re, im = _complex(re, im, d, sign)
    y = _to_real(re, im, dims[-1], lengths[-1], sign)
    return (y * _scale(norm, forward, math.prod(lengths))).to(result)


def _single(forward: bool) -> Callable[..., Any]:
    def run(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return _transform(x, [n], [dim], norm, forward)

    return run


def _several(forward: bool, default: list[int] | None) -> Callable[..., Any]:
    def run(x: Tensor, s: Sequence[int] | None = None, dim: Sequence[int] | None = default, norm: str | None = None) -> Any:
        return _transform(x, s, dim, norm, forward)

    return run


def stft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Any:  # fmt: skip
    """Of real signals, with real and imaginary parts along the last axis."""
    if x.is_complex() or return_complex or align_to_window or n_fft > _MOST or (window is not None and window.is_complex()):
        return NotImplemented
    length = n_fft if win_length is None else win_length
    shape = torch.full((length,), 1.0, dtype=torch.float64) if window is None else window.to(torch.float64)
    left = (n_fft - length) // 2
    shape = torch.cat([shape.new_zeros((left,)), shape, shape.new_zeros((n_fft - length - left,))])
    frames = x.to(torch.float64).unfold(-1, n_fft, n_fft // 4 if hop_length is None else hop_length) * shape
    angles = _angles(n_fft, n_fft // 2 + 1 if onesided is not False else n_fft, n_fft)
    parts = torch.stack([frames @ torch.cos(angles), -(frames @ torch.sin(angles))], -1).transpose(-3, -2)
    return (parts / math.sqrt(n_fft) if normalized else parts).to(x.dtype)


def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator."""
    aten = torch.ops.aten
    return {
        aten.stft.default: stft,
        aten.fft_irfft.default: _single(False),
        aten.fft_hfft.default: _single(True),
        aten.fft_irfft2.default: _several(False, [-2, -1]),
        aten.fft_hfft2.default: _several(True, [-2, -1]),
        aten.fft_irfftn.default: _several(False, None),
        aten.fft_hfftn.default: _several(True, None),
    }
