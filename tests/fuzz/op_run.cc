#include "tests/fuzz/op_run.h"

#include "mote/core/dispatch.h"
#include "mote/format/reader.h"
#include "mote/runtime/instance_layout.h"
#include "mote/runtime/verify.h"
#include "tests/fuzz/exact_block.h"

namespace mote::fuzz {
namespace {

constexpr uint8_t kFill = 0xa5;

// Calls visit(byte offset) for every element of a plain tensor.
template <class F>
void each_element(const TensorDesc& d, const F& visit) {
  int32_t index[kMaxRank] = {};
  if (element_count(d) == 0) return;
  for (;;) {
    uint64_t at = 0;
    for (int i = 0; i < d.rank; ++i) {
      const int32_t k = i == 1 && d.ring_rows != 0 ? index[i] % d.ring_rows : index[i];
      at += static_cast<uint64_t>(k) * static_cast<uint32_t>(d.strides[i]);
    }
    visit(at);
    int i = d.rank - 1;
    while (i >= 0 && ++index[i] == d.dims[i]) index[i--] = 0;
    if (i < 0) return;
  }
}

class CaseRun {
 public:
  CaseRun(OpCase& c, Dice& dice) : case_(c), dice_(dice), inputs_(c.inputs.size()), outputs_(c.outputs.size()) {
    tensors_.resize(inputs_ + outputs_);
    descs_.resize(tensors_.size());
    bounds_.resize(tensors_.size());
    operands_.assign(tensors_.size(), -1);
  }

  CaseResult run(SelectKernel select) {
    CaseResult r;
    dynamic_ = (case_.def->flags & kDataDependent) != 0;
    for (const TensorType& t : case_.outputs)
      for (int i = 0; i < t.rank; ++i) dynamic_ |= t.dims[i] == kDimUnknown;
    strip_ = !dynamic_ && (case_.def->flags & kRowRange) != 0 && case_.outputs[0].rank >= 3 && dice_.chance(40);
    const bool gaps = !dynamic_ && dice_.chance(40);
    for (size_t i = 0; i < inputs_; ++i) place_input(i, gaps);
    const uint32_t kept = dice_.below(static_cast<uint32_t>(outputs_));  // one is always there
    for (size_t o = 0; o < outputs_; ++o) place_output(o, gaps, o == kept);
    if (strip_ && dice_.chance(60)) make_rings();
    allocate();
    OpContext c = context();
    if (dynamic_ && !size_outputs(c, &r.status)) return r;
    if (strip_) c.rows = kSomeRows;
    if (case_.def->scratch != nullptr) {
      const Scratch s = case_.def->scratch(c);
      if (uint64_t{s.base} + s.per_thread > (uint64_t{1} << 24)) return r;
      blocks_.emplace_back(size_t{s.base} + s.per_thread, 16);
      c.scratch = blocks_.back().span();
    }
    const KernelFn kernel = dispatch(*case_.def, select, c);
    if (kernel == nullptr) return r;
    if (strip_) c.rows = some_rows();
    r.ran = true;
    r.status = kernel(c);
    r.broken = check(c);
    return r;
  }

 private:
  void add_gap(TensorDesc& d) {
    if (d.rank < 2 || d.layout != Layout::kPlain || dtype_bits(d.dtype) < 8) return;
    const int from = dice_.between(0, d.rank - 2);
    const int32_t gap = static_cast<int32_t>(dtype_bytes(d.dtype)) * dice_.between(1, 3);
    for (int i = from; i >= 0; --i)
      d.strides[i] = i == from ? d.strides[i] + gap : d.strides[i + 1] * (d.dims[i + 1] > 0 ? d.dims[i + 1] : 1);
  }

  void place_input(size_t i, bool gaps) {
    const Operand& o = case_.inputs[i];
    if (!o.present) return;
    operands_[i] = static_cast<int32_t>(i);
    descs_[i] = o.desc;
    descs_[i].storage = o.constant ? Storage::kConstant : Storage::kArena;
    if (gaps && !o.constant && dice_.chance(50)) add_gap(descs_[i]);
  }

