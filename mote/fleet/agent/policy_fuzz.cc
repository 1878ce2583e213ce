// Policies, rollouts and local files as TOML: anything may come; an Error is the only way out.

#include "mote/fleet/agent/config.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/toml.h"
#include "mote/fleet/testing/allocation_limit.h"

namespace {

template <class Work>
void attempt(Work work) {
  try {
    work();
  } catch (const mote::fleet::Error&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fleet::agent;
  const mote::fleet::AllocationLimit limit(mote::fleet::AllocationLimit::allowed(size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    Policies policies;
    policies.add("signed", parse_policy(text));
    (void)policies.refuses_now(Step::kFetch, static_cast<int64_t>(size) << 40, {true, true, 5});
    (void)policies.refuses_backends({"cpu", "x"});
  });
  attempt([&] { (void)in_ring("device", parse_rollout(text)); });
  attempt([&] { (void)parse_config(text); });
  return 0;
}
