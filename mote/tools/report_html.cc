// The page of a report: every figure comes from the document.

#include <algorithm>

#include "mote/tools/html_page.h"
#include "mote/tools/release_report.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

using html::escaped;
using html::format;
using html::wrapping;

constexpr size_t kMostRows = 2000;  // of a table: pages of larger programs would not open
constexpr int kWide = 1000, kTall = 120;

std::string text_of(const Json& j) { return j.is_string() ? j.get<std::string>() : j.is_null() ? "" : j.dump(); }
uint64_t count_of(const Json& j) { return j.is_number() ? j.get<uint64_t>() : 0; }
double real_of(const Json& j) { return j.is_number() ? j.get<double>() : 0; }
std::string field(const Json& j, const char* key) { return j.contains(key) ? text_of(j[key]) : ""; }

std::string cell(const std::string& text) { return "<td>" + wrapping(text); }
std::string number_cell(uint64_t v) { return format("<td class=n data-v=%llu>", static_cast<unsigned long long>(v)) + number(v); }
std::string real_cell(double v, const char* how) { return format("<td class=n data-v=%.9g>", v) + format(how, v); }

// Names and values, one below the other.
class Facts {
 public:
  void add(const std::string& what, const std::string& value) {
    if (!value.empty()) rows_ += "<tr><td class=k>" + escaped(what) + "<td>" + wrapping(value) + "</tr>";
  }
  std::string html() const { return rows_.empty() ? "" : "<table>" + rows_ + "</table>"; }

 private:
  std::string rows_;
};

std::string heading(const char* text) { return std::string("<h2>") + text + "</h2>"; }
std::string words(const std::string& text) { return "<p>" + escaped(text) + "</p>"; }
std::string small(const std::string& text) { return "<p><small>" + escaped(text) + "</small></p>"; }

// Heads that begin with '#' are of numbers.
std::string table(std::initializer_list<const char*> heads, const std::string& rows) {
  std::string t = "<div class=t><table><tr>";
  for (const char* h : heads) t += *h == '#' ? std::string("<th class='n s'>") + (h + 1) : std::string("<th class=s>") + h;
  return t + "</tr>" + rows + "</table></div>";
}

// A small bar for each instruction, in the order of the program.
std::string plot(const Json& operators, const char* key, const char* what, const std::string& most_text) {
  double most = 0;
  for (const Json& op : operators) most = std::max(most, op.contains(key) ? real_of(op[key]) : 0);
  if (!(most > 0)) return "";
  const double step = static_cast<double>(kWide) / static_cast<double>(operators.size());
  std::string svg = "<h3>" + escaped(what) + "</h3><svg viewBox='0 0 " + std::to_string(kWide) + " " + std::to_string(kTall + 16) +
                    "' width='100%' role='img' aria-label='" + escaped(what) + "'>";
  svg += format("<line x1='0' x2='%d' y1='%d' y2='%d' stroke='#8886'/>", kWide, kTall, kTall);
  for (size_t i = 0; i < operators.size() && i < kMostRows; ++i) {
    const Json& op = operators[i];
    const double v = op.contains(key) ? real_of(op[key]) : 0;
    if (v <= 0) continue;
    const double tall = std::max(1.0, (kTall - 4) * v / most);
    svg += format("<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='var(--bar)'><title>",
                  step * static_cast<double>(i) + step * 0.1, kTall - tall, std::max(0.4, step * 0.8), tall) +
           escaped("#" + std::to_string(i) + " " + field(op, "op") + " " + field(op, "node") + ": " + format("%.6g", v)) +
           "</title></rect>";
  }
  return svg +
         format("<text x='0' y='%d'>first instruction</text><text x='%d' y='%d' text-anchor='middle'>", kTall + 13, kWide / 2, kTall + 13) +
         "highest: " + escaped(most_text) + format("</text><text x='%d' y='%d' text-anchor='end'>last</text></svg>", kWide, kTall + 13);
}

double highest(const Json& operators, const char* key) {
  double most = 0;
  for (const Json& op : operators) most = std::max(most, op.contains(key) ? real_of(op[key]) : 0);
  return most;
}

