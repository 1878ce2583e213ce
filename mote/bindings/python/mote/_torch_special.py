"""Decompositions of torch's special functions into elementary ones.

Everything is computed in f64 and rounded once, so that series and quadratures of a fixed length serve narrower types to their last bits.
Integrals over a period use equidistant points, those to infinity the substitution t = exp(u - exp(-u)) (double exponential): both converge
exponentially, and take one more axis instead of a loop.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_EULER = 0.57721566490153286061
_TO_BELOW_INFINITY = 1e-300  # keeps logarithms finite where another branch is taken


def _result_type(*operands: Any) -> torch.dtype:
    found = torch.result_type(*operands) if len(operands) == 2 else operands[0].dtype
    return found if found.is_floating_point else torch.get_default_dtype()


def in_double(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function of one or two operands, tensors or numbers, in f64, with the result in the type torch gives it."""

    @functools.wraps(function)
    def run(*operands: Any, **_: Any) -> Tensor:
        wide = [o.to(torch.float64) if isinstance(o, Tensor) else torch.full((), float(o), dtype=torch.float64) for o in operands]
        return function(*wide).to(_result_type(*operands))

    return run


def not_a_number(x: Tensor) -> Tensor:
    return torch.full_like(x, math.nan)


def _inf(x: Tensor) -> Tensor:
    return torch.full_like(x, math.inf)


def _horner(x: Tensor, terms: list[float]) -> Tensor:
    """terms[0] + terms[1] x + terms[2] x^2 ..."""
    y = torch.full_like(x, terms[-1])
    for term in reversed(terms[:-1]):
        y = y * x + term
    return y


def _period(count: int) -> Tensor:
    """The angles of `count` points around a circle."""
    return torch.arange(count, dtype=torch.float64) * (2 * math.pi / count)


def _to_infinity(function: Callable[[Tensor], Tensor], low: float = -4.5, high: float = 5.0, count: int = 192) -> Tensor:
    """The integral from 0 to infinity over the last axis of what the function gives for points of that axis."""
    step = (high - low) / (count - 1)
    u = torch.arange(count, dtype=torch.float64) * step + low
    t = torch.exp(u - torch.exp(-u))
    return (function(t) * (t * (1 + torch.exp(-u)) * step)).sum(-1)


# --- gamma ---

_LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
            -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7]


def _log_gamma_right(x: Tensor) -> Tensor:
    """For x >= 0.5, by Lanczos with g = 7."""
    x = x - 1
    total = torch.full_like(x, _LANCZOS[0])
    for k, c in enumerate(_LANCZOS[1:], 1):
        total = total + c / (x + k)
    t = x + 7.5
    return 0.5 * math.log(2 * math.pi) + (x + 0.5) * torch.log(t) - t + torch.log(total)


def _log_gamma(x: Tensor) -> Tensor:
    right = _log_gamma_right(torch.where(x < 0.5, 1 - x, x).clamp(max=1e306))
    # The sine of the distance to the nearest integer: that distance is exact.
    sine = torch.sin(math.pi * (x - torch.round(x))).abs()
    left = math.log(math.pi) - torch.log(sine.clamp(min=_TO_BELOW_INFINITY)) - right
    y = torch.where(x < 0.5, left, right)
    pole = (x <= 0) & (torch.floor(x) == x)
    return torch.where(pole | torch.isinf(x), _inf(x), torch.where(torch.isnan(x), x, y))


lgamma = in_double(_log_gamma)


def mvlgamma(x: Tensor, p: int) -> Tensor:
    wide = x.to(torch.float64)
    total = torch.full_like(wide, p * (p - 1) / 4 * math.log(math.pi))
    for k in range(p):
        total = total + _log_gamma(wide - k / 2)
    return total.to(_result_type(x))


def _digamma(x: Tensor) -> Tensor:
    reflected = x < 0
    y = torch.where(reflected, 1 - x, x)
    shift = torch.zeros_like(y)
    for k in range(8):
        shift = shift + 1 / (y + k)
    big = y + 8
    inverse = 1 / (big * big)
    series = _horner(inverse, [-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12]) * inverse
    right = torch.log(big) - 0.5 / big + series - shift
    part = x - torch.round(x)
    y = torch.where(reflected, right - math.pi / torch.tan(math.pi * part), right)
    y = torch.where((x < 0) & (torch.floor(x) == x), not_a_number(x), y)
    y = torch.where(x == 0, torch.copysign(_inf(x), -x), y)
    return torch.where(x == math.inf, x, torch.where(x == -math.inf, not_a_number(x), y))


digamma = in_double(_digamma)


