#include "tests/differential/run.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mote/compiler/driver/compile.h"
#include "mote/platform/cpu.h"
#include "tests/differential/noise.h"
#include "tests/differential/program.h"

namespace mote::differential {
namespace {

using driver::Array;
using Arrays = std::vector<Array>;

// Where the reference's sensitivity is not asked: differences of this part of the largest number are rounding.
constexpr double kReal = 1e-5, kHalf = 4e-3;
// Noise that was measured a few times, against rounding that happens once.
constexpr double kSpreads = 4;

bool is_float(DType t) { return (mask_of(t) & kFloat) != 0; }
double rounding_of(DType t) { return t == DType::f16 || t == DType::bf16 ? kHalf : kReal; }

double largest(const std::vector<double>& v) {
  double most = 0;
  for (const double x : v)
    if (std::isfinite(x)) most = std::max(most, std::fabs(x));
  return most;
}

// An element that no trial moved may be moved as far as they moved the average one: trials are few, elements many.
double mean_of(const std::vector<double>& spread) {
  double sum = 0;
  for (const double s : spread) sum += std::isfinite(s) ? s : 0;
  return spread.empty() ? 0 : sum / static_cast<double>(spread.size());
}

// The element that is furthest beyond what is allowed; false when there is none.
bool beyond(const Array& expected, const Array& found, double rounding, const std::vector<double>* spread, std::string* text) {
  const std::vector<double> e = driver::to_doubles(expected), f = driver::to_doubles(found);
  const double floor = rounding * largest(e) + (rounding > 0 ? 1e-30 : 0);
  const double mean = spread != nullptr ? mean_of(*spread) : 0;
  size_t wrong = 0, worst = 0;
  double by = -1;
  for (size_t i = 0; i < e.size(); ++i) {
    if (f[i] == e[i] || (std::isnan(e[i]) && std::isnan(f[i]))) continue;
    const double allowed = floor + (spread != nullptr ? kSpreads * std::max((*spread)[i], mean) : 0), off = std::fabs(f[i] - e[i]);
    if (off <= allowed || std::isinf(allowed)) continue;
    ++wrong;
    if (!(off <= by)) worst = i, by = off;
  }
  if (wrong == 0) return false;
  char line[256];
  std::snprintf(line, sizeof line, "%zu of %zu elements of %s, element %zu: expected %.9g, found %.9g (largest %.4g)", wrong, e.size(),
                driver::type_text(expected.dtype, expected.dims).c_str(), worst, e[worst], f[worst], largest(e));
  *text = line;
  return true;
}

// How the compiler tells that it narrowed a range.
constexpr char kRefused[] = ": the model cannot be computed at ", kTaken[] = "; the program takes ";

// A list such as "4..5, 9", and what follows it, holds this size.
bool holds(const std::string& list, int size) {
  for (const char* at = list.c_str();;) {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    const long last = std::strncmp(end, "..", 2) == 0 ? std::strtol(end + 2, &end, 10) : first;
    if (first <= size && size <= last) return true;
    if (std::strncmp(end, ", ", 2) != 0) return false;
    at = end + 2;
  }
}

// Threads without threads: the parts of a job one after the other, the last first. Who writes what another part reads shows up.
void run_backwards(void*, uint32_t count, void (*body)(void*, uint32_t, uint32_t), void* context) {
  for (uint32_t i = count; i-- > 0;) body(context, i, i % 2);
}
const Threads kBackwards = {nullptr, 2, &run_backwards};

class Check {
 public:
  Check(const Case& c, Stage* stage, Checked* out) : c_(c), stage_(*stage), out_(*out) {}

  void all() {
    stage_.set("compile");
    const std::vector<uint8_t> file = compile_case(c_, true, &out_.refusal, &notes_);
    stage_.set("compile reference");
    reference_file_ = compile_case(c_, false, file.empty() ? &reference_refusal_ : &out_.refusal);
    if (file.empty() || reference_file_.empty()) return;
    sizes();
    if (sizes_.empty()) return;
    std::string error;
    RunProgram reference;
    stage_.set("run reference");
    if (!reference.open({reference_file_.data(), reference_file_.size()}, &error) || !reference.create({}, &error))
      return find("reference", error);
    for (const size_t s : sizes_) {
      inputs_.push_back(make_inputs(c_, s));
      expected_.emplace_back();
      if (!reference.run(inputs_.back(), &expected_.back(), &error)) return fail("reference", inputs_.size() - 1, error);
      ++out_.reference_runs;
    }
    spreads_.resize(sizes_.size());
    run_ways({file.data(), file.size()});
  }

