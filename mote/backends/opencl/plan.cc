#include "mote/backends/opencl/plan.h"

#include <algorithm>
#include <cstring>

#include "mote/backends/opencl/families.h"
#include "mote/core/half.h"
#include "mote/core/layout.h"
#include "mote/ops/op_id.h"

namespace mote::backends::opencl {
namespace {

constexpr uint64_t kMostBytes = 0x7fffffff;  // kernels count elements in 31 bits

// One entry for each operator that has kernels.
struct Family {
  OpId first, last;
  const char* (*lower)(const OpView&, Recorder*);
};
constexpr Family kFamilies[] = {
    {OpId::copy, OpId::reshape, &lower_copy},
    {OpId::transpose, OpId::pad, &lower_move},
    {OpId::expand, OpId::expand, &lower_move},
    {OpId::depth_to_space, OpId::space_to_depth, &lower_move},
    {OpId::abs, OpId::mish, &lower_unary},
    {OpId::add, OpId::div, &lower_binary},
    {OpId::pow, OpId::prelu, &lower_binary},
    {OpId::reduce_sum, OpId::reduce_prod, &lower_reduce},
    {OpId::reduce_l1, OpId::reduce_sum_square, &lower_reduce},
    {OpId::softmax, OpId::log_softmax, &lower_softmax},
    {OpId::matmul, OpId::matmul, &lower_matmul},
    {OpId::conv, OpId::conv_transpose, &lower_conv},
    {OpId::max_pool, OpId::avg_pool, &lower_pool},
    {OpId::adaptive_avg_pool, OpId::adaptive_avg_pool, &lower_pool},
    {OpId::layer_norm, OpId::layer_norm, &lower_layer_norm},
    {OpId::resize, OpId::resize, &lower_resize},
};

const char* check_operands(const OpView& op) {
  if (op.outputs.empty() || !op.outputs[0].present) return "it has no first output";
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!op.outputs[i].present) continue;
    if (op.outputs[i].dtype != DType::f32) return "only f32 is computed there";
    if (op.outputs[i].count() == 0) return "an empty tensor";
  }
  for (const Operand& o : op.inputs) {
    if (!o.present) continue;
    if (o.dtype != DType::f32 && o.data == nullptr) return "only f32 is computed there";
    if (o.count() == 0 && o.dtype == DType::f32) return "an empty tensor";
    if (o.layout != Layout::kPlain && (o.layout != Layout::kPanel16 || (o.dtype != DType::f32 && o.dtype != DType::f16)))
      return "weights in a packed form it does not read";
  }
  return nullptr;
}

Operand operand_of(const TensorDesc& d) {
  Operand o;
  o.present = true;
  o.dtype = d.dtype;
  o.rank = d.rank;
  std::copy(d.dims, d.dims + kMaxRank, o.dims);
  o.layout = d.layout;
  return o;
}

class Planner {
 public:
  Planner(const Program& program, uint32_t units, Plan& plan, std::string& why)
      : program_(program), t_(program.table()), plan_(plan), recorder_(plan, units), why_(why) {}

  bool run() {
    if (t_.methods.size != 1 || t_.states.size != 0) return fail("expected one method and no state");
    plan_.buffer_bytes.push_back(0);  // constants
    for (const Bank& b : t_.banks) {
      if (b.size > kMostBytes) return fail("the piece needs more memory than kernels can address");
      banks_.push_back(static_cast<int32_t>(plan_.buffer_bytes.size()));
      plan_.buffer_bytes.push_back(b.size);
    }
    if (!ios()) return false;
    const Method& m = t_.methods[0];
    for (uint32_t i = 0; i < m.instruction_count; ++i)
      if (!instruction(m.first_instruction + i)) return false;
    plan_.buffer_bytes[0] = plan_.constants.size() * 4;
    return plan_.buffer_bytes[0] <= kMostBytes || fail("the piece's weights are more than kernels can address");
  }

 private:
  bool fail(const std::string& what) {
    why_ = what;
    return false;
  }

  bool ios() {
    const Method& m = t_.methods[0];
    for (uint32_t i = 0; i < m.input_count + m.output_count; ++i) {
      const TensorDesc& d = t_.tensors[t_.ios[m.first_input + i].tensor];
      if (d.storage < Storage::kInput || d.dtype != DType::f32) return fail("inputs and outputs must be f32 and bound by the caller");
      io_[t_.ios[m.first_input + i].tensor] = static_cast<int32_t>(plan_.buffer_bytes.size());
      (i < m.input_count ? plan_.inputs : plan_.outputs).push_back(static_cast<int32_t>(plan_.buffer_bytes.size()));
      plan_.buffer_bytes.push_back(static_cast<uint64_t>(element_count(d)) * 4);
    }
    return true;
  }

  // Where an operand lies on the device. Constants are put there when a kernel asks for them.
  bool locate(uint32_t tensor, Operand* o) {
    const TensorDesc& d = t_.tensors[tensor];
    *o = operand_of(d);
    if (d.dynamic != 0 || (d.layout == Layout::kPlain && !is_dense(d))) return fail("a tensor is not dense, or its size is not fixed");
    if (d.storage == Storage::kConstant) {
      o->data = program_.segment(d.bank).data + d.offset;
      if (d.dtype == DType::f32 && d.layout == Layout::kPlain) {
        const auto known = constants_.find(tensor);
        const Place p = known != constants_.end() ? known->second : recorder_.add_constant(o->data, static_cast<size_t>(o->count()));
        constants_[tensor] = p;
        o->place = p;
      }
    } else if (d.storage == Storage::kArena) {
      o->place = {banks_[d.bank], static_cast<int32_t>(d.offset / 4)};
      if (d.offset % 4 != 0) return fail("a tensor is not aligned");
    } else {
      o->place = {io_.at(tensor), 0};
    }
    return true;
  }

