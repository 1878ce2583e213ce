#include <windows.h>

#include <new>

#include "mote/platform/thread.h"

namespace mote {

struct ThreadEntry {
  static DWORD WINAPI run(void* self) {
    auto* t = static_cast<Thread*>(self);
    t->body_(t->context_);
    return 0;
  }
};

namespace {
struct State {
  SRWLOCK mutex;
  CONDITION_VARIABLE changed;
};
static_assert(sizeof(State) <= 128, "Gate has room for its state");
State& of(uint8_t* bytes) { return *reinterpret_cast<State*>(bytes); }
HANDLE& handle_of(uint8_t* bytes) { return *reinterpret_cast<HANDLE*>(bytes); }
}  // namespace

bool Thread::start(void (*body)(void*), void* context) noexcept {
  body_ = body;
  context_ = context;
  handle_of(handle_) = CreateThread(nullptr, 0, &ThreadEntry::run, this, 0, nullptr);
  return handle_of(handle_) != nullptr;
}

void Thread::join() noexcept {
  WaitForSingleObject(handle_of(handle_), INFINITE);
  CloseHandle(handle_of(handle_));
}

Gate::Gate() noexcept {
  State* s = new (state_) State;
  InitializeSRWLock(&s->mutex);
  InitializeConditionVariable(&s->changed);
}
Gate::~Gate() {}
void Gate::lock() noexcept { AcquireSRWLockExclusive(&of(state_).mutex); }
void Gate::unlock() noexcept { ReleaseSRWLockExclusive(&of(state_).mutex); }
void Gate::sleep() noexcept { SleepConditionVariableSRW(&of(state_).changed, &of(state_).mutex, INFINITE, 0); }
void Gate::wake_all() noexcept { WakeAllConditionVariable(&of(state_).changed); }

void relax() noexcept { YieldProcessor(); }
void yield_processor() noexcept { SwitchToThread(); }

}  // namespace mote
