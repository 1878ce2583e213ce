#include "tests/fuzz/op_case.h"

#include <algorithm>
#include <cstring>

#include "mote/core/layout.h"
#include "mote/format/reader.h"
#include "mote/ops/op_table.h"
#include "mote/runtime/verify.h"
#include "tests/fuzz/values.h"

namespace mote::fuzz {
namespace {

constexpr int32_t kMaxElements = 640;  // small cases find as much as large ones, sooner
constexpr int32_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 0};

template <class T>
void put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// `dims` may be the tensor's own.
void set_shape(TensorDesc& d, DType type, int rank, const int32_t* dims) {
  const Layout layout = d.layout;
  int32_t wanted[kMaxRank];
  std::copy(dims, dims + rank, wanted);
  d = TensorDesc{};
  d.dtype = type;
  d.rank = static_cast<uint8_t>(rank);
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    d.dims[i] = wanted[i];
    count *= wanted[i] > 0 ? wanted[i] : 1;
  }
  for (int i = 0; count > kMaxElements && i < rank; ++i) {
    if (d.dims[i] > 2) {
      count = count / d.dims[i] * 2;
      d.dims[i] = 2;
    }
  }
  d.layout = rank >= 2 && (panel_shape(layout, type).types & mask_of(type)) != 0 ? layout : Layout::kPlain;
  if (d.layout == Layout::kPlain) set_dense_strides(d);
  if (dtype_bits(type) < 8) std::memset(d.strides, 0, sizeof d.strides);
}

DType random_type(DTypeMask mask, Dice& dice) {
  DType found[kDTypeCount];
  uint32_t n = 0;
  for (uint8_t t = 1; t < kDTypeCount; ++t)
    if ((mask >> t & 1) != 0) found[n++] = static_cast<DType>(t);
  return n == 0 ? DType::f32 : found[dice.below(n)];
}

class CaseMaker {
 public:
  CaseMaker(const KnownOp& op, Dice& dice, OpCase& out) : op_(op), dice_(dice), c_(out) {}

  bool run(int tries) {
    for (int t = 0; t < tries; ++t) {
      if (t % 200 == 0) start();
      Diagnostic d;
      // infer() sees the values of constants alone; those of the others are made once the case stands.
      for (Operand& o : c_.inputs)
        if (o.constant) refresh(o);
      const Status status = infer_case(c_, false, &d);
      if (status.ok() && sensible()) {
        for (Operand& o : c_.inputs)
          if (!o.constant) refresh(o);
        return true;
      }
      repair(status.ok() ? Diagnostic{} : d);
    }
    return false;
  }

 private:
  void start() {
    c_ = OpCase{};
    c_.def = op_.def;
    c_.doc = op_.doc;
    c_.attrs.assign((op_.def->attrs_size + 3u) / 4, 0);
    if (!op_.doc->default_attrs.empty()) std::memcpy(c_.attrs.data(), op_.doc->default_attrs.data(), op_.doc->default_attrs.size());
    const OpInfo& info = op_.doc->info;
    const int most = info.max_in_ == kVariadic ? info.min_in_ + 3 : info.max_in_;
    c_.inputs.resize(static_cast<size_t>(dice_.between(info.min_in_, most)));
    c_.outputs.resize(static_cast<size_t>(dice_.between(info.min_out_, info.max_out_ == kVariadic ? 4 : info.max_out_)));
    for (int32_t& s : sizes_) s = kSizes[dice_.below(dice_.chance(15) ? 10 : 9)];
    static constexpr uint8_t kRanks[] = {4, 3, 2, 1, 4, 5, 0, 6, 8, 3};
    rank_ = kRanks[dice_.below(10)];
    type_ = random_type(info.types_, dice_);
    for (size_t i = 0; i < c_.inputs.size(); ++i) {
      Operand& o = c_.inputs[i];
      o.present = i < info.min_in_ || dice_.chance(60);
      o.constant = i > 0 && dice_.chance(50);
      static constexpr DType kSide[] = {DType::s64, DType::s32, DType::f32, DType::s8, DType::u8, DType::boolean, DType::s16, DType::s4};
      const DType t = i == 0 || dice_.chance(65) ? type_ : kSide[dice_.below(8)];
      const int rank = i == 0 || dice_.chance(50) ? rank_ : dice_.between(0, 4);
      random_dims(o, t, rank);
    }
    if (dice_.chance(40)) change_attr();
  }