  void place_output(size_t o, bool gaps, bool kept) {
    const size_t k = inputs_ + o;
    const bool optional = (case_.def->optional_out & operand_bit(static_cast<uint32_t>(o))) != 0;
    operands_[k] = kept || !optional || !dice_.chance(25) ? static_cast<int32_t>(k) : -1;
    TensorDesc& d = descs_[k];
    d = TensorDesc{};
    d.dtype = case_.outputs[o].dtype;
    d.rank = case_.outputs[o].rank;
    d.storage = Storage::kArena;
    int32_t room = 4096;  // elements
    for (int i = 0; i < d.rank; ++i) {
      const int32_t size = case_.outputs[o].dims[i];
      d.dims[i] = size == kDimUnknown ? dice_.between(0, room < 12 ? room : 12) : size;
      room = d.dims[i] > 0 ? room / d.dims[i] : room;
      if (dynamic_) d.dynamic = static_cast<uint8_t>(d.dynamic | 1 << i);
    }
    set_dense_strides(d);
    if (gaps && dice_.chance(50)) add_gap(d);
  }

  // The rings a verified strip may have: outputs, and those inputs the operator names that have the output's rank.
  void make_rings() {
    const uint32_t rings = (case_.def->flags & kElementwise) != 0 ? 255 : case_.def->ring_in;
    for (size_t k = 0; k < tensors_.size(); ++k) {
      TensorDesc& d = descs_[k];
      const bool fits = k >= inputs_ || ((rings & operand_bit(static_cast<uint32_t>(k))) != 0 && d.rank == descs_[inputs_].rank);
      if (operands_[k] < 0 || !fits || d.rank < 3 || d.storage != Storage::kArena || d.layout != Layout::kPlain ||
          dtype_bits(d.dtype) < 8 || dice_.chance(40))
        continue;
      set_dense_strides(d);
      d.ring_rows = static_cast<uint16_t>(dice_.between(1, 4));
      d.strides[0] = d.strides[1] * d.ring_rows;
    }
  }

  void allocate() {
    const bool in_place = (case_.def->flags & kElementwise) != 0 && !dynamic_ && inputs_ > 0 && operands_[0] >= 0 &&
                          operands_[inputs_] >= 0 && dice_.chance(20) && same_place(descs_[0], descs_[inputs_]);
    blocks_.reserve(tensors_.size() + 2);
    for (size_t k = 0; k < tensors_.size(); ++k) {
      tensors_[k].desc = &descs_[k];
      if (operands_[k] < 0) continue;
      if (in_place && k == inputs_) {
        tensors_[k].data = tensors_[0].data;
        shared_ = true;
        continue;
      }
      blocks_.emplace_back(static_cast<size_t>(extent_bytes(descs_[k])), 16, kFill);
      tensors_[k].data = blocks_.back().data();
      if (k < inputs_) copy_values(case_.inputs[k], descs_[k], blocks_.back().data());
    }
    bounds_ = descs_;
  }

  static bool same_place(const TensorDesc& a, const TensorDesc& b) {
    return a.dtype == b.dtype && same_shape(a, b) && a.storage == Storage::kArena &&
           std::memcmp(a.strides, b.strides, sizeof a.strides) == 0 && a.ring_rows == b.ring_rows;
  }

  static void copy_values(const Operand& o, const TensorDesc& d, uint8_t* to) {
    if (is_dense(d) || d.layout != Layout::kPlain || dtype_bits(d.dtype) < 8) {
      if (!o.bytes.empty()) std::memcpy(to, o.bytes.data(), o.bytes.size());
      return;
    }
    const uint8_t* from = o.bytes.data();
    const uint32_t width = dtype_bytes(d.dtype);
    each_element(d, [&](uint64_t at) {
      std::memcpy(to + at, from, width);
      from += width;
    });
  }

  OpContext context() const {
    OpContext c;
    c.tensors = tensors_.data();
    c.operands = operands_.data();
    c.attr_bytes = case_.attrs.data();
    c.bounds = bounds_.data();
    c.input_count = static_cast<uint16_t>(inputs_);
    c.output_count = static_cast<uint16_t>(outputs_);
    return c;
  }

