"""Runs under way."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from . import _mote

_lock = threading.Lock()
_workers: weakref.WeakKeyDictionary[Any, ThreadPoolExecutor] = weakref.WeakKeyDictionary()


class Run(Future):  # type: ignore[type-arg]
    """A future that can be awaited.

    Cancelling one that runs stops it between two instructions; its result is then mote.Error "Cancelled".
    """

    def __init__(self) -> None:
        super().__init__()
        self.stop = _mote.Cancel()

    def cancel(self) -> bool:
        if super().cancel():
            return True
        if self.done():
            return False
        self.stop.request()
        return True

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self).__await__()


def start(program: Any, call: Callable[[_mote.Cancel], Any]) -> Run:
    """One worker for each program: its runs take place one after the other, in their order."""
    run = Run()

    def work() -> None:
        if not run.set_running_or_notify_cancel():
            return
        try:
            run.set_result(call(run.stop))
        except BaseException as error:  # the future carries it to who waits
            run.set_exception(error)

    with _lock:
        worker = _workers.get(program)
        if worker is None:
            worker = _workers[program] = ThreadPoolExecutor(1, thread_name_prefix="mote")
    worker.submit(work)
    return run
