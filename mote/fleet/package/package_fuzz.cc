// libFuzzer: bytes as a package's start, and as a whole small package.

#include "mote/fleet/base/error.h"
#include "mote/fleet/package/package.h"
#include "mote/fleet/testing/allocation_limit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fleet;
  const AllocationLimit limit(AllocationLimit::allowed(size));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const package::Header header = package::parse_header(bytes);
    if (header.bytes > size) __builtin_trap();
    (void)package::chunk_matches(header.manifest, 0, bytes.substr(header.bytes));
  } catch (const Error&) {}
  return 0;
}