def _zeta(s: Tensor, q: Tensor) -> Tensor:
    """Hurwitz' zeta function, by Euler and Maclaurin."""
    terms = 24
    total = torch.zeros_like(s + q)
    for k in range(terms):
        total = total + torch.pow(q + k, -s)
    w = q + terms
    power = torch.pow(w, -s)
    total = total + power * w / (s - 1) + 0.5 * power
    # B(2k) / (2k)! times s (s + 1) ... (s + 2k - 2) w^(-s - 2k + 1)
    factor = s * power / w
    for k, b in enumerate([1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000]):
        total = total + b * factor
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (w * w)
    whole_q, whole_s = torch.floor(q) == q, torch.floor(s) == s
    total = torch.where((q <= 0) & ~whole_q & ~whole_s, not_a_number(total), total)
    total = torch.where((q <= 0) & whole_q, _inf(total), total)
    return torch.where(s == 1, _inf(total), torch.where(s < 1, not_a_number(total), total))


zeta = in_double(_zeta)


def polygamma(n: int, x: Tensor) -> Tensor:
    if n == 0:
        return digamma(x)
    wide = x.to(torch.float64)
    if n == 1:
        # By reflection to the left of 0.5; the sine as eager has it, whose rounding decides what poles give.
        left = wide < 0.5
        given = x.to(_result_type(x))
        given = given if given.dtype == torch.float64 else given.to(torch.float32)
        sine = torch.sin(given * math.pi).to(torch.float64)
        right = _zeta(torch.full_like(wide, 2.0), torch.where(left, 1 - wide, wide))
        y = torch.where(left, (math.pi / sine) ** 2 - right, right)
    else:
        y = (-1.0) ** (n + 1) * math.factorial(n) * _zeta(torch.full_like(wide, n + 1.0), wide)
    return y.to(_result_type(x))


