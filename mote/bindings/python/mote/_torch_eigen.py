"""Decompositions of linear algebra by orthogonal matrices: QR, eigenvalues, singular values; and the exponential of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._torch_linalg import MOST, diagonal_of, identity, in_double, of_small_matrices, transposed

MOST_EIGEN = 24  # sides of a symmetric matrix whose eigenvalues are found
_SWEEPS = 8


# --- QR ---


def _reflections(a: Tensor) -> tuple[Tensor, Tensor]:
    """As LAPACK's geqrf: R above, the vectors (whose first element is 1) below the diagonal; and their factors."""
    m, n = a.shape[-2:]
    factors = []
    for k in range(min(m, n)):
        head, tail = a[..., k, k], a[..., k + 1 :, k]
        length = torch.sqrt(head * head + (tail * tail).sum(-1))
        none = (tail * tail).sum(-1) == 0  # nothing to reflect
        beta = torch.where(none, head, torch.where(head < 0, length, -length))
        tau = torch.where(none, torch.zeros_like(head), (beta - head) / torch.where(beta == 0, torch.ones_like(beta), beta))
        down = tail / torch.where(none, torch.ones_like(head), head - beta).unsqueeze(-1)
        v = torch.cat([torch.ones_like(head).unsqueeze(-1), down], -1).unsqueeze(-1)
        rest = a[..., k:, k + 1 :]
        rest = rest - tau[..., None, None] * v * (transposed(v) @ rest)
        left = torch.cat([a[..., :k, k], beta.unsqueeze(-1), down], -1).unsqueeze(-1)
        a = torch.cat([a[..., :, :k], left, torch.cat([a[..., :k, k + 1 :], rest], -2)], -1)
        factors.append(tau)
    return a, torch.stack(factors, -1) if factors else a.new_zeros((*a.shape[:-2], 0))


def _apply(vectors: Tensor, factors: Tensor, b: Tensor, backwards: bool) -> Tensor:
    """H1 H2 ... b, or its transpose."""
    m = vectors.shape[-2]
    places = range(factors.shape[-1])
    for k in places if backwards else reversed(places):
        zero = vectors.new_zeros((*vectors.shape[:-2], k, 1))
        one = vectors.new_ones((*vectors.shape[:-2], 1, 1))
        v = torch.cat([zero, one, vectors[..., k + 1 : m, k : k + 1]], -2)
        b = b - factors[..., k, None, None] * v * (transposed(v) @ b)
    return b


@of_small_matrices
def geqrf(a: Tensor) -> Any:
    vectors, factors = _reflections(in_double(a))
    return vectors.to(a.dtype), factors.to(a.dtype)


@of_small_matrices
def householder_product(vectors: Tensor, factors: Tensor) -> Tensor:
    m, n = vectors.shape[-2:]
    x = in_double(vectors)
    return _apply(x, in_double(factors), identity(m, x, n), False).to(vectors.dtype)


