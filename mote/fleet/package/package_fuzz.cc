// libFuzzer: bytes as a package's start, and as a manifest.

#include <cstdlib>

#include "mote/fleet/base/error.h"
#include "mote/fleet/package/package.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fleet;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    package::parse_header(bytes);
  } catch (const Error&) {}
  try {
    if (package::manifest_text(package::parse_manifest(bytes)) != bytes) std::abort();
  } catch (const Error&) {}
  return 0;
}
