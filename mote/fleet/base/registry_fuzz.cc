// libFuzzer: what a registry and its realm answer, and a file of credentials; the first byte chooses.

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/fetch_oci.h"
#include "mote/fleet/base/registry_login.h"
#include "mote/fleet/testing/allocation_limit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fleet;
  if (size == 0) return 0;
  const AllocationLimit limit(AllocationLimit::allowed(size));
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    switch (data[0] % 4) {
      case 0: (void)parse_challenge(text); break;
      case 1:
        if (parse_token(text).find_first_of("\r\n ") != std::string::npos) __builtin_trap();
        break;
      case 2: (void)parse_credentials(text); break;
      default:
        if (first_layer(text).size() != 71) __builtin_trap();
    }
  } catch (const Error&) {}
  return 0;
}
