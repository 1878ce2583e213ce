#include "mote/compiler/emit/cpp/portable.h"

#include <algorithm>

#include "mote/compiler/program/registry.h"
#include "mote/runtime/verify.h"

namespace mote::emit {

std::vector<uint8_t> attributes_of(const program::ProgramRecords& records, const Instruction& n, const OpDoc& doc) {
  std::vector<uint8_t> bytes = doc.default_attrs;
  bytes.resize(doc.attrs_size);
  std::copy_n(records.attrs.begin() + n.attrs, std::min<size_t>(n.attrs_size, bytes.size()), bytes.begin());
  return bytes;
}

std::string descriptor_text(const TensorDesc& d) {
  const auto number = [](unsigned v) { return std::to_string(v); };
  std::string text = "{0, {";
  for (int i = 0; i < kMaxRank; ++i) text += (i > 0 ? ", " : "") + std::to_string(d.dims[i]);
  text += "}, {";
  for (int i = 0; i < kMaxRank; ++i) text += (i > 0 ? ", " : "") + std::to_string(d.strides[i]);
  return text + "}, mote::DType(" + number(static_cast<uint8_t>(d.dtype)) + "), " + number(d.rank) + ", mote::Layout(" +
         number(static_cast<uint8_t>(d.layout)) + "), mote::Storage(" + number(static_cast<uint8_t>(d.storage)) + "), 0, 0, " +
         number(d.ring_rows) + "}";
}

uint64_t scratch_bytes_of(const program::ProgramRecords& records, const Instruction& n, const OpDef& def, const OpDoc& doc,
                          const std::vector<Tensor>& tensors) {
  std::vector<int32_t> operands;
  int32_t next = 0;
  for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i)
    operands.push_back(records.operands[n.operands + i] < 0 ? -1 : next++);
  const std::vector<uint8_t> attrs = attributes_of(records, n, doc);
  OpContext c;
  c.tensors = tensors.data();
  c.operands = operands.data();
  c.attr_bytes = attrs.data();
  c.input_count = n.input_count;
  c.output_count = n.output_count;
  const Scratch s = def.scratch(c);
  return uint64_t{s.base} + s.per_thread;
}

bool overlaps_input(const Source& source, const Instruction& n) {
  const OpDef* def = n.op < kFirstCustomOp ? program::builtin_registry().find(n.op, nullptr) : nullptr;
  for (uint32_t o = 0; def != nullptr && o < n.output_count; ++o) {
    for (uint32_t i = 0; i < n.input_count; ++i) {
      if (source.output(n, o) < 0 || source.input(n, i) < 0) continue;
      const TensorDesc &y = source.desc(source.output(n, o)), &x = source.desc(source.input(n, i));
      if (overlaps(y, x) && !(y.offset == x.offset && may_share(*def, o, i, y, x))) return true;
    }
  }
  return false;
}

}  // namespace mote::emit
