#pragma once

#include <atomic>

#include "mote/core/op.h"
#include "mote/platform/thread.h"

namespace mote {

// Threads for kernels: the thread that runs an instance and some of the pool's own, which help it. They wait for work awake for a short
// while (handing work over then costs about a microsecond), then they sleep. Used by one instance at a time.
//
// Of the indices of a job each thread begins with its own share, the same part of every job, because what it wrote in the last one is still
// in its cache; who is done helps the others.
class ThreadPool {
 public:
  static constexpr uint32_t kMaxThreads = 64;

  ThreadPool() = default;
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Starts count - 1 threads (count at most kMaxThreads). False when the system gives fewer: then there are none.
  bool start(uint32_t count) noexcept;
  void stop() noexcept;

  // What an instance is given. Valid while the pool is.
  const Threads& threads() const noexcept { return threads_; }

 private:
  using Body = void (*)(void* context, uint32_t index, uint32_t thread);
  struct Worker {
    ThreadPool* pool;
    uint32_t number;
    Thread thread;
  };
  struct alignas(64) Share {
    std::atomic<uint32_t> next{0};
    uint32_t end = 0;
  };

  static void parallel_for(void* self, uint32_t count, Body body, void* context);
  static void work(void* worker);
  uint64_t wait_for_job(uint32_t last) noexcept;
  bool enter(uint64_t state) noexcept;
  void take_indices(uint32_t thread) noexcept;

  // The number of the job in the high half; bit 31 while it can be entered; below, how many workers are in it.
  std::atomic<uint64_t> state_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stopping_{false};
  Body body_ = nullptr;
  void* context_ = nullptr;
  uint32_t workers_ = 0;
  Gate gate_;
  Threads threads_;
  Worker worker_[kMaxThreads - 1];
  Share share_[kMaxThreads];
};

}  // namespace mote
