// Random graphs through the whole compiler, and every kernel of this machine.
//   stress_graphs [--seeds A..B] [--jobs N] [--seconds S] [--report FILE] [--keep DIR] [--minimise S]
//   stress_graphs --one SEED [--keep DIR]         one case, with what it is
//   stress_graphs --models FOLDER                 every .onnx in it (as --keep writes them, or others)
//   stress_graphs --emit FILE [--seeds A..B]      models, inputs and results for compare_ort.py
// README.md says what is compared. Exits 1 when there is a finding.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "mote/kernels/testing/missing_isas.h"
#include "mote/platform/cpu.h"
#include "tests/differential/emit_cases.h"
#include "tests/differential/minimise.h"

namespace mote::differential {
namespace {

struct Options {
  uint64_t first = 0, last = UINT64_MAX;
  unsigned jobs = 1;
  double seconds = 0, minimise = 20;
  bool one = false;
  std::string report, keep, emit, models;
};

struct Class {
  uint64_t count = 0;
  std::vector<Found> first;  // some of them
};

constexpr size_t kKept = 3;

std::string print(const Case& c) {
  std::string text;
  for (const Input& in : c.inputs) {
    text += "  " + in.name + " " + std::to_string(in.type) + " [";
    for (const int d : in.shapes[0]) text += " " + std::to_string(d);
    text += " ]\n";
  }
  for (const Symbol& s : c.symbols) text += "  " + s.name + " = " + std::to_string(s.least) + ".." + std::to_string(s.most) + "\n";
  for (const auto& n : c.model.graph().node()) {
    text += "  " + n.op_type() + "(";
    for (int i = 0; i < n.input_size(); ++i) text += (i > 0 ? ", " : "") + n.input(i);
    text += ") ->";
    for (const std::string& o : n.output()) text += " " + o;
    for (const auto& a : n.attribute()) {
      text += " " + a.name() + "=";
      if (a.type() == ::onnx::AttributeProto::INT) text += std::to_string(a.i());
      else if (a.type() == ::onnx::AttributeProto::STRING) text += a.s();
      else if (a.type() == ::onnx::AttributeProto::FLOAT) text += std::to_string(a.f());
      else
        for (const int64_t v : a.ints()) text += std::to_string(v) + ",";
    }
    text += "\n";
  }
  const Ways& w = c.ways;
  char line[160];
  std::snprintf(line, sizeof line, "  exact %d winograd %d io_in_arena %d in_place %d overlap_rows %d strips %d avx512 target %d\n",
                w.exact, w.winograd, w.io_in_arena, w.in_place, w.overlap_rows, w.strips, w.wide);
  return text + line;
}

class Stress {
 public:
  explicit Stress(Options o) : o_(std::move(o)) {}

