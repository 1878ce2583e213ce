#include "tests/fuzz/random_program.h"

#include <algorithm>

#include "mote/compiler/emit/builder.h"
#include "mote/core/size.h"
#include "mote/ops/op_table.h"
#include "tests/fuzz/op_case.h"

namespace mote::fuzz {
namespace {

using emit::Dims;
using emit::kAbsent;
using emit::ProgramBuilder;
using emit::TensorId;

class ProgramMaker {
 public:
  ProgramMaker(Dice& dice, const ProgramShape& shape) : dice_(dice), shape_(shape) {}

  bool run(emit::FileBytes* out, std::string* error) {
    const int methods = dice_.chance(20) ? 2 : 1;
    dynamic_ = dice_.chance(25);
    if (dice_.chance(30)) second_bank_ = b_.bank("fast", 64);
    if (dice_.chance(15)) backend_ = static_cast<int>(b_.backend("touch", "1", "", std::vector<uint8_t>(dice_.below(40))));
    int made = 0;
    for (int m = 0; m < methods; ++m) {
      b_.begin_method(m == 0 ? "main" : "other");
      pool_ = states_;
      method_inputs_.clear();
      method_outputs_.clear();
      const int count = dice_.between(1, shape_.max_ops);
      for (int i = 0; i < count; ++i) made += step(m == 0 && i == 0 ? shape_.first_op : -1) ? 1 : 0;
      finish_method();
    }
    records();
    if (made == 0) {
      *error = "no operator accepted a case";
      return false;
    }
    emit::WriteOptions options;
    options.segment_alignment = 16u << dice_.below(3);
    return b_.finish(out, error, options);
  }

 private:
  bool step(int wanted) {
    if (wanted < 0 && backend_ >= 0 && !pool_.empty() && dice_.chance(25)) return delegate();
    const auto& ops = known_ops();
    OpCase c;
    if (!make_case(ops[wanted >= 0 ? static_cast<size_t>(wanted) : dice_.below(static_cast<uint32_t>(ops.size()))], dice_, &c,
                   shape_.tries))
      return false;
    if (c.def->select == nullptr) return false;
    std::vector<TensorId> in;
    bool dynamic = (c.def->flags & kDataDependent) != 0;
    for (const Operand& o : c.inputs) {
      in.push_back(o.present ? tensor_for(o) : kAbsent);
      if (in.back() >= 0) dynamic |= b_.desc(in.back()).dynamic != 0;
    }
    for (const TensorType& t : c.outputs)
      for (int k = 0; k < t.rank; ++k) dynamic |= t.dims[k] == kDimUnknown;
    if (!dynamic && strip(c, in)) return true;
    const int range = open_range();
    std::vector<TensorId> out;
    const uint32_t kept = dice_.below(static_cast<uint32_t>(c.outputs.size()));
    for (uint32_t o = 0; o < c.outputs.size(); ++o) {
      const bool absent = (c.def->optional_out & operand_bit(o)) != 0 && o != kept && dice_.chance(20);
      out.push_back(absent ? kAbsent : output_for(c.outputs[o], dynamic));
    }
    b_.instruction(c.doc->id, c.attrs.data(), c.def->attrs_size, in, out, dice_.chance(50) ? c.doc->name : "");
    if (range != 0) b_.end();
    for (const TensorId t : out)
      if (t >= 0) pool_.push_back(t);
    return true;
  }

  TensorId tensor_for(const Operand& o) {
    const Dims dims(o.desc.dims, o.desc.dims + o.desc.rank);
    if (o.constant || o.desc.layout != Layout::kPlain || dtype_bits(o.desc.dtype) < 8)
      return b_.constant(o.desc.dtype, dims, o.bytes.data(), o.desc.layout);
    for (const TensorId t : pool_)
      if (b_.desc(t).dtype == o.desc.dtype && same_shape(b_.desc(t), o.desc) && dice_.chance(80)) return t;
    if (dice_.chance(10)) {
      const TensorId init = dice_.chance(50) ? b_.constant(o.desc.dtype, dims, o.bytes.data()) : kAbsent;
      states_.push_back(b_.state(o.desc.dtype, dims, init));
      pool_.push_back(states_.back());
      return states_.back();
    }
    uint8_t bits = 0;
    for (size_t k = 0; dynamic_ && k < dims.size(); ++k) bits = static_cast<uint8_t>(bits | (dice_.chance(40) ? 1 << k : 0));
    pool_.push_back(new_input(o.desc.dtype, dims, bits));
    return pool_.back();
  }

  TensorId output_for(const TensorType& t, bool dynamic) {
    Dims dims(t.dims, t.dims + t.rank);
    int32_t room = 4096;  // elements
    for (int32_t& d : dims) {
      if (d == kDimUnknown) d = dice_.between(0, std::min(room, 8));
      room = d > 0 ? room / d : room;
    }
    if (dynamic) return b_.temp(t.dtype, dims, static_cast<uint8_t>((1u << t.rank) - 1));
    if (t.rank >= 2 && dice_.chance(15) && std::count(dims.begin(), dims.end(), 0) == 0) return view_for(t, dims);
    const TensorId id = b_.temp(t.dtype, dims);
    if (second_bank_ != 0 && dice_.chance(40)) b_.set_bank(id, second_bank_);
    return id;
  }

  // A window into a tensor with longer rows.
  TensorId view_for(const TensorType& t, const Dims& dims) {
    const int32_t width = static_cast<int32_t>(dtype_bytes(t.dtype)), extra = dice_.between(1, 3);
    Dims whole = dims;
    whole.back() += extra;
    const TensorId base = b_.temp(t.dtype, whole);
    const std::vector<int32_t> strides(b_.desc(base).strides, b_.desc(base).strides + t.rank);
    return b_.view(base, static_cast<uint64_t>(width) * dice_.below(static_cast<uint32_t>(extra) + 1), dims, strides);
  }

