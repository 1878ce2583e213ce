"""Decompositions of products with one weight for each group of rows: mixtures of experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._torch_order import searchsorted


def _rows_by_group(x: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    """Row i of x times the weight of its group; group g has the rows from ends[g - 1] to ends[g]. Rows behind the last are 0."""
    groups, rows = weight.shape[0], x.shape[0]
    group = searchsorted(ends.to(torch.int64), torch.arange(rows), right=True)
    within = (group < groups).unsqueeze(1)
    group = group.clamp(max=groups - 1)
    if isinstance(rows, int) and isinstance(groups, int) and rows < groups:
        # A step of decoding: the weights that are needed, and no others, are read.
        y = torch.bmm(x.unsqueeze(1), torch.index_select(weight, 0, group)).squeeze(1)
    else:
        every = torch.matmul(x.unsqueeze(0), weight)  # (groups, rows, columns)
        places = group.reshape(1, -1, 1).expand(1, -1, weight.shape[2])
        y = torch.gather(every, 0, places).squeeze(0)
    return torch.where(within, y, torch.zeros_like(y))


def grouped_product(x: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    return _rows_by_group(x, weight, ends)


def grouped_mm(
    x: Tensor, weight: Tensor, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: torch.dtype | None = None
) -> Any:
    if bias is not None or out_dtype not in (None, x.dtype):
        return NotImplemented
    if x.dim() == 3 and weight.dim() == 3 and offs is None:
        return torch.bmm(x, weight)
    if x.dim() == 2 and weight.dim() == 3 and offs is not None:
        return _rows_by_group(x, weight, offs)
    return NotImplemented


def table() -> dict[Any, Callable[..., Any]]:
    """Decompositions by operator."""
    return {torch.ops.aten._grouped_mm.default: grouped_mm}


def of_transformers() -> dict[Any, Callable[..., Any]]:
    """What the library registers, when it is imported, for element types that PyTorch's own operator does not take."""
    found = getattr(torch.ops.transformers, "grouped_mm_fallback", None)
    return {} if found is None else {found.default: grouped_product}
