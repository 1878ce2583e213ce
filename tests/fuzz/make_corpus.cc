// Writes seed programs: random ones that open and run, each operator in turn.
//   make_corpus DIR [COUNT [SEED]]            every program of at most 8 kB
//   make_corpus DIR COUNT SEED cover          small ones that run an operator none before it ran: tests/fuzz/corpus
//   make_corpus DIR COUNT SEED host           small ones whose pieces the backends of this build run: tests/fuzz/corpus_host

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/fuzz/op_case.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/run_host.h"

namespace {

int make_host_corpus(const std::string& folder, int count, uint64_t seed) {
  using namespace mote::fuzz;
  int written = 0;
  for (int i = 0; i < count; ++i) {
    Dice dice(seed * 1000003 + static_cast<uint64_t>(i));
    mote::emit::FileBytes file;
    const auto& all = piece_backends();
    if (!make_delegating_program(all[static_cast<size_t>(i) % all.size()], dice, &file) || file.size > 2500) continue;
    if (!run_host(file.span(), dice, 2000).delegated) continue;
    char name[64];
    std::string error;
    std::snprintf(name, sizeof name, "/%05d.mote", i);
    if (!mote::emit::save_file(folder + name, file.span(), &error)) {
      std::fprintf(stderr, "%s\n", error.c_str());
      return 1;
    }
    ++written;
  }
  std::printf("%d written\n", written);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mote::fuzz;
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_corpus DIR [COUNT [SEED]]\n");
    return 2;
  }
  const int count = argc > 2 ? std::atoi(argv[2]) : 400;
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  if (argc > 4 && std::strcmp(argv[4], "host") == 0) return make_host_corpus(argv[1], count, seed);
  const bool cover = argc > 4;
  const size_t ops = known_ops().size();
  std::map<std::string, int> refusals;
  size_t bytes = 0;
  int written = 0, opened = 0, finished = 0;
  std::vector<int> ran(65536);
  for (int i = 0; i < count; ++i) {
    Dice dice(seed * 1000003 + static_cast<uint64_t>(i));
    ProgramShape shape;
    shape.first_op = static_cast<int>(static_cast<size_t>(i) % ops);
    shape.max_ops = i % 3 == 0 ? 1 : 4;
    shape.tries = 4000;
    mote::emit::FileBytes file;
    std::string error;
    if (!make_program(dice, shape, &file, &error)) {
      ++refusals[error];
      continue;
    }
    const UntrustedResult r = run_untrusted(file.span(), dice);
    opened += r.open.ok() ? 1 : 0;
    finished += r.run.ok() && r.methods_run > 0 ? 1 : 0;
    bool news = false;
    for (const uint16_t op : r.ops) news |= ran[op] == 0;
    if (file.size > (cover ? 2500u : 8192u) || (cover && !news)) continue;
    for (const uint16_t op : r.ops) ++ran[op];
    char name[64];
    std::snprintf(name, sizeof name, "/%05d.mote", i);
    if (!mote::emit::save_file(argv[1] + std::string(name), file.span(), &error)) {
      std::fprintf(stderr, "%s\n", error.c_str());
      return 1;
    }
    ++written;
    bytes += file.size;
  }
  int covered = 0;
  for (const KnownOp& op : known_ops()) {
    covered += ran[op.doc->id] > 0 ? 1 : 0;
    if (ran[op.doc->id] == 0) std::printf("never ran: %s\n", op.doc->name.c_str());
  }
  for (const auto& [why, n] : refusals) std::printf("%5d x not made: %s\n", n, why.c_str());
  std::printf("%d written (%zu bytes), %d opened, %d ran to their end, %d of %zu operators ran\n", written, bytes, opened, finished,
              covered, ops);
  return 0;
}