  // What Instance does before it runs a dynamic instruction.
  bool size_outputs(const OpContext& c, Status* status) {
    TensorType types[kMaxOutputs];
    Diagnostic d;
    *status = case_.def->infer(InferContext(c, types, &d));
    if (!status->ok()) return false;
    for (size_t o = 0; o < outputs_; ++o) {
      TensorDesc& actual = descs_[inputs_ + o];
      if (operands_[inputs_ + o] < 0) continue;
      if (types[o].dtype != actual.dtype || types[o].rank != actual.rank) return false;
      for (int k = 0; k < actual.rank; ++k) {
        const int32_t bound = bounds_[inputs_ + o].dims[k];
        const int32_t size = types[o].dims[k] == kDimUnknown ? bound : types[o].dims[k];
        if (size < 0 || size > bound) return false;
        actual.dims[k] = size;
      }
      set_dense_strides(actual);
    }
    return true;
  }

  Rows some_rows() {
    const int32_t rows = descs_[inputs_].dims[1];
    const int32_t begin = dice_.between(0, rows > 0 ? rows - 1 : 0);
    return {begin, dice_.between(begin, rows > begin ? rows : begin)};
  }

  const char* check(const OpContext& c) const {
    size_t block = 0;
    for (size_t k = 0; k < tensors_.size(); ++k) {
      if (operands_[k] < 0 || (shared_ && k == inputs_)) continue;
      const ExactBlock& b = blocks_[block++];
      const bool is_input = k < inputs_;
      if (is_input && !(shared_ && k == 0)) {
        ExactBlock expected(b.size(), 16, kFill);
        copy_values(case_.inputs[k], bounds_[k], expected.data());
        const bool state = (case_.def->flags & kStateUpdate) != 0 && k == 0;
        if (!state && std::memcmp(expected.data(), b.data(), b.size()) != 0) return "an input was changed";
      } else if (!is_input) {
        if (c.tensors[k].desc->dims[0] < 0 && descs_[k].rank > 0) return "an output size is negative";
        std::vector<uint8_t> bytes(b.data(), b.data() + b.size());
        const uint32_t width = dtype_bytes(descs_[k].dtype);
        each_element(bounds_[k], [&](uint64_t at) { std::memset(bytes.data() + at, kFill, width); });
        for (const uint8_t byte : bytes)
          if (byte != kFill) return "bytes between the rows of an output were changed";
      }
    }
    return nullptr;
  }

  OpCase& case_;
  Dice& dice_;
  const size_t inputs_, outputs_;
  std::vector<Tensor> tensors_;
  std::vector<TensorDesc> descs_, bounds_;
  std::vector<int32_t> operands_;
  std::vector<ExactBlock> blocks_;
  bool dynamic_ = false, strip_ = false, shared_ = false;
};

}  // namespace

CaseResult run_case(OpCase& c, Dice& dice, SelectKernel select) { return CaseRun(c, dice).run(select); }

FuzzedOp fuzz_op(const uint8_t* data, size_t size, SelectKernel select) {
  FuzzedOp r;
  const auto& ops = known_ops();
  const uint16_t last = ops.back().doc->id;
  const uint32_t wanted = (data[0] | static_cast<uint32_t>(data[1]) << 8) % (last + 1u);
  const KnownOp* op = &ops[0];
  for (const KnownOp& k : ops)
    if (k.doc->id <= wanted) op = &k;
  r.op = op->doc;
  Dice dice(data + 2, size - 2);
  OpCase c;
  if (!make_case(*op, dice, &c, 300)) return r;
  r.accepted = true;
  const uint8_t of = op->doc->info.types_of_;
  const int rank = of >= c.inputs.size() ? c.outputs[0].rank : c.inputs[of].present ? c.inputs[of].desc.rank : op->doc->info.min_rank_;
  if (rank < op->doc->info.min_rank_ || rank > op->doc->info.max_rank_) {
    r.broken = "accepts a rank it does not claim";
    return r;
  }
  static_cast<CaseResult&>(r) = run_case(c, dice, select);
  return r;
}

}  // namespace mote::fuzz
