#include "mote/ops/testing/ledger.h"

#include <algorithm>
#include <map>

#include "mote/ops/op_docs.h"

namespace mote::optest {
namespace {

struct Entry {
  DTypeMask types = 0;
  bool empty = false, special = false, high_rank = false, scalar = false;
};

std::map<OpId, Entry>& entries() {
  static std::map<OpId, Entry> map;
  return map;
}

bool has_special(const Array& a) {
  if (!a.present() || a.layout() != Layout::kPlain || (mask_of(a.dtype()) & kFloat) == 0) return false;
  for (int64_t i = 0; i < a.count(); ++i)
    if (!std::isfinite(a.get(i))) return true;
  return false;
}

}  // namespace

void ledger_add(OpId op, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  const OpDoc* doc = find_op_doc(static_cast<uint16_t>(op));
  if (doc == nullptr) return;
  Entry& e = entries()[op];
  const uint8_t of = doc->info.types_of_;
  const Array* main = of == kOfOutput ? &outputs[0] : of < inputs.size() ? &inputs[of] : nullptr;
  if (main == nullptr || !main->present()) return;
  e.types |= mask_of(main->dtype());
  for (const std::vector<Array>* list : {&inputs, &outputs}) {
    for (const Array& a : *list) {
      if (!a.present()) continue;
      e.empty |= a.count() == 0;
      e.special |= has_special(a);
      e.high_rank |= a.shape().size() == kMaxRank;
      e.scalar |= a.shape().empty();
    }
  }
}

std::vector<std::string> ledger_gaps() {
  std::vector<std::string> gaps;
  for (const OpDoc& doc : op_docs()) {
    const auto it = entries().find(static_cast<OpId>(doc.id));
    if (it == entries().end()) {
      gaps.push_back(doc.name + ": never run");
      continue;
    }
    const Entry& e = it->second;
    for (uint8_t v = 1; v < kDTypeCount; ++v)
      if ((doc.info.types_ >> v & 1) != 0 && (e.types >> v & 1) == 0)
        gaps.push_back(doc.name + ": never run with " + dtype_name(static_cast<DType>(v)));
    if (!e.empty) gaps.push_back(doc.name + ": never run with an empty tensor");
    // Operators without inputs (windows, filter banks) have nowhere to take NaN from.
    if ((doc.info.types_ & kFloat) != 0 && doc.info.max_in_ > 0 && !e.special)
      gaps.push_back(doc.name + ": never run with NaN or infinity");
    const bool elementwise = (doc.info.flags_ & kElementwise) != 0;
    if (elementwise && !e.high_rank) gaps.push_back(doc.name + ": never run at rank 8");
    if (elementwise && !e.scalar) gaps.push_back(doc.name + ": never run on a scalar");
  }
  return gaps;
}

}  // namespace mote::optest
