"""Writes the names of PyTorch's ATen operators that write into an output tensor, one a line, for aten_names_test.

Usage: python list_names.py > out_names.txt   (with the PyTorch version named in the first line)
"""
import torch

print(f"# PyTorch {torch.__version__.split('+')[0]}")
names = set()
for schema in torch._C._jit_get_all_schemas():
    if schema.name.startswith("aten::") and any(a.is_out for a in schema.arguments):
        names.add(schema.name + ("." + schema.overload_name if schema.overload_name else ""))
print("\n".join(sorted(names)))
