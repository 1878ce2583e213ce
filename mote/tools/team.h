#pragma once

// Threads that begin a piece of work together, for measuring what they do at once and how long it takes to get them going.

#include <algorithm>
#include <atomic>
#include <functional>
#include <vector>

#include "mote/platform/clock.h"
#include "mote/platform/thread_pool.h"
#include "mote/tools/failure.h"

namespace mote::tools {

class Team {
 public:
  struct Times {
    double gather_ns = 0;  // from the call until the last thread has begun
    double work_ns = 0;    // from then until the last one is done
  };

  explicit Team(uint32_t threads) : threads_(threads), ends_(threads) {
    if (!pool_.start(threads)) throw Failure("the system gives no " + std::to_string(threads) + " threads");
  }

  // Calls work(thread) on every thread; none begins before all are there.
  Times run(const std::function<void(uint32_t)>& work) {
    work_ = &work;
    arrived_ = 0;
    last_arrival_ = 0;
    const uint64_t begin = clock_now_ns();
    const Threads& t = pool_.threads();
    t.parallel_for(t.self, threads_, &Team::body, this);
    const uint64_t end = *std::max_element(ends_.begin(), ends_.end()), start = last_arrival_;
    return {static_cast<double>(start - begin), static_cast<double>(end - std::min(start, end))};
  }

 private:
  static void body(void* self, uint32_t, uint32_t thread) {
    Team& t = *static_cast<Team*>(self);
    if (t.arrived_.fetch_add(1) + 1 == t.threads_) t.last_arrival_ = clock_now_ns();
    for (uint32_t spins = 1; t.last_arrival_ == 0; ++spins) {
      if (spins % 1024 == 0) yield_processor();
      relax();
    }
    (*t.work_)(thread);
    t.ends_[thread] = clock_now_ns();
  }

  const uint32_t threads_;
  const std::function<void(uint32_t)>* work_ = nullptr;
  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint64_t> last_arrival_{0};
  std::vector<uint64_t> ends_;
  ThreadPool pool_;
};

}  // namespace mote::tools
