#include "mote/platform/thread_pool.h"

#include "mote/platform/clock.h"

namespace mote {
namespace {

constexpr uint64_t kOpen = 1ull << 31;
constexpr uint64_t kAwakeNs = 150000;  // how long a worker waits before it sleeps

uint32_t job_of(uint64_t state) { return static_cast<uint32_t>(state >> 32); }
uint32_t inside(uint64_t state) { return static_cast<uint32_t>(state & (kOpen - 1)); }

}  // namespace

bool ThreadPool::start(uint32_t count) noexcept {
  stop();
  if (count == 0 || count > kMaxThreads) return false;
  threads_ = {this, 1, &parallel_for};
  for (uint32_t i = 0; i + 1 < count; ++i) {
    worker_[i].pool = this;
    worker_[i].number = i + 1;
    if (!worker_[i].thread.start(&work, &worker_[i])) {
      stop();
      return false;
    }
    ++workers_;
  }
  threads_.count = count;
  return true;
}

void ThreadPool::stop() noexcept {
  if (workers_ == 0) return;
  stopping_.store(true);
  gate_.lock();
  gate_.wake_all();
  gate_.unlock();
  for (uint32_t i = 0; i < workers_; ++i) worker_[i].thread.join();
  workers_ = 0;
  threads_.count = 1;
  stopping_.store(false);
}

void ThreadPool::take_indices(uint32_t thread) noexcept {
  for (uint32_t i = 0; i < threads_.count; ++i) {
    Share& share = share_[thread + i < threads_.count ? thread + i : thread + i - threads_.count];
    // Looked at before it is taken from: most shares of others are empty by then.
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      const uint32_t index = share.next.fetch_add(1, std::memory_order_relaxed);
      if (index < share.end) body_(context_, index, thread);
    }
  }
}

// A worker that comes too late finds the job closed, so the caller waits only for those that are in it.
void ThreadPool::parallel_for(void* self, uint32_t count, Body body, void* context) {
  ThreadPool& pool = *static_cast<ThreadPool*>(self);
  if (count == 0) return;
  pool.body_ = body;
  pool.context_ = context;
  const uint32_t threads = pool.threads_.count;
  for (uint32_t i = 0; i < threads; ++i) {
    pool.share_[i].next.store(static_cast<uint32_t>(uint64_t{count} * i / threads), std::memory_order_relaxed);
    pool.share_[i].end = static_cast<uint32_t>(uint64_t{count} * (i + 1) / threads);
  }
  const uint64_t job = uint64_t{job_of(pool.state_.load(std::memory_order_relaxed)) + 1} << 32;
  pool.state_.store(job | kOpen);
  if (pool.sleepers_.load() > 0) {
    pool.gate_.lock();
    pool.gate_.wake_all();
    pool.gate_.unlock();
  }
  pool.take_indices(0);
  uint64_t state = pool.state_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  for (uint32_t spins = 0; inside(state) != 0; ++spins) {
    if (spins % 1024 == 1023) yield_processor();
    relax();
    state = pool.state_.load(std::memory_order_acquire);
  }
}

// The state of a job other than `last`, or of `last` when the pool stops.
uint64_t ThreadPool::wait_for_job(uint32_t last) noexcept {
  const uint64_t begin = clock_now_ns();
  do {
    for (int i = 0; i < 64; ++i) {
      const uint64_t state = state_.load(std::memory_order_acquire);
      if (job_of(state) != last || stopping_.load(std::memory_order_relaxed)) return state;
      relax();
    }
  } while (clock_now_ns() - begin < kAwakeNs);
  gate_.lock();
  sleepers_.fetch_add(1);
  uint64_t state = state_.load();
  while (job_of(state) == last && !stopping_.load()) {
    gate_.sleep();
    state = state_.load();
  }
  sleepers_.fetch_sub(1);
  gate_.unlock();
  return state;
}

bool ThreadPool::enter(uint64_t state) noexcept {
  while ((state & kOpen) != 0)
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_acquire)) return true;
  return false;
}

void ThreadPool::work(void* self) {
  Worker& worker = *static_cast<Worker*>(self);
  ThreadPool& pool = *worker.pool;
  uint32_t last = 0;
  for (;;) {
    const uint64_t state = pool.wait_for_job(last);
    if (pool.stopping_.load()) return;
    last = job_of(state);
    if (!pool.enter(state)) continue;
    pool.take_indices(worker.number);
    pool.state_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace mote
