#include "mote/fleet/agent/capability.h"

#include "mote/api/mote.h"
#include "mote/api/ops.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::agent {
namespace {

// Those of `wanted` that are not there, in one text.
void require_all(const std::vector<std::string>& wanted, const std::set<std::string>& there, const char* what, bool list_there,
                 std::vector<std::string>* reasons) {
  std::set<std::string> lacking;
  for (const std::string& item : wanted) {
    if (there.count(item) == 0) lacking.insert(item);
  }
  if (lacking.empty()) return;
  reasons->push_back(std::string("needs ") + what + " " + joined(lacking) + (list_there ? "; here: " + joined(there) : ""));
}

}  // namespace

Capabilities capabilities_here(const std::vector<std::string>& backends, const std::vector<std::string>& custom_ops, uint64_t ram_bytes) {
  Capabilities c;
  c.runtime_version = mote_version();
  for (uint32_t i = 0; const char* name = mote_op_name(i); ++i) c.ops.insert(name);
  c.ops.insert(custom_ops.begin(), custom_ops.end());
  for (int i = 1; i < 64; ++i) {
    if (mote_dtype_bits(static_cast<mote_dtype>(i)) != 0) c.dtypes.insert(mote_dtype_name(static_cast<mote_dtype>(i)));
  }
  for (uint32_t i = 0; const char* name = mote_kernels_name(i); ++i) c.isas.insert(name);
  c.backends.insert("cpu");
  c.backends.insert(backends.begin(), backends.end());
  c.ram_bytes = ram_bytes;
  return c;
}

std::vector<std::string> missing(const package::Variant& variant, const Capabilities& c) {
  const package::Requirements& needs = variant.needs;
  std::vector<std::string> reasons, ops;
  for (const std::string& op : needs.ops) {
    if (op.find("::") != std::string::npos) ops.push_back(op);  // "loop" and its like are no operators
  }
  require_all(ops, c.ops, "operators", false, &reasons);
  require_all(needs.dtypes, c.dtypes, "element types", true, &reasons);
  require_all(needs.backends, c.backends, "backends", true, &reasons);
  // Instruction sets are alternatives: kernels were chosen with these in mind.
  bool served = needs.isa.empty();
  for (const std::string& isa : needs.isa) served |= c.isas.count(isa) > 0;
  if (!served) require_all(needs.isa, c.isas, "one of the instruction sets", true, &reasons);
  if (needs.ram_bytes > c.ram_bytes)
    reasons.push_back("needs " + std::to_string(needs.ram_bytes) + " bytes of memory; here: " + std::to_string(c.ram_bytes));
  return reasons;
}

std::vector<std::string> missing(const package::Manifest& m, const Capabilities& c) {
  std::vector<std::string> reasons;
  if (package::compare_versions(c.runtime_version, m.runtime_min) < 0)
    reasons.push_back("needs Mote " + m.runtime_min + " or later; here: " + c.runtime_version);
  if (!m.runtime_below.empty() && package::compare_versions(c.runtime_version, m.runtime_below) >= 0)
    reasons.push_back("needs a Mote below " + m.runtime_below + "; here: " + c.runtime_version);
  return reasons;
}

Fit choose_variant(const package::Manifest& manifest, const Capabilities& capabilities, const Objection& objection) {
  Fit fit;
  fit.reasons = missing(manifest, capabilities);
  if (!fit.reasons.empty()) return fit;
  for (const package::Variant& v : manifest.variants) {
    std::vector<std::string> reasons = missing(v, capabilities);
    if (objection) {
      if (const auto why = objection(v)) reasons.push_back(*why);
    }
    if (reasons.empty()) return {&v, {}};
    for (const std::string& why : reasons) fit.reasons.push_back(v.file + " " + why);
  }
  return fit;
}

}  // namespace mote::fleet::agent
