// The tests of fleet. Called again with --probe or --misbehave, the program is the sandboxed child of its own tests.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "mote/fleet/agent/probe.h"
#include "mote/fleet/agent/sandbox.h"

namespace {

int g_word = 0;

int say(const std::string& text) { return ::write(1, text.data(), text.size()) < 0 ? 1 : 0; }

// What a process could do to another one: each by the system call itself, whatever the library makes of it.
const std::map<std::string, long (*)(pid_t)> kAttacks = {
    {"kill", [](pid_t p) { return ::syscall(SYS_kill, p, SIGKILL); }},
    {"tkill", [](pid_t p) { return ::syscall(SYS_tkill, p, SIGKILL); }},
    {"tgkill", [](pid_t p) { return ::syscall(SYS_tgkill, p, p, SIGKILL); }},
    {"sigqueue", [](pid_t p) { return ::syscall(SYS_rt_sigqueueinfo, p, SIGTERM, nullptr); }},
    {"tgsigqueue", [](pid_t p) { return ::syscall(SYS_rt_tgsigqueueinfo, p, p, SIGTERM, nullptr); }},
    {"pidfd", [](pid_t p) { return ::syscall(SYS_pidfd_open, p, 0); }},
    {"ptrace", [](pid_t p) { return ::syscall(SYS_ptrace, PTRACE_SEIZE, p, 0, 0); }},
    {"write-memory", [](pid_t p) { return ::syscall(SYS_process_vm_writev, p, nullptr, 0, nullptr, 0, 0); }},
    {"limits", [](pid_t p) { return ::syscall(SYS_prlimit64, p, RLIMIT_CPU, nullptr, nullptr); }},
};

int misbehave(const std::string& how, pid_t victim) {
  using mote::fleet::agent::enter_sandbox;
  constexpr uint64_t kMemory = 64 << 20;
  const int about = ::open("/proc/self/status", O_RDONLY);
  enter_sandbox({how == "large" ? uint64_t{5} << 30 : kMemory, 1});
  if (how == "privileges") {
    char text[4096];
    const ssize_t n = ::pread(about, text, sizeof text, 0);
    return n > 0 ? say({text, static_cast<size_t>(n)}) : 1;
  }
  if (const auto attack = kAttacks.find(how); attack != kAttacks.end()) return attack->second(victim) < 0 ? 5 : 0;
  if (how == "signal") return static_cast<int>(::syscall(SYS_tgkill, ::syscall(SYS_getpid) - 1, ::syscall(SYS_getpid) - 1, 0));
  if (how == "signal-parent") return static_cast<int>(::syscall(SYS_tgkill, 1, 1, SIGTERM));
  if (how == "poison") return ::madvise(reinterpret_cast<void*>(uintptr_t{4096}), 4096, 100);
  if (how == "merge") return ::madvise(reinterpret_cast<void*>(uintptr_t{4096}), 4096, MADV_MERGEABLE);
  if (how == "open") return ::open("/etc/passwd", O_RDONLY);
  if (how == "socket") return ::socket(AF_INET, SOCK_STREAM, 0);
  if (how == "fork") return ::fork();
  if (how == "exec") return ::execl("/bin/true", "true", nullptr);
  if (how == "executable") return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
  if (how == "crash") return ::tgkill(::getpid(), ::gettid(), SIGSEGV);
  if (how == "hang") return static_cast<int>(::syscall(SYS_futex, &g_word, FUTEX_WAIT, 0, nullptr, nullptr, 0));
  if (how == "spin-deaf") {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
  }
  for (volatile uint64_t spin = 0; how == "spin" || how == "spin-deaf"; spin = spin + 1) {}
  if (how == "large") {
    void* p = ::mmap(nullptr, size_t{1536} << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return say(p == MAP_FAILED ? "no memory" : "memory");
  }
  if (how == "memory") {
    void* p = ::mmap(nullptr, 2 * kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return say(p == MAP_FAILED ? "no memory" : "memory");
  }
  return say("fine");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--probe") return mote::fleet::agent::probe_main({argv + 2, argv + argc});
  if (first == "--misbehave" && argc > 2) ::_exit(misbehave(argv[2], argc > 3 ? static_cast<pid_t>(std::atoi(argv[3])) : 0));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
