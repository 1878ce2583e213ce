"""The page docs/generated/tosa_round_trip.md: every operator of TOSA 1.0, and what became of its cases in check_ops.py."""
import difflib
import pathlib

import tosa.Op
import tosa.TosaGraph
from tosa_graph import FLOATS

LAST_OF_1_0 = "CONST_SHAPE"
NAMES = {value: name for name, value in vars(tosa.Op.Op).items() if isinstance(value, int)}
NO_CASE = {
    "CUSTOM": "refused: what it computes is not in the file",
    "VARIABLE": "read as a state (`reader_test.cc`); the reference model does not run variables, and states are not written",
    "VARIABLE_WRITE": "as VARIABLE",
    "VARIABLE_READ": "as VARIABLE",
    "CONST_SHAPE": "part of every case with a shape: RESHAPE, SLICE, TILE, PAD, RESIZE",
}
HEAD = """# TOSA operators, there and back

Made by `tests/tosa/check_ops.py --table`, which compares it with a fresh run; do not edit. Random graphs of each operator of TOSA 1.0:
read, run by Mote and held against TOSA's reference model; written again with `--emit tosa` and run by the reference model; what was
written read and run once more. Integers to the bit, floats within the tolerance of their type. A number counts the element types and
forms that agree, of those that have a case.

| id | operator | floats: read | written | read again | integers: read | written | read again | written as |
|---|---|---|---|---|---|---|---|---|
"""
PLUMBING = {"CONST", "CONST_SHAPE", "IDENTITY"}


def operators_of(data):
    """The operators of a file, without constants and the IDENTITY of outputs."""
    graph, found = tosa.TosaGraph.TosaGraph.GetRootAs(data), set()
    for i in range(graph.RegionsLength()):
        region = graph.Regions(i)
        for j in range(region.BlocksLength()):
            block = region.Blocks(j)
            found |= {NAMES[block.Operators(k).Op()] for k in range(block.OperatorsLength())}
    return found - PLUMBING


class Table:
    def __init__(self, stages):
        self.stages, self.cases, self.codes = stages, {}, {}

    def operators(self, name):
        return self.codes.setdefault(name.split()[0], set())

    def add(self, name, stages):
        """A case counts where all its graphs came as far."""
        self.cases[name] = [s for s in self.cases.get(name, stages) if s in stages]

    def counts(self, code, floats):
        """"agree / all" for each stage, of the cases of this kind; a CAST between both counts twice."""
        mine = []
        for name, stages in self.cases.items():
            kinds = name.split()[1:]
            if name.split()[0] == code and any((k in FLOATS) == floats for k in kinds if k in FLOATS or k[0] in "ib"):
                mine.append(stages)
        if not mine:
            return [""] * len(self.stages)
        return [f"{sum(s in m for m in mine)} of {len(mine)}" for s in self.stages]

    def written_as(self, code):
        found = self.codes.get(code, set())
        if code in PLUMBING or found == {code}:
            return "itself"
        if code in found:
            return "itself, with " + ", ".join(sorted(found - {code}))
        return ", ".join(sorted(found))

    def page(self):
        text = HEAD
        for code in sorted(NAMES):
            name = NAMES[code]
            if name == "UNKNOWN":
                continue
            if name in NO_CASE:
                text += f"| {code} | {name} | | | | | | | {NO_CASE[name]} |\n"
            else:
                cells = self.counts(name, True) + self.counts(name, False) + [self.written_as(name)]
                text += f"| {code} | {name} | {' | '.join(cells)} |\n"
            if name == LAST_OF_1_0:
                break
        return text

    def matches(self, path, write):
        """Whether the page in a file is this one; tells how it is not."""
        page, file = self.page(), pathlib.Path(path)
        if write:
            file.write_text(page, encoding="utf-8")
            return True
        there = file.read_text(encoding="utf-8") if file.exists() else ""
        if there != page:
            lines = list(difflib.unified_diff(there.splitlines(), page.splitlines(), str(path), "a fresh run", lineterm=""))
            print("\n".join(lines[:40]))
            print(f"{path} is out of date: run check_ops.py with --table {path} --write")
        return there == page