  int run() {
    const auto begin = std::chrono::steady_clock::now();
    totals_ = check_seeds(o_.first, o_.last, o_.jobs, o_.seconds, [this](const Found& f) { take(f); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::string text = table(seconds);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    for (auto& [kind, c] : classes_) text += details(kind, c);
    if (!o_.report.empty()) std::ofstream(o_.report) << text;
    return findings_ == 0 ? 0 : 1;
  }

  int one() {
    const Case c = draw_case(o_.first);
    std::fputs(print(c).c_str(), stdout);
    const Checked r = check_guarded(c);
    std::printf("refusal: %s\nfinding: %s: %s\n", r.refusal.c_str(), r.finding.kind.c_str(), r.finding.text.c_str());
    if (!o_.keep.empty()) write_case(c, o_.keep + "/" + std::to_string(o_.first));
    return kind_of(r).empty() ? 0 : 1;
  }

 private:
  void take(const Found& f) {
    const bool refused = f.finding.kind == "refused";
    Class& c = classes_[refused ? "refused: " + without_names(f.finding.text) : f.finding.kind];
    ++c.count;
    ++findings_;
    if (c.first.size() < kKept) c.first.push_back(f);
  }

  std::string table(double seconds) const {
    char line[256];
    std::string text;
    const auto add = [&](const char* format, auto... values) {
      std::snprintf(line, sizeof line, format, values...);
      text += line;
    };
    add("%llu graphs, %llu nodes, %.1f s, %.0f graphs/s; seeds %llu..%llu, %u jobs\n", static_cast<unsigned long long>(totals_.graphs),
        static_cast<unsigned long long>(totals_.nodes), seconds, static_cast<double>(totals_.graphs) / seconds,
        static_cast<unsigned long long>(o_.first), static_cast<unsigned long long>(o_.first + totals_.graphs), o_.jobs);
    add("%-28s %12s\n", "runs", "");
    add("  %-26s %12llu\n", "reference", static_cast<unsigned long long>(totals_.reference_runs));
    for (size_t i = 0; i < kIsas; ++i)
      if (totals_.runs[i] > 0)
        add("  %-26s %12llu\n", kernels::isa_name(static_cast<kernels::Isa>(i)), static_cast<unsigned long long>(totals_.runs[i]));
    if (const std::string missing = kerneltest::missing_isas(); !missing.empty()) text += "ISA variants not tried:" + missing + "\n";
    add("%-28s %12llu\n", "explained by rounding", static_cast<unsigned long long>(totals_.rounded));
    add("%-28s %12llu\n", "FINDINGS", static_cast<unsigned long long>(findings_));
    for (const auto& [kind, c] : classes_)
      text += "  " + std::to_string(c.count) + " x " + kind + ", e.g. seed " + std::to_string(c.first[0].seed) + ": " +
              c.first[0].finding.text + "\n";
    return text;
  }

  std::string details(const std::string& kind, const Class& c) {
    std::string text;
    const auto tell = [&](const std::string& more) {
      text += more;
      std::fputs(more.c_str(), stdout);
      std::fflush(stdout);
    };
    tell("\n=== " + std::to_string(c.count) + " x " + kind + "\n");
    for (const Found& f : c.first) {
      Case small = draw_case(f.seed);
      if (o_.minimise > 0) small = minimise(small, kind, o_.minimise);
      const Checked r = check_guarded(small);
      tell("seed " + std::to_string(f.seed) + ": " + r.finding.text + r.refusal + "\n" + print(small));
      if (!o_.keep.empty()) write_case(small, o_.keep + "/" + std::to_string(f.seed));
    }
    return text;
  }

  Options o_;
  Totals totals_;
  std::map<std::string, Class> classes_;
  uint64_t findings_ = 0;
};

int check_models(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  int bad = 0;
  for (const auto& path : paths) {
    Case c;
    const bool read = read_case(path.string(), &c);
    const Checked r = read ? check_guarded(c) : Checked();
    if (read && kind_of(r).empty()) continue;
    ++bad;
    std::printf("%s: %s: %s%s\n", path.filename().c_str(), read ? kind_of(r).c_str() : "is no model", r.finding.text.c_str(),
                r.refusal.c_str());
  }
  std::printf("%zu models, %d findings\n", paths.size(), bad);
  return bad == 0 && !paths.empty() ? 0 : 1;
}

bool parse(int argc, char** argv, Options* o) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--seeds") {
      char* end = nullptr;
      o->first = std::strtoull(value, &end, 10);
      if (std::strncmp(end, "..", 2) != 0) return false;
      o->last = std::strtoull(end + 2, nullptr, 10);
    } else if (name == "--jobs") o->jobs = static_cast<unsigned>(std::atoi(value));
    else if (name == "--seconds") o->seconds = std::atof(value);
    else if (name == "--minimise") o->minimise = std::atof(value);
    else if (name == "--report") o->report = value;
    else if (name == "--keep") o->keep = value;
    else if (name == "--emit") o->emit = value;
    else if (name == "--models") o->models = value;
    else if (name == "--one") o->one = true, o->first = std::strtoull(value, nullptr, 10);
    else return false;
  }
  return argc % 2 == 1 && o->jobs > 0;
}

int main(int argc, char** argv) {
  Options o;
  if (!parse(argc, argv, &o)) {
    std::fprintf(stderr,
                 "usage: stress_graphs [--seeds A..B] [--jobs N] [--seconds S] [--report FILE] [--keep DIR] [--minimise S]\n"
                 "       stress_graphs --one SEED [--keep DIR] | --emit FILE --seeds A..B | --models FOLDER\n");
    return 2;
  }
  if (!o.keep.empty()) std::filesystem::create_directories(o.keep);
  if (!o.models.empty()) return check_models(o.models);
  if (!o.emit.empty()) return emit_cases(o.first, o.last, o.emit);
  Stress stress(o);
  return o.one ? stress.one() : stress.run();
}

}  // namespace
}  // namespace mote::differential

int main(int argc, char** argv) { return mote::differential::main(argc, argv); }
