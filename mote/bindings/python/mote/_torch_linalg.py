"""Decompositions of linear algebra into products, sums and gathers, for matrices whose sides are known and small (MOST).

Each algorithm is the one LAPACK uses where the choice shows in the result (partial pivoting, in _torch_eigen the signs of Householder's
reflections), so that factors agree with eager. Loops over columns are unrolled; a larger matrix is left to be refused by name. Everything
is computed in f64.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

MOST = 64  # columns of an unrolled factorisation


def _side(matrix: Tensor) -> int | None:
    n = min(matrix.shape[-1], matrix.shape[-2])
    return n if isinstance(n, int) and n <= MOST else None


def of_small_matrices(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of real matrices of known, small sides; others are left alone."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        for a in args:
            if isinstance(a, Tensor) and (a.is_complex() or (a.dim() >= 2 and _side(a) is None)):
                return NotImplemented
        return function(*args, **kwargs)

    return run


def in_double(x: Tensor) -> Tensor:
    return x.to(torch.float64)


def transposed(x: Tensor) -> Tensor:
    return x.transpose(-1, -2)


def identity(n: int, like: Tensor, m: int | None = None) -> Tensor:
    e = torch.eye(n, n if m is None else m, dtype=like.dtype)
    return e.expand(*like.shape[:-2], *e.shape)


def _info(x: Tensor, wrong: Tensor | None = None) -> Tensor:
    zero = torch.zeros(x.shape[:-2], dtype=torch.int32)
    return zero if wrong is None else wrong.to(torch.int32)


def _set_column(a: Tensor, k: int, column: Tensor) -> Tensor:
    return torch.cat([a[..., :k], column.unsqueeze(-1), a[..., k + 1 :]], -1)


# --- triangles ---


def _solve_lower(a: Tensor, b: Tensor, unit: bool) -> Tensor:
    """Rows of x with tril(a) x = b, one by one."""
    rows: list[Tensor] = []
    for i in range(a.shape[-1]):
        row = b[..., i : i + 1, :]
        if rows:
            row = row - a[..., i : i + 1, :i] @ torch.cat(rows, -2)
        rows.append(row if unit else row / a[..., i : i + 1, i : i + 1])
    shape = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])  # type: ignore[no-untyped-call]
    return torch.cat(rows, -2) if rows else b.new_zeros((*shape, *b.shape[-2:]))


def _solve_triangle(a: Tensor, b: Tensor, upper: bool, unit: bool) -> Tensor:
    return _solve_lower(a.flip(-1, -2), b.flip(-2), unit).flip(-2) if upper else _solve_lower(a, b, unit)


@of_small_matrices
def solve_triangular(a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    x, y = in_double(a), in_double(b)
    if not left:
        return transposed(_solve_triangle(transposed(x), transposed(y), not upper, unitriangular)).to(b.dtype)
    return _solve_triangle(x, y, upper, unitriangular).to(b.dtype)


@of_small_matrices
def triangular_solve(b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    x = transposed(in_double(a)) if transpose else in_double(a)
    y = _solve_triangle(x, in_double(b), upper != transpose, unitriangular).to(b.dtype)
    return y, a.expand(*y.shape[:-2], *a.shape[-2:]).clone()


# --- Cholesky ---


def _cholesky(a: Tensor) -> Tensor:
    n = a.shape[-1]
    lower = a.new_zeros(a.shape)
    for k in range(n):
        done = lower[..., k:, :k]
        column = a[..., k:, k] - (done * done[..., :1, :]).sum(-1) if k > 0 else a[..., k:, k]
        column = column / torch.sqrt(column[..., :1])
        lower = _set_column(lower, k, torch.cat([a.new_zeros((*a.shape[:-2], k)), column], -1))
    return lower


@of_small_matrices
def cholesky_ex(a: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    x = in_double(a)
    lower = _cholesky(transposed(x) if upper else x)
    wrong = torch.isnan(torch.diagonal(lower, dim1=-2, dim2=-1)).any(-1) if a.shape[-1] > 0 else None
    return (transposed(lower) if upper else lower).to(a.dtype), _info(a, wrong)


@of_small_matrices
def cholesky(a: Tensor, upper: bool = False) -> Tensor:
    result: Tensor = cholesky_ex(a, upper=upper)[0]
    return result


@of_small_matrices
def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    lower = transposed(in_double(factor)) if upper else in_double(factor)
    return _solve_triangle(transposed(lower), _solve_triangle(lower, in_double(b), False, False), True, False).to(b.dtype)


@of_small_matrices
def cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    return cholesky_solve(identity(factor.shape[-1], factor), factor, upper)  # type: ignore[no-any-return]


# --- LU ---


def _swapped(rows: int, k: int, pivot: Tensor) -> Tensor:
    """The order of rows in which row k and row `pivot` changed places."""
    order, pivot = torch.arange(rows), pivot.unsqueeze(-1)
    return torch.where(order == k, pivot, torch.where(order == pivot, torch.full_like(pivot, k), order))


def _by_rows(x: Tensor, order: Tensor) -> Tensor:
    return torch.gather(x, -2, order.unsqueeze(-1).expand(x.shape))


def _lu(a: Tensor, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """Factors in one matrix, pivots from 0, and the order of the rows."""
    m, n = a.shape[-2:]
    order = torch.arange(m).expand(*a.shape[:-2], m)
    pivots = []
    for k in range(min(m, n)):
        if pivot:
            at = torch.argmax(a[..., k:, k].abs(), -1) + k
            swap = _swapped(m, k, at)
            a, order = _by_rows(a, swap), torch.gather(order, -1, swap)
        else:
            at = torch.full(a.shape[:-2], k)
        pivots.append(at)
        head = a[..., k : k + 1, k : k + 1]
        factor = torch.where(head == 0, torch.zeros_like(head), a[..., k + 1 :, k : k + 1] / head)
        rest = a[..., k + 1 :, k + 1 :] - factor * a[..., k : k + 1, k + 1 :]
        a = torch.cat([a[..., : k + 1, :], torch.cat([a[..., k + 1 :, :k], factor, rest], -1)], -2)
    found = torch.stack(pivots, -1) if pivots else torch.zeros((*a.shape[:-2], 0), dtype=torch.int64)
    return a, found, order


def _triangles(factors: Tensor) -> tuple[Tensor, Tensor]:
    m, n = factors.shape[-2:]
    k = min(m, n)
    return torch.tril(factors[..., :, :k], -1) + identity(m, factors, k), torch.triu(factors[..., :k, :])


def diagonal_of(a: Tensor) -> Tensor:
    return torch.diagonal(a, dim1=-2, dim2=-1)


def _singular(factors: Tensor) -> Tensor:
    """The first zero on the diagonal, from 1; 0 where there is none."""
    zero = diagonal_of(factors) == 0
    if zero.shape[-1] == 0:
        return _info(factors)
    place = torch.arange(1, zero.shape[-1] + 1)
    first = torch.where(zero, place, torch.full_like(place, zero.shape[-1] + 1)).amin(-1)
    return torch.where(zero.any(-1), first, torch.zeros_like(first)).to(torch.int32)


@of_small_matrices
def lu_factor_ex(a: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    factors, pivots, _ = _lu(in_double(a), pivot)
    return factors.to(a.dtype), (pivots + 1).to(torch.int32), _singular(factors)


def _places(order: Tensor) -> Tensor:
    """P with P[order[i], i] = 1, so that a = P L U."""
    n = order.shape[-1]
    return transposed((order.unsqueeze(-1) == torch.arange(n)).to(torch.float64))


@of_small_matrices
def linalg_lu(a: Tensor, *, pivot: bool = True) -> Any:
    factors, _, order = _lu(in_double(a), pivot)
    lower, upper = _triangles(factors)
    p = _places(order) if pivot else a.new_zeros((0,))
    return p.to(a.dtype), lower.to(a.dtype), upper.to(a.dtype)


def _order_of(pivots: Tensor, rows: int) -> Tensor:
    order = torch.arange(rows).expand(*pivots.shape[:-1], rows)
    for k in range(pivots.shape[-1]):
        order = torch.gather(order, -1, _swapped(rows, k, pivots[..., k].to(torch.int64) - 1).expand(order.shape))
    return order


@of_small_matrices
def lu_unpack(factors: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    none = factors.new_zeros((0,))
    lower, upper = _triangles(factors) if unpack_data else (none, none)
    p = _places(_order_of(pivots, factors.shape[-2])).to(factors.dtype) if unpack_pivots else none
    return p, lower, upper


def _lu_solve(factors: Tensor, order: Tensor, b: Tensor) -> Tensor:
    shape = torch.broadcast_shapes(factors.shape[:-2], b.shape[:-2])  # type: ignore[no-untyped-call]
    b = b.expand(*shape, *b.shape[-2:])
    b = _by_rows(b, order.expand(*shape, order.shape[-1]))
    return _solve_triangle(factors, _solve_triangle(factors, b, False, True), True, False)


@of_small_matrices
def lu_solve(factors: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    x, y = in_double(factors), in_double(b) if left else transposed(in_double(b))
    order = _order_of(pivots, factors.shape[-1])
    if adjoint == left:  # the transposed system
        shape = torch.broadcast_shapes(x.shape[:-2], y.shape[:-2])  # type: ignore[no-untyped-call]
        y = y.expand(*shape, *y.shape[-2:])
        z = _solve_triangle(transposed(x), _solve_triangle(transposed(x), y, False, False), True, True)
        z = _by_rows(z, torch.argsort(order, -1).expand(*shape, order.shape[-1]))
    else:
        z = _lu_solve(x, order, y)
    return (z if left else transposed(z)).to(b.dtype)


def _is_vector(a: Tensor, b: Tensor) -> bool:
    return b.dim() == 1 or (a.dim() - 1 == b.dim() and b.shape == a.shape[:-1])


@of_small_matrices
def solve_ex(a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    factors, pivots, order = _lu(in_double(a))
    vector = _is_vector(a, b)
    y = in_double(b.unsqueeze(-1) if vector else b)
    if left:
        x = _lu_solve(factors, order, y)
    else:
        x = transposed(_lu_solve(*_lu(transposed(in_double(a)))[::2], transposed(y)))
    x = x.squeeze(-1) if vector else x
    return x.to(b.dtype), factors.to(a.dtype), (pivots + 1).to(torch.int32), _singular(factors)


@of_small_matrices
def inv_ex(a: Tensor, *, check_errors: bool = False) -> Any:
    factors, _, order = _lu(in_double(a))
    return _lu_solve(factors, order, identity(a.shape[-1], factors)).to(a.dtype), _singular(factors)


def _sign(pivots: Tensor) -> Tensor:
    moved = (pivots != torch.arange(pivots.shape[-1])).sum(-1)
    return (1 - 2 * torch.remainder(moved, 2)).to(torch.float64)


@of_small_matrices
def det(a: Tensor) -> Any:
    factors, pivots, _ = _lu(in_double(a))
    value = diagonal_of(factors).prod(-1) * _sign(pivots)
    return value.to(a.dtype), factors.to(a.dtype), (pivots + 1).to(torch.int32)


@of_small_matrices
def slogdet(a: Tensor) -> Any:
    factors, pivots, _ = _lu(in_double(a))
    d = diagonal_of(factors)
    sign, size = torch.sign(d).prod(-1) * _sign(pivots), torch.log(d.abs()).sum(-1)
    return sign.to(a.dtype), size.to(a.dtype), factors.to(a.dtype), (pivots + 1).to(torch.int32)


def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator."""
    aten = torch.ops.aten
    return {
        aten.linalg_solve_triangular.default: solve_triangular,
        aten.triangular_solve.default: triangular_solve,
        aten.linalg_cholesky_ex.default: cholesky_ex,
        aten.cholesky.default: cholesky,
        aten.cholesky_solve.default: cholesky_solve,
        aten.cholesky_inverse.default: cholesky_inverse,
        aten.linalg_lu_factor_ex.default: lu_factor_ex,
        aten.linalg_lu.default: linalg_lu,
        aten.linalg_lu_solve.default: lu_solve,
        aten.lu_unpack.default: lu_unpack,
        aten._linalg_solve_ex.default: solve_ex,
        aten.linalg_inv_ex.default: inv_ex,
        aten._linalg_det.default: det,
        aten._linalg_slogdet.default: slogdet,
    }
