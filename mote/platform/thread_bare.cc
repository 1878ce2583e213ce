// No threads: a pool of one.

#include "mote/platform/thread.h"

namespace mote {

bool Thread::start(void (*)(void*), void*) noexcept { return false; }
void Thread::join() noexcept {}
Gate::Gate() noexcept {}
Gate::~Gate() {}
void Gate::lock() noexcept {}
void Gate::unlock() noexcept {}
void Gate::sleep() noexcept {}
void Gate::wake_all() noexcept {}
void relax() noexcept {}
void yield_processor() noexcept {}

}  // namespace mote
