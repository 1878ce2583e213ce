#include "mote/fleet/agent/verdict.h"

#include <algorithm>

#include "mote/api/mote.h"
#include "mote/api/ops.h"

namespace mote::fleet::agent {
namespace {

bool built_in(const std::string& op) {
  for (uint32_t i = 0; const char* name = mote_op_name(i); ++i) {
    if (op == name) return true;
  }
  return false;
}

}  // namespace

const char* name_of(Verdict v) {
  constexpr const char* names[] = {"pass", "application", "undecided", "fail"};
  return names[static_cast<int>(v)];
}

Declared declared_parts(const package::Requirements& needs, const std::vector<std::string>& backends,
                        const std::vector<std::string>& custom_ops) {
  Declared out;
  for (const std::string& op : needs.ops) {
    if (contains(custom_ops, op) && !built_in(op)) out.ops.insert(op);
  }
  for (const std::string& backend : needs.backends) {
    if (contains(backends, backend) && backend != "cpu") out.backends.insert(backend);
  }
  return out;
}

bool lacks_declared(const GoldenReport& report, const Declared& declared) {
  if (report.opened) return false;
  // The library has the name as a value for an operator that it knows; else, and for backends, in its sentence only: 'NAME'.
  const auto named = [&](const std::string& name) {
    return report.op == name || report.failure.find("'" + name + "'") != std::string::npos;
  };
  if (report.code == MOTE_UNSUPPORTED) return std::any_of(declared.ops.begin(), declared.ops.end(), named);
  return report.code == MOTE_BACKEND && std::any_of(declared.backends.begin(), declared.backends.end(), named);
}

Verdict verdict(Gate gate, const GoldenReport& report, bool lacks_declared) {
  if (report.code == MOTE_OK) {
    if (!report.failure.empty()) return Verdict::kFail;  // an output is not what it must be
    return report.outputs > 0 ? Verdict::kPass : Verdict::kApplication;
  }
  switch (report.code) {
    // What is not here may be elsewhere. Once a program is open nothing more can turn out to be missing.
    case MOTE_UNSUPPORTED:
    case MOTE_BACKEND:
      if (lacks_declared) return Verdict::kApplication;
      return report.opened ? Verdict::kFail : Verdict::kUndecided;
    case MOTE_NOT_FOUND: return report.opened ? Verdict::kFail : Verdict::kUndecided;
    // The probe's limit comes from the manifest; in trial the machine may be short of memory for any reason.
    case MOTE_OUT_OF_MEMORY: return gate == Gate::kProbe ? Verdict::kFail : Verdict::kUndecided;
    case MOTE_INVALID_ARGUMENT:
    case MOTE_CORRUPT:
    case MOTE_SHAPE:
    case MOTE_STEP_LIMIT:
    case MOTE_DIGEST:
    case MOTE_POLICY:
    case MOTE_INTERNAL:
    case MOTE_NOT_BOUND: return Verdict::kFail;
    // Of the file system, another version, or a gate that was disturbed. Codes of later libraries count as these.
    case MOTE_VERSION:
    case MOTE_IO:
    case MOTE_DEADLINE:
    case MOTE_CANCELLED:
    case MOTE_BUSY:
    case MOTE_PAUSED:
    default: return Verdict::kUndecided;
  }
}

}  // namespace mote::fleet::agent
