// What a sandboxed child may not do. The test program calls itself (testing/main.cc).

#include "mote/fleet/agent/sandbox.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "mote/fleet/agent/probe.h"
#include "mote/fleet/base/error.h"

namespace mote::fleet::agent {
namespace {

Outcome misbehave(const char* how, int64_t timeout_ms = 20'000) { return run_child({"fleet_test", "--misbehave", how}, timeout_ms); }

TEST(Sandbox, ForbiddenCallsEndTheChild) {
  for (const char* how : {"open", "socket", "fork", "exec", "executable", "signal", "signal-parent", "poison", "merge"})
    EXPECT_EQ(misbehave(how).signal, SIGSYS) << how;
}

// Whoever starts the agent, root too: nothing of its rights is left.
TEST(Sandbox, NoPrivilegeIsLeft) {
  const Outcome out = misbehave("privileges");
  ASSERT_EQ(out.exit_code, 0);
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    EXPECT_NE(out.output.find(std::string(set) + ":\t0000000000000000\n"), std::string::npos) << out.output;
  EXPECT_NE(out.output.find("NoNewPrivs:\t1"), std::string::npos);
  if (::geteuid() == 0) {
    EXPECT_NE(out.output.find("CapBnd:\t0000000000000000\n"), std::string::npos) << out.output;
  }
}

TEST(Sandbox, ComputingIsAllowed) {
  const Outcome out = misbehave("nothing");
  EXPECT_EQ(out.exit_code, 0);
  EXPECT_EQ(out.output, "fine");
}

#define SKIP_WHERE_SANITIZED() \
  if (sanitized()) GTEST_SKIP() << "the address sanitizer takes over crashes, and needs more memory and calls than the sandbox gives"

TEST(Sandbox, CrashesAndHangsAreSeen) {
  SKIP_WHERE_SANITIZED();
  EXPECT_EQ(misbehave("crash").signal, SIGSEGV);
  const Outcome hang = misbehave("hang", 300);
  EXPECT_TRUE(hang.timed_out);
  EXPECT_EQ(hang.signal, SIGKILL);
  EXPECT_EQ(misbehave("spin").signal, SIGXCPU);
}

// Who blocks the signal that tells of the limit is killed by the system, which is no word from outside: the package took the time.
TEST(Sandbox, ALimitThatIsNotHeardIsTheChildsOwnFailure) {
  SKIP_WHERE_SANITIZED();
  const Outcome out = misbehave("spin-deaf");
  ASSERT_EQ(out.signal, SIGKILL);
  ASSERT_FALSE(out.timed_out);
  EXPECT_GE(out.cpu_ms, 1000u);
  const GoldenReport r = read_outcome(out, 1);
  EXPECT_EQ(r.code, MOTE_INTERNAL);
  EXPECT_EQ(r.failure, "its probe did not end in 1 s");
}

TEST(Probe, WhoeverEndedTheChildIsJudgedByWhatIsKnown) {
  const auto end = [](int signal, uint64_t cpu_ms, int exit_code, const std::string& output) {
    Outcome out;
    out.signal = signal;
    out.cpu_ms = cpu_ms;
    out.exit_code = exit_code;
    out.output = output;
    return out;
  };
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP})
    EXPECT_THROW((void)read_outcome(end(signal, 900, -1, ""), 1), Error) << signal;
  for (const int signal : {SIGSYS, SIGXCPU, SIGSEGV, SIGBUS, SIGABRT})
    EXPECT_EQ(read_outcome(end(signal, 9, -1, ""), 1).code, MOTE_INTERNAL);
  // Before the sandbox nothing of the package was looked at; behind it, its program may be what ends the child.
  EXPECT_THROW((void)read_outcome(end(0, 9, 3, "no filter here"), 1), Error);
  EXPECT_THROW((void)read_outcome(end(0, 9, 127, ""), 1), Error);
  EXPECT_EQ(read_outcome(end(0, 9, 3, "in the sandbox\nno filter here"), 1).code, MOTE_INTERNAL);
  EXPECT_EQ(read_outcome(end(0, 9, 0, "in the sandbox\n"), 1).code, MOTE_INTERNAL);
}

TEST(Sandbox, MemoryIsBounded) {
  SKIP_WHERE_SANITIZED();
  const Outcome out = misbehave("memory");
  EXPECT_EQ(out.output, "no memory");
}

// More than a 32-bit process can have is no bound there: the number is not cut to 32 bits.
TEST(Sandbox, MoreMemoryThanAddressesIsNoBound) {
  SKIP_WHERE_SANITIZED();
  EXPECT_EQ(misbehave("large").output, "memory");
}

TEST(Probe, ADamagedPackageIsRefusedWithItsReason) {
  SKIP_WHERE_SANITIZED();
  SandboxProber prober({"fleet_test", "--probe"}, 20);
  package::Variant v;
  v.file = "x.mote";
  const std::string bytes(100'000, 'x');
  const GoldenReport copy = prober.probe({nullptr, bytes}, v);
  EXPECT_NE(copy.failure.find("not a Mote package"), std::string::npos) << copy.failure;
  const Mapping file = SystemFiles().map("/proc/self/exe");
  const GoldenReport mapped = prober.probe(file, v);
  EXPECT_NE(mapped.failure.find("not a Mote package"), std::string::npos) << mapped.failure;
}

}  // namespace
}  // namespace mote::fleet::agent
