// libFuzzer: what is accepted has one canonical text, and reading it costs no more than its size.

#include <cstdlib>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json.h"
#include "mote/fleet/testing/allocation_limit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mote::fleet::Json;
  const mote::fleet::AllocationLimit limit(mote::fleet::AllocationLimit::allowed(size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = Json::parse(text).canonical();
    if (once.size() > size || Json::parse_canonical(once).canonical() != once) std::abort();
  } catch (const mote::fleet::Error&) {}
  return 0;
}
