#include "mote/backends/testing/support_matrix.h"

#include "mote/ops/op_docs.h"

namespace mote::backends {

void SupportMatrix::add(OpId op, DType type, const CaseResult& result) {
  Row& r = rows_[op][type];
  ++r.cases;
  r.supported += result.supported;
  if (!result.supported) ++r.reasons[result.reason];
}

int SupportMatrix::cases() const {
  int sum = 0;
  for (const auto& [op, types] : rows_)
    for (const auto& [type, row] : types) sum += row.cases;
  return sum;
}

int SupportMatrix::supported() const {
  int sum = 0;
  for (const auto& [op, types] : rows_)
    for (const auto& [type, row] : types) sum += row.supported;
  return sum;
}

std::string SupportMatrix::text(const std::string& backend) const {
  std::string taken, left;
  int operators = 0;
  for (const auto& [op, types] : rows_) {
    const OpDoc* doc = find_op_doc(static_cast<uint16_t>(op));
    if (doc == nullptr) continue;
    std::string names;
    int cases = 0, supported = 0;
    std::map<std::string, int> reasons, of_types;
    for (const auto& [type, row] : types) {
      if (row.supported > 0) {
        names += (names.empty() ? "" : ", ") + std::string(dtype_name(type));
        cases += row.cases;
        supported += row.supported;
        for (const auto& [why, count] : row.reasons) of_types[why] += count;
      }
      for (const auto& [why, count] : row.reasons) reasons[why] += count;
    }
    const bool any = supported > 0;
    std::string why;
    for (const auto& [text, count] : any ? of_types : reasons)
      why += (why.empty() ? "" : "; ") + text + (any ? " (" + std::to_string(count) + ")" : "");
    operators += any;
    if (any)
      taken +=
          "| `" + doc->name + "` | " + names + " | " + std::to_string(supported) + " of " + std::to_string(cases) + " | " + why + " |\n";
    else left += "| `" + doc->name + "` | " + why + " |\n";
  }
  std::string s = "# What the " + backend + " backend runs\n\n";
  s += "Written by `./do format` from the operators' own tests, each case of which `backend_conformance " + backend +
       "` runs on the backend and\ncompares with the portable kernel. " + std::to_string(operators) + " of " +
       std::to_string(rows_.size()) + " operators.\n\n";
  s += "| operator | types | cases it takes | why it does not take the others of these types |\n|---|---|---|---|\n" + taken;
  return s + "\nNot taken:\n\n| operator | why |\n|---|---|\n" + left;
}

}  // namespace mote::backends
