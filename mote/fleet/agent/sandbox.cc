#include "mote/fleet/agent/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include "mote/fleet/base/error.h"

namespace mote::fleet::agent {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kHighestCall = 0x3fffffff;                    // above: the x32 table
constexpr long kTiles = SYS_arch_prctl, kTilesRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM: kernels with tiles ask for them
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr uint32_t kHighestCall = 0xffffffff;
constexpr long kTiles = -1, kTilesRequest = 0;
#elif defined(__arm__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_ARM;
constexpr uint32_t kHighestCall = 0xffffffff;
constexpr long kTiles = -1, kTilesRequest = 0;
#elif defined(__i386__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_I386;
constexpr uint32_t kHighestCall = 0xffffffff;
constexpr long kTiles = -1, kTilesRequest = 0;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr uint32_t kArchitecture = AUDIT_ARCH_RISCV64;
constexpr uint32_t kHighestCall = 0xffffffff;
constexpr long kTiles = -1, kTilesRequest = 0;
#else
constexpr uint32_t kArchitecture = 0;  // not known here: enter_sandbox() refuses
constexpr uint32_t kHighestCall = 0;
constexpr long kTiles = -1, kTilesRequest = 0;
#endif

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// Of names that only some architectures have, the others go without.
constexpr long kAllowed[] = {
    SYS_read,
    SYS_pread64,
    SYS_write,
    SYS_lseek,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_gettid,
    SYS_getpid,
    SYS_sched_yield,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
#if defined(SYS_fstat)
    SYS_fstat,
#endif
#if defined(SYS_fstat64)
    SYS_fstat64,
#endif
#if defined(SYS__llseek)
    SYS__llseek,
#endif
#if defined(SYS_futex)
    SYS_futex,
#endif
#if defined(SYS_futex_time64)
    SYS_futex_time64,
#endif
#if defined(SYS_clock_gettime)
    SYS_clock_gettime,
#endif
#if defined(SYS_clock_gettime64)
    SYS_clock_gettime64,
#endif
#if defined(__arm__)
    0xf0002,
    0xf0005,  // cacheflush, set_tls: of the processor, not of the system
#endif
};
// Only without PROT_EXEC. The old mmap of 32-bit systems keeps its arguments in memory, where no filter sees them.
#if defined(SYS_mmap2)
constexpr long kNotExecutable[] = {SYS_mmap2, SYS_mprotect};
#else
constexpr long kNotExecutable[] = {SYS_mmap, SYS_mprotect};
#endif
// What allocators and this library's memory ask for; the others change what a child inherits, or poison pages.
constexpr uint32_t kAdvice[] = {MADV_NORMAL, MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE, 22, 23};  // 22, 23: MADV_POPULATE_*

// The filter as the kernel's small machine runs it: allowed calls return at once, all others end the process.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, kArchitecture, 1, 0);
    result(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
    jump(BPF_JGT, kHighestCall, 0, 1);
    result(SECCOMP_RET_KILL_PROCESS);
    for (const long call : kAllowed) allow(call);
    for (const long call : kNotExecutable) allow_if(call, 2, BPF_JSET, PROT_EXEC, false);
    allow_only(SYS_madvise, 2, {std::begin(kAdvice), std::end(kAdvice)});
    allow_only(SYS_tgkill, 0, {static_cast<uint32_t>(::getpid())});  // abort() signals itself, and nobody else
    if (kTiles >= 0) allow_if(kTiles, 0, BPF_JEQ, static_cast<uint32_t>(kTilesRequest), true);
    result(SECCOMP_RET_KILL_PROCESS);
  }
  void install() {
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      throw Error(std::string("the system has no filter of system calls: ") + std::strerror(errno));
  }

