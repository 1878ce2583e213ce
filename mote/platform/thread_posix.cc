#include <pthread.h>
#include <sched.h>

#include <new>

#include "mote/platform/thread.h"

namespace mote {

static_assert(sizeof(pthread_t) <= 16, "Thread has room for a handle");

struct ThreadEntry {
  static void* run(void* self) {
    auto* t = static_cast<Thread*>(self);
    t->body_(t->context_);
    return nullptr;
  }
};

bool Thread::start(void (*body)(void*), void* context) noexcept {
  body_ = body;
  context_ = context;
  return pthread_create(reinterpret_cast<pthread_t*>(handle_), nullptr, &ThreadEntry::run, this) == 0;
}

void Thread::join() noexcept { pthread_join(*reinterpret_cast<pthread_t*>(handle_), nullptr); }

namespace {
struct State {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
};
static_assert(sizeof(State) <= 128, "Gate has room for its state");
State& of(uint8_t* bytes) { return *reinterpret_cast<State*>(bytes); }
}  // namespace

Gate::Gate() noexcept {
  State* s = new (state_) State;
  pthread_mutex_init(&s->mutex, nullptr);
  pthread_cond_init(&s->changed, nullptr);
}
Gate::~Gate() {
  pthread_cond_destroy(&of(state_).changed);
  pthread_mutex_destroy(&of(state_).mutex);
}
void Gate::lock() noexcept { pthread_mutex_lock(&of(state_).mutex); }
void Gate::unlock() noexcept { pthread_mutex_unlock(&of(state_).mutex); }
void Gate::sleep() noexcept { pthread_cond_wait(&of(state_).changed, &of(state_).mutex); }
void Gate::wake_all() noexcept { pthread_cond_broadcast(&of(state_).changed); }

#if defined(__x86_64__) || defined(__i386__)
void relax() noexcept { __builtin_ia32_pause(); }
#elif defined(__aarch64__) || defined(__arm__)
void relax() noexcept { __asm__ volatile("yield"); }
#else
void relax() noexcept {}
#endif

void yield_processor() noexcept { sched_yield(); }

}  // namespace mote
