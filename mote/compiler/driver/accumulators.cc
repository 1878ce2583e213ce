#include "mote/compiler/driver/accumulators.h"

#include <algorithm>
#include <cstring>

#include "mote/ops/common/weights.h"
#include "mote/ops/op_id.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::driver {
namespace {

uint64_t magnitude(int64_t v) { return v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); }

uint64_t saturating_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
uint64_t saturating_mul(uint64_t a, uint64_t b) { return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b; }

// The furthest that a number of a type can be from a zero point of the same type: kernels may add up products of x - zero, or of x moved to
// the numbers without sign.
uint64_t widest(DType t) { return (uint64_t{1} << dtype_bits(t)) - 1; }

// The constants of a program.
class Constants {
 public:
  Constants(const ProgramTable& table, ConstBytes file, ConstBytes external) : table_(table), file_(file), external_(external) {}

  // Its data is null where only running tells it, and where they lie in a file that is not at hand.
  Tensor tensor(int32_t index) const {
    const TensorDesc& d = table_.tensors[static_cast<size_t>(index)];
    Tensor t{&d, nullptr};
    if (d.storage != Storage::kConstant || d.bank >= table_.segments.size) return t;
    const Segment& s = table_.segments[d.bank];
    const bool apart = (s.flags & kExternal) != 0;
    if (!apart && (s.offset > file_.size || s.size > file_.size - s.offset)) return t;
    const ConstBytes all = apart ? external_ : ConstBytes{file_.data + s.offset, static_cast<size_t>(s.size)};
    if (d.offset <= all.size && extent_bytes(d) <= all.size - d.offset) t.data = const_cast<uint8_t*>(all.data + d.offset);
    return t;
  }

 private:
  const ProgramTable& table_;
  ConstBytes file_, external_;
};

int64_t load(const Tensor& t, int32_t i) {
  const auto* bytes = t.as<const uint8_t>() + static_cast<size_t>(i) * dtype_bytes(t.dtype());
  const auto as = [&](auto v) {
    std::memcpy(&v, bytes, sizeof v);
    return static_cast<int64_t>(v);
  };
  switch (t.dtype()) {
    case DType::s8: return as(int8_t{});
    case DType::u8: return as(uint8_t{});
    case DType::s16: return as(int16_t{});
    case DType::s64: return as(int64_t{});
    default: return as(int32_t{});
  }
}

// What decides, whichever of the operators it is.
struct Product {
  const ProgramTable& table;
  const Constants& constants;
  const Instruction& n;
  int64_t weight_zero = 0;
  bool wide = false, to_accumulators = false;
  int32_t residual_shift = 0;

  bool has(uint32_t i) const { return i < n.input_count && table.operands[n.operands + i] >= 0; }
  Tensor operand(uint32_t i) const { return constants.tensor(table.operands[n.operands + i]); }
};

// Sum of |w - zero| over the row of an output channel, for every row. Rank-2 forms and what conv has: rows are dimension 0; of plain
// matrices with batch dimensions every row of every matrix counts.
template <class W>
std::vector<uint64_t> row_sums(const Product& p, const Tensor& w, int32_t rows, int32_t columns) {
  const bool batched = p.n.op == static_cast<uint16_t>(OpId::q_matmul) && w.rank() > 2;
  const Tensor zeros = p.has(ops::kEpilogueWZero) ? p.operand(ops::kEpilogueWZero) : Tensor{};
  std::vector<uint64_t> sums(static_cast<size_t>(rows), 0);
  const ops::Weights<W> weights(w);
  for (int32_t r = 0; r < rows; ++r) {
    int64_t zero = p.weight_zero;
    if (zeros.data != nullptr) zero = load(zeros, zeros.count() > 1 ? r % zeros.count() : 0);
    for (int32_t k = 0; k < columns; ++k) {
      int64_t v;
      if (batched) v = load(w, r * columns + k);
      else v = static_cast<int64_t>(weights(r, k));
      sums[static_cast<size_t>(r)] += magnitude(v - zero);
    }
  }
  return sums;
}

std::vector<uint64_t> known_row_sums(const Product& p, const Tensor& w, int32_t rows, int32_t columns) {
  switch (w.dtype()) {
    case DType::s4: return row_sums<s4>(p, w, rows, columns);
    case DType::s8: return row_sums<int8_t>(p, w, rows, columns);
    case DType::u8: return row_sums<uint8_t>(p, w, rows, columns);
    default: return row_sums<int16_t>(p, w, rows, columns);
  }
}