@of_small_matrices
def ormqr(vectors: Tensor, factors: Tensor, b: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    x, t, y = in_double(vectors), in_double(factors), in_double(b)
    z = _apply(x, t, y, transpose) if left else transposed(_apply(x, t, transposed(y), not transpose))
    return z.to(b.dtype)


def _qr(a: Tensor, complete: bool) -> tuple[Tensor, Tensor]:
    m, n = a.shape[-2:]
    columns = m if complete else min(m, n)
    vectors, factors = _reflections(a)
    return _apply(vectors, factors, identity(m, a, columns), False), torch.triu(vectors[..., :columns, :])


@of_small_matrices
def linalg_qr(a: Tensor, mode: str = "reduced") -> Any:
    q, r = _qr(in_double(a), mode == "complete")
    return (a.new_zeros((0,)) if mode == "r" else q.to(a.dtype)), r.to(a.dtype)


# --- eigenvalues and singular values ---


def _partners(n: int, turn: int) -> list[int]:
    """Who meets whom in one round of a tournament of n (even) players."""
    out = []
    for i in range(n - 1):
        other = (2 * turn - i) % (n - 1)
        out.append(n - 1 if other == i else other)
    return [*out, turn % (n - 1)] if n > 1 else [0]


def _rotation(a: Tensor, partners: list[int]) -> Tensor:
    """The product of rotations of disjoint pairs, each of which makes its element of a symmetric matrix 0."""
    n = len(partners)
    other = torch.stack([torch.full((), p, dtype=torch.int64) for p in partners])
    first = torch.arange(n) < other
    hit = (other.unsqueeze(-1) == torch.arange(n)).to(a.dtype)  # one in each row
    d = diagonal_of(a)
    cross = (a * hit).sum(-1)
    partner = (hit @ d.unsqueeze(-1)).squeeze(-1)
    gap = torch.where(first, partner - d, d - partner)
    safe = torch.where(cross == 0, torch.ones_like(cross), cross)
    tau = gap / (2 * safe)
    t = torch.where(tau < 0, -torch.ones_like(tau), torch.ones_like(tau)) / (tau.abs() + torch.sqrt(1 + tau * tau))
    t = torch.where(cross == 0, torch.zeros_like(t), t)
    c = 1 / torch.sqrt(1 + t * t)
    s = torch.where(first, t * c, -t * c)
    return torch.diag_embed(c) + hit * s.unsqueeze(-1)


def _jacobi(a: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and vectors of symmetric matrices, ascending."""
    n = a.shape[-1]
    v = identity(n, a)
    padded = n + n % 2
    for sweep in range(_SWEEPS + (2 if n > 12 else 0)):
        del sweep
        for turn in range(padded - 1 if n > 1 else 0):
            partners = _partners(padded, turn)[:n]
            partners = [i if p >= n else p for i, p in enumerate(partners)]  # who meets nobody
            r = _rotation_of(a, partners)
            a = transposed(r) @ a @ r
            v = v @ r
    values, order = torch.sort(diagonal_of(a), -1)
    return values, torch.gather(v, -1, order.unsqueeze(-2).expand(v.shape))


def _rotation_of(a: Tensor, partners: list[int]) -> Tensor:
    alone = [i for i, p in enumerate(partners) if p == i]
    r = _rotation(a, partners)
    if not alone:
        return r
    keep = torch.stack([torch.full((), float(i in alone), dtype=a.dtype) for i in range(len(partners))])
    return torch.where(torch.diag(keep) + torch.zeros_like(r) == 1, torch.ones_like(r), torch.where(keep == 1, torch.zeros_like(r), r))


@of_small_matrices
def eigh(a: Tensor, uplo: str = "L", compute_v: bool = True) -> Any:
    if a.shape[-1] > MOST_EIGEN:
        return NotImplemented
    x = in_double(a)
    lower = torch.tril(x) if uplo.upper() == "L" else transposed(torch.triu(x))
    values, vectors = _jacobi(lower + transposed(torch.tril(lower, -1)))
    return values.to(a.dtype), vectors.to(a.dtype) if compute_v else a.new_zeros((0,))


@of_small_matrices
def svd(a: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None) -> Any:
    """By the eigenvectors of a' a, in f64 beside which the square does no harm; U from the columns of a v, which are orthogonal."""
    m, n = a.shape[-2:]
    if min(m, n) > MOST_EIGEN or (compute_uv and full_matrices and max(m, n) > MOST):
        return NotImplemented
    x = in_double(a) if m >= n else transposed(in_double(a))
    _, vectors = _jacobi(transposed(x) @ x)
    vectors = vectors.flip(-1)
    columns = x @ vectors
    values = torch.sqrt((columns * columns).sum(-2))
    if not compute_uv:
        none = a.new_zeros((0,))
        return none, values.to(a.dtype), none
    q, r = _qr(columns, full_matrices)
    sign = torch.where(diagonal_of(r) < 0, -torch.ones_like(values), torch.ones_like(values))
    ones = sign.new_ones((*sign.shape[:-1], q.shape[-1] - sign.shape[-1]))
    q = q * torch.cat([sign, ones], -1).unsqueeze(-2)
    u, v = (q, vectors) if m >= n else (vectors, q)
    return u.to(a.dtype), values.to(a.dtype), transposed(v).to(a.dtype)


def _limit(value: Any, like: Tensor) -> Tensor:
    return torch.full((), 0.0, dtype=torch.float64) if value is None else in_double(torch.as_tensor(value))


@of_small_matrices
def pinv(a: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    m, n = a.shape[-2:]
    if a.numel() == 0:
        return a.new_zeros((*a.shape[:-2], n, m))
    if min(m, n) > MOST_EIGEN:
        return NotImplemented
    if rtol is None:
        default = torch.full((), torch.finfo(a.dtype).eps * max(m, n), dtype=torch.float64)
        rtol = default if atol is None else torch.where(_limit(atol, a) > 0, torch.zeros_like(default), default)
    if hermitian:
        x = torch.tril(in_double(a))
        values, v = _jacobi(x + transposed(torch.tril(x, -1)))
        u = v
    else:
        u, values, vh = svd(in_double(a))
        v = transposed(vh)
    size = values.abs()
    cut = torch.maximum(_limit(atol, a), _limit(rtol, a) * size.amax(-1))
    keep = size > cut.unsqueeze(-1)
    inverse = torch.where(keep, 1 / torch.where(keep, values, torch.ones_like(values)), torch.zeros_like(values))
    return ((v * inverse.unsqueeze(-2)) @ transposed(u)).to(a.dtype)


# --- others ---


@of_small_matrices
def matrix_exp(a: Tensor) -> Tensor:
    """Taylor's series of a / 2^s, squared s times; s follows from the norm when running, up to 12."""
    x = in_double(a)
    n = a.shape[-1]
    if n == 0:
        return a.clone()
    norm = x.abs().sum(-2).amax(-1)
    squares = torch.ceil(torch.log2(norm.clamp(min=1e-30))).clamp(0, 12)
    x = x / torch.exp2(squares)[..., None, None]
    one = identity(n, x)
    y = one
    for k in range(18, 0, -1):
        y = one + x @ y / k
    for k in range(12):
        y = torch.where((squares > k)[..., None, None], y @ y, y)
    return torch.where((norm > 2**12)[..., None, None], torch.full_like(y, float("nan")), y).to(a.dtype)


def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator."""
    aten = torch.ops.aten
    return {
        aten.geqrf.default: geqrf,
        aten.linalg_householder_product.default: householder_product,
        aten.ormqr.default: ormqr,
        aten.linalg_qr.default: linalg_qr,
        aten._linalg_eigh.default: eigh,
        aten._linalg_svd.default: svd,
        aten.linalg_pinv.atol_rtol_tensor: pinv,
        aten.linalg_matrix_exp.default: matrix_exp,
    }