def _gamma_parts(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The regularised incomplete gamma functions, lower by its series and upper by quadrature, each where it is the smaller one."""
    safe_a, safe_x = a.clamp(min=1e-30), x.clamp(min=1e-30)
    front = torch.exp(safe_a * torch.log(safe_x) - safe_x - _log_gamma(safe_a))
    below = x <= a + 1
    steps = torch.arange(1, 201, dtype=torch.float64)
    small_x = torch.where(below, safe_x, safe_a)
    ratios = small_x.unsqueeze(-1) / (safe_a.unsqueeze(-1) + steps)
    lower = front / safe_a * (1 + torch.cumprod(ratios, -1).sum(-1))
    big_x = torch.where(below, safe_a + 1, safe_x).unsqueeze(-1)
    power = (safe_a - 1).unsqueeze(-1)
    upper = front / safe_x * _to_infinity(lambda t: torch.exp(power * torch.log1p(t / big_x) - t))
    lower, upper = torch.where(below, lower, 1 - upper), torch.where(below, 1 - lower, upper)
    odd = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | torch.isnan(a + x)
    return _edge(a, x, lower, 0.0, odd), _edge(a, x, upper, 1.0, odd)


def _edge(a: Tensor, x: Tensor, y: Tensor, at_zero: float, odd: Tensor) -> Tensor:
    y = torch.where(x == 0, torch.full_like(y, at_zero), y)
    y = torch.where((a == 0) | torch.isinf(x), torch.full_like(y, 1 - at_zero), y)
    return torch.where(odd, not_a_number(y), y)


igamma = in_double(lambda a, x: _gamma_parts(*torch.broadcast_tensors(a, x))[0])  # type: ignore[no-untyped-call]
igammac = in_double(lambda a, x: _gamma_parts(*torch.broadcast_tensors(a, x))[1])  # type: ignore[no-untyped-call]


# --- error function ---


def _erfcx(x: Tensor) -> Tensor:
    """exp(x^2) erfc(x)."""
    size = x.abs()
    near = size.clamp(max=2.0)
    small = torch.exp(near * near) * (1 - torch.erf(near))
    far = size.clamp(min=2.0)
    fraction = far
    for k in range(60, 0, -1):  # the continued fraction, from its end
        fraction = far + (k / 2) / fraction
    right = torch.where(size < 2, small, 1 / (math.sqrt(math.pi) * fraction))
    return torch.where(x < 0, 2 * torch.exp(x * x) - right, torch.where(torch.isnan(x), x, right))


erfcx = in_double(_erfcx)


def _erfinv(x: Tensor) -> Tensor:
    inside = x.clamp(-1 + 1e-16, 1 - 1e-16)
    w = torch.log1p(-inside * inside)
    t = 2 / (math.pi * 0.147) + w / 2
    y = torch.copysign(torch.sqrt((torch.sqrt(t * t - w / 0.147) - t).clamp(min=0.0)), x)
    for _ in range(3):  # Halley's method
        error = (torch.erf(y) - inside) / (2 / math.sqrt(math.pi) * torch.exp(-y * y))
        y = y - error / (1 + y * error)
    y = torch.where(x.abs() == 1, torch.copysign(_inf(x), x), y)
    return torch.where((x.abs() > 1) | torch.isnan(x), not_a_number(x), y)


erfinv = in_double(_erfinv)


def _log_ndtr(x: Tensor) -> Tensor:
    t = x / math.sqrt(2)
    left = torch.log(_erfcx(-t.clamp(max=0.0)) / 2) - t * t
    return torch.where(x < -1, left, torch.log1p(-0.5 * (1 - torch.erf(t.clamp(min=-1.0)))))


log_ndtr = in_double(_log_ndtr)
ndtri = in_double(lambda x: math.sqrt(2) * _erfinv(2 * x - 1))


# --- Bessel functions ---

_FAR = 25.0  # from here on by Hankel's expansions, before by quadrature


def _hankel(order: float, x: Tensor) -> list[Tensor]:
    """The terms a(k) / x^k of the expansions for large x."""
    terms = [torch.ones_like(x)]
    for k in range(1, 13):
        terms.append(terms[-1] * ((4 * order * order - (2 * k - 1) ** 2) / (8 * k)) / x)
    return terms


def _waves(order: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """J and Y for large x."""
    a = _hankel(order, x)
    p, q = torch.zeros_like(x), torch.zeros_like(x)
    for k, term in enumerate(a):
        sign = (-1) ** (k // 2)
        p, q = (p + sign * term, q) if k % 2 == 0 else (p, q + sign * term)
    angle = x - (order / 2 + 0.25) * math.pi
    scale = torch.sqrt(2 / (math.pi * x))
    sine, cosine = torch.sin(angle), torch.cos(angle)
    return scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)


def _bessel_j(order: int, x: Tensor) -> Tensor:
    size = x.abs()
    angle = _period(96)
    near = torch.cos(order * angle - size.clamp(max=_FAR).unsqueeze(-1) * torch.sin(angle)).mean(-1)
    y = torch.where(size <= _FAR, near, _waves(order, size.clamp(min=_FAR))[0])
    y = torch.where(torch.isinf(x), torch.zeros_like(y), y)
    return torch.where(x < 0, -y, y) if order % 2 else y


def _bessel_y(order: int, x: Tensor) -> Tensor:
    """By Schlaefli's integrals, the one over 0 to pi by the substitution tanh(sinh)."""
    near = x.clamp(1e-300, _FAR).unsqueeze(-1)

    def first() -> Tensor:
        step = 7.0 / 256
        u = (torch.arange(257, dtype=torch.float64) - 128) * step
        inner = math.pi / 2 * torch.sinh(u)
        theta = math.pi / 2 * (1 + torch.tanh(inner))
        weight = math.pi / 2 * (math.pi / 2 * torch.cosh(u)) / torch.cosh(inner) ** 2 * step
        return (torch.sin(near * torch.sin(theta) - order * theta) * weight).sum(-1)

    def second(t: Tensor) -> Tensor:
        # e^(nt) + (-1)^n e^(-nt), with the exponents together so that neither overflows
        fall = near * torch.sinh(t.clamp(max=700.0))
        return torch.exp(order * t - fall) + (-1) ** order * torch.exp(-order * t - fall)  # type: ignore[no-any-return]

    inside = (first() - _to_infinity(second, -4.5, 7.0, 448)) / math.pi
    y = torch.where(x <= _FAR, inside, _waves(order, x.clamp(min=_FAR))[1])
    y = torch.where(x == 0, -_inf(x), torch.where(x < 0, not_a_number(x), y))
    return torch.where(x == math.inf, torch.zeros_like(y), y)


def _scaled_i(order: int, x: Tensor) -> Tensor:
    """exp(-|x|) I(x)."""
    size = x.abs()
    angle = _period(96)
    near = (torch.exp(size.clamp(max=_FAR).unsqueeze(-1) * (torch.cos(angle) - 1)) * torch.cos(order * angle)).mean(-1)
    far = size.clamp(min=_FAR)
    total = torch.zeros_like(far)
    for k, term in enumerate(_hankel(order, far)):
        total = total + (-1) ** k * term
    y = torch.where(size <= _FAR, near, total / torch.sqrt(2 * math.pi * far))
    return torch.where(x < 0, -y, y) if order % 2 else y


def _scaled_k(order: int, x: Tensor) -> Tensor:
    """exp(x) K(x): the integral of exp(-x (cosh t - 1)) cosh(n t)."""
    safe = x.clamp(min=1e-300)
    # Equidistant in t up to where x cosh t is 80, by a scale of its own for each x.
    most = torch.log(160 / safe.clamp(max=80.0) + 2) + 1
    t = torch.arange(257, dtype=torch.float64) / 256
    t = t * most.unsqueeze(-1)
    half = torch.sinh(t / 2)
    values = torch.exp(-2 * safe.unsqueeze(-1) * half * half) * torch.cosh(order * t)
    y = (values.sum(-1) - values[..., 0] / 2) * (most / 256)
    far = safe.clamp(min=_FAR)
    total = torch.zeros_like(far)
    for term in _hankel(order, far):
        total = total + term
    y = torch.where(x <= _FAR, y, total * torch.sqrt(math.pi / (2 * far)))
    return torch.where(x == 0, _inf(x), torch.where(x < 0, not_a_number(x), y))


def _spherical_j0(x: Tensor) -> Tensor:
    y = torch.sin(x) / torch.where(x == 0, torch.ones_like(x), x)
    y = torch.where(x == 0, torch.ones_like(x), y)
    return torch.where(torch.isinf(x), torch.zeros_like(x), y)


_AIRY_FAR = 9.0


def _airy(x: Tensor) -> Tensor:
    """By its integral along the ray exp(i pi / 6), where nothing oscillates faster than it falls; far out by expansions."""
    near = x.clamp(-_AIRY_FAR, _AIRY_FAR).unsqueeze(-1)
    turn = math.sqrt(3) / 2
    inside = _to_infinity(lambda t: torch.exp(-t * t * t / 3 - near * t / 2) * torch.cos(turn * near * t + math.pi / 6), -4.5, 4.0)
    inside = inside / math.pi
    size = x.abs().clamp(min=_AIRY_FAR)
    zeta_ = 2 / 3 * size * torch.sqrt(size)
    terms = [torch.ones_like(x)]
    for k in range(1, 10):
        terms.append(terms[-1] * ((6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1))) / zeta_)
    root = torch.sqrt(math.pi * torch.sqrt(size))
    falling, p, q = torch.zeros_like(x), torch.zeros_like(x), torch.zeros_like(x)
    for k, term in enumerate(terms):
        falling = falling + (-1) ** k * term
        sign = (-1) ** (k // 2)
        p, q = (p + sign * term, q) if k % 2 == 0 else (p, q + sign * term)
    right = torch.exp(-zeta_) / (2 * root) * falling
    left = (torch.sin(zeta_ + math.pi / 4) * p - torch.cos(zeta_ + math.pi / 4) * q) / root
    y = torch.where(x > _AIRY_FAR, right, torch.where(x < -_AIRY_FAR, left, inside))
    return torch.where(torch.isinf(x), not_a_number(x), y)


bessel_j0 = in_double(lambda x: _bessel_j(0, x))
bessel_j1 = in_double(lambda x: _bessel_j(1, x))
bessel_y0 = in_double(lambda x: _bessel_y(0, x))
bessel_y1 = in_double(lambda x: _bessel_y(1, x))
i0 = in_double(lambda x: _scaled_i(0, x) * torch.exp(x.abs()))
i0e = in_double(lambda x: _scaled_i(0, x))
i1 = in_double(lambda x: _scaled_i(1, x) * torch.exp(x.abs()))
i1e = in_double(lambda x: _scaled_i(1, x))
k0 = in_double(lambda x: _scaled_k(0, x) * torch.exp(-x))
k0e = in_double(lambda x: _scaled_k(0, x))
k1 = in_double(lambda x: _scaled_k(1, x) * torch.exp(-x))
k1e = in_double(lambda x: _scaled_k(1, x))
spherical_j0 = in_double(_spherical_j0)
airy = in_double(_airy)


def by_overload(named: dict[str, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Functions of tensors and numbers, for each form of the operator of that name."""
    aten, found = torch.ops.aten, {}
    for name, function in named.items():
        packet = getattr(aten, name)
        for overload in packet.overloads():
            if overload in ("default", "other_scalar", "x_scalar", "n_scalar", "self_scalar"):
                found[getattr(packet, overload)] = function
    return found


def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator."""
    named: dict[str, Callable[..., Any]] = {
        "lgamma": lgamma, "digamma": digamma, "erfinv": erfinv, "i0": i0, "igamma": igamma, "igammac": igammac, "special_airy_ai": airy,
        "special_bessel_j0": bessel_j0, "special_bessel_j1": bessel_j1, "special_bessel_y0": bessel_y0, "special_bessel_y1": bessel_y1,
        "special_erfcx": erfcx, "special_i0e": i0e, "special_i1": i1, "special_i1e": i1e, "special_log_ndtr": log_ndtr,
        "special_modified_bessel_i0": i0, "special_modified_bessel_i1": i1, "special_modified_bessel_k0": k0,
        "special_modified_bessel_k1": k1, "special_ndtri": ndtri, "special_scaled_modified_bessel_k0": k0e,
        "special_scaled_modified_bessel_k1": k1e, "special_spherical_bessel_j0": spherical_j0, "special_zeta": zeta,
        "mvlgamma": mvlgamma, "polygamma": polygamma,
    }  # fmt: skip
    return by_overload(named)
