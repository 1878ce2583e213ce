#include "mote/runtime/verify.h"

#include "mote/format/delegate.h"
#include "mote/runtime/instance_layout.h"

namespace mote {
CallKind call_kind(const Program& program, const Instruction& n, const OpDef* def) noexcept {
  switch (static_cast<ControlOp>(n.op)) {
    case ControlOp::kIf: return CallKind::kIf;
    case ControlOp::kLoop: return CallKind::kLoop;
    case ControlOp::kStrip: return CallKind::kStrip;
    case ControlOp::kDelegate: return CallKind::kDelegate;
    default: break;
  }
  const ProgramTable& t = program.table();
  for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
    const int32_t o = t.operands[n.operands + k];
    if (o >= 0 && t.tensors[static_cast<uint32_t>(o)].dynamic != 0) return CallKind::kDynamic;
  }
  return (def->flags & kDataDependent) != 0 ? CallKind::kDynamic : CallKind::kStatic;
}

// Whether a tensor keeps to rows `width` bytes apart, using at most that many bytes of each.
static bool in_rows(const TensorDesc& d, uint32_t width) noexcept {
  for (int i = 0; i + 1 < d.rank; ++i)
    if (d.dims[i] > 1 && static_cast<uint32_t>(d.strides[i]) % width != 0) return false;
  return static_cast<uint32_t>(d.dims[d.rank - 1] * d.strides[d.rank - 1]) <= width;
}

bool overlaps(const TensorDesc& a, const TensorDesc& b) noexcept {
  // Only what is written matters: `a` is an output. Arena and state tensors may share a bank.
  if (a.storage == Storage::kOutput || b.storage == Storage::kOutput) return a.storage == b.storage && a.offset == b.offset;
  if (b.storage == Storage::kConstant || b.storage == Storage::kInput || a.bank != b.bank) return false;
  // Banks are smaller than 4 GiB, and constants are never written.
  const uint32_t oa = static_cast<uint32_t>(a.offset), ob = static_cast<uint32_t>(b.offset);
  const uint32_t ea = extent_bytes(a), eb = extent_bytes(b);
  if (ea == 0 || eb == 0 || oa + ea <= ob || ob + eb <= oa) return false;
  // Two views side by side in rows of one width: parts of a concatenation, for instance. Columns are counted from the first of `a`.
  if (a.rank < 2 || b.rank < 2) return true;
  const uint32_t width = static_cast<uint32_t>(a.strides[a.rank - 2]);
  if (width == 0 || !in_rows(a, width) || !in_rows(b, width)) return true;
  const uint32_t first = ob >= oa ? (ob - oa) % width : width - 1 - (oa - ob - 1) % width;
  const uint32_t columns_a = static_cast<uint32_t>(a.dims[a.rank - 1] * a.strides[a.rank - 1]);
  const uint32_t columns_b = static_cast<uint32_t>(b.dims[b.rank - 1] * b.strides[b.rank - 1]);
  return first < columns_a || first + columns_b > width;
}

// The same order of bytes: from one place on, what an element-wise operator may read and write at once.
static bool same_order(const TensorDesc& a, const TensorDesc& b) noexcept {
  if (a.ring_rows != b.ring_rows || dtype_bits(a.dtype) != dtype_bits(b.dtype) || !same_shape(a, b)) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.strides[i] != b.strides[i] && a.dims[i] > 1) return false;
  return true;
}

bool may_share(const OpDef& def, uint32_t output, uint32_t input, const TensorDesc& out, const TensorDesc& in) noexcept {
  // Residuals: inputs besides the first that are read row by row are read where the output is written, each element before it is.
  const bool residual = output == 0 && input > 0 && (def.ring_in & operand_bit(input)) != 0;
  const bool in_place = (def.flags & kElementwise) != 0 || ((def.flags & kStateUpdate) != 0 && input == output) || residual;
  const bool view = (def.flags & kView) != 0 && input == 0;  // of the data: a view's other input is the shape
  return (in_place && same_order(out, in)) || (view && is_dense(out) && is_dense(in));
}

namespace {

class Verifier {
 public:
  Verifier(const Program& program, MemoryNeeds* needs, Diagnostic* diagnostic)
      : p_(program), t_(program.table()), needs_(*needs), d_(*diagnostic) {}

