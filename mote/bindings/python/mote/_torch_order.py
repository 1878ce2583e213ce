"""Decompositions of operators that order and count elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_MOST_COMPARED = 1 << 24  # elements of a comparison of everything with everything


def too_many(*sizes: Any) -> bool:
    return all(isinstance(s, int) for s in sizes) and math.prod(sizes) > _MOST_COMPARED


# --- order ---


def _along(x: Tensor, dim: int, keepdim: bool, skip_nan: bool) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, places = torch.sort(x, dim)
    n = x.shape[dim]
    at = torch.full_like(values.narrow(dim, 0, 1), (n - 1) // 2, dtype=torch.int64)
    if x.is_floating_point():
        # What is not a number stands at the end.
        odd = torch.isnan(values)
        count = odd.sum(dim, keepdim=True)
        if skip_nan:
            at = torch.div(n - count - 1, 2, rounding_mode="floor").clamp(min=0)
        else:
            at = torch.where(count > 0, n - count, at)
    value, place = torch.gather(values, dim, at), torch.gather(places, dim, at)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def median_dim(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return _along(x, dim, keepdim, False)


def nanmedian_dim(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return _along(x, dim, keepdim, True)


def _empty_median(x: Tensor) -> Tensor:
    return torch.full((), math.nan if x.is_floating_point() else torch.iinfo(x.dtype).min, dtype=x.dtype)


def median(x: Tensor) -> Tensor:
    return _empty_median(x) if x.numel() == 0 else _along(x.reshape(-1), 0, False, False)[0]


def nanmedian(x: Tensor) -> Tensor:
    return _empty_median(x) if x.numel() == 0 else _along(x.reshape(-1), 0, False, True)[0]


def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value, of several the smallest, and its last place."""
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    n = x.shape[dim]
    if too_many(x.numel(), n):
        return NotImplemented
    moved = x.movedim(dim, -1)
    numbers = moved.to(torch.uint8) if x.dtype == torch.bool else moved
    values = torch.sort(numbers, -1)[0]
    count = (values.unsqueeze(-1) == values.unsqueeze(-2)).sum(-1)
    # Sorted, so that the first of those with most is the smallest.
    value = torch.gather(values, -1, torch.argmax(count, -1, keepdim=True))
    place = torch.where(numbers == value, torch.arange(n), torch.full_like(numbers, -1, dtype=torch.int64)).amax(-1, keepdim=True)
    value, place = value.to(x.dtype).movedim(-1, dim), place.movedim(-1, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def searchsorted(
    row: Tensor, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None
) -> Any:
    values = values if isinstance(values, Tensor) else torch.full((), values, dtype=torch.result_type(row, values))
    if too_many(values.numel(), row.shape[-1]):
        return NotImplemented
    if sorter is not None:
        row = torch.gather(row, -1, sorter)
    one = row.dim() == 1
    behind = values.unsqueeze(-1)
    row = row if one else row.unsqueeze(-2)
    after = right or side == "right"
    before = row <= behind if after else row < behind
    if behind.is_floating_point():
        before = before | (torch.isnan(behind) & (~torch.isnan(row) | after))
    return before.sum(-1).to(torch.int32 if out_int32 else torch.int64)


def bucketize(values: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return searchsorted(boundaries, values, out_int32=out_int32, right=right)  # type: ignore[no-any-return]


# --- counting ---


def histc(x: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    flat = x.reshape(-1)
    if too_many(flat.numel(), bins):
        return NotImplemented
    if flat.numel() == 0:
        return torch.zeros((bins,), dtype=x.dtype)
    wide = flat.to(torch.float64)
    low, high = torch.full((), float(min), dtype=torch.float64), torch.full((), float(max), dtype=torch.float64)
    if min == max:
        low, high = wide.amin(), wide.amax()
    same = low == high
    low, high = torch.where(same, low - 1, low), torch.where(same, high + 1, high)
    inside = (wide >= low) & (wide <= high)
    place = torch.floor((wide - low) * bins / (high - low)).clamp(max=bins - 1)
    hit = (place.unsqueeze(0) == torch.arange(bins, dtype=torch.float64).unsqueeze(1)) & inside.unsqueeze(0)
    return hit.sum(1).to(x.dtype)


def _in_bins(flat: Tensor, edges: Tensor) -> Tensor:
    """Whether elements lie in bins, (elements, bins): the last bin has its end, too."""
    place = (edges.unsqueeze(0) <= flat.unsqueeze(1)).sum(1) - 1
    bins = edges.shape[0] - 1
    place = torch.where(flat == edges[-1], torch.full_like(place, bins - 1), place)
    return (place.unsqueeze(1) == torch.arange(bins).unsqueeze(0)) & (flat <= edges[-1]).unsqueeze(1)


def _counted(hit: Tensor, weight: Tensor | None) -> Tensor:
    counted = hit.to(torch.float64) if weight is None else torch.where(hit, weight.reshape(-1, 1).to(torch.float64), 0.0)
    return counted.sum(0)


def _widths(edges: Tensor) -> Tensor:
    return (edges[1:] - edges[:-1]).to(torch.float64)


def histogram(x: Tensor, edges: Tensor, weight: Tensor | None, density: bool) -> tuple[Tensor, Tensor]:
    found = _counted(_in_bins(x.reshape(-1), edges), weight)
    if density:
        found = found / found.sum() / _widths(edges)
    return found.to(x.dtype), edges.clone()


def _bin_edges(x: Tensor, bins: int, range: Any) -> Tensor:
    wide = x.reshape(-1).to(torch.float64)
    if range is None:
        low, high = (wide.amin(), wide.amax()) if x.numel() > 0 else (wide.new_zeros(()), wide.new_zeros(()))
    else:
        low, high = (torch.full((), float(r), dtype=torch.float64) for r in range)
    same = low == high
    low, high = torch.where(same, low - 0.5, low), torch.where(same, high + 0.5, high)
    return (low + (high - low) * torch.arange(bins + 1, dtype=torch.float64) / bins).to(x.dtype)


def histogram_bin_ct(
    x: Tensor, bins: int = 100, *, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    return NotImplemented if too_many(x.numel(), bins) else histogram(x, _bin_edges(x, bins, range), weight, density)


def histogramdd_edges(
    x: Tensor, bins: list[int], *, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> list[Tensor]:
    columns = x.reshape(-1, len(bins)).unbind(1)
    return [_bin_edges(c, n, None if range is None else range[2 * i : 2 * i + 2]) for i, (c, n) in enumerate(zip(columns, bins))]


def histogramdd_bins(x: Tensor, bins: list[Tensor], *, weight: Tensor | None = None, density: bool = False) -> Any:
    sizes = [e.shape[0] - 1 for e in bins]
    rows = x.reshape(-1, len(bins))
    if too_many(rows.shape[0], *sizes):
        return NotImplemented
    hit, volume = torch.ones((rows.shape[0], 1), dtype=torch.bool), torch.ones((1,), dtype=torch.float64)
    for column, edges in zip(rows.unbind(1), bins):
        hit = (hit.unsqueeze(2) & _in_bins(column, edges).unsqueeze(1)).flatten(1)
        volume = (volume.unsqueeze(1) * _widths(edges)).flatten()
    found = _counted(hit, weight)
    if density:
        found = found / found.sum() / volume
    return found.to(x.dtype).reshape(sizes)


def histogramdd_bin_cts(x: Tensor, bins: list[int], *, range: Any = None, weight: Tensor | None = None, density: bool = False) -> Any:
    return histogramdd_bins(x, histogramdd_edges(x, bins, range=range), weight=weight, density=density)


def histogram_bins(x: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False) -> tuple[Tensor, Tensor]:
    return NotImplemented if too_many(x.numel(), bins.numel()) else histogram(x, bins, weight, density)


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """Of 8 bits: how long the counts of wider integers get is bounded by nothing."""
    if x.dtype not in (torch.uint8, torch.int8) or not isinstance(minlength, int):
        return NotImplemented
    most = max(torch.iinfo(x.dtype).max + 1, minlength)
    hit = x.unsqueeze(1) == torch.arange(most).unsqueeze(0)
    found = _counted(hit, weights).to(torch.int64 if weights is None else _weight_type(weights))
    size = x.to(torch.int64).amax() + 1 if x.numel() > 0 else torch.zeros((), dtype=torch.int64)
    return torch.masked_select(found, torch.arange(most) < size.clamp(min=minlength))


def _weight_type(weights: Tensor) -> torch.dtype:
    return weights.dtype if weights.dtype == torch.float32 else torch.float64


def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator."""
    aten = torch.ops.aten
    return {
        aten.median.default: median,
        aten.median.dim: median_dim,
        aten.nanmedian.default: nanmedian,
        aten.nanmedian.dim: nanmedian_dim,
        aten.mode.default: mode,
        aten.searchsorted.Tensor: searchsorted,
        aten.searchsorted.Scalar: searchsorted,
        aten.bucketize.Tensor: bucketize,
        aten.bucketize.Scalar: bucketize,
        aten.histc.default: histc,
        aten.bincount.default: bincount,
        aten.histogram.bin_ct: histogram_bin_ct,
        aten.histogram.bins_tensor: histogram_bins,
        aten._histogramdd_bin_edges.default: histogramdd_edges,
        aten._histogramdd_from_bin_cts.default: histogramdd_bin_cts,
        aten._histogramdd_from_bin_tensors.default: histogramdd_bins,
    }