 private:
  // The bounds, the smallest, and one or two between.
  void sizes() {
    sizes_.push_back(0);
    const size_t n = c_.sizes.size();
    for (size_t i = 1; i < n && i < 3; ++i) sizes_.push_back(i);
    if (n > 3) sizes_.push_back(3 + c_.data_seed % (n - 3));
    sizes_.erase(std::remove_if(sizes_.begin(), sizes_.end(), [this](size_t s) { return behind_a_hole(s); }), sizes_.end());
  }
  // A size that the model can be computed at, but not the program: others, that neither can be computed at, lie between it and the range
  // that was taken. (A program has one range.)
  bool behind_a_hole(size_t s) const {
    for (size_t i = 0; i < c_.symbols.size(); ++i) {
      const std::string begin = "'" + c_.symbols[i].name + "'" + kRefused, end = kTaken;
      for (const std::string& n : notes_) {
        const size_t taken = n.rfind(end);
        if (n.compare(0, begin.size(), begin) != 0 || taken == std::string::npos) continue;
        const int size = c_.sizes[s][i];
        if (!holds(n.substr(begin.size()), size) && !holds(n.substr(taken + end.size()), size)) return true;
      }
    }
    return false;
  }
  void run_ways(ConstBytes file) {
    std::string error;
    RunProgram program;
    stage_.set("open");
    if (!program.open(file, &error)) return find("a program that was written does not open", error);
    std::vector<Arrays> portable, one, two;
    for (uint8_t i = 0; i < kIsas && out_.finding.kind.empty(); ++i) {
      const auto isa = static_cast<kernels::Isa>(i);
      if (!kernels::can_run(isa, cpu_features())) continue;
      const std::string name = kernels::isa_name(isa);
      if (!run_all(program, {isa, nullptr, static_cast<uint8_t>(i == 0 ? 0xff : 0x11)}, name, &one)) return;
      if (i == 0) {
        portable = one;
        compare("optimised differs from reference", expected_, one, false);
      } else {
        compare(name + " differs from portable", portable, one, program.exact());
      }
      if (!out_.finding.kind.empty() || !run_all(program, {isa, &kBackwards, 0x33}, name, &two)) return;
      compare(name + ": two threads differ from one", one, two, true);
    }
  }
  bool run_all(RunProgram& program, const Way& way, const std::string& name, std::vector<Arrays>* outputs) {
    std::string error;
    stage_.set("run", name.c_str());
    outputs->assign(sizes_.size(), {});
    if (!program.create(way, &error)) return find(name + " does not run", error), false;
    for (size_t s = 0; s < sizes_.size(); ++s) {
      if (!program.run(inputs_[s], &(*outputs)[s], &error)) return fail(name, s, error), false;
      ++out_.runs[static_cast<size_t>(way.isa)];
    }
    return true;
  }
  void compare(const std::string& kind, const std::vector<Arrays>& expected, const std::vector<Arrays>& found, bool exact) {
    for (size_t s = 0; s < expected.size(); ++s)
      for (size_t o = 0; o < expected[s].size() && out_.finding.kind.empty(); ++o)
        compare_one(kind, s, o, expected[s][o], found[s][o], exact);
  }
  void compare_one(const std::string& kind, size_t s, size_t o, const Array& e, const Array& f, bool exact) {
    if (e.dtype != f.dtype || e.dims != f.dims)
      return find(kind + " (shape)",
                  at(s, "expected " + driver::type_text(e.dtype, e.dims) + ", found " + driver::type_text(f.dtype, f.dims)));
    if (e.data == f.data) return;
    std::string text;
    const double rounding = exact ? 0 : rounding_of(e.dtype) * (is_float(e.dtype) ? 1 : 0);
    if (!beyond(e, f, rounding, nullptr, &text)) return;
    const std::string what = kind + " (" + dtype_name(e.dtype) + ")";
    if (exact) return find(what, at(s, "output " + std::to_string(o) + ": " + text));
    stage_.set("measure rounding");
    std::string error;
    if (spreads_[s].empty() &&
        !measure_spread({reference_file_.data(), reference_file_.size()}, inputs_[s], expected_[s], &spreads_[s], &error))
      return find("reference does not run with noise", error);
    ++out_.rounded;
    if (!beyond(e, f, rounding, &spreads_[s][o], &text)) return;
    if (!measure_spread({reference_file_.data(), reference_file_.size()}, inputs_[s], expected_[s], &spreads_[s], &error, true)) return;
    if (beyond(e, f, rounding, &spreads_[s][o], &text)) find(what, at(s, "output " + std::to_string(o) + ": " + text));
  }
  std::string at(size_t s, const std::string& text) const {
    std::string where;
    for (size_t i = 0; i < c_.symbols.size(); ++i) where += c_.symbols[i].name + "=" + std::to_string(c_.sizes[sizes_[s]][i]) + " ";
    return where + text;
  }
  // A run that failed. At a size that the compiler has taken out of the range, the reason for that is what was found.
  void fail(const std::string& name, size_t s, const std::string& error) {
    if (!notes_.empty() && error.compare(0, 6, "input:") == 0) {
      const std::string& note = notes_.back();
      const size_t reason = note.find('(');
      return find("range narrowed: " + without_names(note.substr(reason == std::string::npos ? 0 : reason)), at(s, note));
    }
    find(name + " does not run: " + without_names(error.substr(0, error.find(';'))), at(s, error));
  }
  void find(const std::string& kind, const std::string& text) {
    if (out_.finding.kind.empty()) out_.finding = {kind, text};
  }

