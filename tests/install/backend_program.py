"""backend_program.c with the Python package."""
import sys

import mote


def main():
    path, backend, *policy = sys.argv[1:]
    try:
        require = [backend] if "require" in policy else None
        program = mote.load(path, backends=[backend], require=require, fallback="no-fallback" not in policy)
    except mote.Error as error:
        unknown = error.why in ("BackendLibrary", "BackendName")
        print(f"{'no backend' if unknown else 'refused'}: {error}", file=sys.stderr)
        return 4 if unknown else 3
    for i, part in enumerate(program.parts):
        print(f"part {i}: compiled for {part['backend']}, runs on {part['runs_on']}")
    print(f"degraded: {'yes' if program.degraded else 'no'}")
    if program.degraded:
        print(f"degraded: {program.degraded}", file=sys.stderr)
    found = program.self_test()
    print(f"self-test: {found['outputs']} outputs, {found['failed']} wrong")
    return 0 if found["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