  bool instruction(uint32_t pc) {
    const Instruction& n = t_.instructions[pc];
    const OpDef* def = n.op < kFirstControlOp ? program_.definition(n) : nullptr;
    if (def == nullptr) return fail("the piece steers or calls what is no operator of Mote's");
    alignas(8) uint8_t attrs[256] = {};
    if (def->attrs_size > sizeof attrs) return fail("attributes of a size not known here");
    std::memcpy(attrs, t_.attrs.data + n.attrs, std::min<size_t>(n.attrs_size, def->attrs_size));
    OpView v;
    v.op = n.op;
    v.attrs = attrs;
    v.instruction = pc;
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      Operand o;
      const int32_t t = t_.operands[n.operands + k];
      // Weights are brought into another form: the plain ones need no place.
      if (t >= 0 && !locate(static_cast<uint32_t>(t), &o)) return false;
      (k < n.input_count ? v.inputs : v.outputs).push_back(o);
    }
    if (const char* why = lower_op(v, &recorder_)) return fail(std::string("instruction ") + std::to_string(pc) + ": " + why);
    return true;
  }

  const Program& program_;
  const ProgramTable& t_;
  Plan& plan_;
  Recorder recorder_;
  std::string& why_;
  std::vector<int32_t> banks_;
  std::map<uint32_t, int32_t> io_;
  std::map<uint32_t, Place> constants_;
};

}  // namespace

Recorder::Args& Recorder::Args::tensor(const Place& p) {
  launch_.args.push_back({std::max(p.buffer, 0), {}});
  return value(p.offset);
}

Recorder::Args& Recorder::Args::buffer(const Place& p) {
  launch_.args.push_back({std::max(p.buffer, 0), {}});
  return *this;
}

Recorder::Args Recorder::launch(const OpView& op, const char* kernel, const std::vector<size_t>& global, const std::vector<size_t>& local) {
  Launch l;
  l.kernel = kernel;
  l.instruction = op.instruction;
  for (size_t i = 0; i < global.size(); ++i) {
    const size_t group = i < local.size() ? local[i] : 1;
    l.global[i] = (std::max<size_t>(global[i], 1) + group - 1) / group * group;
  }
  for (size_t i = 0; i < 3 && !local.empty(); ++i) l.local[i] = i < local.size() ? local[i] : 1;
  plan_.launches.push_back(std::move(l));
  return Args(plan_.launches.back());
}

Place Recorder::add_constant(const void* data, size_t words) {
  plan_.constants.resize((plan_.constants.size() + 63) / 64 * 64);
  const auto at = static_cast<int32_t>(plan_.constants.size());
  plan_.constants.resize(plan_.constants.size() + words);
  if (words > 0) std::memcpy(plan_.constants.data() + at, data, words * 4);
  return {0, at};
}

Place Recorder::workspace(uint64_t words) {
  if (workspace_ < 0) {
    workspace_ = static_cast<int32_t>(plan_.buffer_bytes.size());
    plan_.buffer_bytes.push_back(0);
  }
  uint64_t& bytes = plan_.buffer_bytes[static_cast<size_t>(workspace_)];
  bytes = std::max(bytes, words * 4);
  return {workspace_, 0};
}

Place Recorder::weights(const Operand& w, int32_t n, int32_t k, int32_t padded) {
  if (const auto found = weights_.find(w.data); found != weights_.end()) return found->second;
  std::vector<float> out(static_cast<size_t>(k) * static_cast<size_t>(padded), 0.0f);
  const auto* from = static_cast<const uint8_t*>(w.data);
  const uint32_t width = dtype_bytes(w.dtype);
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < k; ++j) {
      const uint64_t flat = static_cast<uint64_t>(i) * static_cast<uint64_t>(k) + static_cast<uint64_t>(j);
      const uint64_t at = w.layout == Layout::kPlain ? flat * width
                                                     : panel_offset(w.layout, w.dtype, static_cast<uint32_t>(i), static_cast<uint32_t>(j),
                                                                    static_cast<uint32_t>(k));
      float& to = out[static_cast<size_t>(j) * static_cast<size_t>(padded) + static_cast<size_t>(i)];
      if (w.dtype == DType::f16) {
        f16 half(0.0f);
        std::memcpy(static_cast<void*>(&half), from + at, sizeof half);
        to = static_cast<float>(half);
      } else {
        std::memcpy(&to, from + at, sizeof to);
      }
    }
  }
  return weights_[w.data] = add_constant(out.data(), out.size());
}

const char* lower_op(const OpView& op, Recorder* recorder) {
  for (const Family& f : kFamilies) {
    if (op.op < static_cast<uint16_t>(f.first) || op.op > static_cast<uint16_t>(f.last)) continue;
    if (const char* why = check_operands(op)) return why;
    return f.lower(op, recorder);
  }
  return "it has no kernel there";
}

bool make_plan(const Program& program, uint32_t compute_units, Plan* out, std::string* why) {
  Plan plan;
  if (!Planner(program, compute_units, plan, *why).run()) return false;
  *out = std::move(plan);
  return true;
}

}  // namespace mote::backends::opencl
