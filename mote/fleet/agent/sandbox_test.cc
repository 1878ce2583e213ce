// What a sandboxed child may not do. The test program calls itself (testing/main.cc).

#include "mote/fleet/agent/sandbox.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "mote/fleet/agent/probe.h"

namespace mote::fleet::agent {
namespace {

Outcome misbehave(const char* how, int64_t timeout_ms = 20'000) { return run_child({"fleet_test", "--misbehave", how}, timeout_ms); }

TEST(Sandbox, ForbiddenCallsEndTheChild) {
  for (const char* how : {"open", "socket", "fork", "exec", "executable"}) EXPECT_EQ(misbehave(how).signal, SIGSYS) << how;
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

TEST(Sandbox, MemoryIsBounded) {
  SKIP_WHERE_SANITIZED();
  const Outcome out = misbehave("memory");
  EXPECT_EQ(out.output, "no memory");
}

TEST(Probe, ADamagedPackageIsRefusedWithItsReason) {
  SKIP_WHERE_SANITIZED();
  SandboxProber prober({"fleet_test", "--probe"}, 20);
  package::Variant v;
  v.file = "x.mote";
  const ProbeReport r = prober.probe("/proc/self/exe", v, 0);
  EXPECT_NE(r.failure.find("not a Mote package"), std::string::npos) << r.failure;
}

}  // namespace
}  // namespace mote::fleet::agent