  Status run() noexcept {
    for (uint32_t i = 0; i < t_.segments.size; ++i) {
      const ConstBytes bytes = p_.segment(i);
      if (t_.segments[i].kind == SegmentKind::kConstants && bytes.size < t_.segments[i].size)
        return fail({Status::kInvalidArgument, Why::kSegmentMissing}, 0, static_cast<int32_t>(i));
      const uint32_t beyond = reinterpret_cast<uintptr_t>(bytes.data) & (kTableAlignment - 1);
      if (beyond != 0 && bytes.size != 0)
        return fail({Status::kInvalidArgument, Why::kSegmentAlignment}, kTableAlignment, static_cast<int32_t>(beyond));
    }
    needs_ = MemoryNeeds{};
    for (const Method& m : t_.methods) {
      method_ = &m;
      MOTE_TRY(method());
    }
    InstanceLayout layout;
    for (const TensorDesc& d : t_.tensors) layout.dynamic += d.dynamic != 0;
    layout.tensors = static_cast<uint32_t>(t_.tensors.size);
    layout.calls = static_cast<uint32_t>(t_.instructions.size);
    layout.frames = needs_.stated.max_nesting;
    // The same rule on every machine: what 64-bit pointers need, with attributes that this runtime extends.
    const uint64_t wide = layout.bytes(8);
    if (wide + extension_ > 0xffffffffu) return corrupt(Why::kCertificateWrong);
    needs_.stated.instance_bytes_32 = static_cast<uint32_t>(layout.bytes(4));
    needs_.stated.instance_bytes_64 = static_cast<uint32_t>(wide);
    needs_.instance = static_cast<uint32_t>(layout.bytes(sizeof(void*))) + static_cast<uint32_t>(extension_);
    return Status::kOk;
  }

 private:
  struct Range {
    uint32_t end;
    uint32_t times;  // how often its instructions run at most, with the ranges around
    bool strip;
  };

  // The rules return the status that names them; verify_meaning records it, numbers and place are recorded on the way.
  Status fail(Status status, int32_t expected, int32_t found) noexcept {
    d_.expected = expected;
    d_.found = found;
    return status;
  }
  static Status corrupt(Why why) noexcept { return {Status::kCorrupt, why}; }
  Status corrupt(Why why, int32_t expected, int32_t found) noexcept { return fail(corrupt(why), expected, found); }

  // Walks a method's instructions once, with the open ranges on a small stack. At its bottom lies the method itself.
  Status method() noexcept {
    const uint32_t end = method_->first_instruction + method_->instruction_count;
    uint32_t steps = 0;
    depth_ = 0;
    ranges_[0] = {end, 1, false};
    for (pc_ = method_->first_instruction; pc_ < end; ++pc_) {
      while (ranges_[depth_].end == pc_) --depth_;
      const uint32_t times = ranges_[depth_].times;
      steps = times > ~steps ? ~0u : steps + times;
      const Instruction& n = t_.instructions[pc_];
      d_.instruction = static_cast<int32_t>(pc_);
      d_.op = n.op;
      MOTE_TRY(n.op >= kFirstControlOp ? control(n) : operation(n));
    }
    if (steps > needs_.stated.steps_bound) needs_.stated.steps_bound = steps;
    d_.instruction = d_.op = -1;
    return Status::kOk;
  }

  // Opens a range of `count` instructions behind this one.
  Status open_range(uint32_t count, uint32_t trips, bool strip) noexcept {
    const Range& around = ranges_[depth_];
    const uint32_t room = around.end - pc_ - 1;
    if (count > room || depth_ == kMaxNesting) return corrupt(Why::kNesting, static_cast<int32_t>(room), static_cast<int32_t>(count));
    if (count == 0) return Status::kOk;
    const uint64_t times = uint64_t{around.times} * trips;
    ranges_[++depth_] = {pc_ + 1 + count, times > ~0u ? ~0u : static_cast<uint32_t>(times), strip};
    if (depth_ > needs_.stated.max_nesting) needs_.stated.max_nesting = depth_;
    return Status::kOk;
  }

  bool in_strip() const noexcept { return ranges_[depth_].strip; }

  // A scalar the executor reads or writes itself.
  static bool is_scalar(const TensorDesc& d, DType type) noexcept {
    return d.dtype == type && d.dynamic == 0 && d.layout == Layout::kPlain && element_count(d) == 1;
  }

