#include "mote/compiler/program/cost.h"

#include <algorithm>
#include <cstring>

#include "mote/core/size.h"
#include "mote/ops/attention/attention.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_id.h"

namespace mote::program {
namespace {

// Made-up programs may ask for more than 64 bits can count: sums and products end at the largest number (size.h).
uint64_t count_of(const TensorDesc& d) {
  uint64_t n = 1;
  for (int i = 0; i < d.rank; ++i) n = times(n, static_cast<uint32_t>(d.dims[i]));
  return n;
}

// Without the gaps of a view, and with all rows that pass through a ring.
uint64_t bytes_of(const TensorDesc& d) { return d.layout == Layout::kPlain ? dense_bytes(d) : extent_bytes(d); }

// An instruction with its operands at hand.
class Operands {
 public:
  Operands(const CostSource& program, const Instruction& n) : program_(program), n_(n) {}
  uint32_t inputs() const { return n_.input_count; }
  uint32_t all() const { return uint32_t{n_.input_count} + n_.output_count; }
  const TensorDesc* operand(uint32_t k) const {
    const int32_t t = k < all() ? program_.operands[n_.operands + k] : -1;
    return t >= 0 ? &program_.tensors[static_cast<size_t>(t)] : nullptr;
  }
  const TensorDesc* input(uint32_t k) const { return k < inputs() ? operand(k) : nullptr; }
  const TensorDesc* output() const { return n_.output_count > 0 ? operand(inputs()) : nullptr; }
  uint64_t count(uint32_t k) const { return input(k) != nullptr ? count_of(*input(k)) : 0; }
  uint64_t dim(uint32_t k, int i) const { return input(k) != nullptr && i < input(k)->rank ? static_cast<uint32_t>(input(k)->dims[i]) : 0; }
  template <class A>
  A attrs() const {
    A a;
    std::memset(static_cast<void*>(&a), 0, sizeof a);
    std::memcpy(static_cast<void*>(&a), program_.attrs.data + n_.attrs, std::min<size_t>(sizeof a, n_.attrs_size));
    return a;
  }