  void random_dims(Operand& o, DType type, int rank) {
    int32_t dims[kMaxRank];
    for (int i = 0; i < rank; ++i) dims[i] = sizes_[dice_.below(4)];
    set_shape(o.desc, type, rank, dims);
  }

  void refresh(Operand& o) {
    const size_t bytes = operand_bytes(o.desc);
    if (o.bytes.size() == bytes && !dice_.chance(5)) return;
    o.bytes.resize(bytes);
    fill_values(o.desc.dtype, o.bytes.data(), bytes, dice_);
  }

  // Outputs small enough to run often, types a program can hold.
  bool sensible() const {
    for (const TensorType& t : c_.outputs) {
      int64_t count = 1;
      if (t.dtype == DType::kNone || dtype_bits(t.dtype) < 8 || t.rank > kMaxRank) return false;
      for (int i = 0; i < t.rank; ++i) {
        count *= t.dims[i] > 0 ? t.dims[i] : 1;
        if (t.dims[i] < kDimUnknown || count > 8 * kMaxElements) return false;
      }
    }
    return true;
  }

  void change_attr() {
    if (op_.doc->attrs.empty()) return;
    const AttrDoc& a = op_.doc->attrs[dice_.below(static_cast<uint32_t>(op_.doc->attrs.size()))];
    uint8_t* bytes = reinterpret_cast<uint8_t*>(c_.attrs.data());
    for (uint32_t i = 0; i < a.count; ++i) {
      if (i > 0 && !dice_.chance(50)) continue;
      static constexpr int32_t kValues[] = {0, 1, 2, 3, -1, 4, 1, 2, 0, 1, 13, -2, 9, 5, 0x7fffffff, -128, 255, -0x7fffffff - 1, 65536, 8};
      const int32_t v = kValues[dice_.below(dice_.chance(90) ? 10 : 20)];
      switch (a.kind) {
        case AttrDoc::Kind::kF32: put(bytes + a.offset + 4 * i, static_cast<float>(plausible_number(dice_.chance(5), dice_))); break;
        case AttrDoc::Kind::kS16:
        case AttrDoc::Kind::kU16: put(bytes + a.offset + 2 * i, static_cast<int16_t>(v)); break;
        case AttrDoc::Kind::kS8:
        case AttrDoc::Kind::kU8: put(bytes + a.offset + i, static_cast<int8_t>(v)); break;
        default: put(bytes + a.offset + 4 * i, dice_.chance(10) ? sizes_[dice_.below(4)] : v); break;
      }
    }
  }

  Operand* any_input() { return c_.inputs.empty() ? nullptr : &c_.inputs[dice_.below(static_cast<uint32_t>(c_.inputs.size()))]; }

  void change_something() {
    Operand* o = any_input();
    if (o == nullptr || dice_.chance(30)) return change_attr();
    switch (dice_.below(7)) {
      case 0: o->present = !o->present || o < c_.inputs.data() + op_.def->min_in; break;
      case 1: o->constant = !o->constant; break;
      case 2: random_dims(*o, random_type(dice_.chance(50) ? mask_of(type_) : 0xfffeu, dice_), o->desc.rank); break;
      case 3: random_dims(*o, o->desc.dtype, dice_.between(0, 6)); break;
      case 4:
        if (o != &c_.inputs[0] + 1 || (op_.def->flags & kPackedWeights) == 0) break;
        o->desc.layout = static_cast<Layout>(dice_.below(5));  // not kPanel16k4Pairs, which says something of the values
        o->constant = true;
        set_shape(o->desc, o->desc.dtype, o->desc.rank, o->desc.dims);
        break;
      case 5:
        c_.outputs.resize(static_cast<size_t>(dice_.between(op_.def->min_out, op_.def->max_out == kVariadic ? 4 : op_.def->max_out)));
        break;
      default: random_dims(*o, o->desc.dtype, o->desc.rank); break;
    }
  }