  int open_range() {
    if (dice_.chance(85)) return 0;
    if (dice_.chance(50)) {
      Operand condition;
      condition.desc.dtype = DType::boolean;
      condition.bytes = {static_cast<uint8_t>(dice_.below(3))};
      condition.constant = dice_.chance(30);
      b_.begin_if(scalar(condition));
    } else {
      const int64_t n = dice_.between(0, 3);
      b_.begin_loop(dice_.chance(50) ? b_.constant_s64({}, {n}) : kAbsent, kAbsent, dice_.chance(50) ? b_.temp(DType::s64, {}) : kAbsent,
                    3);
    }
    return 1;
  }

  TensorId scalar(const Operand& o) {
    if (o.constant) return b_.constant(o.desc.dtype, {}, o.bytes.data());
    return new_input(o.desc.dtype, {});
  }

  // The operator a few rows at a time and, where the type allows, an element-wise one behind it through a ring.
  bool strip(const OpCase& c, const std::vector<TensorId>& in) {
    const TensorType& t = c.outputs[0];
    if ((c.def->flags & kRowRange) == 0 || t.rank < 3 || t.dims[1] < 2 || dice_.chance(50)) return false;
    const int32_t rows = dice_.between(1, t.dims[1]);
    const Step s{0, rows, rows};
    const bool ring = t.dtype == DType::f32 && c.outputs.size() == 1 &&
                      std::any_of(known_ops().begin(), known_ops().end(), [](const KnownOp& k) { return k.doc->name == "relu"; });
    std::vector<TensorId> out;
    for (const TensorType& o : c.outputs) out.push_back(b_.temp(o.dtype, Dims(o.dims, o.dims + o.rank)));
    b_.begin_strip(static_cast<uint32_t>((t.dims[1] + rows - 1) / rows), ring ? std::vector<Step>{s, s} : std::vector<Step>{s});
    b_.instruction(c.doc->id, c.attrs.data(), c.def->attrs_size, in, out);
    if (ring) {
      b_.set_ring(out[0], static_cast<uint16_t>(rows));
      const TensorId y = b_.temp(t.dtype, Dims(t.dims, t.dims + t.rank));
      b_.op_into(OpId::relu, NoAttrs{}, {out[0]}, {y});
      out[0] = y;
    }
    b_.end();
    pool_.insert(pool_.end(), out.begin(), out.end());
    return true;
  }

  bool delegate() {
    std::vector<TensorId> in, out;
    for (uint32_t i = 0, n = dice_.below(3); i <= n; ++i) in.push_back(pool_[dice_.below(static_cast<uint32_t>(pool_.size()))]);
    for (uint32_t i = 0, n = dice_.below(2); i <= n; ++i) out.push_back(b_.temp(DType::f32, {dice_.between(0, 4), dice_.between(1, 4)}));
    b_.delegate(static_cast<uint32_t>(backend_), dice_.below(3), in, out);
    pool_.insert(pool_.end(), out.begin(), out.end());
    return true;
  }

  void finish_method() {
    std::vector<TensorId>& used = method_outputs_;
    const bool copies = find_op_doc("copy") != nullptr;
    for (uint32_t i = 0, n = 1 + dice_.below(3); i < n && !pool_.empty(); ++i) {
      const TensorId t = pool_[pool_.size() - 1 - dice_.below(static_cast<uint32_t>(std::min<size_t>(pool_.size(), 4)))];
      if (std::count(used.begin(), used.end(), t) != 0 || (!copies && b_.desc(t).storage != Storage::kArena)) continue;
      used.push_back(t);
      b_.output("out" + std::to_string(i), t);
    }
  }

  void records() {
    if (dice_.chance(50)) b_.metadata("name", "random");
    if (dice_.chance(50)) b_.evidence("producer", "fuzz");
    if (dice_.chance(20)) b_.policy("[default]\nallow = [\"cpu\"]\n");
    if (dice_.chance(30) && !pool_.empty()) b_.quantization(pool_[0], 0.5f, 3);
    if (dice_.chance(10)) b_.reserve_signature(64);
    if (dice_.chance(20)) golden();
  }

  // Made-up bytes of the right sizes for the last method.
  void golden() {
    std::vector<std::vector<uint8_t>> in, out;
    for (const TensorId t : method_inputs_) in.emplace_back(bytes_of(t));
    for (const TensorId t : method_outputs_) out.emplace_back(bytes_of(t));
    b_.golden(static_cast<uint32_t>(b_.records().methods.size()) - 1, in, out, 0.5f);
  }
  size_t bytes_of(TensorId t) const { return static_cast<size_t>(dense_bytes(b_.desc(t))); }

  TensorId new_input(DType type, const Dims& dims, uint8_t dynamic = 0) {
    method_inputs_.push_back(b_.input("in" + std::to_string(method_inputs_.size()), type, dims, dynamic));
    return method_inputs_.back();
  }

  Dice& dice_;
  const ProgramShape shape_;
  ProgramBuilder b_;
  std::vector<TensorId> pool_, states_;
  std::vector<TensorId> method_inputs_, method_outputs_;
  int backend_ = -1;
  uint8_t second_bank_ = 0;
  bool dynamic_ = false;
};

}  // namespace

bool make_program(Dice& dice, const ProgramShape& shape, emit::FileBytes* out, std::string* error) {
  return ProgramMaker(dice, shape).run(out, error);
}

}  // namespace mote::fuzz
