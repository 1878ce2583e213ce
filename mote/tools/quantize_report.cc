#include "mote/tools/quantize_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mote/tools/values.h"

namespace mote::tools {
namespace {

constexpr size_t kMostName = 80;                        // of a node's name: TFLite joins those of everything it fused
constexpr int kBins = 64;                               // of a small histogram
constexpr int kWide = 960;                              // of the page, pixels
constexpr double kMostShown = 60;                       // dB at the top of the plot
const char* const kColours[] = {"#2f6fdb", "#d9822b"};  // integer, float

const char kHead[] = R"(<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Quantization</title><style>
body{font:14px/1.45 system-ui,sans-serif;max-width:960px;margin:24px auto;padding:0 16px;color:#1b1f24}
h1{font-size:22px}h2{font-size:17px;margin-top:28px}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:4px 8px;border-bottom:1px solid #e3e6ea;vertical-align:top;overflow-wrap:anywhere}
td.n,th.n{text-align:right;white-space:nowrap}svg text{font:10px system-ui,sans-serif;fill:#5b6570}
.w{color:#a33}.f{color:#b5651d}small{color:#5b6570}@media(prefers-color-scheme:dark){body{background:#14171a;color:#e6e8ea}td,th{border-color:#30363d}}
</style></head><body>)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

template <class... Numbers>
std::string format(const char* how, Numbers... numbers) {
  char s[512];
  std::snprintf(s, sizeof s, how, numbers...);
  return s;
}

std::string db_text(double db) { return db < 0 ? "" : std::isinf(db) ? "exact" : format("%.1f", db); }

// Bars over the operators: SQNR of what each gives.
std::string error_plot(const QuantizeResult& r) {
  const int height = 220, left = 36, bottom = 22;
  const double step = static_cast<double>(kWide - left) / static_cast<double>(std::max<size_t>(1, r.ops.size()));
  std::string svg = format("<svg viewBox='0 0 %d %d' width='100%%' role='img' aria-label='SQNR of every operator'>", kWide, height);
  for (int db = 0; db <= static_cast<int>(kMostShown); db += 10) {
    const double y = (height - bottom) * (1 - db / kMostShown) + 2;
    svg +=
        format("<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#8883'/><text x='2' y='%.1f'>%d dB</text>", left, kWide, y, y, y + 8, db);
  }
  for (size_t i = 0; i < r.ops.size(); ++i) {
    const QuantizedOp& op = r.ops[i];
    const bool real = op.precision == "f32";
    const double db = op.sqnr_db < 0 ? 0 : std::min(op.sqnr_db, kMostShown), tall = (height - bottom) * db / kMostShown;
    svg += format("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'><title>", left + step * static_cast<double>(i) + step * 0.1,
                  height - bottom - tall + 2, step * 0.8, std::max(tall, 1.0), kColours[real ? 1 : 0]) +
           escaped(op.name) + ": " + (op.sqnr_db < 0 ? "not an 8-bit tensor" : db_text(op.sqnr_db) + " dB") + "</title></rect>";
  }
  return svg + format("<text x='%d' y='%d'>first operator</text><text x='%d' y='%d' text-anchor='end'>last</text></svg>", left, height - 6,
                      kWide - 2, height - 6);
}

// Counts on a logarithmic scale; [lo, hi] is what the 8-bit numbers reach.
std::string bars(const std::vector<double>& counts, double from, double to, double lo, double hi, const char* colour) {
  const double most = *std::max_element(counts.begin(), counts.end()), wide = 3.2, high = 46;
  std::string svg = format("<svg width='%.0f' height='64' role='img' aria-label='histogram'>", wide * static_cast<double>(counts.size()));
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0) continue;
    const double tall = high * std::log1p(counts[i]) / std::log1p(most);
    svg += format("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'/>", wide * static_cast<double>(i), high - tall, wide - 0.6,
                  tall, colour);
  }
  for (const double edge : {lo, hi}) {
    const double x = wide * static_cast<double>(counts.size()) * (edge - from) / std::max(to - from, 1e-30);
    if (hi > lo && x >= 0 && x <= wide * kBins) svg += format("<line x1='%.1f' x2='%.1f' y1='0' y2='%.0f' stroke='#c33'/>", x, x, high);
  }
  return svg + format("<text x='0' y='60'>%.3g</text><text x='%.0f' y='60' text-anchor='end'>%.3g</text></svg>", from,
                      wide * static_cast<double>(counts.size()), to);
}

std::string activation_plot(const quant::Histogram& h, const quant::Grid* grid) {
  const quant::Range range = h.range();
  if (h.count() == 0 || !(range.hi > range.lo)) return "";
  std::vector<double> counts(kBins, 0);
  for (int i = 0; i < quant::Histogram::kBins; ++i) {
    const double at = (h.center(i) - range.lo) / (range.hi - range.lo) * kBins;
    counts[static_cast<size_t>(std::clamp(static_cast<int>(at), 0, kBins - 1))] += static_cast<double>(h.bins()[static_cast<size_t>(i)]);
  }
  double lo = 0, hi = 0;
  if (grid != nullptr)
    lo = static_cast<double>(grid->scale) * (-128 - grid->zero), hi = static_cast<double>(grid->scale) * (127 - grid->zero);
  return bars(counts, range.lo, range.hi, lo, hi, kColours[0]);
}

std::string weight_plot(const quant::QuantWeights& w) {
  const size_t rows = w.scales.size(), columns = rows > 0 ? w.codes.size() / rows : 0;
  float most = 0;
  for (size_t i = 0; i < rows * columns; ++i) most = std::max(most, std::fabs(static_cast<float>(w.codes[i]) * w.scales[i / columns]));
  if (!(most > 0)) return "";
  std::vector<double> counts(kBins, 0);
  for (size_t i = 0; i < rows * columns; ++i) {
    const float at = (static_cast<float>(w.codes[i]) * w.scales[i / columns] / most + 1) / 2 * kBins;
    ++counts[static_cast<size_t>(std::clamp(static_cast<int>(at), 0, kBins - 1))];
  }
  return bars(counts, -static_cast<double>(most), static_cast<double>(most), 0, 0, "#5c8a3a");
}

std::string summary(const QuantizeResult& r) {
  std::string t = "<h2>Before and after</h2><table><tr><th>output<th class=n>SQNR dB<th class=n>cosine<th class=n>same top-1";
  if (r.measured.labelled) t += "<th class=n>accuracy f32<th class=n>quantized";
  t += "</tr>";
  for (const quant::OutputMeasure& m : r.measured.outputs) {
    t += "<tr><td>" + escaped(m.name) + "<td class=n>" + db_text(std::max(0.0, m.sqnr_db)) +
         format("<td class=n>%.5f<td class=n>%.2f %%", m.cosine, 100 * m.agreement);
    if (r.measured.labelled) t += format("<td class=n>%.2f %%<td class=n>%.2f %%", 100 * m.accuracy_before, 100 * m.accuracy_after);
    t += "</tr>";
  }
  t += "</table>";
  for (const quant::OutputMeasure& m : r.measured.outputs)
    if (m.accuracy_own >= 0)
      t += "<p>" + escaped(m.name) + format(": the model as it comes quantizes while running and has %.2f %%.</p>", 100 * m.accuracy_own);
  t += "<p><small>" + std::to_string(r.measured.samples) + " samples, SHA-256 " + escaped(r.measured.fingerprint) + "</small></p>";
  for (const std::string& w : r.warnings) t += "<p class=w>" + escaped(w) + "</p>";
  if (r.ns > 0)
    t += format("<p>By the target's cost model a run takes %.1f us in f32 and %.1f us as this program.</p>", r.f32_ns / 1e3, r.ns / 1e3);
  t += "<table>";
  for (const auto& [key, value] : r.evidence)
    if (value.find('\n') == std::string::npos) t += "<tr><td>" + escaped(key) + "<td>" + escaped(value) + "</tr>";
  return t + "</table>";
}

}  // namespace

std::string quantize_report(const std::string& model, const QuantizeResult& r, const quant::Quantizer& quantizer) {
  std::string page = kHead;
  page += "<h1>" + escaped(model) + ", quantized</h1>" + summary(r);
  page +=
      "<h2>Error of every operator's result</h2><p><small>Signal to error ratio beside the float model, cut off at 60 dB; blue: "
      "integer, orange: float.</small></p>" +
      error_plot(r);
  page +=
      "<h2>Operators</h2><table><tr><th>operator<th class=n>precision<th class=n>SQNR dB<th class=n>alone dB<th class=n>f32 us<th "
      "class=n>int8 "
      "us<th>weights<th>input, with the range of its 8-bit numbers</tr>";
  const quant::Recipe& recipe = quantizer.recipe();
  for (size_t i = 0; i < r.ops.size() && i < quantizer.products().size(); ++i) {
    const QuantizedOp& op = r.ops[i];
    const quant::ProductInfo& p = quantizer.products()[i];
    const auto us = [](double ns) { return ns < 0 ? std::string() : format("%.2f", ns / 1e3); };
    page += "<tr><td title=\"" + escaped(op.name) + "\">" +
            escaped(op.op + " " + (op.name.size() > kMostName ? op.name.substr(0, kMostName) + "…" : op.name));
    if (!op.choice.in_float.empty()) page += "<br><small class=f>" + escaped(op.choice.in_float) + "</small>";
    page += "<td class=n>" + escaped(op.precision) + "<td class=n>" + db_text(op.sqnr_db) + "<td class=n>" + db_text(op.choice.alone_db) +
            "<td class=n>" + us(op.choice.f32_ns) + "<td class=n>" + us(op.choice.int8_ns) + "<td>";
    if (const auto w = recipe.weights.find(p.id); w != recipe.weights.end()) page += weight_plot(w->second);
    page += "<td>";
    if (const auto s = quantizer.stats().find(p.input_id); s != quantizer.stats().end())
      page += activation_plot(s->second.histogram(), recipe.grid(p.input_id));
    page += "</tr>";
  }
  return page + "</table></body></html>\n";
}

}  // namespace mote::tools
