"""What goes wrong, as exceptions."""

from __future__ import annotations

from typing import Any

from ._words import in_python


class Error(Exception):
    """A failure, with everything the library says of it.

    Each is also the exception that Python has for its kind: FileNotFoundError, ValueError (an argument that makes no sense, a shape
    that does not fit), TypeError (an argument of another class, an option that does not exist), MemoryError, TimeoutError.

    `code` is a name of the list that `mote explain` knows ("Shape", "OutOfMemory" ...), `why` a closer one or "", `op` the operator,
    `source` the node of the source model and `tensor` the input or output it happened at, each "" where it does not apply.
    """

    def __new__(cls, message: str = "", code: str = "InvalidArgument", why: str = "", **more: Any) -> Error:
        # The library gives codes; Python's classes are chosen here.
        chosen = _kind_of(message, code, why) if cls is Error else cls
        # Exceptions of the system have a constructor of their own.
        return (OSError if issubclass(chosen, OSError) else Exception).__new__(chosen, message)

    def __init__(self, message: str, code: str = "InvalidArgument", why: str = "", op: str = "", source: str = "", tensor: str = ""):
        self.message = in_python(message)
        self.args = (self.message,)
        self.code = code
        self.why = why
        self.op = op
        self.source = source
        self.tensor = tensor


class InvalidValue(Error, ValueError):
    pass


class WrongType(Error, TypeError):
    pass


class NoSuchFile(Error, FileNotFoundError):
    pass


class OutOfMemory(Error, MemoryError):
    pass


class TimedOut(Error, TimeoutError):
    pass


def _kind_of(message: str, code: str, why: str) -> type[Error]:
    if "no such file" in message.lower():
        return NoSuchFile
    kinds: dict[str, type[Error]] = {
        "InvalidArgument": InvalidValue,
        "Shape": InvalidValue,
        "OutOfMemory": OutOfMemory,
        "Deadline": TimedOut,
    }
    return kinds.get(code, Error)


class CompileError(Error):
    """A model that cannot be compiled: `problems` has everything that stands in the way, each as (where, what, advice)."""

    def __init__(self, message: str, problems: list[tuple[str, str, str]] | None = None):
        super().__init__(message, code="Unsupported")
        self.problems = [(in_python(where), in_python(what), in_python(advice)) for where, what, advice in problems or []]


def not_built(what: str, supported: str) -> Error:
    """What Mote is going to do, but does not yet."""
    return Error(f"{what} is not built yet: {supported}", code="Unsupported")