// What is added to the sum of a channel besides products.
uint64_t added(const Product& p, int32_t channel, Accumulator* a) {
  uint64_t more = 0;
  const auto unknown = [&](const char* what) {
    if (a->not_counted.find(what) == std::string::npos) a->not_counted += (a->not_counted.empty() ? "" : ", ") + std::string(what);
  };
  if (p.has(ops::kEpilogueBias) && p.operand(ops::kEpilogueBias).dtype() != DType::f32) {
    const Tensor bias = p.operand(ops::kEpilogueBias);
    if (bias.data == nullptr) unknown("bias");
    else more = magnitude(load(bias, bias.count() > 1 ? channel % bias.count() : 0));
  }
  if (p.to_accumulators && p.has(ops::q_conv::kResidualFactor)) {
    const Tensor factor = p.operand(ops::q_conv::kResidualFactor);
    const uint64_t most = widest(p.operand(ops::q_conv::kResidual).dtype());
    if (factor.data == nullptr) unknown("residual");
    else
      more = saturating_add(more,
                            (magnitude(load(factor, factor.count() > 1 ? channel % factor.count() : 0)) * most >> -p.residual_shift) + 1);
  }
  return more;
}

template <class A>
A attributes_of(const ProgramTable& table, const Instruction& n) {
  A a;
  std::memcpy(static_cast<void*>(&a), table.attrs.data + n.attrs, std::min<size_t>(sizeof a, n.attrs_size));
  return a;
}

bool describe(Product* p) {
  switch (static_cast<OpId>(p->n.op)) {
    case OpId::q_conv: {
      const auto a = attributes_of<ops::q_conv::Attrs>(p->table, p->n);
      p->weight_zero = a.weight_zero, p->wide = a.wide != 0;
      p->to_accumulators = p->has(ops::q_conv::kResidual) && a.sum_mode == static_cast<uint32_t>(ops::QuantMode::kSums);
      p->residual_shift = std::clamp(a.sum_b_shift, -30, 0);
      return true;
    }
    case OpId::q_conv_transpose: {
      const auto a = attributes_of<ops::q_conv_transpose::Attrs>(p->table, p->n);
      p->weight_zero = a.weight_zero, p->wide = a.wide != 0;
      return true;
    }
    case OpId::q_matmul: {
      const auto a = attributes_of<ops::q_matmul::Attrs>(p->table, p->n);
      p->weight_zero = a.weight_zero, p->wide = a.wide != 0;
      return true;
    }
    default: return false;
  }
}

Accumulator accumulator_of(const Product& p) {
  Accumulator a;
  const Tensor x = p.operand(0), w = p.operand(1);
  const bool matrix = p.n.op == static_cast<uint16_t>(OpId::q_matmul);
  const int32_t count = w.count(), columns = matrix ? w.dim(w.rank() - 1) : w.dim(0) > 0 ? count / w.dim(0) : 0;
  const int32_t rows = columns > 0 ? count / columns : 0;
  a.op = matrix ? "q_matmul" : p.n.op == static_cast<uint16_t>(OpId::q_conv) ? "q_conv" : "q_conv_transpose";
  a.channels = static_cast<uint32_t>(matrix ? w.dim(w.rank() - 2) : w.dim(0));
  a.products = static_cast<uint32_t>(columns);
  a.width = p.wide ? 64 : 32;
  // Zero points that only running tells: the widest distance stands for weights as it does for inputs.
  const bool zero_known = !p.has(ops::kEpilogueWZero) || p.operand(ops::kEpilogueWZero).data != nullptr;
  a.weights_known = w.data != nullptr && zero_known;
  std::vector<uint64_t> sums;
  if (a.weights_known) sums = known_row_sums(p, w, rows, columns);
  else sums.assign(static_cast<size_t>(rows), saturating_mul(static_cast<uint64_t>(columns), widest(w.dtype())));
  for (int32_t r = 0; r < rows; ++r) {
    const uint64_t sum = saturating_mul(sums[static_cast<size_t>(r)], widest(x.dtype()));
    a.bound = std::max(a.bound, saturating_add(sum, added(p, r % std::max<int32_t>(1, static_cast<int32_t>(a.channels)), &a)));
  }
  for (uint64_t v = a.bound; v > 0; v >>= 1) ++a.bits;
  ++a.bits;  // the sign
  return a;
}

}  // namespace

std::vector<Accumulator> accumulators(const ProgramTable& table, ConstBytes file, ConstBytes external) {
  const Constants constants(table, file, external);
  std::vector<Accumulator> all;
  for (uint32_t i = 0; i < table.instructions.size; ++i) {
    Product p{table, constants, table.instructions[i]};
    if (!describe(&p)) continue;
    all.push_back(accumulator_of(p));
    all.back().instruction = i;
  }
  return all;
}

}  // namespace mote::driver
