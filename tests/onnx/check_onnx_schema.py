"""Compares the front end's onnx.proto with the descriptors of the onnx package: python check_onnx_schema.py ONNX_PROTO.

Every message, field and enum value that the file lists must have the same number and type there. Exit code 77: no onnx package.
"""
import re
import sys

SCALARS = {"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "bool": 8, "string": 9, "bytes": 12}


def read_proto(text):
    """Messages as {full name: {field: (number, type word, repeated)}} and enums as {full name: {value: number}}."""
    messages, enums, path = {}, {}, []
    for line in re.sub(r"//[^\n]*", "", text).split("\n"):
        words = re.findall(r"[\w.]+|[{}=;]", line.split("[")[0])
        if not words or words[0] in ("syntax", "package"):
            continue
        if words[0] in ("message", "enum", "oneof"):
            path.append((words[0], words[1]))
            name = ".".join(n for kind, n in path if kind != "oneof")
            if words[0] == "message":
                messages[name] = {}
            elif words[0] == "enum":
                enums[name] = {}
        elif words[0] == "}":
            path.pop()
        else:
            name = ".".join(n for kind, n in path if kind != "oneof")
            if path[-1][0] == "enum":
                enums[name][words[0]] = int(words[2])
            else:
                label = words.pop(0) if words[0] in ("optional", "repeated") else "optional"
                messages[name][words[1]] = (int(words[3]), words[0], label == "repeated")
    return messages, enums


def find_message(descriptor, name):
    parts = name.split(".")
    found = descriptor.message_types_by_name.get(parts[0])
    for part in parts[1:]:
        found = found.nested_types_by_name.get(part) if found is not None else None
    return found


def is_repeated(field):
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def check_field(where, field, number, word, repeated):
    """What differs, as a text; None when nothing does."""
    if field is None:
        return f"{where}: the package has no such field"
    if field.number != number:
        return f"{where}: number {number}, the package has {field.number}"
    if is_repeated(field) != repeated:
        return f"{where}: repeated differs"
    if word in SCALARS:
        # Enums are read as int32 where newer values must not be lost.
        same = field.type == SCALARS[word] or (word == "int32" and field.type == 14)
    else:
        of = field.message_type or field.enum_type
        same = of is not None and of.name == word.split(".")[-1]
    return None if same else f"{where}: type {word} differs from the package's"


def main():
    try:
        from onnx import onnx_ml_pb2
    except ImportError:
        print("skipped: this interpreter has no onnx package")
        return 77
    with open(sys.argv[1], encoding="utf-8") as f:
        messages, enums = read_proto(f.read())
    descriptor, wrong, checked = onnx_ml_pb2.DESCRIPTOR, [], 0
    for name, fields in messages.items():
        message = find_message(descriptor, name)
        if message is None:
            wrong.append(f"{name}: the package has no such message")
            continue
        for field, (number, word, repeated) in fields.items():
            checked += 1
            problem = check_field(f"{name}.{field}", message.fields_by_name.get(field), number, word, repeated)
            if problem:
                wrong.append(problem)
    for name, values in enums.items():
        outer, _, inner = name.rpartition(".")
        message = find_message(descriptor, outer)
        theirs = message.enum_types_by_name[inner].values_by_name if message is not None else {}
        ours = {v: n for v, n in values.items()}
        for value in sorted(set(ours) | set(theirs)):
            checked += 1
            if value not in theirs or value not in ours or ours[value] != theirs[value].number:
                wrong.append(f"{name}.{value}: differs from the package's enum")
    print("\n".join(wrong) or f"{checked} fields and enum values agree with the onnx package")
    return 1 if wrong or checked < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
