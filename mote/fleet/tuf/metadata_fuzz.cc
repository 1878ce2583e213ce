// libFuzzer: bytes as each kind of metadata; the first byte chooses the kind.

#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/allocation_limit.h"
#include "mote/fleet/tuf/metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fleet;
  using namespace mote::fleet::tuf;
  if (size == 0) return 0;
  const AllocationLimit limit(AllocationLimit::allowed(size));
  const char* const types[] = {kRoot, kTimestamp, kSnapshot, kTargets};
  const char* const type = types[data[0] % 4];
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    const Document document(text, type);
    if (type == kRoot) {
      for (const char* role : {kRoot, kTargets}) require_signatures(document, document.body().at("keys"), root_role(document, role));
    } else if (type == kTargets) {
      find_target(document, "a/b");
      for (const Delegation& d : delegations_for(document, "a/b")) {
        const std::optional<RoleKeys> signers = find_delegation(document, d.name);
        if (!signers) __builtin_trap();
        require_signatures(document, delegation_keys(document), *signers);
      }
    } else {
      find_meta(document, kSnapshot);
      require_no_rollback(document, document);
    }
  } catch (const Error&) {}
  return 0;
}