  Status control(const Instruction& n) noexcept {
    struct Form {
      uint8_t attrs_size, min_in, max_in, max_out;
    };
    static constexpr Form kForms[] = {{sizeof(IfAttrs), 1, 1, 0},
                                      {sizeof(LoopAttrs), 0, 2, 1},
                                      {sizeof(StripAttrs), 0, 0, 0},
                                      {sizeof(DelegateAttrs), 0, kMaxOperands, kMaxOperands}};
    const uint32_t which = n.op - static_cast<uint32_t>(ControlOp::kIf);
    if (which >= sizeof kForms / sizeof *kForms) return fail({Status::kUnsupported, Why::kUnknownOp}, 0, n.op);
    const Form& form = kForms[which];
    const bool delegate = n.op == static_cast<uint16_t>(ControlOp::kDelegate);
    const bool known_size =
        n.attrs_size == form.attrs_size || (delegate && (n.attrs_size == sizeof(DelegateRange) || n.attrs_size == sizeof(DelegateOverlap)));
    if (!known_size || n.input_count < form.min_in || n.input_count > form.max_in || n.output_count > form.max_out || in_strip())
      return corrupt(Why::kControlOperands);
    MOTE_TRY(gather(n));
    for (uint32_t k = 0; k < count_; ++k) {
      const TensorDesc* d = tensors_[k].desc;
      if (delegate) {
        if (d == nullptr || d->ring_rows != 0) return corrupt(Why::kOperandMissing);
        continue;
      }
      // The condition of an `if` is input 0, that of a `loop` input 1; all else are counts.
      const DType type = k == which && k < n.input_count ? DType::boolean : DType::s64;
      if (d != nullptr ? !is_scalar(*d, type) : k < form.min_in) return corrupt(Why::kControlOperands);
    }
    const void* attrs = t_.attrs.data + n.attrs;
    switch (static_cast<ControlOp>(n.op)) {
      case ControlOp::kIf: {
        const IfAttrs& a = *static_cast<const IfAttrs*>(attrs);
        if (a.then_count > ~a.else_count) return corrupt(Why::kNesting);
        // Both ranges lie on the stack, the first one on top: each ends what is nested in it.
        MOTE_TRY(open_range(a.then_count + a.else_count, 1, false));
        return open_range(a.then_count, 1, false);
      }
      case ControlOp::kLoop: {
        const LoopAttrs& a = *static_cast<const LoopAttrs*>(attrs);
        return open_range(a.body_count, a.max_trips, false);
      }
      case ControlOp::kStrip: {
        const StripAttrs& a = *static_cast<const StripAttrs*>(attrs);
        if (a.first_step > t_.steps.size || a.body_count > t_.steps.size - a.first_step) return corrupt(Why::kControlOperands);
        return open_range(a.body_count, a.count, true);
      }
      case ControlOp::kDelegate: {
        const DelegateAttrs& a = *static_cast<const DelegateAttrs*>(attrs);
        if (a.backend >= t_.backends.size)
          return corrupt(Why::kBackendIndex, static_cast<int32_t>(t_.backends.size), static_cast<int32_t>(a.backend));
        const uint32_t fallback = fallback_count(n, attrs), overlap = overlap_count(n, attrs);
        if (fallback > ~overlap) return corrupt(Why::kNesting);
        // As with an `if`: what may overlap lies around the fallback.
        if (overlap > 0) MOTE_TRY(open_range(fallback + overlap, 1, false));
        return open_range(fallback, 1, false);
      }
    }
    return Status::kOk;
  }

  // An input or output of another method. Their offset is the number in ios, which read_table checked.
  bool is_foreign(const TensorDesc& d) const noexcept {
    const bool input = d.storage == Storage::kInput;
    const uint32_t first = input ? method_->first_input : method_->first_output;
    return static_cast<uint32_t>(d.offset) - first >= (input ? method_->input_count : method_->output_count);
  }

  // Looks up the operands of an instruction. Inputs and outputs must belong to this method; nothing writes to constants and inputs.
  Status gather(const Instruction& n) noexcept {
    count_ = uint32_t{n.input_count} + n.output_count;
    if (count_ > kMaxOperands) return corrupt(Why::kInputCount, kMaxOperands, static_cast<int32_t>(count_));
    dynamic_ = false;
    for (uint32_t k = 0; k < count_; ++k) {
      const int32_t o = t_.operands[n.operands + k];
      tensors_[k] = Tensor{};
      operands_[k] = o < 0 ? -1 : static_cast<int32_t>(k);
      if (o < 0) continue;
      d_.tensor = o;
      const TensorDesc& d = t_.tensors[static_cast<uint32_t>(o)];
      tensors_[k].desc = &d;
      dynamic_ |= d.dynamic != 0;
      if (d.storage == Storage::kConstant) tensors_[k].data = const_cast<uint8_t*>(segment(d.bank) + d.offset);
      else if (d.storage >= Storage::kInput && is_foreign(d)) return corrupt(Why::kIoTensor);
      if (k < n.input_count) continue;
      if (d.storage == Storage::kConstant || d.storage == Storage::kInput) return corrupt(Why::kWriteConstant);
      if (d.layout != Layout::kPlain || dtype_bits(d.dtype) < 8) return corrupt(Why::kOutputLayout);
    }
    d_.tensor = -1;
    return Status::kOk;
  }

