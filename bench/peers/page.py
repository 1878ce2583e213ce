"""One HTML page of a run, with bars, that needs nothing else."""
import html

import report

STYLE = """
:root{--ink:#1c2330;--soft:#667085;--line:#e4e7ec;--bar:#c3cad6;--mote:#2563eb;--good:#15803d;--bad:#b45309;--back:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#98a2b3;--line:#2b3240;--bar:#475063;--mote:#60a5fa;--good:#4ade80;
--bad:#fbbf24;--back:#12161f}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:2rem auto;max-width:1180px;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2.2rem 0 .3rem;border-top:1px solid var(--line);padding-top:1.2rem}
p{color:var(--soft);margin:.3rem 0 1rem}.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(340px,1fr));gap:1.1rem 1.6rem}
.card h3{font-size:.95rem;margin:0 0 .3rem;display:flex;justify-content:space-between}
.row{display:grid;grid-template-columns:92px 1fr 70px;gap:.5rem;
align-items:center;font-size:.82rem;line-height:1.35}.row span:last-child{text-align:right;font-variant-numeric:tabular-nums}
.bar{height:.72rem;border-radius:3px;background:var(--bar)}.mote .bar{background:var(--mote)}.mote{font-weight:600}
.cut{-webkit-mask:linear-gradient(90deg,#000 80%,transparent);mask:linear-gradient(90deg,#000 80%,transparent)}small{color:var(--soft)}
.good{color:var(--good)}.bad{color:var(--bad)}table{border-collapse:collapse;font-size:.88rem}
td,th{padding:.22rem .8rem .22rem 0;text-align:left;
border-bottom:1px solid var(--line)}td.n{text-align:right;font-variant-numeric:tabular-nums}
"""


def colour(ratio):
    return "good" if ratio <= 1 else "bad"


def card(model, row, ratio, figure):
    scale = min(max(row.values()), 4 * min(row.values())) or 1  # one that is far slower would leave the others no length
    head = f"<span>{html.escape(model)}</span>" + (f"<span class={colour(ratio)}>{ratio:.2f}</span>" if ratio else "")
    lines = [f"<div class='row {'mote' if r == 'mote' else ''}'><span>{html.escape(r)}</span>"
             f"<div class='bar {'cut' if v > scale else ''}' style='width:{max(0.5, min(100, 100 * v / scale)):.1f}%'></div>"
             f"<span>{report.number(v, figure)}</span></div>" for r, v in sorted(row.items(), key=lambda item: item[1])]
    return f"<div class=card><h3>{head}</h3>{''.join(lines)}</div>"


def overview(summary):
    """Mote / best peer: a row for each figure, a column for each table."""
    columns = report.tables(summary["cells"])
    heads = "".join(f"<th>{report.title(*c)}" for c in columns)
    lines = []
    for figure, name in report.FIGURES.items():
        found = {(r["set"], r["threads"], r["cold"]): r for r in summary["ratios"] if r["figure"] == figure}
        cell = lambda r: (f"<td><b class={colour(r['geometric_mean'])}>{r['geometric_mean']:.2f}</b> "
                          f"<small>to {r['largest']:.2f}, {html.escape(r['largest_model'])}</small>")
        lines.append(f"<tr><td>{name.split(',')[0]}" + "".join(cell(found[c]) if c in found else "<td>" for c in columns))
    return f"<table><tr><th>Mote / best peer: geometric mean, largest{heads}</tr>{''.join(lines)}</table>"


def section(summary, kind, threads, cold, figure):
    rows = report.table(summary["cells"], kind, threads, cold, figure)
    ratio = next((r for r in summary["ratios"] if (r["set"], r["threads"], r["cold"], r["figure"]) == (kind, threads, cold, figure)), None)
    of = ratio["by_model"] if ratio else {}
    note = f"Mote / best peer: geometric mean {ratio['geometric_mean']:.2f}, largest {ratio['largest']:.2f}" if ratio else ""
    cards = "".join(card(m, row, of.get(m), figure) for m, row in rows.items())
    return f"<h2>{report.FIGURES[figure].capitalize()}: {report.title(kind, threads, cold)}</h2><p>{note}</p><div class=grid>{cards}</div>"


def render(summary):
    versions = html.escape(", ".join(f"{r} {v}" for r, v in summary["versions"].items()))
    body = [f"<h1>Mote and its peers</h1><p>Medians of {summary['rounds']} interleaved rounds, fresh processes. Shorter bars are better; "
            f"the number beside a model is Mote / best peer. {versions}</p>", overview(summary)]
    for kind, threads, cold in report.tables(summary["cells"]):
        for figure in (report.COLD if cold else report.FIGURES):
            body.append(section(summary, kind, threads, cold, figure))
    left = "".join("<tr>" + "".join(f"<td>{html.escape(l[k])}" for k in ("runtime", "model", "set", "why")) for l in summary["left_out"])
    if left:
        body.append(f"<h2>Left out</h2><table>{left}</table>")
    return (f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
            f"<title>Mote and its peers</title><style>{STYLE}</style>{''.join(body)}</html>\n")
