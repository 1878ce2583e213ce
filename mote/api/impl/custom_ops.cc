#include "mote/api/impl/custom_ops.h"

#include <atomic>
#include <utility>

#include "mote/runtime/verify.h"

namespace mote::api {
namespace {

constexpr size_t kEntries = MOTE_MAX_CUSTOM_OPS;

struct Entry {
  std::atomic<bool> taken{false};
  mote_custom_op op{};
};
Entry entries[kEntries];

// The operands of one call in C's terms.
class Call {
 public:
  Call(const OpContext& c, bool running) noexcept {
    for (int i = 0; i < c.input_count; ++i) inputs_[i] = c.has_input(i) ? tensor(c.input(i)) : mote_op_tensor{};
    if (running)
      for (int i = 0; i < c.output_count; ++i) outputs_[i] = c.has_output(i) ? tensor(c.output(i)) : mote_op_tensor{};
    call_.struct_size = sizeof call_;
    call_.attrs = c.attr_bytes;
    call_.inputs = inputs_;
    call_.outputs = running ? outputs_ : nullptr;
    call_.input_count = c.input_count;
    call_.output_count = c.output_count;
    call_.scratch = running ? c.scratch.data : nullptr;
    call_.scratch_bytes = running ? c.scratch.size : 0;
    call_.set_output_dim = &set_output_dim;
    call_.internal = running ? &c : nullptr;
  }
  const mote_op_call* get() const { return &call_; }

 private:
  static mote_op_tensor tensor(const Tensor& t) noexcept {
    return {t.data, t.desc->dims, t.desc->strides, static_cast<uint8_t>(t.dtype()), t.desc->rank, 0};
  }
  static uint32_t set_output_dim(const mote_op_call* call, uint32_t output, uint32_t axis, int32_t size) {
    const auto* c = static_cast<const OpContext*>(call->internal);
    if (c == nullptr || output >= c->output_count || !c->has_output(static_cast<int>(output))) return Status::kInvalidArgument;
    if (axis >= static_cast<uint32_t>(c->output(static_cast<int>(output)).rank())) return Status::kInvalidArgument;
    return c->set_output_dim(static_cast<int>(output), static_cast<int>(axis), size).code();
  }

  mote_op_call call_{};
  mote_op_tensor inputs_[kMaxOperands];
  mote_op_tensor outputs_[kMaxOutputs];
};

// A number outside of the list of codes would not be a Status anyone can explain.
Status failure(uint32_t code) noexcept {
  const bool known = code <= Status::kNotBound;
  return {known ? static_cast<Status::Code>(code) : Status::kInternal, Why::kCustomOpFailed};
}

Status infer(const mote_custom_op& op, const InferContext& c) noexcept {
  const Call call(c.op(), false);
  mote_op_type types[kMaxOutputs] = {};
  const uint32_t error = op.infer(op.user, call.get(), types);
  // A refusal of shapes is what the verifier expects of dynamic programs; other codes pass as they are.
  if (error != 0) {
    (void)c.reject(Why::kCustomOpFailed, 0, error);
    return failure(error);
  }
  for (int i = 0; i < c.outputs(); ++i) MOTE_TRY(c.set(i, static_cast<DType>(types[i].dtype), types[i].rank, types[i].dims));
  return Status::kOk;
}

Scratch scratch(const mote_custom_op& op, const OpContext& c) noexcept {
  const Call call(c, false);
  return {op.scratch(op.user, call.get()), 0};
}

Status run(const mote_custom_op& op, const OpContext& c) noexcept {
  const Call call(c, true);
  const uint32_t error = op.run(op.user, call.get());
  return error == 0 ? Status(Status::kOk) : failure(error);
}

template <size_t I>
struct EntryPoint {
  static Status infer(const InferContext& c) noexcept { return api::infer(entries[I].op, c); }
  static Scratch scratch(const OpContext& c) noexcept { return api::scratch(entries[I].op, c); }
  static Status run(const OpContext& c) noexcept { return api::run(entries[I].op, c); }
  static KernelFn select(const OpContext&) noexcept { return &run; }
};

template <size_t... I>
void set_functions(size_t entry, bool has_scratch, OpDef* out, std::index_sequence<I...>) noexcept {
  using Infer = Status (*)(const InferContext&) noexcept;
  using Select = KernelFn (*)(const OpContext&) noexcept;
  using ScratchFn = Scratch (*)(const OpContext&) noexcept;
  static constexpr Infer kInfer[] = {&EntryPoint<I>::infer...};
  static constexpr Select kSelect[] = {&EntryPoint<I>::select...};
  static constexpr ScratchFn kScratch[] = {&EntryPoint<I>::scratch...};
  out->infer = kInfer[entry];
  out->select = kSelect[entry];
  out->scratch = has_scratch ? kScratch[entry] : nullptr;
}

static_assert(int{MOTE_OP_ELEMENTWISE} == int{kElementwise} && int{MOTE_OP_DATA_DEPENDENT} == int{kDataDependent},
              "custom_op.h must agree with core/op.h");
static_assert(MOTE_OP_VARIADIC == kVariadic, "custom_op.h must agree with core/op.h");

}  // namespace

int take_entry(const mote_custom_op& op, OpDef* out) noexcept {
  for (size_t i = 0; i < kEntries; ++i) {
    if (entries[i].taken.exchange(true, std::memory_order_acquire)) continue;
    entries[i].op = op;
    *out = OpDef{};
    out->attrs_size = static_cast<uint16_t>(op.attrs_size);
    out->flags = static_cast<uint16_t>(op.flags);
    out->min_in = op.min_inputs;
    out->max_in = op.max_inputs;
    out->min_out = op.min_outputs;
    out->max_out = op.max_outputs;
    // Output 0 is always there, others when they are not among the least there must be.
    for (uint32_t o = op.min_outputs > 1 ? op.min_outputs : 1; o < 8; ++o) out->optional_out |= operand_bit(o);
    out->name = op.name;
    set_functions(i, op.scratch != nullptr, out, std::make_index_sequence<kEntries>{});
    return static_cast<int>(i);
  }
  return -1;
}

void give_entry_back(int entry) noexcept { entries[entry].taken.store(false, std::memory_order_release); }

}  // namespace mote::api
