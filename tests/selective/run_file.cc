// Opens the program file named on the command line with the operators of this build and runs its golden examples.
//   run_file FILE        exit code 0: right; 1: refused or wrong, and the reason is printed

#include <cstdio>
#include <vector>

#include "mote/ops/op_table.h"
#include "tests/cross/golden_run.h"

namespace {

std::vector<uint64_t> read_file(const char* path, size_t* size) {
  std::vector<uint64_t> words;
  if (std::FILE* file = std::fopen(path, "rb")) {
    std::fseek(file, 0, SEEK_END);
    *size = static_cast<size_t>(std::ftell(file));
    std::rewind(file);
    words.resize(*size / 8 + 2);
    if (std::fread(words.data(), 1, *size, file) != *size) words.clear();
    std::fclose(file);
  }
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  size_t size = 0;
  const std::vector<uint64_t> words = argc == 2 ? read_file(argv[1], &size) : std::vector<uint64_t>();
  if (words.empty()) {
    std::fprintf(stderr, "usage: run_file FILE.mote\n");
    return 2;
  }
  static uint8_t memory[64 * 1024];
  const mote::OpRegistry ops(mote::builtin_ops());
  const mote::testing::GoldenReport r =
      mote::testing::run_golden_examples({reinterpret_cast<const uint8_t*>(words.data()), size}, memory, ops, {});
  std::printf("%u operators in this build; %u examples right, worst error %g\n", static_cast<unsigned>(mote::builtin_ops().size),
              r.examples, static_cast<double>(r.worst));
  if (r.status.ok()) return 0;
  std::printf("%s: %s: %s", r.step, mote::status_text(r.status.code()), mote::why_text(r.status.why()));
  std::printf(r.diagnostic.name != nullptr ? ": %s\n" : "\n", r.diagnostic.name);
  return 1;
}