  const uint8_t* segment(uint32_t i) noexcept {
    if (i != segment_) segment_ = i, segment_data_ = p_.segment(i).data;
    return segment_data_;
  }

  static bool within(uint32_t count, uint8_t least, uint8_t most) noexcept {
    return count >= least && (most == kVariadic || count <= most);
  }

  Status operation(const Instruction& n) noexcept {
    const OpDef* def = p_.definition(n);
    if (def == nullptr) {
      d_.name = p_.op_name(n.op);
      return fail({Status::kUnsupported, Why::kUnknownOp}, 0, n.op);
    }
    if (!within(n.input_count, def->min_in, def->max_in)) return corrupt(Why::kInputCount, def->max_in, n.input_count);
    if (n.output_count > kMaxOutputs || !within(n.output_count, def->min_out, def->max_out))
      return corrupt(Why::kOutputCount, def->max_out, n.output_count);
    MOTE_TRY(gather(n));
    MOTE_TRY(attributes(n, *def));
    const CallKind kind = dynamic_ || (def->flags & kDataDependent) != 0 ? CallKind::kDynamic : CallKind::kStatic;
    MOTE_TRY(fitness(n, *def, kind));
    MOTE_TRY(types(n, *def, kind));
    return overlap(n, *def);
  }

  // Bytes this build does not know must be zero; missing ones are zero-extended into instance memory.
  Status attributes(const Instruction& n, const OpDef& def) noexcept {
    for (uint32_t i = def.attrs_size; i < n.attrs_size; ++i)
      if (t_.attrs[n.attrs + i] != 0) return fail({Status::kUnsupported, Why::kUnknownAttrs}, def.attrs_size, n.attrs_size);
    if (n.attrs_size < def.attrs_size) extension_ += (def.attrs_size + 3u) & ~3u;
    return Status::kOk;
  }

  // What is required is there, and every operand of a kind the operator can read: shape functions and kernels rely on it.
  Status fitness(const Instruction& n, const OpDef& def, CallKind kind) noexcept {
    const TensorDesc* first = n.output_count > 0 ? tensors_[n.input_count].desc : nullptr;
    if (in_strip() && ((def.flags & kRowRange) == 0 || kind != CallKind::kStatic || first == nullptr || first->rank < 3))
      return corrupt(Why::kStripBody);
    const uint32_t packed = (def.flags & kPackedWeights) != 0 ? 1 : kMaxOperands;
    const uint32_t rings = (def.flags & kElementwise) != 0 ? 255 : def.ring_in;
    bool result = n.output_count == 0;
    for (uint32_t k = 0; k < count_; ++k) {
      const bool output = k >= n.input_count;
      const TensorDesc* d = tensors_[k].desc;
      if (d == nullptr) {
        const bool required = output ? (def.optional_out & operand_bit(k - n.input_count)) == 0 : k < def.min_in;
        if (required) return corrupt(output ? Why::kOperandMissing : Why::kInputMissing, static_cast<int32_t>(k), -1);
        continue;
      }
      result |= output;
      if (d->layout != Layout::kPlain && k != packed) return corrupt(Why::kLayout);
      if (d->ring_rows == 0) continue;
      if (!in_strip() || !(output || ((rings & operand_bit(k)) != 0 && d->rank == first->rank))) return corrupt(Why::kRing);
    }
    return result ? Status(Status::kOk) : corrupt(Why::kOperandMissing, n.input_count, -1);
  }