std::string identity(const Json& r) {
  const Json &p = r["program"], &s = r["source"];
  Facts f;
  f.add("program", field(p, "file"));
  f.add("SHA-256", field(p, "sha256"));
  f.add("bytes", number(count_of(p["bytes"])));
  if (p.contains("weights"))
    f.add("weights",
          field(p["weights"], "file") + ", " + number(count_of(p["weights"]["bytes"])) + " B, SHA-256 " + field(p["weights"], "sha256"));
  f.add("model", field(s, "model") + (field(s, "format").empty() ? "" : " (" + field(s, "format") + ")"));
  f.add("SHA-256 of the model", field(s, "sha256"));
  if (s.contains("bytes")) f.add("bytes of the model", number(count_of(s["bytes"])));
  f.add("compiled by", field(p, "producer"));
  f.add("options", field(p, "options").empty() ? "none" : field(p, "options"));
  f.add("target", field(p, "target"));
  f.add("licence", field(p, "licence"));
  f.add("multiply-adds of a run", number(count_of(r["macs"])));
  f.add("report", field(r, "schema") + " version " + field(r, "version") + ", written by Mote " + field(r, "mote"));
  return f.html();
}

std::string coverage(const Json& c) {
  std::string t = heading("Coverage");
  if (c.is_null()) return t + words("Not in this report: mote compile --report has it, of ONNX, TFLite and torch.export models.");
  std::string rows;
  for (const Json& k : c["types"]) {
    rows += "<tr>" + cell(field(k, "op")) + number_cell(count_of(k["count"])) + "<td>";
    if (k["instructions"].is_null()) {
      rows += "names were left out (--strip-names)</tr>";
      continue;
    }
    std::string became;
    for (const auto& [op, count] : k["instructions"].items())
      became += (became.empty() ? "" : ", ") + op + (count_of(count) > 1 ? " × " + number(count_of(count)) : "");
    rows += escaped(became) + number_cell(count_of(k["without_instruction"])) + "</tr>";
  }
  return t +
         words(number(count_of(c["supported"])) + " of " + number(count_of(c["operators"])) +
               " operators that lead to an output are compiled.") +
         table({"operator of the model", "#count", "instructions with the names of these nodes", "#without one"}, rows) +
         small(
             "An instruction that several nodes were fused into counts for each of them. Without one: computed while compiling, or not "
             "needed.");
}

std::string parity_row(const Json& o) {
  std::string row = "<tr>" + cell(field(o, "output")) + number_cell(count_of(o["example"])) + cell(field(o, "against"));
  if (!o.contains("same_type")) return row + "<td class=n><td class=n><td class=n><td class=n><td></tr>";
  if (!o["same_type"].get<bool>()) return row + "<td class=n><td class=n><td class=n><td class=n><td class=w>another type or shape</tr>";
  row += real_cell(real_of(o["largest_error"]), "%.3g") + real_cell(real_of(o["largest_expected"]), "%.3g");
  row += o["sqnr_db"].is_null() ? "<td class=n data-v=1e9>exact" : real_cell(real_of(o["sqnr_db"]), "%.1f");
  row += real_cell(100 * real_of(o["top1"]), "%.2f %%");
  return row + "<td>" + (o["identical"].get<bool>() ? "the same bits" : format("tolerance of the example %.2g", real_of(o["tolerance"]))) +
         "</tr>";
}

std::string parity(const Json& p) {
  std::string t = heading("Parity");
  if (p.is_null()) return t + words("Not in this report: nothing was compared to write it.");
  std::string rows;
  for (const Json& o : p["outputs"]) rows += parity_row(o);
  t += words("Reference: " + field(p, "reference") + ". Inputs: " + field(p, "inputs") + ". Kernels: " + field(p, "kernels") + ".");
  if (rows.empty()) t += words("No example was run.");
  else t += table({"output", "#example", "against", "#largest error", "#largest value", "#SQNR dB", "#same top-1", ""}, rows);
  const std::string missing = field(p, "not_compared");
  return missing.empty() ? t : t + "<p class=f>This evidence is " + escaped(missing) + ".</p>";
}

