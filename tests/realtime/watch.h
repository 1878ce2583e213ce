#pragma once

#include <cstdint>

namespace mote::realtime {

// Calls that a real-time run must not make, counted while watching. The functions themselves are interposed by watch.cc: the definitions
// in this executable take the place of the C library's for everything that is linked to it.
struct Counts {
  uint64_t allocations = 0;  // malloc, calloc, realloc, free, posix_memalign, aligned_alloc, operator new and delete
  uint64_t locks = 0;        // pthread mutexes, read-write locks, condition variables, semaphores
};

void start_watching();
Counts stop_watching();

// Ends this process with SIGSYS at the next system call of any of its threads, exit_group alone excepted. False when the kernel does not
// offer it.
bool forbid_system_calls();
// The same, but for what a pool of threads does: waits and wakes (futex), gives way (sched_yield) and reads the clock, which is a system
// call only where the kernel has no faster way.
bool forbid_system_calls_but_waiting();

}  // namespace mote::realtime