  // Asks the operator for its outputs and compares; sizes of dynamic dimensions are checked when running.
  Status types(const Instruction& n, const OpDef& def, CallKind kind) noexcept {
    for (uint32_t k = 0; k < n.output_count; ++k) outputs_[k].dtype = DType::kNone, outputs_[k].rank = 0;
    uint32_t zero_extended[64];
    OpContext c;
    c.tensors = tensors_;
    c.operands = operands_;
    c.attr_bytes = t_.attrs.data + n.attrs;
    if (n.attrs_size < def.attrs_size) {
      if (def.attrs_size > sizeof zero_extended) return fail({Status::kUnsupported, Why::kOpTable}, sizeof zero_extended, def.attrs_size);
      extend_attrs(c.attr_bytes, n.attrs_size, def.attrs_size, zero_extended);
      c.attr_bytes = zero_extended;
    }
    c.input_count = n.input_count;
    c.output_count = n.output_count;
    if (in_strip()) c.rows = kSomeRows;
    const Status inferred = def.infer(InferContext(c, outputs_, &d_));
    if (!inferred.ok()) {
      if (kind != CallKind::kDynamic || inferred.code() != Status::kShape) return inferred;
      // Smaller sizes may fit. Scratch cannot be asked for operands that were refused: it is compared when running.
      return fail(Status::kOk, 0, 0);
    }
    for (uint32_t k = n.input_count; k < count_; ++k) {
      if (tensors_[k].desc == nullptr) continue;
      d_.tensor = t_.operands[n.operands + k];
      MOTE_TRY(compare(outputs_[k - n.input_count], *tensors_[k].desc, kind));
    }
    d_.tensor = -1;
    MOTE_TRY(measure_scratch(def, c));
    if (kind == CallKind::kStatic && def.select(c) == nullptr) return fail({Status::kUnsupported, Why::kKernelMissing}, 0, n.op);
    return Status::kOk;
  }

  Status compare(const TensorType& wanted, const TensorDesc& d, CallKind kind) noexcept {
    if (wanted.dtype != d.dtype) return corrupt(Why::kOutputType, static_cast<uint8_t>(wanted.dtype), static_cast<uint8_t>(d.dtype));
    if (wanted.rank != d.rank) return corrupt(Why::kOutputType, wanted.rank, d.rank);
    for (int i = 0; i < d.rank; ++i) {
      const bool dynamic = (d.dynamic >> i & 1) != 0;
      if (wanted.dims[i] == kDimUnknown && !dynamic) return corrupt(Why::kNotDynamic, i, d.dims[i]);
      if (kind != CallKind::kDynamic && wanted.dims[i] != d.dims[i]) return corrupt(Why::kOutputType, wanted.dims[i], d.dims[i]);
    }
    return Status::kOk;
  }

  // Operators whose need does not fit 32 bits state the largest number they can.
  Status measure_scratch(const OpDef& def, const OpContext& c) noexcept {
    if (def.scratch == nullptr) return Status::kOk;
    const Scratch s = def.scratch(c);
    if ((s.base | s.per_thread) > kMaxTensorBytes) return {Status::kUnsupported, Why::kScratch};
    if (s.base > needs_.stated.scratch_base) needs_.stated.scratch_base = (s.base + 15u) & ~15u;
    if (s.per_thread > needs_.stated.scratch_per_thread) needs_.stated.scratch_per_thread = (s.per_thread + 15u) & ~15u;
    return Status::kOk;
  }

  Status overlap(const Instruction& n, const OpDef& def) noexcept {
    for (uint32_t k = n.input_count; k < count_; ++k) {
      const TensorDesc* out = tensors_[k].desc;
      if (out == nullptr) continue;
      for (uint32_t j = 0; j < k; ++j) {
        const TensorDesc* other = tensors_[j].desc;
        if (other == nullptr || other->storage == Storage::kConstant || !overlaps(*out, *other)) continue;
        if (j < n.input_count && out->offset == other->offset && may_share(def, k - n.input_count, j, *out, *other)) continue;
        // Rows of the trip, as with rings: who wrote the program sees to it that none is overwritten which is read again.
        if (j == 0 && in_strip() && (def.flags & kPackedWeights) != 0) continue;
        d_.tensor = t_.operands[n.operands + k];
        return corrupt(Why::kOverlap, t_.operands[n.operands + j], d_.tensor);
      }
    }
    return Status::kOk;
  }

  const Program& p_;
  const ProgramTable& t_;
  MemoryNeeds& needs_;
  Diagnostic& d_;
  const Method* method_ = nullptr;
  uint64_t extension_ = 0;
  uint32_t pc_ = 0, depth_ = 0, count_ = 0;  // count_: of operands of the instruction at hand
  Range ranges_[kMaxNesting + 1];
  bool dynamic_ = false;    // one of them is
  uint32_t segment_ = ~0u;  // the last one asked for
  const uint8_t* segment_data_ = nullptr;
  TensorType outputs_[kMaxOutputs];
  // Its operands; those that are absent have no descriptor.
  Tensor tensors_[kMaxOperands];
  int32_t operands_[kMaxOperands];
};

}  // namespace

Status verify_meaning(const Program& program, MemoryNeeds* needs, Diagnostic* diagnostic) noexcept {
  return diagnostic->status = Verifier(program, needs, diagnostic).run();
}

}  // namespace mote
