// Runs the node tests of the onnx package (cases exported by export_cases.py) and compares the outcome with expected.tsv, so that
// new failures and entries that hold no longer both fail.
//
//   onnx_node_tests CASES EXPECTED [--open-dims] [--verbose] [NAME...]     a NAME that ends with '*' is a prefix
//
// With --open-dims a size of the inputs is left open: then cases may be refused, but what compiles must give the same values.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/onnx/node_case.h"

namespace mote::node_tests {
namespace {

constexpr int kSecondsPerCase = 10;
constexpr double kGoal = 0.97;  // of the plain cases

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) out.push_back(field);
  return out;
}

bool read_cases(const std::string& path, std::vector<Case>* out) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto f = fields_of(line);
    if (f.size() != 7) return false;
    out->push_back(
        {f[0], f[1], f[2] == "1", std::atof(f[3].c_str()), std::atof(f[4].c_str()), std::atoi(f[5].c_str()), std::atoi(f[6].c_str())});
  }
  return !out->empty();
}

// Case to reason.
std::map<std::string, std::string> read_expected(const std::string& path) {
  std::map<std::string, std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto f = fields_of(line);
    if (!line.empty() && line[0] != '#' && !f.empty()) out[f[0]] = f.size() > 1 ? f[1] : "";
  }
  return out;
}

bool selected(const std::string& name, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  for (const std::string& n : names) {
    const bool prefix = !n.empty() && n.back() == '*';
    if (prefix ? name.compare(0, n.size() - 1, n, 0, n.size() - 1) == 0 : name == n) return true;
  }
  return false;
}

struct Tally {
  int passed = 0, refused = 0, failed = 0, compiled = 0;
  int all() const { return passed + refused + failed + compiled; }
  void add(Verdict v) {
    passed += v == Verdict::kPassed;
    refused += v == Verdict::kRefused;
    failed += v == Verdict::kFailed;
    compiled += v == Verdict::kCompiled;
  }
};

// Others than plain cases may pass or be refused with a reason; what runs must be right.
bool is_well(const Case& c, Verdict v, const Settings& s) {
  return v == Verdict::kPassed || ((!c.plain || s.open_dims) && v != Verdict::kFailed);
}

class Run {
 public:
  Run(std::map<std::string, std::string> expected, const Settings& settings) : expected_(std::move(expected)), settings_(settings) {}

  void take(const Case& c, const Outcome& o, bool verbose) {
    (c.plain ? plain_ : others_).add(o.verdict);
    if (o.verdict != Verdict::kPassed) by_operator_[c.operators].add(o.verdict);
    const auto entry = expected_.find(c.name);
    const bool well = is_well(c, o.verdict, settings_), listed = entry != expected_.end();
    const char* mark = o.verdict == Verdict::kRefused ? "refused" : o.verdict == Verdict::kCompiled ? "compiled" : "failed";
    if (verbose && o.verdict != Verdict::kPassed) std::printf("%-8s %s: %s\n", mark, c.name.c_str(), o.reason.c_str());
    if (!well && !listed) surprises_.push_back(c.name + "\t" + mark + ": " + o.reason);
    if (well && listed) surprises_.push_back(c.name + "\tis listed in expected.tsv (" + entry->second + ") but is well: remove the entry");
    if (listed) ++used_;
  }

  int report(bool whole) const {
    std::printf("\n%-48s %7s %7s %8s\n", "operators with cases that did not pass", "failed", "refused", "compiled");
    for (const auto& [ops, t] : by_operator_) std::printf("%-48.48s %7d %7d %8d\n", ops.c_str(), t.failed, t.refused, t.compiled);
    print("plain number tensors", plain_);
    print("others", others_);
    for (const std::string& s : surprises_) std::printf("UNEXPECTED %s\n", s.c_str());
    bool good = surprises_.empty();
    if (whole && used_ != expected_.size()) {
      std::printf("expected.tsv names %zu cases that do not exist\n", expected_.size() - used_);
      good = false;
    }
    if (whole && !settings_.open_dims && plain_.passed < kGoal * plain_.all()) {
      std::printf("fewer than %.0f %% of the plain cases pass\n", kGoal * 100);
      good = false;
    }
    return good ? 0 : 1;
  }

 private:
  static void print(const char* what, const Tally& t) {
    std::printf("%s: %d of %d passed (%.1f %%), %d refused, %d failed, %d compiled only\n", what, t.passed, t.all(),
                t.all() > 0 ? 100.0 * t.passed / t.all() : 0.0, t.refused, t.failed, t.compiled);
  }

  std::map<std::string, std::string> expected_;
  Settings settings_;
  std::map<std::string, Tally> by_operator_;
  std::vector<std::string> surprises_;
  Tally plain_, others_;
  size_t used_ = 0;
};

int main(int argc, char** argv) {
  std::vector<std::string> names;
  bool verbose = false, here = false;
  Settings settings;
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "--verbose") == 0) verbose = true;
    else if (std::strcmp(argv[i], "--no-fork") == 0) here = true;  // for a debugger
    else if (std::strcmp(argv[i], "--open-dims") == 0) settings.open_dims = true;
    else names.push_back(argv[i]);
  }
  std::vector<Case> cases;
  if (argc < 3 || !read_cases(std::string(argv[1]) + "/cases.tsv", &cases)) {
    std::fprintf(
        stderr,
        "usage: onnx_node_tests CASES EXPECTED [--open-dims] [--verbose] [--no-fork] [NAME...]; CASES is made by export_cases.py\n");
    return 2;
  }
  Run run(read_expected(argv[2]), settings);
  for (const Case& c : cases) {
    if (!selected(c.name, names)) continue;
    const std::string folder = std::string(argv[1]) + "/" + c.name;
    run.take(c, here ? run_case(folder, c, settings) : run_guarded(folder, c, settings, kSecondsPerCase), verbose);
  }
  return run.report(names.empty());
}

}  // namespace
}  // namespace mote::node_tests

int main(int argc, char** argv) { return mote::node_tests::main(argc, argv); }
