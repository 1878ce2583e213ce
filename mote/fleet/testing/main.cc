// The tests of fleet. Called again with --probe or --misbehave, the program is the sandboxed child of its own tests.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "mote/fleet/agent/probe.h"
#include "mote/fleet/agent/sandbox.h"

namespace {

int g_word = 0;

int say(const std::string& text) { return ::write(1, text.data(), text.size()) < 0 ? 1 : 0; }

int misbehave(const std::string& how) {
  using mote::fleet::agent::enter_sandbox;
  constexpr uint64_t kMemory = 64 << 20;
  enter_sandbox({kMemory, 1});
  if (how == "open") return ::open("/etc/passwd", O_RDONLY);
  if (how == "socket") return ::socket(AF_INET, SOCK_STREAM, 0);
  if (how == "fork") return ::fork();
  if (how == "exec") return ::execl("/bin/true", "true", nullptr);
  if (how == "executable") return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
  if (how == "crash") return ::tgkill(::getpid(), ::gettid(), SIGSEGV);
  if (how == "hang") return static_cast<int>(::syscall(SYS_futex, &g_word, FUTEX_WAIT, 0, nullptr, nullptr, 0));
  for (volatile uint64_t spin = 0; how == "spin"; spin = spin + 1) {}
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
  if (first == "--misbehave" && argc > 2) ::_exit(misbehave(argv[2]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
