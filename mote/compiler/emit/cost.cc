#include "mote/compiler/emit/cost.h"

#include <algorithm>

#include "mote/format/reader.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_id.h"

namespace mote::emit {
namespace {

uint64_t count_of(const TensorDesc& d) {
  uint64_t n = 1;
  for (int i = 0; i < d.rank; ++i) n *= static_cast<uint32_t>(d.dims[i]);
  return n;
}

// Products of numbers that an instruction sums; 0 for operators that are no sums of products.
uint64_t products(const ProgramRecords& r, const Instruction& n) {
  const auto operand = [&](uint32_t k) -> const TensorDesc& { return r.tensors[static_cast<size_t>(r.operands[n.operands + k])]; };
  if (n.input_count < 1 || n.output_count < 1 || r.operands[n.operands] < 0 || r.operands[n.operands + n.input_count] < 0) return 0;
  const bool alone = static_cast<OpId>(n.op) == OpId::dft;
  if (!alone && (n.input_count < 2 || r.operands[n.operands + 1] < 0)) return 0;
  const TensorDesc& x = operand(0);
  const uint64_t outputs = count_of(operand(n.input_count));
  switch (static_cast<OpId>(n.op)) {
    case OpId::conv:
    case OpId::q_conv:
    case OpId::q_matmul: {
      const TensorDesc& w = operand(1);  // (outputs, everything that is summed)
      return w.dims[0] > 0 ? outputs * (count_of(w) / static_cast<uint32_t>(w.dims[0])) : 0;
    }
    case OpId::dft:
      // At most every input along the axis for every output: the largest dimension stands for it.
      return outputs * static_cast<uint32_t>(x.rank > 0 ? *std::max_element(x.dims, x.dims + x.rank) : 0);
    case OpId::conv_winograd: return outputs * 9 * static_cast<uint64_t>(operand(1).dims[1]);  // as the convolution that it is
    case OpId::conv_transpose:
    case OpId::q_conv_transpose: {
      // Every input position meets every weight of its group once.
      const TensorDesc& w = operand(1);
      return w.dims[w.rank - 1] > 0 ? count_of(x) * count_of(w) / static_cast<uint32_t>(w.dims[w.rank - 1]) : 0;
    }
    case OpId::matmul: {
      const bool transposed = n.attrs_size >= sizeof(ops::matmul::Attrs) &&
                              reinterpret_cast<const ops::matmul::Attrs*>(r.attrs.data() + n.attrs)->transpose_a != 0;
      return outputs * static_cast<uint32_t>(x.dims[x.rank - (transposed ? 2 : 1)]);
    }
    default: return 0;
  }
}

}  // namespace

void state_costs(ProgramRecords& r) {
  uint64_t macs = 0, bytes = 0;
  for (const Instruction& n : r.instructions) {
    macs += products(r, n);
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t t = r.operands[n.operands + k];
      if (t >= 0) bytes += extent_bytes(r.tensors[static_cast<size_t>(t)]);
    }
  }
  if (r.certificate.macs == 0) r.certificate.macs = macs;
  if (r.certificate.bytes_moved == 0) r.certificate.bytes_moved = bytes;
}

}  // namespace mote::emit