 private:
  void load(size_t offset) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset))); }
  void jump(int test, uint32_t value, uint8_t if_true, uint8_t if_false) {
    code_.push_back(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | test | BPF_K), value, if_true, if_false));
  }
  void result(uint32_t what) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, what)); }
  void allow(long call) {
    jump(BPF_JEQ, static_cast<uint32_t>(call), 0, 1);
    result(SECCOMP_RET_ALLOW);
  }
  // Where the low word of an argument passes the test (or does not).
  void allow_if(long call, int argument, int test, uint32_t value, bool wanted) {
    jump(BPF_JEQ, static_cast<uint32_t>(call), 0, 4);
    load(offsetof(seccomp_data, args) + static_cast<size_t>(argument) * 8);
    jump(test, value, wanted ? 0 : 1, wanted ? 1 : 0);
    result(SECCOMP_RET_ALLOW);
    result(SECCOMP_RET_KILL_PROCESS);
  }
  // Where the low word of an argument is one of the values.
  void allow_only(long call, int argument, const std::vector<uint32_t>& values) {
    const auto count = static_cast<uint8_t>(values.size());
    jump(BPF_JEQ, static_cast<uint32_t>(call), 0, static_cast<uint8_t>(count + 3));
    load(offsetof(seccomp_data, args) + static_cast<size_t>(argument) * 8);
    for (uint8_t i = 0; i < count; ++i) jump(BPF_JEQ, values[i], static_cast<uint8_t>(count - i), 0);
    result(SECCOMP_RET_KILL_PROCESS);
    result(SECCOMP_RET_ALLOW);
  }
  std::vector<sock_filter> code_;
};

// Of 32 bits on 32-bit systems: what they cannot hold is no bound.
rlim_t bound_of(uint64_t value) { return value < RLIM_INFINITY ? static_cast<rlim_t>(value) : RLIM_INFINITY; }

// Past `value` the process is told, where that is possible; `grace` later it ends.
void limit(int resource, uint64_t value, uint64_t grace = 0) {
  const rlimit both{bound_of(value), bound_of(value + grace)};
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) throw Error("a limit of the process cannot be set");
}

// Whatever the agent may do that other processes may not: of it nothing is left, nor can it come back. Threads that exist keep what they
// have; a process that comes here has one.
void drop_privileges() {
  (void)::setgroups(0, nullptr);  // needs a privilege itself: where there is none there is nothing to drop
  for (int capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {}
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0) throw Error(std::string("privileges cannot be dropped: ") + std::strerror(errno));
}

uint64_t address_space_bytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t pages = 0;
  in >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

int64_t now_ms() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

uint64_t milliseconds(const timeval& t) { return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_usec) / 1000; }

// Only calls that are safe between fork and exec.
[[noreturn]] void become(char* const* arguments, int out, int input) {
  ::dup2(out, 1);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, 0);
  ::dup2(nothing, 2);
  if (input >= 0) ::dup2(input, kChildInput);
  ::syscall(SYS_close_range, static_cast<unsigned>(kChildInput + (input >= 0 ? 1 : 0)), ~0u, 0u);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char* const environment[] = {nullptr};
  ::execve("/proc/self/exe", arguments, environment);
  ::_exit(127);
}

// What the child says until it closes its end, or time is up. False: time is up.
bool listen(int from, int64_t deadline, std::string* out) {
  constexpr size_t kMost = 65536;
  while (true) {
    pollfd wait{from, POLLIN, 0};
    const int64_t left = deadline - now_ms();
    if (left <= 0) return false;
    if (::poll(&wait, 1, static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (wait.revents == 0) continue;
    char buffer[4096];
    const ssize_t n = ::read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    if (out->size() < kMost) out->append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

bool sanitized() noexcept { return kSanitized; }

void enter_sandbox(const Limits& limits) {
  if (kArchitecture == 0) throw Error("no filter of system calls for this kind of processor");
  if (!kSanitized) limit(RLIMIT_AS, address_space_bytes() + limits.memory_bytes);  // a sanitizer's shadow is larger than any memory
  limit(RLIMIT_CPU, limits.cpu_seconds, 1);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 0);
  limit(RLIMIT_NPROC, 0);
  limit(RLIMIT_CORE, 0);
  drop_privileges();
  Filter().install();
}

Outcome run_child(const std::vector<std::string>& command, int64_t timeout_ms, int input) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("no pipe can be made");
  // Above what the child gives another meaning.
  const int kept = input < 0 ? -1 : ::fcntl(input, F_DUPFD_CLOEXEC, kChildInput + 1);
  const pid_t child = input >= 0 && kept < 0 ? -1 : ::fork();
  if (child == 0) become(arguments.data(), ends[1], kept);
  ::close(ends[1]);
  if (kept >= 0) ::close(kept);
  Outcome out;
  if (child > 0) {
    out.timed_out = !listen(ends[0], now_ms() + timeout_ms, &out.output);
    if (out.timed_out) ::kill(child, SIGKILL);
    int status = 0;
    struct rusage used {};
    while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {}
    out.cpu_ms = milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
    if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
  }
  ::close(ends[0]);
  if (child < 0) throw Error("no process can be made");
  return out;
}

}  // namespace mote::fleet::agent
