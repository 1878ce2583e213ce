"""Medians over rounds, ratios to the best peer, and the tables that run.py prints."""
import math
import statistics

FIGURES = {"p50_us": "median latency, us", "p99_us": "p99 latency, us", "load_us": "load to ready, us", "first_us": "first inference, us",
           "result_us": "load and first inference, us", "peak_bytes": "peak memory over import, MB",
           "anonymous_bytes": "anonymous memory over import, MB"}

COLD = ("load_us", "first_us", "result_us")  # what files that are not in the cache change


def summarize(rows):
    """{"cells": [{set, model, threads, runtime, cold, p50_us, ...}], "runtimes", "versions", "ratios": [...], "rounds"}; plain JSON."""
    groups = {}
    for row in rows:
        groups.setdefault((row["set"], row["threads"], row["cold"], row["model"], row["runtime"]), []).append(row)
    cells = []
    for (kind, threads, cold, model, runtime), found in groups.items():
        cell = {"set": kind, "threads": threads, "cold": cold, "model": model, "runtime": runtime, "file_bytes": found[0]["file_bytes"]}
        for figure in FIGURES:
            cell[figure] = statistics.median(r["load_us"] + r["first_us"] if figure == "result_us" else r[figure] for r in found)
        cosines = [r["cosine"] for r in found if r.get("cosine") is not None]
        cell["cosine"] = min(cosines) if cosines else None
        cells.append(cell)
    versions = {r["runtime"]: r["version"] for r in rows}
    rounds = 1 + max((r["round"] for r in rows if not r["cold"]), default=-1)
    return {"cells": cells, "runtimes": sorted(versions, key=lambda r: (r != "mote", r)), "versions": versions, "rounds": rounds,
            "ratios": [r for figure in FIGURES for r in ratios(cells, figure)]}


def ratios(cells, figure):
    """Mote / best peer, a row for each table: geometric mean, and the largest with its model."""
    for kind, threads, cold in tables(cells):
        if cold and figure not in COLD:
            continue
        found = {}
        for model, row in table(cells, kind, threads, cold, figure).items():
            best = min((v for r, v in row.items() if r != "mote" and v), default=None)
            if best and row.get("mote"):
                found[model] = row["mote"] / best
        if found:
            worst = max(found, key=found.get)
            mean = math.exp(sum(map(math.log, found.values())) / len(found))
            yield {"set": kind, "threads": threads, "cold": cold, "figure": figure, "geometric_mean": mean, "largest": found[worst],
                   "largest_model": worst, "by_model": found}


def tables(cells):
    return sorted({(c["set"], c["threads"], c["cold"]) for c in cells}, key=lambda k: (k[2], k[0], k[1]))


def table(cells, kind, threads, cold, figure):
    """{model: {runtime: value}}"""
    rows = {}
    for c in cells:
        if (c["set"], c["threads"], c["cold"]) == (kind, threads, cold):
            rows.setdefault(c["model"], {})[c["runtime"]] = c[figure]
    return rows


def number(value, figure):
    if value is None:
        return "-"
    if figure.endswith("_bytes"):
        return f"{value / 1e6:.1f}"
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}"


def title(kind, threads, cold):
    return f"{kind}, {threads} thread{'s' if threads != 1 else ''}{', files not in the cache' if cold else ''}"


def one_table(summary, kind, threads, cold, figure):
    rows = table(summary["cells"], kind, threads, cold, figure)
    runtimes = [r for r in summary["runtimes"] if any(r in row for row in rows.values())]
    ratio = next((r for r in summary["ratios"] if (r["set"], r["threads"], r["cold"], r["figure"]) == (kind, threads, cold, figure)), None)
    lines = [[f"{FIGURES[figure]}", *runtimes, "mote/best"]]
    for model, row in rows.items():
        best = min((v for r, v in row.items() if r != "mote" and v), default=None)
        mark = lambda r: "*" if best is not None and row.get(r) == best else " "
        own = f"{ratio['by_model'][model]:.2f}" if ratio and model in ratio["by_model"] else "-"
        lines.append([model, *[number(row.get(r), figure) + mark(r) for r in runtimes], own])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = ["  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(line, widths))).rstrip() for line in lines]
    if ratio:
        text.append(f"geometric mean {ratio['geometric_mean']:.2f}, largest {ratio['largest']:.2f} ({ratio['largest_model']})")
    return "\n".join(text)


def text(summary):
    parts = [f"medians of {summary['rounds']} rounds; * is the best peer; " + ", ".join(f"{r} {v}" for r, v in summary["versions"].items())]
    for kind, threads, cold in tables(summary["cells"]):
        parts.append(f"\n== {title(kind, threads, cold)}")
        parts += [one_table(summary, kind, threads, cold, f) + "\n" for f in (COLD if cold else FIGURES)]
    wrong = [c for c in summary["cells"] if c["cosine"] is not None and c["cosine"] < (0.999 if c["set"] == "fp32" else 0.9)]
    parts += [f"not the same result: {c['runtime']} on {c['model']} ({c['set']}): cosine {c['cosine']:.4f}" for c in wrong]
    parts += [f"{l['runtime']} left out on {l['model']} ({l['set']}): {l['why']}" for l in summary["left_out"] if l["model"]]
    return "\n".join(parts)
