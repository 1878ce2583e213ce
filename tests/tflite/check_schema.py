#!/usr/bin/env python3
"""Holds the front end's tflite.fbs against the PyPI package `tflite`: ids, types and defaults of fields, values of enums, order of unions.

check_schema.py PATH/TO/tflite.fbs. Exit codes: 0 they agree, 1 not, 77 skipped (the package is missing).
"""
import importlib
import inspect
import re
import sys

try:
    import tflite
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SCALARS = {"byte": "Int8Flags", "ubyte": "Uint8Flags", "short": "Int16Flags", "ushort": "Uint16Flags", "int": "Int32Flags",
           "uint": "Uint32Flags", "long": "Int64Flags", "ulong": "Uint64Flags", "float": "Float32Flags", "bool": "BoolFlags"}
# Tables of the metadata buffer, which the package does not have, and what stands for tables we do not read.
OURS = {"Unread", "AssociatedFile", "NormalizationOptions", "ProcessUnit", "Stats", "TensorMetadata", "SubGraphMetadata", "ModelMetadata"}


# What LiteRT 2.3 has and the newest package (2.18) does not.
NEWER = {"STABLEHLO_CASE", "StablehloCaseOptions"}


def accessors(name):
    """{snake_case field: (id, source of its accessor)} of a table in the package."""
    table = getattr(importlib.import_module("tflite." + name), name)
    out = {}
    for method, f in inspect.getmembers(table, inspect.isfunction):
        source = inspect.getsource(f)
        found = re.search(r"_tab\.Offset\((\d+)\)", source)
        if found and not method.endswith(("AsNumpy", "Length", "IsNone")):
            out[method.lower()] = ((int(found.group(1)) - 4) // 2, source)
    return out


def fields_of(body, unions):
    """(id, name, type, default) of each field; a union takes two ids."""
    at, out = 0, []
    for field in re.findall(r"(\w+)\s*:\s*([\[\]\w]+)\s*(?:=\s*([-\w.]+))?\s*(\(deprecated\))?;", body):
        name, kind, default, deprecated = field
        at += 1 if kind in unions else 0
        if not deprecated:
            out.append((at, name, kind, default))
        at += 1
    return out


def main(path):
    text = re.sub(r"//.*", "", open(path, encoding="utf-8").read())
    enums = {n: dict((k, int(v)) for k, v in re.findall(r"(\w+)\s*=\s*(-?\d+)", body))
             for n, _, body in re.findall(r"enum\s+(\w+)\s*:\s*(\w+)\s*{([^}]*)}", text)}
    enum_types = dict(re.findall(r"enum\s+(\w+)\s*:\s*(\w+)", text))
    unions = {n: [w.split(":")[0].strip() for w in body.split(",") if w.strip()]
              for n, body in re.findall(r"union\s+(\w+)\s*{([^}]*)}", text)}
    wrong, checked = [], 0

    for name, values in enums.items():
        known = {k: v for k, v in vars(getattr(importlib.import_module("tflite." + name), name)).items() if isinstance(v, int)}
        wrong += [f"enum {name}.{k} is {v}, expected {known.get(k)}" for k, v in values.items() if known.get(k) != v and k not in NEWER]
        checked += len(values)
    for name, members in unions.items():
        if name in OURS or name == "ProcessUnitOptions":
            continue
        known = vars(getattr(importlib.import_module("tflite." + name), name))
        wrong += [f"union {name}: {m} is number {i}, expected {known.get(m)}" for i, m in enumerate(members, 1)
                  if known.get(m) != i and m not in NEWER]
        checked += len(members)
    for name, body in re.findall(r"table\s+(\w+)\s*{([^}]*)}", text):
        if name in OURS | NEWER:
            continue
        known = accessors(name)
        for number, field, kind, default in fields_of(body, unions):
            checked += 1
            expected = known.get(field.replace("_", ""))
            if name == "OperatorCode" and field == "builtin_code":
                expected = (3, expected[1])
            if expected is None or expected[0] != number:
                wrong.append(f"{name}.{field} has id {number}, expected {expected and expected[0]}")
                continue
            scalar = SCALARS.get(enum_types.get(kind, kind).strip("[]")) if kind.strip("[]") not in unions else None
            if scalar and scalar not in expected[1]:
                wrong.append(f"{name}.{field} is {kind}, expected otherwise: {expected[1]}")
            if scalar and not kind.startswith("[") and field != "builtin_code":
                returned = re.findall(r"return ([-\w.]+)\n", expected[1])[-1:]
                ours = default or ("False" if kind == "bool" else "0")
                ours = str(enums.get(kind, {}).get(ours, ours)).lower()
                number_of = {"true": 1, "false": 0}
                if returned and float(number_of.get(returned[0].lower(), returned[0])) != float(number_of.get(ours, ours)):
                    wrong.append(f"{name}.{field} defaults to {ours}, expected {returned[0]}")
    for line in wrong:
        print(line)
    print(f"{checked} names checked against tflite {getattr(tflite, '__version__', '')}: {len(wrong)} differ")
    return 1 if wrong or checked < 500 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