std::string sizes(const Json& r) {
  std::string parts, constants, segments;
  const double all = std::max(1.0, real_of(r["program"]["bytes"]));
  for (const Json& p : r["size"]["parts"])
    parts += "<tr>" + cell(field(p, "what")) + cell(field(p, "detail")) + number_cell(count_of(p["bytes"])) +
             real_cell(100 * real_of(p["bytes"]) / all, "%.1f %%") +
             format("<td class=b1><span class=b style='width:%.1f%%'></span></tr>", 100 * real_of(p["bytes"]) / all);
  for (const Json& c : r["size"]["constants"])
    constants += "<tr>" + cell(field(c, "what")) + cell(field(c, "detail")) + number_cell(count_of(c["bytes"])) + "</tr>";
  for (const Json& s : r["segments"])
    segments += "<tr>" + cell(field(s, "kind") + (s["external"].get<bool>() ? " (second file)" : "")) + number_cell(count_of(s["bytes"])) +
                number_cell(count_of(s["alignment"])) + "<td><code>" + escaped(field(s, "sha256")) + "</code></tr>";
  std::string t = heading("Sizes") + table({"part of the file", "", "#bytes", "#share", ""}, parts);
  t += table({"segment", "#bytes", "#alignment", "SHA-256"}, segments);
  return constants.empty() ? t : t + "<h3>Largest constants</h3>" + table({"constant of", "node of the model", "#bytes"}, constants);
}

std::string memory(const Json& r) {
  const Json& m = r["memory"];
  Facts f;
  if (m.contains("peak_bytes")) f.add("peak of the plan", bytes_text(count_of(m["peak_bytes"])));
  if (m.contains("lower_bound_bytes")) f.add("no order of the operators needs less than", bytes_text(count_of(m["lower_bound_bytes"])));
  for (const Json& b : m["banks"])
    f.add("bank " + field(b, "name"), bytes_text(count_of(b["bytes"])) + ", aligned to " + number(count_of(b["alignment"])));
  f.add("instance",
        bytes_text(count_of(m["instance_bytes_64"])) + " (32-bit pointers: " + bytes_text(count_of(m["instance_bytes_32"])) + ")");
  f.add("scratch",
        bytes_text(count_of(m["scratch_base_bytes"])) + " and " + bytes_text(count_of(m["scratch_per_thread_bytes"])) + " for each thread");
  return heading("Memory") + f.html() +
         plot(r["operators"], "live_bytes", "Planned memory in use at each instruction",
              bytes_text(static_cast<uint64_t>(highest(r["operators"], "live_bytes"))));
}

std::string placement(const Json& p) {
  std::string rows;
  for (const Json& part : p["parts"])
    rows += "<tr>" + cell(field(part, "backend")) + number_cell(count_of(part["first_instruction"])) +
            number_cell(count_of(part["instruction_count"])) + real_cell(real_of(part["predicted_us"]), "%.1f") +
            number_cell(count_of(part["bytes_in"])) + number_cell(count_of(part["bytes_out"])) + "</tr>";
  if (rows.empty()) return heading("Placement") + words("Everything runs on the CPU.");
  return heading("Placement") +
         table({"backend", "#first instruction", "#instructions", "#predicted us", "#bytes in", "#bytes out"}, rows) +
         (field(p, "policy").empty() ? "" : "<pre>" + escaped(field(p, "policy")) + "</pre>");
}

// What the file carries; the quantizer's own sections stand in its place where they are at hand.
std::string quantization(const Json& q) {
  if (q.is_null()) return heading("Quantization") + words("No operator computes with 8- or 16-bit integers.");
  if (!q["by_mote"].get<bool>())
    return heading("Quantization") +
           words(number(count_of(q["integer_operators"])) +
                 " operators compute with integers, as the model has them; Mote did not quantize it and measured no error.");
  Facts f;
  for (const auto& [key, value] : q["evidence"].items()) f.add(key, one_line(text_of(value), 200));
  std::string rows;
  for (const Json& op : q["ops"])
    rows += "<tr>" + cell(field(op, "op")) + cell(field(op, "precision")) + "<td class=n>" + escaped(field(op, "sqnr_db")) +
            cell(field(op, "node")) + "</tr>";
  return heading("Quantization") + f.html() + (rows.empty() ? "" : table({"operator", "precision", "#SQNR dB", "node"}, rows));
}

std::string unknown(const Json& r) {
  return words("Not known: the program could not be verified here (" + field(r, "not_verified") + ").");
}

