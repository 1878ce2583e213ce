#include "mote/runtime/verify.h"

#include "mote/runtime/instance_layout.h"

namespace mote {
namespace {

// True when all rows (innermost runs) of a tensor start at multiples of `width` from its first.
bool rows_of_width(const TensorDesc& d, uint32_t width) noexcept {
  for (int i = 0; i + 1 < d.rank; ++i)
    if (static_cast<uint32_t>(d.strides[i]) % width != 0) return false;
  return true;
}

uint32_t row_bytes(const TensorDesc& d) noexcept { return static_cast<uint32_t>(d.dims[d.rank - 1] * d.strides[d.rank - 1]); }

bool overlaps(const TensorDesc& a, const TensorDesc& b) noexcept {
  // Only what is written matters: `a` is an output. Arena and state tensors may share a bank.
  if (a.storage == Storage::kOutput || b.storage == Storage::kOutput) return a.storage == b.storage && a.offset == b.offset;
  if (b.storage == Storage::kConstant || b.storage == Storage::kInput || a.bank != b.bank) return false;
  // Banks are smaller than 4 GiB, and constants are never written.
  const uint32_t oa = static_cast<uint32_t>(a.offset), ob = static_cast<uint32_t>(b.offset);
  const uint32_t ea = extent_bytes(a), eb = extent_bytes(b);
  if (ea == 0 || eb == 0 || oa + ea <= ob || ob + eb <= oa) return false;
  // Two views side by side in rows of one width: parts of a concatenation, for instance.
  if (a.rank < 2 || b.rank < 2) return true;
  const uint32_t width = static_cast<uint32_t>(a.strides[a.rank - 2]);
  if (width == 0 || !rows_of_width(a, width) || !rows_of_width(b, width)) return true;
  const uint32_t fa = oa % width, fb = ob % width;
  const uint32_t la = fa + row_bytes(a), lb = fb + row_bytes(b);
  return la > width || lb > width || !(la <= fb || lb <= fa);
}

// The same bytes in the same order: what an element-wise operator may read and write at once.
bool same_place(const TensorDesc& a, const TensorDesc& b) noexcept {
  if (a.offset != b.offset || a.ring_rows != b.ring_rows || dtype_bits(a.dtype) != dtype_bits(b.dtype) || !same_shape(a, b)) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.strides[i] != b.strides[i] && a.dims[i] > 1) return false;
  return true;
}

}  // namespace

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

class Verifier {
 public:
  Verifier(const Program& program, MemoryNeeds* needs, Diagnostic* diagnostic) : p_(program), t_(program.table()), needs_(*needs), d_(*diagnostic) {}

  Status run() noexcept {
    needs_ = MemoryNeeds{};
    for (const Method& m : t_.methods) {
      method_ = &m;
      MOTE_TRY(method());
    }
    for (const TensorDesc& d : t_.tensors) layout_.dynamic += d.dynamic != 0;
    layout_.tensors = static_cast<uint32_t>(t_.tensors.size);
    layout_.calls = static_cast<uint32_t>(t_.instructions.size);
    layout_.frames = needs_.stated.max_nesting;
    needs_.stated.instance_bytes_32 = layout_.bytes(4);
    needs_.stated.instance_bytes_64 = layout_.bytes(8);
    needs_.instance = layout_.bytes(sizeof(void*)) + extension_;
    return Status::kOk;
  }

 private:
  struct Range {
    uint32_t end;
    uint32_t times;  // how often its instructions run at most, with the ranges around
    bool strip;
  };

  Status fail(Status::Code code, Why why, int32_t expected = 0, int32_t found = 0) noexcept {
    d_.status = {code, why};
    d_.expected = expected;
    d_.found = found;
    return d_.status;
  }
  Status corrupt(Why why, int32_t expected = 0, int32_t found = 0) noexcept { return fail(Status::kCorrupt, why, expected, found); }

  int32_t operand(const Instruction& n, uint32_t k) const noexcept { return t_.operands[n.operands + k]; }
  const TensorDesc& desc(int32_t tensor) const noexcept { return t_.tensors[static_cast<uint32_t>(tensor)]; }

