#include "tests/differential/program.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/emit/builder.h"
#include "mote/ops/op_id.h"

namespace mote::differential {
namespace {

constexpr size_t kAlignment = 64, kGuard = 64;
constexpr uint8_t kMark = 0xa5;

bool is_float(DType t) { return (mask_of(t) & kFloat) != 0; }

// Operators that round, but always in the same way: Mote promises the same codes everywhere.
bool rounds_alike(uint16_t op) { return static_cast<OpId>(op) == OpId::quantize || static_cast<OpId>(op) == OpId::dequantize; }

bool is_exact(const ProgramTable& t, const Instruction& n) {
  const OpDef* def = emit::builtin_registry().find(n.op, nullptr);
  if (def == nullptr) return false;
  if ((def->flags & kIntegerExact) != 0 || rounds_alike(n.op)) return true;
  for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
    const int32_t operand = t.operands[n.operands + i];
    if (operand >= 0 && is_float(t.tensors[static_cast<size_t>(operand)].dtype)) return false;
  }
  return true;
}

}  // namespace

void Block::resize(size_t size) {
  bytes_.resize(size + kAlignment + kGuard);
  const size_t over = reinterpret_cast<uintptr_t>(bytes_.data()) % kAlignment;
  span_ = {bytes_.data() + (over == 0 ? 0 : kAlignment - over), size};
  std::memset(span_.data + size, kMark, kGuard);
}

bool Block::overrun() const {
  if (bytes_.empty()) return false;
  return std::any_of(span_.data + span_.size, span_.data + span_.size + kGuard, [](uint8_t b) { return b != kMark; });
}

bool RunProgram::open(ConstBytes file, std::string* error) {
  ProgramTable table;
  Diagnostic d;
  ProgramSource source;
  source.file = file;
  bool good = read_table(file, file.size, &table, &d).ok();
  for (size_t i = 0; good && i < table.segments.size; ++i)
    segments_.push_back({file.data + table.segments[i].offset, static_cast<size_t>(table.segments[i].size)});
  source.segments = {segments_.data(), segments_.size()};
  good = good && Program::open(source, emit::builtin_registry(), &program_, &d).ok();
  if (!good) {
    *error = "open: " + emit::describe(d);
    return false;
  }
  const ProgramTable& t = program_.table();
  exact_ = std::all_of(t.instructions.begin(), t.instructions.end(), [&](const Instruction& n) { return is_exact(t, n); });
  inputs_.resize(method().input_count);
  outputs_.resize(method().output_count);
  banks_.resize(t.banks.size);
  return true;
}

bool RunProgram::create(const Way& way, std::string* error) {
  instance_.reset();
  const auto prepare = [&](Block& b, uint64_t size) {
    b.resize(static_cast<size_t>(size));
    b.fill(way.fill);
    return b.span();
  };
  bank_spans_.clear();
  for (size_t i = 0; i < banks_.size(); ++i) bank_spans_.push_back(prepare(banks_[i], program_.table().banks[i].size));
  InstanceMemory memory;
  memory.instance = prepare(memory_, program_.needs().instance);
  memory.scratch = prepare(scratch_, program_.needs().scratch(way.threads != nullptr ? way.threads->count : 1));
  memory.banks = {bank_spans_.data(), bank_spans_.size()};
  InstanceOptions options;
  options.select = kernels::select_for(way.isa);
  options.threads = way.threads;
  Diagnostic d;
  instance_ = std::make_unique<Instance>();
  if (instance_->create(program_, memory, options, &d).ok()) return true;
  *error = "create: " + emit::describe(d);
  return false;
}

bool RunProgram::set_input(uint32_t i, const driver::Array& input) {
  const std::vector<int32_t> dims(input.dims.begin(), input.dims.end());
  if (!instance_->set_input_dims(0, i, dims.data(), static_cast<uint32_t>(dims.size())).ok()) return false;
  const bool bound = io(method().first_input + i).storage == Storage::kInput;
  void* to = instance_->input(0, i).data;
  if (bound) {
    inputs_[i].resize(input.data.size());
    to = inputs_[i].span().data;
  }
  if (!input.data.empty()) std::memcpy(to, input.data.data(), input.data.size());
  return !bound || instance_->bind_input(0, i, to, input.data.size()).ok();
}

bool RunProgram::watch(const std::vector<driver::Array>& inputs, std::string* error) const {
  const auto overrun = [](const Block& b) { return b.overrun(); };
  if (memory_.overrun() || scratch_.overrun() || std::any_of(banks_.begin(), banks_.end(), overrun) ||
      std::any_of(inputs_.begin(), inputs_.end(), overrun) || std::any_of(outputs_.begin(), outputs_.end(), overrun)) {
    *error = "bytes behind a block were written";
    return false;
  }
  for (uint32_t i = 0; i < method().input_count; ++i) {
    if (io(method().first_input + i).storage != Storage::kInput || inputs[i].data.empty()) continue;
    if (std::memcmp(inputs_[i].span().data, inputs[i].data.data(), inputs[i].data.size()) == 0) continue;
    *error = "the run changed input " + std::to_string(i);
    return false;
  }
  return true;
}

bool RunProgram::run(const std::vector<driver::Array>& inputs, std::vector<driver::Array>* outputs, std::string* error) {
  const auto fail = [&](const char* doing) {
    *error = std::string(doing) + ": " + emit::describe(instance_->diagnostic());
    return false;
  };
  for (uint32_t i = 0; i < method().input_count; ++i)
    if (!set_input(i, inputs[i])) return fail("input");
  for (uint32_t i = 0; i < method().output_count; ++i) {
    const TensorDesc& desc = io(method().first_output + i);
    if (desc.storage != Storage::kOutput) continue;
    outputs_[i].resize(extent_bytes(desc));
    outputs_[i].fill(0xee);
    if (!instance_->bind_output(0, i, outputs_[i].span().data, outputs_[i].span().size).ok()) return fail("output");
  }
  instance_->reset_state();
  if (!instance_->run(0).ok()) return fail("run");
  if (!watch(inputs, error)) return false;
  outputs->clear();
  for (uint32_t i = 0; i < method().output_count; ++i) {
    const Tensor& t = instance_->output(0, i);
    outputs->push_back({t.desc->dtype, {t.desc->dims, t.desc->dims + t.desc->rank}, {}});
    const auto* data = static_cast<const uint8_t*>(t.data);
    outputs->back().data.assign(data, data + driver::dense_bytes(t.desc->dtype, outputs->back().dims));
  }
  return true;
}

}  // namespace mote::differential
