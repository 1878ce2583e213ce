#include "mote/runtime/testing/run_program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mote::runtest {
namespace {
constexpr size_t kGuard = 64;
constexpr uint8_t kGuardByte = 0xc3;
}  // namespace

Block::Block(size_t size, size_t alignment) : store_(size + alignment + kGuard, kGuardByte), size_(size) {
  const auto at = reinterpret_cast<uintptr_t>(store_.data());
  data_ = store_.data() + (alignment - at % alignment) % alignment;
}

bool Block::guard_intact() const {
  return std::all_of(data_ + size_, const_cast<uint8_t*>(store_.data() + store_.size()), [](uint8_t b) { return b == kGuardByte; });
}

Loaded::Loaded(emit::FileBytes file, const OpRegistry& ops, const InstanceOptions& options) : file_(std::move(file)) {
  ProgramSource source;
  source.file = file_.span();
  status = Program::open(source, ops, &program, &diagnostic);
  if (!status.ok()) return;
  for (const Bank& b : program.table().banks) {
    blocks_.push_back(std::make_unique<Block>(static_cast<size_t>(b.size), b.alignment));
    banks_.push_back(blocks_.back()->span());
  }
  InstanceMemory memory;
  blocks_.push_back(std::make_unique<Block>(program.needs().instance));
  memory.instance = blocks_.back()->span();
  blocks_.push_back(std::make_unique<Block>(program.needs().scratch(options.threads != nullptr ? options.threads->count : 1)));
  memory.scratch = blocks_.back()->span();
  memory.banks = {banks_.data(), banks_.size()};
  status = instance.create(program, memory, options, &diagnostic);
}

bool Loaded::guards_intact() const {
  return std::all_of(blocks_.begin(), blocks_.end(), [](const auto& b) { return b->guard_intact(); });
}

Status Loaded::run(uint32_t method, const std::vector<std::vector<uint8_t>>& inputs, std::vector<std::vector<uint8_t>>* outputs,
                   const std::vector<emit::Dims>& dims, const RunLimits& limits) {
  const Method& m = program.table().methods[method];
  for (uint32_t i = 0; i < m.input_count; ++i) {
    if (i < dims.size() && !dims[i].empty())
      MOTE_TRY(instance.set_input_dims(method, i, dims[i].data(), static_cast<uint32_t>(dims[i].size())));
    MOTE_TRY(instance.bind_input(method, i, inputs[i].data(), inputs[i].size()));
  }
  outputs->assign(m.output_count, {});
  for (uint32_t i = 0; i < m.output_count; ++i) {
    const TensorDesc& bound = program.table().tensors[program.table().ios[m.first_output + i].tensor];
    (*outputs)[i].resize(static_cast<size_t>(extent_bytes(bound)));
    MOTE_TRY(instance.bind_output(method, i, (*outputs)[i].data(), (*outputs)[i].size()));
  }
  const Status result = instance.run(method, limits);
  for (uint32_t i = 0; i < m.output_count; ++i) (*outputs)[i].resize(static_cast<size_t>(extent_bytes(*instance.output(method, i).desc)));
  return result;
}

emit::FileBytes finish(emit::ProgramBuilder& builder) {
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(builder.finish(&file, &error)) << error;
  return file;
}

}  // namespace mote::runtest
