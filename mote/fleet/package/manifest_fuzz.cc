// libFuzzer: bytes as a manifest; one manifest has one text.

#include "mote/fleet/base/error.h"
#include "mote/fleet/package/manifest.h"
#include "mote/fleet/testing/allocation_limit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fleet;
  const AllocationLimit limit(AllocationLimit::allowed(size));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    if (package::manifest_text(package::parse_manifest(bytes)) != bytes) __builtin_trap();
  } catch (const Error&) {}
  return 0;
}
