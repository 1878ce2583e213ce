// What an operator costs besides its work: its call, and handing it to threads. Medians.
//   costs_bench [THREADS]

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "mote/platform/cpu.h"
#include "mote/platform/thread_pool.h"
#include "mote/tools/failure.h"
#include "mote/tools/measure.h"

int main(int argc, char** argv) {
  using namespace mote;
  const uint32_t most = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : std::thread::hardware_concurrency();
  if (argc > 2 || (argc > 1 && (most < 1 || most > ThreadPool::kMaxThreads)))
    return std::fprintf(stderr, "usage: costs_bench [THREADS]   (1 to %u; default: all processors)\n", ThreadPool::kMaxThreads), 2;
  try {
    for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
      const auto isa = static_cast<kernels::Isa>(i);
      if (kernels::can_run(isa, cpu_features()))
        std::printf("call of an operator on one number, %-10s %8.1f ns\n", kernels::isa_name(isa), tools::measure_call_ns(isa));
    }
    for (uint32_t threads = 2; threads <= most; threads = threads < most && threads * 2 > most ? most : threads * 2) {
      const tools::Handoff h = tools::measure_handoff(threads);
      std::printf("work handed to %2u threads: awake %6.2f us, asleep %6.1f us\n", threads, h.awake_us, h.asleep_us);
    }
  } catch (const tools::Failure& f) {
    return std::fprintf(stderr, "%s\n", f.what()), 1;
  }
  return 0;
}
