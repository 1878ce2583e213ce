#include "mote/compiler/driver/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "mote/compiler/driver/kernel_check.h"
#include "mote/compiler/emit/builder.h"

namespace mote::driver {
namespace {

constexpr size_t kAlignment = 64;

uint64_t now_ms(void*) {
  using namespace std::chrono;
  return static_cast<uint64_t>(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

std::vector<int64_t> dims_of(const TensorDesc& d) { return {d.dims, d.dims + d.rank}; }

}  // namespace

struct HostProgram::Block {
  explicit Block(size_t bytes) : data(static_cast<uint8_t*>(::operator new (bytes + 1, std::align_val_t{kAlignment}))), size(bytes) {
    std::memset(data, 0, size);
  }
  ~Block() { ::operator delete (data, std::align_val_t{kAlignment}); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  uint8_t* data;
  size_t size;
};

HostProgram::HostProgram() = default;
HostProgram::~HostProgram() { instance_.close(); }

bool HostProgram::open(ConstBytes file, ConstBytes external, const RunBudget& budget, std::string* error, const OpRegistry* ops,
                       kernels::SelectFn select, KernelCheck* check) {
  budget_ = budget;
  check_ = check;
  const OpRegistry& registry = ops != nullptr ? *ops : emit::builtin_registry();
  ProgramSource source;
  source.file = file;
  ProgramTable table;
  Diagnostic d;
  if (!read_table(file, file.size, &table, &d).ok()) {
    *error = emit::describe(d);
    return false;
  }
  for (const Segment& s : table.segments) {
    if ((s.flags & kExternal) != 0) segments_.push_back(external);
    else segments_.push_back({file.data + s.offset, s.size});
  }
  source.segments = {segments_.data(), segments_.size()};
  if (!Program::open(source, registry, &program_, &d).ok()) {
    *error = emit::describe(d);
    return false;
  }
  uint64_t needed = 0;
  for (uint32_t m = 0; m < program_.table().methods.size; ++m) needed = std::max(needed, io_bytes(m));
  const uint32_t threads = check != nullptr ? 2 : threads_ != nullptr ? threads_->count : 1;  // that kernels may see
  needed += uint64_t{program_.needs().instance} + program_.needs().scratch(threads);
  for (const Bank& b : program_.table().banks) needed += b.size;
  if (needed > budget_.memory_bytes) {
    *error = "the program needs " + std::to_string(needed) + " bytes to run, more than the " + std::to_string(budget_.memory_bytes) +
             " allowed here";
    return false;
  }
  const auto& costs = *program_.table().certificate;
  if (budget_.work > 0 && std::max(costs.macs, costs.bytes_moved) > budget_.work) {
    *error = "the program needs " + std::to_string(costs.macs) + " multiply-adds and moves " + std::to_string(costs.bytes_moved) +
             " bytes, more than allowed here";
    return false;
  }
  const auto block = [&](uint64_t size) {
    blocks_.push_back(std::make_unique<Block>(static_cast<size_t>(size)));
    return ByteSpan{blocks_.back()->data, blocks_.back()->size};
  };
  for (const Bank& b : program_.table().banks) banks_.push_back(block(b.size));
  InstanceMemory memory;
  memory.instance = block(program_.needs().instance);
  memory.scratch = block(program_.needs().scratch(threads));
  memory.banks = {banks_.data(), banks_.size()};
  InstanceOptions options;
  options.threads = check != nullptr ? nullptr : threads_;
  hook_ = {this, [](void* self, const TraceEvent& event) { static_cast<HostProgram*>(self)->hear(event); }};
  if (heard_) options.trace = &hook_;
  options.select = check != nullptr ? &KernelCheck::select : select;
  if (check != nullptr) check->attach(program_, registry);
  const KernelCheck::Active active(check);
  if (!instance_.create(program_, memory, options, &d).ok()) {
    *error = emit::describe(d);
    return false;
  }
  return true;
}

const TensorDesc& HostProgram::io(uint32_t method, uint32_t index, bool output) const {
  const ProgramTable& t = program_.table();
  const Method& m = t.methods[method];
  return t.tensors[t.ios[(output ? m.first_output : m.first_input) + index].tensor];
}

uint64_t HostProgram::io_bytes(uint32_t method) const {
  const Method& m = program_.table().methods[method];
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < m.input_count; ++i) bytes += extent_bytes(io(method, i, false));
  for (uint32_t i = 0; i < m.output_count; ++i) bytes += extent_bytes(io(method, i, true));
  return bytes;
}

std::vector<int64_t> HostProgram::input_dims(uint32_t method, uint32_t index) const { return dims_of(io(method, index, false)); }
DType HostProgram::input_type(uint32_t method, uint32_t index) const { return io(method, index, false).dtype; }

bool HostProgram::fail(const char* doing, std::string* error) const {
  *error = std::string(doing) + ": " + emit::describe(instance_.diagnostic());
  const int32_t at = instance_.diagnostic().instruction;
  const auto& names = program_.table().source_names;
  if (at >= 0 && static_cast<size_t>(at) < names.size && names[static_cast<size_t>(at)] != 0)
    *error += "; from '" + std::string(program_.table().string(names[static_cast<size_t>(at)])) + "'";
  return false;
}

void HostProgram::hear(const TraceEvent& event) {
  const auto count = static_cast<double>(program_.table().instructions.size);
  if (event.kind == TraceEvent::Kind::kRunBegin) ++begun_;
  if (event.kind == TraceEvent::Kind::kInstructionEnd) heard_(begun_ - 1 + (event.instruction + 1) / count);
}

// Bound, or copied to its place in the arena.
bool HostProgram::set_input(uint32_t method, uint32_t index, const Array& input, std::vector<std::unique_ptr<Block>>* buffers) {
  const std::vector<int32_t> dims(input.dims.begin(), input.dims.end());
  if (!instance_.set_input_dims(method, index, dims.data(), static_cast<uint32_t>(dims.size())).ok()) return false;
  const bool bound = io(method, index, false).storage == Storage::kInput;
  if (bound) buffers->push_back(std::make_unique<Block>(input.data.size()));
  void* data = bound ? buffers->back()->data : instance_.input(method, index).data;
  if (!input.data.empty()) std::memcpy(data, input.data.data(), input.data.size());
  return !bound || instance_.bind_input(method, index, data, input.data.size()).ok();
}

bool HostProgram::run(uint32_t method, const std::vector<Array>& inputs, std::vector<Array>* outputs, std::string* error) {
  const Method& m = program_.table().methods[method];
  if (inputs.size() != m.input_count) {
    *error = "expected " + std::to_string(m.input_count) + " inputs, found " + std::to_string(inputs.size());
    return false;
  }
  instance_.reset_state();
  std::vector<std::unique_ptr<Block>> buffers;
  for (uint32_t i = 0; i < m.input_count; ++i)
    if (!set_input(method, i, inputs[i], &buffers)) return fail("input", error);
  for (uint32_t i = 0; i < m.output_count; ++i) {
    if (io(method, i, true).storage != Storage::kOutput) continue;
    buffers.push_back(std::make_unique<Block>(static_cast<size_t>(extent_bytes(io(method, i, true)))));
    if (!instance_.bind_output(method, i, buffers.back()->data, buffers.back()->size).ok()) return fail("output", error);
  }
  RunLimits limits;
  if (budget_.time_ms > 0) {
    limits.now = &now_ms;
    limits.deadline = now_ms(nullptr) + budget_.time_ms;
  }
  const KernelCheck::Active active(check_);
  if (!instance_.run(method, limits).ok()) return fail("run", error);
  outputs->clear();
  for (uint32_t i = 0; i < m.output_count; ++i) {
    const Tensor& t = instance_.output(method, i);
    outputs->push_back({t.desc->dtype, dims_of(*t.desc), {}});
    const auto* data = static_cast<const uint8_t*>(t.data);
    outputs->back().data.assign(data, data + dense_bytes(t.desc->dtype, outputs->back().dims));
  }
  return true;
}

}  // namespace mote::driver
