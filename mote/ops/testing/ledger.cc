#include "mote/ops/testing/ledger.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "mote/ops/op_docs.h"

namespace mote::optest {
namespace {

struct Entry {
  DTypeMask types = 0;
  uint32_t ranks = 0;  // of the main operand, as bits
  bool empty = false, special = false;
  // One run, to ask the operator for its opinion of other ranks.
  std::vector<uint32_t> attrs;
  std::vector<Array> inputs;
  size_t outputs = 0;
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

// True when the operator accepts the entry's operands with its main input at another rank: the last dimensions, 1 in front of them.
bool takes_rank(const OpDoc& doc, const Entry& e, size_t rank) {
  std::vector<Array> inputs = e.inputs;
  Array& main = inputs[doc.info.types_of_];
  Shape shape(rank, 1);
  for (size_t i = 0; i < std::min(rank, main.shape().size()); ++i) shape[rank - 1 - i] = main.shape()[main.shape().size() - 1 - i];
  main = Array(main.dtype(), shape);
  std::vector<TensorType> types(e.outputs);
  return infer_bytes(static_cast<OpId>(doc.id), e.attrs.data(), inputs, {}, &types).ok();
}

void check_ranks(const OpDoc& doc, const Entry& e, std::vector<std::string>* gaps) {
  const int least = doc.info.min_rank_, most = doc.info.max_rank_;
  const bool of_input = doc.info.types_of_ < e.inputs.size();
  for (int rank = 0; rank <= kMaxRank; ++rank) {
    const std::string name = "rank " + std::to_string(rank);
    const bool run = (e.ranks >> rank & 1) != 0;
    if (rank < least || rank > most) {
      if (run || (of_input && takes_rank(doc, e, static_cast<size_t>(rank))))
        gaps->push_back(doc.name + ": takes " + name + ", which it does not claim");
    } else if ((rank == least || rank == most) && !run) {
      gaps->push_back(doc.name + ": never run at " + name);
    }
  }
}

}  // namespace

void ledger_add(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  const OpDoc* doc = find_op_doc(static_cast<uint16_t>(op));
  if (doc == nullptr) return;
  Entry& e = entries()[op];
  const uint8_t of = doc->info.types_of_;
  const Array* main = of < inputs.size() ? &inputs[of] : &outputs[0];
  if (!main->present()) return;
  e.types |= mask_of(main->dtype());
  e.ranks |= 1u << main->shape().size();
  if (e.outputs == 0) {
    e.attrs.resize((attrs_bytes + 3) / 4 + 1);
    std::memcpy(e.attrs.data(), attrs, attrs_bytes);
    e.inputs = inputs;
    e.outputs = outputs.size();
  }
  for (const std::vector<Array>* list : {&inputs, &outputs}) {
    for (const Array& a : *list) {
      if (!a.present()) continue;
      e.empty |= a.count() == 0;
      e.special |= has_special(a);
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
    check_ranks(doc, e, &gaps);
  }
  return gaps;
}

}  // namespace mote::optest
