"""What goes wrong, as exceptions."""

from __future__ import annotations


class Error(Exception):
    """A failure, with everything the library says of it.

    `code` is a name of the list that `mote explain` knows ("Shape", "OutOfMemory" ...), `why` a closer one or "", `op` the operator,
    `source` the node of the source model and `tensor` the input or output it happened at, each "" where it does not apply.
    """

    def __init__(self, message: str, code: str = "InvalidArgument", why: str = "", op: str = "", source: str = "", tensor: str = ""):
        super().__init__(message)
        self.message = message
        self.code = code
        self.why = why
        self.op = op
        self.source = source
        self.tensor = tensor


class CompileError(Error):
    """A model that cannot be compiled: `problems` has everything that stands in the way, each as (where, what, advice)."""

    def __init__(self, message: str, problems: list[tuple[str, str, str]] | None = None):
        super().__init__(message, code="Unsupported")
        self.problems = problems or []


def not_built(what: str, supported: str) -> Error:
    """What Mote is going to do, but does not yet."""
    return Error(f"{what} is not built yet: {supported}", code="Unsupported")