  const Case& c_;
  Stage& stage_;
  Checked& out_;
  std::string reference_refusal_;
  std::vector<std::string> notes_;
  std::vector<uint8_t> reference_file_;
  std::vector<size_t> sizes_;
  std::vector<Arrays> inputs_, expected_;
  std::vector<std::vector<std::vector<double>>> spreads_;
};

}  // namespace

void Stage::set(const char* what, const char* where) noexcept { std::snprintf(text, sizeof text, "%s %s", what, where); }

std::vector<uint8_t> compile_case(const Case& c, bool optimised, std::string* refusal, std::vector<std::string>* notes) {
  frontends::Source source;
  source.path = "case.onnx";
  std::vector<uint8_t> bytes(c.model.ByteSizeLong());
  if (!c.model.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  source.bytes = ir::Bytes::own(std::move(bytes));
  driver::CompileOptions o;
  for (const Symbol& s : c.symbols) o.import.dims[s.name] = {s.least, s.most};
  o.golden.count = 0;
  o.write.digests = false;
  if (c.ways.wide) o.target = *target::named("avx512");
  o.passes.exact = c.ways.exact;
  o.passes.winograd = c.ways.winograd;
  o.plan.io_in_arena = c.ways.io_in_arena;
  o.plan.in_place = c.ways.in_place;
  o.plan.overlap_rows = c.ways.overlap_rows;
  o.plan.strips = static_cast<schedule::Strips>(c.ways.strips);
  if (!optimised) o = driver::reference_options(o);
  driver::CompileResult result;
  ir::Problems problems;
  if (!driver::compile(source, o, &result, &problems)) {
    *refusal = problems.empty() ? "no reason" : problems[0].where + ": " + problems[0].what;
    return {};
  }
  for (const std::string& n : result.notes)
    if (notes != nullptr && n.find(kRefused) != std::string::npos) notes->push_back(n);
  return {result.file.data(), result.file.data() + result.file.size};
}

std::string without_names(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    if (ch == '\'') quoted = !quoted;
    else if (std::isdigit(static_cast<unsigned char>(ch)) != 0) {
      if (!quoted && (out.empty() || out.back() != '#')) out += '#';
    } else if (!quoted) out += ch;
  }
  return out;
}

Checked check_case(const Case& c, Stage* stage) {
  Checked out;
  Check(c, stage, &out).all();
  stage->set("");
  return out;
}

bool run_reference(const Case& c, size_t size, Arrays* outputs, std::vector<std::vector<double>>* tolerance, std::string* error) {
  const std::vector<uint8_t> file = compile_case(c, false, error);
  if (file.empty()) return false;
  RunProgram program;
  const Arrays inputs = make_inputs(c, size);
  if (!program.open({file.data(), file.size()}, error) || !program.create({}, error) || !program.run(inputs, outputs, error)) return false;
  if (!measure_spread({file.data(), file.size()}, inputs, *outputs, tolerance, error, true)) return false;
  for (size_t o = 0; o < outputs->size(); ++o) {
    const DType t = (*outputs)[o].dtype;
    const double floor = is_float(t) ? rounding_of(t) * largest(driver::to_doubles((*outputs)[o])) : 0;
    const double mean = mean_of((*tolerance)[o]);
    for (double& x : (*tolerance)[o]) x = kSpreads * std::max(x, mean) + floor;
  }
  return true;
}

}  // namespace mote::differential
