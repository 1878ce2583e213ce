#include "mote/tools/quantize_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mote/tools/html_page.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

using html::escaped;
using html::format;
using html::wrapping;

constexpr size_t kMostName = 160;  // of a node's name: TFLite joins those of everything it fused
constexpr size_t kWorst = 5;       // operators that are looked at one by one
constexpr double kGood = 40;       // dB: an operator that needs no advice
constexpr size_t kFewSamples = 32;
constexpr int kBins = 64;                               // of a small histogram
constexpr int kWide = 960;                              // of the page, pixels
constexpr double kMostShown = 60;                       // dB at the top of the plot
const char* const kColours[] = {"#2f6fdb", "#d9822b"};  // integer, float

std::string shortened(const std::string& name) { return name.size() > kMostName ? name.substr(0, kMostName) + "…" : name; }

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

// Weights of an operator in bytes, in f32 and as the program has them, scales included.
struct Bytes {
  double before = 0, after = 0;
};
Bytes weight_bytes(const quant::Recipe& recipe, const quant::ProductInfo& p) {
  const auto w = recipe.weights.find(p.id);
  const bool in_float = recipe.in_float.count(p.id) > 0 || w == recipe.weights.end();
  Bytes b;
  b.before = 4.0 * static_cast<double>(p.weight_count);
  b.after = in_float ? b.before : static_cast<double>(w->second.codes.size()) + 4.0 * static_cast<double>(w->second.scales.size());
  return b;
}

std::string size_text(double bytes) {
  return bytes < 10240        ? format("%.0f B", bytes)
         : bytes < (10 << 20) ? format("%.1f KB", bytes / 1024)
                              : format("%.1f MB", bytes / (1 << 20));
}

std::string sizes(const quant::Quantizer& quantizer, const driver::CompileResult& before, const driver::CompileResult& after) {
  Bytes all;
  for (const quant::ProductInfo& p : quantizer.products()) {
    const Bytes b = weight_bytes(quantizer.recipe(), p);
    all.before += b.before;
    all.after += b.after;
  }
  const auto file = [](const driver::CompileResult& r) { return static_cast<double>(r.file.size + r.external.size()); };
  const auto row = [](const char* what, const Bytes& b) {
    return std::string("<tr><td>") + what + "<td class=n>" + size_text(b.before) + "<td class=n>" + size_text(b.after) +
           (b.before > 0 ? format(" (%.0f %%)", 100 * b.after / b.before) : std::string()) + "</tr>";
  };
  return "<h2>Sizes</h2><table><tr><th><th class=n>float model<th class=n>this program</tr>" + row("weights of operators", all) +
         row("file", {file(before), file(after)}) +
         row("memory of a run", {static_cast<double>(before.peak_bytes), static_cast<double>(after.peak_bytes)}) + "</table>";
}

// What may help an operator.
std::string advice(const QuantizedOp& op) {
  std::string t = "<code>--keep-float '" + wrapping(op.name) + "'</code>";
  if (op.choice.f32_ns >= 0 && op.choice.int8_ns >= 0)
    t += format(": %.2f us in f32 in place of %.2f", op.choice.f32_ns / 1e3, op.choice.int8_ns / 1e3);
  if (op.choice.alone_db >= 0 && op.choice.alone_db > op.sqnr_db + 10)
    t += format("<br>alone it costs little (%.1f dB): the error comes from operators before it", op.choice.alone_db);
  return t;
}

std::string worst(const QuantizeResult& r, const quant::Quantizer& quantizer) {
  std::vector<const QuantizedOp*> ops;
  for (const QuantizedOp& op : r.ops)
    if (op.precision != "f32" && op.sqnr_db >= 0 && op.sqnr_db < kGood) ops.push_back(&op);
  std::sort(ops.begin(), ops.end(), [](const QuantizedOp* a, const QuantizedOp* b) { return a->sqnr_db < b->sqnr_db; });
  if (ops.empty()) return format("<h2>Worst operators</h2><p>None: every 8-bit tensor is above %.0f dB.</p>", kGood);
  std::string t = "<h2>Worst operators</h2><table><tr><th>operator<th class=n>SQNR dB<th>what to try</tr>";
  for (size_t i = 0; i < std::min(kWorst, ops.size()); ++i)
    t += "<tr><td class=o>" + wrapping(ops[i]->op + " " + shortened(ops[i]->name)) + "<td class=n>" + db_text(ops[i]->sqnr_db) + "<td>" +
         advice(*ops[i]) + "</tr>";
  t += "</table><p>For all of them:</p><ul>";
  if (quantizer.sample_count() < kFewSamples)
    t += "<li>calibrate with more inputs: ranges come from " + std::to_string(quantizer.sample_count()) + " samples</li>";
  return t +
         "<li>let a budget choose what stays in float: <code class=k>--min-sqnr DB</code> or <code class=k>--max-drop POINTS</code></li>"
         "<li>activations of 16 bits: <code class=k>--quantize int16x8</code></li></ul>";
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
  return t;
}