std::string accumulators(const Json& r) {
  std::string t = heading("Accumulators of integer products");
  const Json& all = r["accumulators"];
  if (all.is_null()) return t + unknown(r);
  if (all.empty()) return t + words("There are none.");
  std::string rows;
  size_t safe = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Json& a = all[i];
    const bool fits = a["fits"].get<bool>();
    safe += fits;
    if (i >= kMostRows) continue;
    rows += "<tr>" + number_cell(count_of(a["instruction"])) + cell(field(a, "op")) + number_cell(count_of(a["products"])) +
            number_cell(count_of(a["bound"])) + number_cell(count_of(a["needed_bits"])) + number_cell(count_of(a["width_bits"])) +
            cell(field(a, "from")) +
            (fits ? "<td>fits"
                  : "<td class=w>" +
                        (field(a, "not_counted").empty() ? std::string("may wrap") : "without " + escaped(field(a, "not_counted")))) +
            cell(field(a, "node")) + "</tr>";
  }
  return t + words(number(safe) + " of " + number(all.size()) + " cannot overflow, whatever the input.") +
         table({"#instruction", "operator", "#products", "#bound", "#bits", "#accumulator", "bound from", "", "node"}, rows) +
         small(
             "Bound: over the output channels the largest sum of |weight - zero point| times 255 (16-bit activations: 65,535), bias "
             "included; "
             "the weights are those of this program, or where they are computed while running the widest of their type.");
}

std::string slow_paths(const Json& r) {
  std::string t = heading("Slow paths");
  const Json& all = r["slow_paths"];
  if (all.is_null()) return t + unknown(r);
  const std::string kernels = field(r, "kernels");
  if (all.empty()) return t + words("With the kernels '" + kernels + "' no large operator falls to a portable kernel.");
  std::string rows;
  for (size_t i = 0; i < all.size() && i < kMostRows; ++i)
    rows += "<tr>" + number_cell(count_of(all[i]["instruction"])) + cell(field(all[i], "op")) + number_cell(count_of(all[i]["elements"])) +
            cell(field(all[i], "reason")) + cell(field(all[i], "node")) + "</tr>";
  return t + words("With the kernels '" + kernels + "' these run on portable ones:") +
         table({"#instruction", "operator", "#elements", "why", "node"}, rows);
}

std::string operators(const Json& r) {
  const Json& all = r["operators"];
  const bool timed = !all.empty() && all[0].contains("least_us");
  const double most = std::max(1.0, highest(all, "macs"));
  std::string t = heading("Operators of the program");
  t += plot(all, "macs", "Multiply-adds of each instruction", number(static_cast<uint64_t>(highest(all, "macs"))));
  if (timed)
    t += plot(all, "least_us", "Least time of each instruction, one thread of the target (a bound by its rates, not a measurement)",
              format("%.1f us", highest(all, "least_us")));
  std::string rows;
  for (size_t i = 0; i < all.size() && i < kMostRows; ++i) {
    const Json& op = all[i];
    rows += "<tr>" + number_cell(i) + cell(field(op, "op")) + cell(field(op, "node")) + cell(field(op, "output")) +
            number_cell(count_of(op["macs"])) +
            format("<td class=b1><span class=b style='width:%.1f%%'></span>", 100 * real_of(op["macs"]) / most) +
            number_cell(count_of(op["constant_bytes"])) + number_cell(count_of(op["live_bytes"])) +
            (timed ? real_cell(real_of(op["least_us"]), "%.2f") : std::string("<td>")) + "</tr>";
  }
  if (all.size() > kMostRows) t += words("The first " + number(kMostRows) + " of " + number(all.size()) + "; the JSON report has all.");
  return t + table({"#", "operator", "node", "output", "#multiply-adds", "", "#constants B", "#in use B", timed ? "#least us" : ""}, rows);
}

}  // namespace

std::string report_html(const Json& r, const std::string& sections) {
  const std::string file = field(r["program"], "file"), name = file.substr(file.find_last_of("/\\") + 1);
  std::string body = "<h1>" + wrapping(name) + "</h1>" + identity(r);
  if (r.contains("notes"))
    for (const Json& note : r["notes"]) body += "<p class=f>" + escaped(text_of(note)) + "</p>";
  body += coverage(r["coverage"]) + parity(r["parity"]);
  body += sections.empty() ? quantization(r["quantization"]) : heading("Quantization") + sections;
  body += sizes(r) + memory(r) + placement(r["placement"]) + accumulators(r) + slow_paths(r) + operators(r);
  return html::page(name, body);
}

}  // namespace mote::tools
