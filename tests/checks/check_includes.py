#!/usr/bin/env python3
"""Fails when an #include points the wrong way: core <- format <- ops <- runtime <- {kernels, backends}, and so on.

The folders of the compiler have rules of their own (COMPILER), which must have no cycle. Tests, benchmarks and fuzz targets may include
anything. Device code also may not include host parts of the standard library.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# module -> modules it may include besides itself; "api/backend.h" names one header.
ALLOWED = {
    "api": set(),
    "api/impl": {"api", "core", "format", "ops", "runtime", "platform", "kernels", "backends"},
    "core": set(),
    "format": {"core"},
    "ops": {"core", "format"},
    "runtime": {"core", "format", "ops", "api/backend.h"},
    "platform": {"core", "format"},
    "kernels": {"core", "format", "ops", "runtime"},
    "backends": {"core", "format", "ops", "runtime", "api"},
    "compiler": {"core", "format", "ops", "runtime", "kernels", "api/backend_compiler.h"},
    "tools": {"api", "backends", "core", "format", "ops", "kernels", "compiler", "platform", "fleet"},
    # Python compiles too (docs/decisions/0008): the driver, the importer that has no file, options and messages as the command has
    # them, and the graph for users' own passes.
    "bindings": {"api", "api/impl/registry.h", "compiler/driver/compile.h", "compiler/emit/builder.h", "compiler/frontends/torch/torch.h",
                 "compiler/ir/graph.h", "compiler/ir/infer.h", "compiler/ir/text.h", "ops/op_docs.h", "tools/compile_settings.h",
                 "tools/emit_source.h", "tools/failure.h", "tools/model_file.h", "tools/quantize_settings.h", "tools/text_checks.h"},
    "fleet": {"api"},
}
# Folder of mote/compiler -> folders of it that it may include besides itself. A front end is a folder of its own; the longest name that
# fits counts.
COMPILER = {
    "target": set(),
    "memory": set(),
    "text": set(),
    "ir": set(),
    "program": {"text"},
    "passes": {"ir", "target"},
    "audio": {"ir", "target"},
    "frontends": {"ir"},
    "frontends/common": {"ir", "frontends"},
    "frontends/onnx": {"ir", "frontends", "frontends/common"},
    "frontends/tflite": {"ir", "frontends", "frontends/common"},
    "frontends/torch": {"ir", "frontends", "frontends/common"},
    "frontends/executorch": {"ir", "frontends", "frontends/common", "frontends/torch"},
    "frontends/tosa": {"ir", "frontends", "frontends/common"},
    "schedule": {"ir", "target", "memory", "text", "program"},
    "emit": {"memory", "program"},
    "assemble": {"ir", "schedule", "program", "emit"},
    "emit/cpp": {"schedule", "program", "assemble"},
    "emit/tosa": {"ir"},
    "placement": {"ir", "target", "program", "assemble"},
    "driver": {"ir", "target", "frontends", "frontends/common", "passes", "placement", "schedule", "memory", "program", "assemble", "emit"},
    "quant": {"ir", "passes", "schedule", "driver"},
}
DEVICE = {"core", "format", "ops", "runtime"}
HOST_HEADERS = {"any", "chrono", "condition_variable", "deque", "exception", "filesystem", "fstream", "functional", "future",
                "iomanip", "ios", "iostream", "istream", "list", "locale", "map", "memory", "mutex", "new", "optional", "ostream",
                "queue", "random", "regex", "set", "shared_mutex", "sstream", "stack", "stdexcept", "string", "string_view", "thread",
                "unordered_map", "unordered_set", "variant", "vector", "cstdio", "cstdlib", "cstdarg", "clocale", "csignal",
                "ctime", "cassert", "stdio.h", "stdlib.h", "unistd.h", "pthread.h", "assert.h", "errno.h", "time.h"}
# The operator reference is host code that lives beside the operators.
HOST_FILES = re.compile(r"mote/ops/op_docs\.(h|cc)$")
ANYTHING = re.compile(r"_(test|bench|fuzz|cases)\.(cc|h)$|/testing/")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def module_of(path):
    parts = pathlib.PurePosixPath(path).parts
    return "api/impl" if parts[1:3] == ("api", "impl") else parts[1]


def compiler_folder_of(path):
    """The folder of COMPILER that a file below mote/compiler belongs to; None when it has no rule."""
    parts = pathlib.PurePosixPath(path).parts[2:-1]
    for size in range(len(parts), 0, -1):
        if "/".join(parts[:size]) in COMPILER:
            return "/".join(parts[:size])
    return None


def cycle(rules):
    """Folders that may include each other, in order; empty when there are none."""
    done = set()

    def walk(name, way):
        if name in way:
            return way[way.index(name):] + [name]
        if name in done:
            return []
        for other in sorted(rules[name]):
            found = walk(other, way + [name])
            if found:
                return found
        done.add(name)
        return []

    for name in sorted(rules):
        found = walk(name, [])
        if found:
            return found
    return []


def compiler_problems(path, quoted):
    folder, target = compiler_folder_of(path), compiler_folder_of(quoted)
    if folder is None or target is None:
        wanting = path if folder is None else quoted
        yield f"{path}: no rule for the folder of {wanting} in COMPILER of {pathlib.Path(__file__).name}"
    elif target != folder and target not in COMPILER[folder]:
        yield f'{path}: mote/compiler/{folder} may not include "{quoted}"'


def problems(path, text):
    module = module_of(path)
    for quoted, angled in INCLUDE.findall(text):
        if quoted.startswith("mote/"):
            target = module_of(quoted)
            allowed = ALLOWED[module]
            if target != module and target not in allowed and quoted[len("mote/"):] not in allowed:
                yield f'{path}: mote/{module} may not include "{quoted}"'
            if module == "compiler" == target:
                yield from compiler_problems(path, quoted)
        elif angled in HOST_HEADERS and module in DEVICE and not HOST_FILES.match(path):
            yield f"{path}: device code may not include <{angled}>"


def main():
    found, files = [], 0
    if way := cycle(COMPILER):
        found.append("COMPILER has a cycle: " + " -> ".join(way))
    for file in sorted((ROOT / "mote").rglob("*")):
        path = file.relative_to(ROOT).as_posix()
        if file.suffix not in (".h", ".hpp", ".cc", ".c", ".def") or ANYTHING.search(path):
            continue
        files += 1
        if module_of(path) not in ALLOWED:
            found.append(f"{path}: no rule for module '{module_of(path)}' in {pathlib.Path(__file__).name}")
            continue
        found += problems(path, file.read_text())
    print(f"{files} files, {len(found)} wrong includes")
    if found or files < 50:
        sys.exit("\n".join(found) or "too few files found")


if __name__ == "__main__":
    main()