std::string evidence(const QuantizeResult& r) {
  std::string t = "<h2>Evidence</h2><table>";
  for (const auto& [key, value] : r.evidence)
    if (value.find('\n') == std::string::npos) t += "<tr><td>" + wrapping(key) + "<td>" + escaped(value) + "</tr>";
  return t + "</table>";
}

// What nothing was measured of has no column.
std::string operators(const QuantizeResult& r, const quant::Quantizer& quantizer) {
  const auto any = [&](auto known) {
    return std::any_of(r.ops.begin(), r.ops.end(), [&](const QuantizedOp& op) { return known(op.choice); });
  };
  const bool alone = any([](const quant::Choice& c) { return c.alone_db >= 0; });
  const bool times = any([](const quant::Choice& c) { return c.f32_ns >= 0 || c.int8_ns >= 0; });
  const auto number_head = [](const char* text) { return std::string("<th class='n s'>") + text; };
  const auto us = [](double ns) { return "<td class=n>" + (ns < 0 ? std::string() : format("%.2f", ns / 1e3)); };
  const auto sized = [](double v) { return "<td class=n data-v=" + format("%.0f", v) + ">" + size_text(v); };
  std::string t = "<h2>Operators</h2><p><small>A click on a head sorts.</small></p><table><tr><th class=s>operator<th class=s>precision" +
                  number_head("SQNR dB");
  if (alone) t += number_head("alone dB");
  if (times) t += number_head("f32 us") + number_head("int8 us");
  t += number_head("weights f32") + number_head("now") + "<th>weights<th>input, with the range of its 8-bit numbers</tr>";
  const quant::Recipe& recipe = quantizer.recipe();
  for (size_t i = 0; i < r.ops.size() && i < quantizer.products().size(); ++i) {
    const QuantizedOp& op = r.ops[i];
    const quant::ProductInfo& p = quantizer.products()[i];
    const Bytes bytes = weight_bytes(recipe, p);
    t += "<tr><td class=o title=\"" + escaped(op.name) + "\">" + wrapping(op.op + " " + shortened(op.name));
    if (!op.choice.in_float.empty()) t += "<br><small class=f>" + escaped(op.choice.in_float) + "</small>";
    t += "<td class=s>" + escaped(op.precision) + "<td class=n>" + db_text(op.sqnr_db);
    if (alone) t += "<td class=n>" + db_text(op.choice.alone_db);
    if (times) t += us(op.choice.f32_ns) + us(op.choice.int8_ns);
    t += sized(bytes.before) + sized(bytes.after) + "<td>";
    if (const auto w = recipe.weights.find(p.id); w != recipe.weights.end()) t += weight_plot(w->second);
    t += "<td>";
    if (const auto s = quantizer.stats().find(p.input_id); s != quantizer.stats().end())
      t += activation_plot(s->second.histogram(), recipe.grid(p.input_id));
    t += "</tr>";
  }
  return t + "</table>";
}

}  // namespace

std::string quantize_sections(const QuantizeResult& r, const quant::Quantizer& quantizer, const driver::CompileResult& before,
                              const driver::CompileResult& after) {
  std::string page = summary(r) + sizes(quantizer, before, after) + worst(r, quantizer);
  page +=
      "<h2>Error of every operator's result</h2><p><small>Signal to error ratio beside the float model, cut off at 60 dB; blue: "
      "integer, orange: float.</small></p>" +
      error_plot(r);
  return page + operators(r, quantizer) + evidence(r);
}

std::string quantize_report(const std::string& model, const QuantizeResult& r, const quant::Quantizer& quantizer,
                            const driver::CompileResult& before, const driver::CompileResult& after) {
  return html::page("Quantization", "<h1>" + html::wrapping(model) + ", quantized</h1>" + quantize_sections(r, quantizer, before, after));
}

}  // namespace mote::tools
