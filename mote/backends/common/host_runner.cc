#include "mote/backends/common/host_runner.h"

namespace mote::backends {

ByteSpan HostRunner::block(size_t bytes, size_t alignment) {
  budget_.take(bytes + alignment);
  memory_.push_back(std::make_unique<uint64_t[]>((bytes + alignment) / 8 + 1));
  auto* at = reinterpret_cast<uint8_t*>(memory_.back().get());
  at += (alignment - reinterpret_cast<uintptr_t>(at) % alignment) % alignment;
  return {at, bytes};
}

bool HostRunner::create(const Program& program, Select select, const TraceHook* trace) {
  program_ = &program;
  const ProgramTable& t = program.table();
  for (const Bank& b : t.banks) banks_.push_back(block(static_cast<size_t>(b.size), b.alignment));
  InstanceMemory m;
  m.instance = block(program.needs().instance);
  m.scratch = block(static_cast<size_t>(program.needs().scratch(1)));
  m.banks = {banks_.data(), banks_.size()};
  InstanceOptions options;
  options.select = select;
  options.trace = trace;
  Diagnostic diagnostic;
  if (t.methods.size != 1 || !instance_.create(program, m, options, &diagnostic).ok()) return false;
  const Method& method = t.methods[0];
  inputs_ = method.input_count;
  for (uint32_t i = 0; i < method.input_count + method.output_count; ++i) {
    const bool in = i < inputs_;
    const TensorDesc& d = t.tensors[t.ios[in ? method.first_input + i : method.first_output + i - inputs_].tensor];
    io_.push_back(block(extent_bytes(d)));
    const Status bound =
        in ? instance_.bind_input(0, i, io_[i].data, io_[i].size) : instance_.bind_output(0, i - inputs_, io_[i].data, io_[i].size);
    if (!bound.ok()) return false;
  }
  return true;
}

uint8_t* HostRunner::tensor(uint32_t t) {
  const TensorDesc& d = program_->table().tensors[t];
  if (d.storage == Storage::kArena) return banks_[d.bank].data + d.offset;
  const Method& m = program_->table().methods[0];
  for (uint32_t i = 0; i < io_.size(); ++i)
    if (program_->table().ios[i < inputs_ ? m.first_input + i : m.first_output + i - inputs_].tensor == t) return io_[i].data;
  return nullptr;
}

bool HostRunner::run() { return instance_.run(0).ok(); }

}  // namespace mote::backends
