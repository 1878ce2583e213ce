"""Places where users come into the compiler's flow.

    def my_pass(graph): ...          # mote.compile(..., passes=[my_pass])       before Mote's own passes
                                     # mote.compile(..., late_passes=[my_pass])  behind them
    def planner(buffers): ...        # mote.compile(..., planner=planner)        gives an offset for each Buffer
    def partition(nodes): ...        # mote.compile(..., partition=partition)    gives a backend's name for each node
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ._errors import Error, not_built
from ._mote import Graph, Node, Value, pass_names

__all__ = ["BACKENDS", "Buffer", "Graph", "Node", "Value", "pass_names"]

#: Backends that programs can be compiled for.
BACKENDS = ("cpu",)


class Buffer(NamedTuple):
    """Bytes of a memory bank that tensors lie in, needed from the first step to the last (both included)."""

    bytes: int
    alignment: int
    first: int
    last: int
    bank: str


def partition_pass(choose: Callable[[Sequence[Node]], Sequence[str | None]]) -> Callable[[Graph], None]:
    """A late pass that asks where each node shall run."""

    def run(graph: Graph) -> None:
        nodes = graph.nodes
        backends = list(choose(nodes))
        if len(backends) != len(nodes):
            raise Error(f"own partition: expected {len(nodes)} names of backends, one for each node, found {len(backends)}")
        for node, backend in zip(nodes, backends):
            if backend is not None and backend not in BACKENDS:
                raise not_built(f"placing node '{node.name}' ({node.op}) on backend '{backend}'", "expected one of " + ", ".join(BACKENDS))

    return run