  // Walks a method's instructions once, with the open ranges on a small stack.
  Status method() noexcept {
    const uint32_t end = method_->first_instruction + method_->instruction_count;
    uint32_t steps = 0;
    depth_ = 0;
    for (uint32_t pc = method_->first_instruction; pc < end; ++pc) {
      while (depth_ > 0 && ranges_[depth_ - 1].end == pc) --depth_;
      const uint32_t times = depth_ > 0 ? ranges_[depth_ - 1].times : 1;
      steps = times > ~steps ? ~0u : steps + times;
      const Instruction& n = t_.instructions[pc];
      d_.instruction = static_cast<int32_t>(pc);
      d_.op = n.op;
      const uint32_t limit = depth_ > 0 ? ranges_[depth_ - 1].end : end;
      if (n.op >= kFirstControlOp) MOTE_TRY(control(n, pc, limit));
      else MOTE_TRY(operation(n, pc));
    }
    if (steps > needs_.stated.steps_bound) needs_.stated.steps_bound = steps;
    d_.instruction = d_.op = -1;
    return Status::kOk;
  }

  Status open_range(uint32_t first, uint32_t count, uint32_t limit, uint32_t trips, bool strip) noexcept {
    if (count > limit - first || depth_ == kMaxNesting) return corrupt(Why::kNesting, limit - first, count);
    if (count == 0) return Status::kOk;
    const uint64_t times = uint64_t{depth_ > 0 ? ranges_[depth_ - 1].times : 1} * trips;
    ranges_[depth_++] = {first + count, times > ~0u ? ~0u : static_cast<uint32_t>(times), strip};
    if (static_cast<uint32_t>(depth_) > needs_.stated.max_nesting) needs_.stated.max_nesting = static_cast<uint32_t>(depth_);
    return Status::kOk;
  }

  bool in_strip() const noexcept { return depth_ > 0 && ranges_[depth_ - 1].strip; }

  // A scalar the executor reads or writes itself.
  bool is_scalar(int32_t tensor, DType type) const noexcept {
    const TensorDesc& d = desc(tensor);
    return d.dtype == type && d.dynamic == 0 && d.layout == Layout::kPlain && element_count(d) == 1;
  }

