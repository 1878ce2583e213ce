"""Decompositions of orthogonal polynomials, of a degree that is an operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._torch_special import by_overload, in_double, not_a_number

_MOST_DEGREE = 32  # of those without a closed form; above it the result is not a number


def _chebyshev(kind: str, x: Tensor, n: Tensor) -> Tensor:
    n = torch.trunc(n)
    inside = torch.acos(x.clamp(-1, 1))
    outside = torch.acosh(x.abs().clamp(min=1))
    sign = torch.where((x < 0) & (torch.remainder(n, 2) == 1), -torch.ones_like(x + n), torch.ones_like(x + n))
    one = torch.ones_like(x + n)

    def ratio(top: Tensor, bottom: Tensor, limit: Tensor) -> Tensor:
        return torch.where(bottom.abs() < 1e-12, limit, top / torch.where(bottom.abs() < 1e-12, torch.ones_like(bottom), bottom))

    if kind == "t":
        near, far = torch.cos(n * inside), sign * torch.cosh(n * outside)
    elif kind == "u":
        near = ratio(torch.sin((n + 1) * inside), torch.sin(inside), sign * (n + 1))
        far = sign * ratio(torch.sinh((n + 1) * outside), torch.sinh(outside), n + 1)
    else:
        # V is cos((n + 1/2) a) / cos(a / 2), W the same of sines; V(-x) = +-W(x).
        first = (x < 0) != (kind == "w")
        near_v = ratio(torch.cos((n + 0.5) * inside), torch.cos(inside / 2), sign * (2 * n + 1))
        near_w = ratio(torch.sin((n + 0.5) * inside), torch.sin(inside / 2), 2 * n + 1)
        far_v = ratio(torch.cosh((n + 0.5) * outside), torch.cosh(outside / 2), one)
        far_w = ratio(torch.sinh((n + 0.5) * outside), torch.sinh(outside / 2), 2 * n + 1)
        near = near_v if kind == "v" else near_w
        far = sign * torch.where(first, far_w, far_v)
    y = torch.where(x.abs() <= 1, near, far)
    return torch.where(n < 0, torch.zeros_like(y), y)


_Step = Callable[[int, Tensor, Tensor, Tensor], Tensor]


def _by_recurrence(first: Callable[[Tensor], Tensor], step: _Step, x: Tensor, n: Tensor) -> Tensor:
    n = torch.trunc(n)
    x, n = torch.broadcast_tensors(x, n)  # type: ignore[no-untyped-call]
    before, now = torch.ones_like(x), first(x)
    y = torch.where(n == 0, before, torch.where(n == 1, now, torch.where(n < 0, torch.zeros_like(x), not_a_number(x))))
    for k in range(1, _MOST_DEGREE):
        before, now = now, step(k, x, now, before)
        y = torch.where(n == k + 1, now, y)
    return y


def chebyshev(kind: str, shifted: bool) -> Callable[..., Tensor]:
    return in_double(lambda x, n: _chebyshev(kind, 2 * x - 1 if shifted else x, n))


hermite_h = in_double(lambda x, n: _by_recurrence(lambda v: 2 * v, lambda k, v, p, q: 2 * v * p - 2 * k * q, x, n))
hermite_he = in_double(lambda x, n: _by_recurrence(lambda v: v, lambda k, v, p, q: v * p - k * q, x, n))
laguerre = in_double(lambda x, n: _by_recurrence(lambda v: 1 - v, lambda k, v, p, q: ((2 * k + 1 - v) * p - k * q) / (k + 1), x, n))
legendre = in_double(lambda x, n: _by_recurrence(lambda v: v, lambda k, v, p, q: ((2 * k + 1) * v * p - k * q) / (k + 1), x, n))


def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator."""
    named = {"special_hermite_polynomial_h": hermite_h, "special_hermite_polynomial_he": hermite_he,
             "special_laguerre_polynomial_l": laguerre, "special_legendre_polynomial_p": legendre}  # fmt: skip
    for kind in "tuvw":
        named[f"special_chebyshev_polynomial_{kind}"] = chebyshev(kind, False)
        named[f"special_shifted_chebyshev_polynomial_{kind}"] = chebyshev(kind, True)
    return by_overload(named)
