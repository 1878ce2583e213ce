#pragma once

// What readers of foreign bytes may hold at a time: twice their input and a MiB. Sanitizers' allocators tell of every allocation, those of
// OpenSSL too; other builds cannot look.

#include <cstddef>
#include <cstdint>

extern "C" __attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                                                               void (*on_free)(const volatile void*));
extern "C" __attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void* block);

namespace mote::fleet {

// While it lives, what this thread allocates and frees is counted; past `most` bytes at a time the process ends there, in the debugger's
// sight. One at a time.
class AllocationLimit {
 public:
  explicit AllocationLimit(uint64_t most) : most_(static_cast<int64_t>(most)) {
    static const int installed = available() ? __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) : 0;
    (void)installed;
    current() = this;
  }
  ~AllocationLimit() { current() = nullptr; }
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;

  static bool available() { return __sanitizer_install_malloc_and_free_hooks != nullptr; }
  static uint64_t allowed(uint64_t input_bytes) { return 2 * input_bytes + (1 << 20); }
  int64_t peak_bytes() const { return peak_; }

 private:
  static AllocationLimit*& current() {
    static thread_local AllocationLimit* now = nullptr;
    return now;
  }
  static void on_malloc(const volatile void*, size_t bytes) {
    AllocationLimit* const now = current();
    if (now == nullptr) return;
    now->held_ += static_cast<int64_t>(bytes);
    if (now->held_ > now->peak_) now->peak_ = now->held_;
    if (now->held_ > now->most_) __builtin_trap();
  }
  static void on_free(const volatile void* block) {
    if (AllocationLimit* const now = current()) now->held_ -= static_cast<int64_t>(__sanitizer_get_allocated_size(block));
  }

  const int64_t most_;
  int64_t held_ = 0, peak_ = 0;
};

}  // namespace mote::fleet