 private:
  const CostSource& program_;
  const Instruction& n_;
};

struct Work {
  uint64_t macs = 0, products = 0;
  Work() = default;
  Work(uint64_t m) : macs(m), products(m) {}  // NOLINT(google-explicit-constructor)
  Work(uint64_t m, uint64_t p) : macs(m), products(p) {}
};

// The pairs of a query and a key it attends to, of one head. Masks and lengths are known only when running.
uint64_t attended(const ops::attention::Attrs& a, uint64_t queries, uint64_t keys) {
  if (a.is_causal == 0) return queries * keys;
  const uint64_t offset = a.cached != 0 && keys > queries ? keys - queries : 0;
  const uint64_t growing = std::min(queries, keys - offset);  // queries that see one key more than the one before
  return growing * (growing + 1) / 2 + growing * offset + (queries - growing) * keys;
}

Work attention_work(const Operands& o) {
  const uint64_t heads = times(o.dim(0, 0), o.dim(0, 1)), each = o.dim(0, 3) + o.dim(2, 3);
  const uint64_t queries = o.dim(0, 2), keys = o.dim(1, 2);
  const auto attrs = o.attrs<ops::attention::Attrs>();
  return {times(times(heads, queries * keys), each), times(times(heads, attended(attrs, queries, keys)), each)};
}

// The largest dimension stands for the points of a line. A fast transform needs about log2 of them for each output.
Work fourier_work(uint64_t outputs, const TensorDesc& x) {
  const uint64_t points = static_cast<uint32_t>(x.rank > 0 ? *std::max_element(x.dims, x.dims + x.rank) : 0);
  uint64_t levels = 1;
  while (levels < 32 && uint64_t{1} << levels < points) ++levels;
  return {times(outputs, points), times(outputs, std::min(points, levels))};
}

// Sums of products; nothing for operators that are none.
Work work_of(const Operands& o, OpId op) {
  const TensorDesc *x = o.input(0), *w = o.input(1);
  const uint64_t outputs = o.output() != nullptr ? count_of(*o.output()) : 0;
  const uint64_t steps = times(o.dim(0, 0), o.dim(0, 1));  // of recurrent layers: time and batch
  switch (op) {
    case OpId::lstm: return times(steps, o.count(1) + o.count(2) + o.count(8));
    case OpId::gru:
    case OpId::rnn: return times(steps, o.count(1) + o.count(2));
    case OpId::q_lstm: return times(steps, o.count(3) + o.count(4) + o.count(7));
    case OpId::svdf:
    case OpId::q_svdf: return times(o.dim(1, 0), o.count(2) + o.count(3));
    case OpId::attention: return attention_work(o);
    case OpId::audio_dct: return times(outputs, o.dim(0, 1));
    case OpId::audio_mel:
      return times(o.output() != nullptr ? static_cast<uint32_t>(o.output()->dims[0]) : 0, 36 * o.count(2) + o.count(4));
    case OpId::dft:
    case OpId::stft: return x != nullptr ? fourier_work(outputs, *x) : Work{};
    default: break;
  }
  if (x == nullptr || w == nullptr) return {};
  switch (op) {
    case OpId::conv:
    case OpId::q_conv:  // weights (outputs, everything that is summed)
      return w->rank > 0 && w->dims[0] > 0 ? times(outputs, count_of(*w) / static_cast<uint32_t>(w->dims[0])) : 0;
    case OpId::conv_winograd:  // the convolution that it is; 36 products make 4 x 4 outputs
      return {times(outputs, 9 * o.dim(1, 1)), times(outputs, o.dim(1, 1)) / 16 * 36};
    case OpId::conv_transpose:
    case OpId::q_conv_transpose: {
      // Every input position, with all its channels, meets every weight once.
      const int32_t channels = x->rank > 0 ? x->dims[x->rank - 1] : 0;
      return channels > 0 ? times(count_of(*x) / static_cast<uint32_t>(channels), count_of(*w)) : 0;
    }
    case OpId::q_matmul: return x->rank > 0 ? times(outputs, o.dim(0, x->rank - 1)) : 0;
    case OpId::matmul: {
      const int back = o.attrs<ops::matmul::Attrs>().transpose_a != 0 ? 2 : 1;
      return x->rank >= back ? times(outputs, o.dim(0, x->rank - back)) : 0;
    }
    default: return {};
  }
}

bool same_place(const TensorDesc* a, const TensorDesc* b) {
  return a != nullptr && b != nullptr && a->storage == b->storage && a->bank == b->bank && a->offset == b->offset &&
         (a->storage == Storage::kArena || a->storage == Storage::kState);
}

// Bytes of input k that the operator reads.
uint64_t read_of(const Operands& o, OpId op, uint32_t k) {
  const uint64_t whole = bytes_of(*o.input(k));
  if (k > 0 || o.output() == nullptr) return whole;
  switch (op) {
    case OpId::shape_of: return 0;
    case OpId::gather:
    case OpId::gather_nd:
    case OpId::gather_elements:
    case OpId::slice: return std::min(whole, bytes_of(*o.output()));
    default: return whole;
  }
}

// Of operators that may work in place: what they touch there.
bool in_place_bytes(const Operands& o, OpId op, Cost* cost) {
  if (!same_place(o.input(0), o.output())) return false;
  switch (op) {
    case OpId::reshape:
    case OpId::bitcast: return true;
    case OpId::update_slice: cost->written_bytes = cost->read_bytes = o.input(1) != nullptr ? bytes_of(*o.input(1)) : 0; return true;
    case OpId::scatter_elements:
    case OpId::scatter_nd: cost->written_bytes = cost->read_bytes = o.input(2) != nullptr ? bytes_of(*o.input(2)) : 0; return true;
    default: return false;
  }
}

}  // namespace

CostSource::CostSource(const ProgramRecords& r)
    : tensors(r.tensors.data(), r.tensors.size()),
      operands(r.operands.data(), r.operands.size()),
      attrs(r.attrs.data(), r.attrs.size()),
      instructions(r.instructions.data(), r.instructions.size()) {}

Cost cost_of(const CostSource& program, const Instruction& n) {
  const Operands o(program, n);
  const auto op = static_cast<OpId>(n.op);
  Cost cost;
  const Work work = n.op < kFirstCustomOp ? work_of(o, op) : Work{};
  cost.macs = work.macs;
  cost.products = work.products;
  const TensorDesc* left = o.input(op == OpId::svdf || op == OpId::q_svdf ? 1 : 0);
  cost.integer = work.macs > 0 && left != nullptr && (mask_of(left->dtype) & kFloat) == 0;
  if (in_place_bytes(o, op, &cost)) return cost;
  for (uint32_t k = 0; k < o.all(); ++k) {
    const TensorDesc* d = o.operand(k);
    if (d == nullptr) continue;
    if (k >= o.inputs()) cost.written_bytes = plus(cost.written_bytes, bytes_of(*d));
    else if (d->storage == Storage::kConstant) cost.constant_bytes = plus(cost.constant_bytes, read_of(o, op, k));
    else cost.read_bytes = plus(cost.read_bytes, read_of(o, op, k));
  }
  return cost;
}

std::vector<uint64_t> calls_per_pass(const CostSource& program) {
  std::vector<uint64_t> calls(program.instructions.size, 1);
  for (size_t pc = 0; pc < calls.size(); ++pc) {
    const Instruction& n = program.instructions[pc];
    if (static_cast<ControlOp>(n.op) != ControlOp::kStrip) continue;
    StripAttrs strip;
    std::memcpy(&strip, program.attrs.data + n.attrs, sizeof strip);
    for (size_t k = pc + 1; k < std::min(calls.size(), pc + 1 + strip.body_count); ++k)
      calls[k] = times(calls[k], std::max(1u, strip.count));
  }
  return calls;
}

void state_costs(ProgramRecords& r) {
  uint64_t macs = 0, bytes = 0;
  const CostSource program(r);
  for (const Instruction& n : r.instructions) {
    const Cost cost = cost_of(program, n);
    macs = plus(macs, cost.macs);
    bytes = plus(bytes, cost.bytes());
  }
  if (r.certificate.macs == 0) r.certificate.macs = macs;
  if (r.certificate.bytes_moved == 0) r.certificate.bytes_moved = bytes;
}

}  // namespace mote::program
