// backend_conformance NAME [--matrix FILE] [--write]: the operators' tests, each case of them on a backend too. Fails where the backend
// takes a case and gives something else than the portable kernel, and where FILE is not what the backend answered; --write writes it.
// Without a device nothing is run, only asked.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "mote/backends/testing/support_matrix.h"
#include "mote/ops/op_docs.h"

namespace mote::backends {
namespace {

constexpr double kTolerance = 2e-5;
constexpr int kMostShown = 40;

struct Judge {
  KnownBackend backend{};
  bool run = false;
  int ran = 0, failed = 0;
  SupportMatrix matrix;
} judge;

void on_case(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<optest::Array>& inputs, const optest::RunOptions& options,
             const std::vector<optest::Array>& outputs) {
  if (!options.rows.all() || !options.bounds.empty()) return;  // rows of strips, sizes that depend on data: no backend is asked
  const CaseResult r = try_case(judge.backend, {op, attrs, attrs_bytes, inputs, outputs}, judge.run, kTolerance);
  judge.matrix.add(op, outputs[0].dtype(), r);
  judge.ran += r.supported && judge.run;
  if (r.failure.empty() || ++judge.failed > kMostShown) return;
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const OpDoc* doc = find_op_doc(static_cast<uint16_t>(op));
  ADD_FAILURE() << judge.backend.device->name << ", " << (doc != nullptr ? doc->name : "?") << " in " << test->test_suite_name() << "."
                << test->name() << ": " << r.failure;
}

// 0 when the file is as it should be.
int check_matrix(const std::string& path, const std::string& text, bool write) {
  if (write) {
    std::ofstream(path) << text;
    return 0;
  }
  std::ifstream file(path);
  std::stringstream found;
  found << file.rdbuf();
  if (found.str() == text) return 0;
  std::printf("%s is out of date: run ./do format\n", path.c_str());
  return 1;
}

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::string matrix;
  bool write = false;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--write") write = true;
    else if (word == "--matrix" && i + 1 < argc) matrix = argv[++i];
  }
  judge.backend = argc > 1 ? known_backend(argv[1]) : KnownBackend{};
  if (judge.backend.device == nullptr) {
    std::fprintf(stderr, "usage: backend_conformance NAME [--matrix FILE] [--write]; this build has no backend '%s'\n",
                 argc > 1 ? argv[1] : "");
    return 2;
  }
  const mote_backend& d = *judge.backend.device;
  const uint32_t absent = d.probe(judge.backend.compiler->version, judge.backend.compiler->capabilities);
  judge.run = absent == 0 && !write;
  optest::on_case = &on_case;
  const int failed = RUN_ALL_TESTS();
  uint32_t units = 0;
  std::printf("%s on %s: %d cases, %d taken, %d run, %d wrong\n", d.name,
              absent == 0 && d.device != nullptr ? d.device(&units) : "no device", judge.matrix.cases(), judge.matrix.supported(),
              judge.ran, judge.failed);
  if (absent != 0) std::printf("SKIPPED: %s\n", d.describe(absent));
  if (!judge.run && judge.ran != 0) return 1;
  const bool everything = ::testing::GTEST_FLAG(filter) == "*";
  const int out_of_date = matrix.empty() || !everything ? 0 : check_matrix(matrix, judge.matrix.text(d.name), write);
  return failed != 0 || out_of_date != 0;
}

}  // namespace
}  // namespace mote::backends

int main(int argc, char** argv) { return mote::backends::main(argc, argv); }