  // Uses what the operator said.
  void repair(const Diagnostic& d) {
    const bool small = d.expected >= 0 && d.expected <= kMaxElements;
    if (d.status.ok() || dice_.chance(8)) return change_something();
    switch (d.status.why()) {
      case Why::kInputMissing:
        if (d.expected >= 0 && d.expected < static_cast<int64_t>(c_.inputs.size()))
          c_.inputs[static_cast<size_t>(d.expected)].present = true;
        return;
      case Why::kDType: return retype(static_cast<DTypeMask>(d.expected), d.found);
      case Why::kDTypeMismatch: return retype(d.expected > 0 && d.expected < kDTypeCount ? 1u << d.expected : mask_of(type_), d.found);
      case Why::kRank:
        return d.expected >= 0 && d.expected <= kMaxRank ? rerank(static_cast<int>(d.expected), d.found) : change_something();
      case Why::kDimMismatch:
      case Why::kBroadcast:
      case Why::kElementCount:
      case Why::kGroups: return small ? resize(static_cast<int32_t>(d.expected), d.found) : change_something();
      case Why::kNotStatic:
        for (Operand& o : c_.inputs) o.constant |= dice_.chance(50);
        return;
      case Why::kLayout:
        for (Operand& o : c_.inputs) {
          o.desc.layout = Layout::kPlain;
          set_shape(o.desc, o.desc.dtype, o.desc.rank, o.desc.dims);
        }
        return;
      case Why::kAxis:
      case Why::kAttribute:
      case Why::kWindow: return dice_.chance(70) ? change_attr() : change_something();
      default: return change_something();
    }
  }

  // Operators compare later inputs with earlier ones, so the repairs below change the last that fits.
  void retype(DTypeMask mask, int64_t found) {
    for (size_t i = c_.inputs.size(); i-- > 0;) {
      Operand& o = c_.inputs[i];
      if (static_cast<int64_t>(o.desc.dtype) != found || dice_.chance(40)) continue;
      set_shape(o.desc, random_type(mask, dice_), o.desc.rank, o.desc.dims);
      return;
    }
    change_something();
  }

  void rerank(int rank, int64_t found) {
    for (size_t i = c_.inputs.size(); i-- > 0;) {
      Operand& o = c_.inputs[i];
      if (o.desc.rank != found || dice_.chance(40)) continue;
      return random_dims(o, o.desc.dtype, rank);
    }
    change_something();
  }

  void resize(int32_t expected, int64_t found) {
    for (size_t k = c_.inputs.size(); k-- > 0;) {
      Operand& o = c_.inputs[k];
      for (int i = 0; i < o.desc.rank; ++i) {
        if (o.desc.dims[i] != found || dice_.chance(40)) continue;
        o.desc.dims[i] = expected;
        return set_shape(o.desc, o.desc.dtype, o.desc.rank, o.desc.dims);
      }
    }
    change_something();
  }

  const KnownOp& op_;
  Dice& dice_;
  OpCase& c_;
  int32_t sizes_[4] = {};
  int rank_ = 0;
  DType type_ = DType::f32;
};

}  // namespace

const std::vector<KnownOp>& known_ops() {
  static const std::vector<KnownOp> ops = [] {
    std::vector<KnownOp> all;
    for (const OpDef& d : builtin_ops())
      if (const OpDoc* doc = find_op_doc(d.id)) all.push_back({&d, doc});
    return all;
  }();
  return ops;
}

size_t operand_bytes(const TensorDesc& desc) { return static_cast<size_t>(extent_bytes(desc)); }

Status infer_case(OpCase& c, bool all_known, Diagnostic* diagnostic) {
  Tensor tensors[kMaxOperands];
  int32_t operands[kMaxOperands];
  const size_t n = c.inputs.size(), m = c.outputs.size();
  if (n + m > kMaxOperands || m > kMaxOutputs) return Status::kInvalidArgument;
  for (size_t i = 0; i < n + m; ++i) operands[i] = -1;
  for (size_t i = 0; i < n; ++i) {
    Operand& o = c.inputs[i];
    if (!o.present) continue;
    operands[i] = static_cast<int32_t>(i);
    tensors[i] = {&o.desc, o.constant || all_known ? o.bytes.data() : nullptr};
    static uint8_t nothing[16];
    if ((o.constant || all_known) && o.bytes.empty()) tensors[i].data = nothing;
  }
  OpContext context;
  context.tensors = tensors;
  context.operands = operands;
  context.attr_bytes = c.attrs.data();
  context.input_count = static_cast<uint16_t>(n);
  context.output_count = static_cast<uint16_t>(m);
  c.outputs.assign(m, TensorType{});
  const Status status = c.def->infer(InferContext(context, c.outputs.data(), diagnostic));
  if (!status.ok()) diagnostic->status = status;
  return status;
}

bool make_case(const KnownOp& op, Dice& dice, OpCase* out, int tries) { return CaseMaker(op, dice, *out).run(tries); }

}  // namespace mote::fuzz
