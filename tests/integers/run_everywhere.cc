#include "tests/integers/run_everywhere.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "mote/compiler/emit/builder.h"
#include "mote/kernels/select.h"
#include "mote/platform/cpu.h"
#include "mote/platform/thread_pool.h"
#include "mote/runtime/instance.h"

namespace mote::integers {
namespace {

using Bytes = std::vector<uint8_t>;

// Memory on the boundary that programs ask for.
class Block {
 public:
  explicit Block(size_t size) : bytes_(size + kAlignment) {
    const size_t over = reinterpret_cast<uintptr_t>(bytes_.data()) % kAlignment;
    span_ = {bytes_.data() + (over == 0 ? 0 : kAlignment - over), size};
  }
  ByteSpan span() const { return span_; }

 private:
  static constexpr size_t kAlignment = 64;
  Bytes bytes_;
  ByteSpan span_;
};

// One program and one input, run in any way.
class Case {
 public:
  bool open(ConstBytes file, fuzz::Dice& dice, std::string* error) {
    ProgramTable table;
    Diagnostic d;
    ProgramSource source;
    source.file = file;
    bool good = read_table(file, file.size, &table, &d).ok();
    for (size_t i = 0; good && i < table.segments.size; ++i)
      segments_.push_back({file.data + table.segments[i].offset, static_cast<size_t>(table.segments[i].size)});
    source.segments = {segments_.data(), segments_.size()};
    good = good && Program::open(source, emit::builtin_registry(), &program_, &d).ok();
    if (!good) *error = emit::describe(d);
    for (uint32_t i = 0; good && i < method().input_count; ++i) {
      inputs_.emplace_back(extent_bytes(io(method().first_input + i)));
      for (uint8_t& b : inputs_.back()) b = static_cast<uint8_t>(dice.raw());
    }
    return good;
  }

  bool run(kernels::Isa isa, const Threads* threads, std::vector<Bytes>* outputs, std::string* error) const {
    std::vector<Block> blocks;
    blocks.reserve(program_.table().banks.size + 2);
    const auto block = [&](uint64_t size) { return blocks.emplace_back(static_cast<size_t>(size)).span(); };
    std::vector<ByteSpan> banks;
    for (const Bank& b : program_.table().banks) banks.push_back(block(b.size));
    InstanceMemory memory;
    memory.instance = block(program_.needs().instance);
    memory.scratch = block(program_.needs().scratch(threads != nullptr ? threads->count : 1));
    memory.banks = {banks.data(), banks.size()};
    InstanceOptions options;
    options.select = kernels::select_for(isa);
    options.threads = threads;
    Instance instance;
    Diagnostic d;
    bool good = instance.create(program_, memory, options, &d).ok();
    if (!good) *error = emit::describe(d);
    for (uint32_t i = 0; good && i < method().input_count; ++i) good = instance.bind_input(0, i, inputs_[i].data(), inputs_[i].size()).ok();
    outputs->assign(method().output_count, {});
    for (uint32_t i = 0; good && i < method().output_count; ++i) {
      Bytes& out = (*outputs)[i];
      out.resize(extent_bytes(io(method().first_output + i)));
      good = instance.bind_output(0, i, out.data(), out.size()).ok();
    }
    if (good && !instance.run(0).ok()) good = false;
    if (!good && error->empty()) *error = emit::describe(instance.diagnostic());
    return good;
  }

 private:
  const Method& method() const { return program_.table().methods[0]; }
  const TensorDesc& io(uint32_t i) const { return program_.table().tensors[program_.table().ios[i].tensor]; }

  std::vector<ConstBytes> segments_;
  Program program_;
  std::vector<Bytes> inputs_;
};

std::string first_difference(const std::vector<Bytes>& expected, const std::vector<Bytes>& found) {
  for (size_t o = 0; o < expected.size(); ++o)
    for (size_t i = 0; i < expected[o].size(); ++i)
      if (expected[o][i] != found[o][i])
        return "output " + std::to_string(o) + ", byte " + std::to_string(i) + ": expected " + std::to_string(expected[o][i]) + ", found " +
               std::to_string(found[o][i]);
  return "";
}

}  // namespace

bool run_everywhere(ConstBytes program, fuzz::Dice& dice, Everywhere* out, std::string* error) {
  static ThreadPool pools[2];
  Case one;
  std::vector<Bytes> expected, found;
  if (!one.open(program, dice, error) || !one.run(kernels::Isa::kPortable, nullptr, &expected, error)) return false;
  ++out->runs;
  for (const uint32_t count : {1u, 2u, 4u}) {
    ThreadPool* pool = count > 1 ? &pools[count / 4] : nullptr;
    if (pool != nullptr && pool->threads().count < count && !pool->start(count)) continue;  // as on machines without threads
    for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
      const auto isa = static_cast<kernels::Isa>(i);
      if (!kernels::can_run(isa, cpu_features())) continue;
      if (!one.run(isa, pool != nullptr ? &pool->threads() : nullptr, &found, error)) return false;
      ++out->runs;
      const std::string difference = first_difference(expected, found);
      if (difference.empty()) continue;
      out->difference = std::string(kernels::isa_name(isa)) + ", " + std::to_string(count) + " threads: " + difference;
      return true;
    }
  }
  return true;
}

}  // namespace mote::integers