  Status control(const Instruction& n, uint32_t pc, uint32_t limit) noexcept {
    static constexpr uint8_t kSizes[] = {sizeof(IfAttrs), sizeof(LoopAttrs), sizeof(StripAttrs), sizeof(DelegateAttrs)};
    const uint32_t which = n.op - static_cast<uint16_t>(ControlOp::kIf);
    if (which >= sizeof kSizes) return fail(Status::kUnsupported, Why::kUnknownOp, 0, n.op);
    if (n.attrs_size != kSizes[which] || in_strip() || uint32_t{n.input_count} + n.output_count > kMaxOperands) return corrupt(Why::kControlOperands);
    const void* attrs = t_.attrs.data + n.attrs;
    MOTE_TRY(places(n));
    switch (static_cast<ControlOp>(n.op)) {
      case ControlOp::kIf: {
        const IfAttrs& a = *static_cast<const IfAttrs*>(attrs);
        if (n.input_count != 1 || n.output_count != 0 || operand(n, 0) < 0 || !is_scalar(operand(n, 0), DType::boolean)) return corrupt(Why::kControlOperands);
        if (a.then_count > limit - pc - 1 || a.else_count > limit - pc - 1 - a.then_count) return corrupt(Why::kNesting);
        // Both ranges lie on the stack, the first one on top: each ends what is nested in it.
        MOTE_TRY(open_range(pc + 1, a.then_count + a.else_count, limit, 1, false));
        return open_range(pc + 1, a.then_count, limit, 1, false);
      }
      case ControlOp::kLoop: {
        const LoopAttrs& a = *static_cast<const LoopAttrs*>(attrs);
        if (n.input_count > 2 || n.output_count > 1) return corrupt(Why::kControlOperands);
        for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
          const DType type = k == 1 && n.input_count == 2 ? DType::boolean : DType::s64;
          if (operand(n, k) >= 0 && !is_scalar(operand(n, k), type)) return corrupt(Why::kControlOperands);
        }
        return open_range(pc + 1, a.body_count, limit, a.max_trips, false);
      }
      case ControlOp::kStrip: {
        const StripAttrs& a = *static_cast<const StripAttrs*>(attrs);
        if (n.input_count + n.output_count != 0 || a.first_step > t_.steps.size || a.body_count > t_.steps.size - a.first_step) return corrupt(Why::kControlOperands);
        return open_range(pc + 1, a.body_count, limit, a.count, true);
      }
      case ControlOp::kDelegate: {
        const DelegateAttrs& a = *static_cast<const DelegateAttrs*>(attrs);
        if (a.backend >= t_.backends.size) return corrupt(Why::kBackendIndex, clamp32(t_.backends.size), a.backend);
        for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k)
          if (operand(n, k) < 0 || desc(operand(n, k)).ring_rows != 0) return corrupt(Why::kOperandMissing);
        return Status::kOk;
      }
    }
    return Status::kOk;
  }

  // Inputs and outputs must belong to this method; nothing writes to constants and inputs.
  Status places(const Instruction& n) noexcept {
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t o = operand(n, k);
      if (o < 0) continue;
      d_.tensor = o;
      const TensorDesc& d = desc(o);
      const uint32_t io = static_cast<uint32_t>(d.offset);  // of inputs and outputs: the number in ios, which read_table checked
      const bool foreign = (d.storage == Storage::kInput && io - method_->first_input >= method_->input_count) ||
                           (d.storage == Storage::kOutput && io - method_->first_output >= method_->output_count);
      if (foreign) return corrupt(Why::kIoTensor);
      if (k < n.input_count) continue;
      if (d.storage == Storage::kConstant || d.storage == Storage::kInput) return corrupt(Why::kWriteConstant);
      if (d.layout != Layout::kPlain || dtype_bits(d.dtype) < 8) return corrupt(Why::kOutputLayout);
    }
    d_.tensor = -1;
    return Status::kOk;
  }

  Status operation(const Instruction& n, uint32_t) noexcept {
    const OpDef* def = p_.definition(n);
    if (def == nullptr) {
      for (const OpName& o : t_.op_names)
        if (o.op == n.op) d_.name = t_.string(o.name);
      return fail(Status::kUnsupported, Why::kUnknownOp, 0, n.op);
    }
    const uint32_t count = uint32_t{n.input_count} + n.output_count;
    if (count > kMaxOperands || n.input_count < def->min_in || (def->max_in != kVariadic && n.input_count > def->max_in)) return corrupt(Why::kInputCount, def->max_in, n.input_count);
    if (n.output_count > kMaxOutputs || n.output_count < def->min_out || (def->max_out != kVariadic && n.output_count > def->max_out))
      return corrupt(Why::kOutputCount, def->max_out, n.output_count);
    // What every call has; shape functions and kernels rely on it.
    for (uint32_t k = 0; k < count; ++k) {
      const bool required = k < n.input_count ? k < def->min_in : k == n.input_count || k - n.input_count < def->min_out;
      if (required && operand(n, k) < 0) return corrupt(Why::kOperandMissing, clamp32(k), -1);
    }
    MOTE_TRY(places(n));
    MOTE_TRY(attributes(n, *def));
    const CallKind kind = call_kind(p_, n, def);
    MOTE_TRY(rings(n, *def, kind));
    MOTE_TRY(types(n, *def, kind));
    return overlap(n, *def);
  }

  // Bytes this build does not know must be zero; missing ones are zero-extended into instance memory.
  Status attributes(const Instruction& n, const OpDef& def) noexcept {
    for (uint32_t i = def.attrs_size; i < n.attrs_size; ++i)
      if (t_.attrs[n.attrs + i] != 0) return fail(Status::kUnsupported, Why::kUnknownAttrs, def.attrs_size, n.attrs_size);
    if (n.attrs_size < def.attrs_size) extension_ += (def.attrs_size + 3u) & ~3u;
    return Status::kOk;
  }

  // Panels and rings only where the operator can read them.
  Status rings(const Instruction& n, const OpDef& def, CallKind kind) noexcept {
    const bool strip = in_strip();
    if (strip && ((def.flags & kRowRange) == 0 || kind != CallKind::kStatic || desc(operand(n, n.input_count)).rank < 3)) return corrupt(Why::kStripBody);
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t o = operand(n, k);
      if (o < 0) continue;
      if (desc(o).layout != Layout::kPlain && (k != 1 || (def.flags & kPackedWeights) == 0)) return corrupt(Why::kLayout);
      if (desc(o).ring_rows == 0) continue;
      const bool output = k >= n.input_count;
      const bool fits = output || k == 0 || ((def.flags & kElementwise) != 0 && desc(o).rank == desc(operand(n, n.input_count)).rank);
      if (!strip || !fits) return corrupt(Why::kRing);
    }
    return Status::kOk;
  }

  // Asks the operator for its outputs and compares; sizes of dynamic dimensions are checked when running.
  Status types(const Instruction& n, const OpDef& def, CallKind kind) noexcept {
    Tensor tensors[kMaxOperands];
    int32_t operands[kMaxOperands];
    TensorType outputs[kMaxOutputs];
    uint32_t zero_extended[64];
    OpContext c;
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t o = operand(n, k);
      operands[k] = o < 0 ? -1 : static_cast<int32_t>(k);
      if (o < 0) continue;
      tensors[k].desc = &desc(o);
      if (desc(o).storage == Storage::kConstant) {
        const ConstBytes s = p_.segment(desc(o).bank);
        if (s.data == nullptr) return fail(Status::kInvalidArgument, Why::kSegmentMissing, 0, desc(o).bank);
        tensors[k].data = const_cast<uint8_t*>(s.data + desc(o).offset);
      }
    }
    c.tensors = tensors;
    c.operands = operands;
    c.attr_bytes = t_.attrs.data + n.attrs;
    if (n.attrs_size < def.attrs_size) {
      if (def.attrs_size > sizeof zero_extended) return fail(Status::kUnsupported, Why::kOpTable, sizeof zero_extended, def.attrs_size);
      extend_attrs(c.attr_bytes, n.attrs_size, def.attrs_size, zero_extended);
      c.attr_bytes = zero_extended;
    }
    c.input_count = n.input_count;
    c.output_count = n.output_count;
    c.bounds = nullptr;
    if (in_strip()) c.rows = kSomeRows;
    const Status inferred = def.infer(InferContext(c, outputs, &d_));
    if (!inferred.ok()) {
      // Smaller sizes may fit. Scratch cannot be asked for operands that were refused: it is compared when running.
      if (kind == CallKind::kDynamic && inferred.code() == Status::kShape) return Status::kOk;
      d_.status = inferred;
      return inferred;
    }
    for (uint32_t k = 0; k < n.output_count; ++k) {
      const int32_t o = operand(n, n.input_count + k);
      if (o >= 0) MOTE_TRY(compare(outputs[k], desc(o), o, kind));
    }
    MOTE_TRY(measure_scratch(def, c));
    if (kind == CallKind::kStatic && def.select(c) == nullptr) return fail(Status::kUnsupported, Why::kKernelMissing, 0, n.op);
    return Status::kOk;
  }

  Status compare(const TensorType& wanted, const TensorDesc& d, int32_t tensor, CallKind kind) noexcept {
    d_.tensor = tensor;
    if (wanted.dtype != d.dtype) return corrupt(Why::kOutputType, static_cast<uint8_t>(wanted.dtype), static_cast<uint8_t>(d.dtype));
    if (wanted.rank != d.rank) return corrupt(Why::kOutputType, wanted.rank, d.rank);
    for (int i = 0; i < d.rank; ++i) {
      const bool dynamic = (d.dynamic >> i & 1) != 0;
      if (wanted.dims[i] == kDimUnknown && !dynamic) return corrupt(Why::kNotDynamic, i, d.dims[i]);
      if (kind != CallKind::kDynamic && wanted.dims[i] != d.dims[i]) return corrupt(Why::kOutputType, wanted.dims[i], d.dims[i]);
    }
    d_.tensor = -1;
    return Status::kOk;
  }

  Status measure_scratch(const OpDef& def, const OpContext& c) noexcept {
    if (def.scratch == nullptr) return Status::kOk;
    const Scratch s = def.scratch(c);
    if (s.base > needs_.stated.scratch_base) needs_.stated.scratch_base = (s.base + 15u) & ~15u;
    if (s.per_thread > needs_.stated.scratch_per_thread) needs_.stated.scratch_per_thread = (s.per_thread + 15u) & ~15u;
    return Status::kOk;
  }

  Status overlap(const Instruction& n, const OpDef& def) noexcept {
    for (uint32_t k = n.input_count; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t out = operand(n, k);
      if (out < 0) continue;
      for (uint32_t j = 0; j < k; ++j) {
        const int32_t other = operand(n, j);
        if (other < 0 || !overlaps(desc(out), desc(other))) continue;
        const bool input = j < n.input_count;
        const bool allowed = input && (((def.flags & kElementwise) != 0 && same_place(desc(out), desc(other))) ||
                                       ((def.flags & kView) != 0 && desc(out).offset == desc(other).offset && is_dense(desc(out)) && is_dense(desc(other))) ||
                                       ((def.flags & kStateUpdate) != 0 && j == k - n.input_count && same_place(desc(out), desc(other))));
        if (!allowed) {
          d_.tensor = out;
          return corrupt(Why::kOverlap, other, out);
        }
      }
    }
    return Status::kOk;
  }

  const Program& p_;
  const ProgramTable& t_;
  MemoryNeeds& needs_;
  Diagnostic& d_;
  const Method* method_ = nullptr;
  InstanceLayout layout_;
  uint32_t extension_ = 0;
  Range ranges_[kMaxNesting];
  int depth_ = 0;
};

Status verify_meaning(const Program& program, MemoryNeeds* needs, Diagnostic* diagnostic) noexcept { return Verifier(program, needs, diagnostic).run(); }

}  // namespace mote
