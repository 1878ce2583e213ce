#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "mote/compiler/driver/run.h"
#include "mote/tools/failure.h"
#include "mote/tools/judgement.h"
#include "mote/tools/quantize_settings.h"
#include "mote/tools/text_table.h"

namespace mote::tools {
namespace {

using Texts = std::map<std::string, std::string>;

// The same words and, within the tolerance, the same numbers.
bool alike(const std::string& a, const std::string& b) {
  const char *x = a.c_str(), *y = b.c_str();
  while (*x != 0 && *y != 0) {
    char *x_end, *y_end;
    const double u = std::strtod(x, &x_end), v = std::strtod(y, &y_end);
    if (x_end != x && y_end != y) {
      if (std::fabs(u - v) > kEvidenceTolerance * std::max({std::fabs(u), std::fabs(v), 1.0})) return false;
      x = x_end, y = y_end;
      continue;
    }
    if (*x++ != *y++) return false;
  }
  return *x == *y;
}

struct Line {
  std::string key, recorded, found;
  bool same = false;
};

Line compared(const std::string& key, const std::string& recorded, const std::string& found, bool exact) {
  return {key, recorded, found, exact ? recorded == found : alike(recorded, found)};
}

bool is_exact(const std::string& key) { return key.find("sha256") != std::string::npos || key.find("samples") != std::string::npos; }

// One line of a text of many: what differs first.
void shorten(Line* l) {
  if (l->recorded.find('\n') == std::string::npos) return;
  const auto lines = std::count(l->recorded.begin(), l->recorded.end(), '\n');
  size_t at = 0;
  while (at < l->recorded.size() && at < l->found.size()) {
    const size_t a = l->recorded.find('\n', at), b = l->found.find('\n', at);
    if (a != b || !alike(l->recorded.substr(at, a - at), l->found.substr(at, b - at))) break;
    if (a == std::string::npos) break;
    at = a + 1;
  }
  const auto line = [&](const std::string& text) {
    return l->same || at >= text.size() ? std::to_string(lines) + " lines" : text.substr(at, text.find('\n', at) - at);
  };
  const std::string recorded = line(l->recorded);
  l->found = line(l->found);
  l->recorded = recorded;
}

void print(const std::vector<Line>& lines, bool good, bool json) {
  if (json) {
    Json all = Json::array();
    for (const Line& l : lines) all.push_back({{"key", l.key}, {"recorded", l.recorded}, {"found", l.found}, {"same", l.same}});
    return print_json({{"passed", good}, {"evidence", all}});
  }
  TextTable table({"evidence", "recorded", "found", ""});
  for (const Line& l : lines) table.add({l.key, l.recorded, l.found, l.same ? "ok" : "DIFFERS"});
  std::printf("%s%s\n", table.text().c_str(), good ? "the evidence is what its data gives" : "the evidence is NOT what its data gives");
}

}  // namespace

bool validate_quantized(const QuantizeSettings& data, const frontends::Source& source, const driver::CompileOptions& options,
                        ConstBytes program, ConstBytes external, Progress* progress, bool json) {
  quant::Probe file;
  quant::Reference plain;
  std::string error;
  if (!file.open(program, external, options.plan.ops, options.select, &error)) throw Failure("cannot open the program: " + error);
  Texts recorded, metadata_texts;
  const ProgramTable& t = file.table();
  for (const Pair& p : t.evidence) recorded[t.string(p.key)] = t.string(p.value);
  for (const Pair& p : t.metadata) metadata_texts[t.string(p.key)] = t.string(p.value);
  if (recorded.count("quant.options") == 0) throw Failure("the program holds no evidence of quantizing that could be computed again");
  QuantizeSettings s = quantize_settings_of(recorded["quant.options"]);
  s.calibrate = data.calibrate, s.test = data.test, s.truth = data.truth;
  const MetadataOf metadata = [&](const std::string& key) {
    const auto it = metadata_texts.find(key);
    return it == metadata_texts.end() ? std::string() : it->second;
  };
  driver::Signature signature;
  ir::Problems problems;
  const auto failed = [&] {
    return Failure(problems.empty() ? "the model cannot be compiled" : problems[0].where + ": " + problems[0].what);
  };
  const auto show = [&](const std::string& stage, double fraction) { progress->show(stage, fraction); };
  // The program itself beside the float model.
  file.set_narrow_io(options.io_int8);
  driver::CompileOptions again = options;
  again.io_int8 = false;
  again.metadata.assign(metadata_texts.begin(), metadata_texts.end());
  if (!driver::read_signature(source, again.import, &signature, &problems) || !plain.build(source, again, &problems)) throw failed();
  TestData test(s, signature.methods[0], metadata);
  QuantizeResult result;
  if (!quant::measure(plain, file, test.samples, test.how, show, &result.measured, &error)) throw Failure(error);
  for (const std::string& doubt : doubts_of(s, result)) Progress::say("mote: warning: " + doubt);
  quant::Texts found;
  add_evidence(result, &found);
  std::vector<Line> lines;
  for (const auto& [key, text] : found)
    if (key.compare(0, 13, "quant.output.") == 0 || key.compare(0, 11, "quant.test.") == 0)
      lines.push_back(compared(key, recorded[key], text, is_exact(key)));
  // And everything that calibrating decided.
  if (!s.calibrate.empty()) {
    driver::CompileResult compiled;
    QuantizeResult made;
    again.golden.count = 0;
    if (!compile_quantized(s, source, again, progress, &compiled, &made, &problems)) throw failed();
    for (const auto& [key, text] : made.evidence)
      if (std::none_of(lines.begin(), lines.end(), [&, k = key](const Line& l) { return l.key == k; }))
        lines.push_back(compared(key, recorded[key], text, is_exact(key)));
  }
  bool good = true;
  for (Line& l : lines) {
    good &= l.same;
    shorten(&l);
  }
  progress->clear();
  print(lines, good, json);
  return good;
}

}  // namespace mote::tools
