#include "tests/realtime/watch.h"

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace mote::realtime {
namespace {

bool watching = false;
Counts counts;

void allocation() {
  if (watching) ++counts.allocations;
}
void lock() {
  if (watching) ++counts.locks;
}

// The next definition of a function: the C library's.
template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void start_watching() {
  counts = Counts{};
  watching = true;
}

Counts stop_watching() {
  watching = false;
  return counts;
}

namespace {

template <size_t N>
bool install(sock_filter (&filter)[N]) {
  const sock_fprog program = {static_cast<unsigned short>(N), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

}  // namespace

bool forbid_system_calls() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  return install(filter);
}

bool forbid_system_calls_but_waiting() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sched_yield, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clock_gettime, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return install(filter);
}

}  // namespace mote::realtime

// glibc's own entry points behind the names that are interposed.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t n) {
  mote::realtime::allocation();
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  mote::realtime::allocation();
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  mote::realtime::allocation();
  return __libc_realloc(p, n);
}
void free(void* p) {
  mote::realtime::allocation();
  __libc_free(p);
}
int posix_memalign(void** out, size_t alignment, size_t n) {
  mote::realtime::allocation();
  *out = __libc_memalign(alignment, n);
  return *out != nullptr ? 0 : ENOMEM;
}
void* aligned_alloc(size_t alignment, size_t n) {
  mote::realtime::allocation();
  return __libc_memalign(alignment, n);
}

int pthread_mutex_lock(pthread_mutex_t* m) {
  static const auto real = mote::realtime::next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  mote::realtime::lock();
  return real(m);
}
int pthread_mutex_trylock(pthread_mutex_t* m) {
  static const auto real = mote::realtime::next<int (*)(pthread_mutex_t*)>("pthread_mutex_trylock");
  mote::realtime::lock();
  return real(m);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
  static const auto real = mote::realtime::next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  mote::realtime::lock();
  return real(l);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
  static const auto real = mote::realtime::next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  mote::realtime::lock();
  return real(l);
}
int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  static const auto real = mote::realtime::next<int (*)(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  mote::realtime::lock();
  return real(c, m);
}
int sem_wait(sem_t* s) {
  static const auto real = mote::realtime::next<int (*)(sem_t*)>("sem_wait");
  mote::realtime::lock();
  return real(s);
}
}
