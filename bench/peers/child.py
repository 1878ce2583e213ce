#!/usr/bin/env python3
"""One measurement in a fresh process; prints one JSON object. Started by run.py.

    child.py RUNTIME MODEL --threads N --seconds S [--reference FILE.ref.npz] [--cold]

Memory is counted over what the process had after importing the runtime: peak resident bytes from loading to the end, and anonymous
bytes (those that no file backs) at the end.
"""
import argparse
import gc
import json
import os
import sys
import time


def memory():
    found = {}
    for line in open("/proc/self/status"):
        key, value = line.split(":", 1)
        if key in ("VmRSS", "VmHWM", "RssAnon"):
            found[key] = int(value.split()[0]) * 1024
    return found


def forget(path):
    """Drops the file's pages from the system's cache."""
    for name in (path, path[:-len(".param")] + ".bin", path[:-len(".xml")] + ".bin"):
        if os.path.isfile(name):
            with open(name, "rb") as f:
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def as_wanted(arrays, wanted, scales):
    """The reference's inputs as the model takes them: other order of dimensions, other element types."""
    import numpy as np
    result = []
    for i, (shape, dtype) in enumerate(wanted or [(a.shape, a.dtype) for a in arrays]):
        a = arrays[i]
        if tuple(shape) != a.shape and a.ndim == 4 and tuple(shape) == tuple(a.transpose(0, 2, 3, 1).shape):
            a = a.transpose(0, 2, 3, 1)
        if dtype.kind in "iu" and scales[i]:
            limits = np.iinfo(dtype)
            a = np.clip(np.round(a / scales[i][0]) + scales[i][1], limits.min, limits.max)
        result.append(np.ascontiguousarray(a, dtype))
    return result


def made_up(wanted):
    import numpy as np
    random = np.random.default_rng(1)
    return [(random.standard_normal(s) if d.kind == "f" else random.integers(0, 2, s)).astype(d) for s, d in wanted]


def cosine(found, scale, expected):
    import numpy as np
    a, b = np.asarray(found, np.float64).ravel(), np.asarray(expected, np.float64).ravel()
    if a.size != b.size:
        return None
    if scale and np.asarray(found).dtype.kind in "iu":
        a = (a - scale[1]) * scale[0]
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-30))


def measure(runtime, options):
    import numpy as np
    stored = np.load(options.reference) if options.reference else None
    given = [stored[k] for k in sorted(stored.files) if k.startswith("x")] if stored is not None else []
    expected = stored["y"] if stored is not None else None
    gc.collect()
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")  # the peak counts from here
    before = memory()
    start = time.perf_counter()
    runtime.load(options.model)
    row = {"load_us": (time.perf_counter() - start) * 1e6}
    scales = lambda kind: runtime.quantization(kind) if hasattr(runtime, "quantization") else [None] * 16
    arrays = as_wanted(given, runtime.inputs(), scales("input")) if given else made_up(runtime.inputs())
    if hasattr(runtime, "prepare"):
        arrays = runtime.prepare(arrays)
    start = time.perf_counter()
    found = runtime.run(arrays)
    row["first_us"] = (time.perf_counter() - start) * 1e6
    if expected is not None:
        row["cosine"] = cosine(found[0], scales("output")[0], expected)
    times, end = [], time.perf_counter() + options.seconds
    while len(times) < 10 or (time.perf_counter() < end and len(times) < 200000):
        start = time.perf_counter()
        runtime.run(arrays)
        times.append(time.perf_counter() - start)
    after = memory()
    times = sorted(times[len(times) // 10:])
    row.update(p50_us=times[len(times) // 2] * 1e6, p99_us=times[min(len(times) - 1, len(times) * 99 // 100)] * 1e6, runs=len(times),
               peak_bytes=max(0, after["VmHWM"] - before["VmRSS"]), anonymous_bytes=max(0, after["RssAnon"] - before["RssAnon"]))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runtime")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--reference")
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0), reverse=True)
    os.sched_setaffinity(0, processors[:max(1, options.threads)])
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    out = os.dup(1)  # runtimes talk; the result goes where they cannot
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    from runtimes import RUNTIMES
    row = {}
    try:
        runtime = RUNTIMES[options.runtime]()
        runtime.start(options.threads)
        if options.cold:
            forget(options.model)
        row = measure(runtime, options)
        row["version"] = runtime.version
    except Exception as error:  # whatever a runtime throws is its result
        row = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
    os.write(out, (json.dumps(row) + "\n").encode())
    sys.stderr.flush()
    os._exit(0)  # some runtimes crash while they are taken down


if __name__ == "__main__":
    main()
