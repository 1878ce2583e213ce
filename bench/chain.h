#pragma once

// The program that overhead and load are measured on: a chain of tiny additions and multiplications, none of them fused.

#include <string>
#include <vector>

#include "mote/compiler/emit/builder.h"
#include "mote/runtime/instance.h"

namespace mote::bench {

// (1, width) f32; instruction i adds a constant when i is even and multiplies by one when it is odd.
inline emit::FileBytes make_chain(int ops, int32_t width) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  emit::TensorId x = b.input("x", DType::f32, {1, width});
  const emit::TensorId c = b.constant_f32({1, width}, std::vector<float>(static_cast<size_t>(width), 1.0009765625f));
  for (int i = 0; i < ops; ++i) x = b.op(i % 2 == 0 ? OpId::add : OpId::mul, NoAttrs{}, {x, c}, "op" + std::to_string(i));
  b.output("y", x);
  emit::FileBytes file;
  std::string error;
  if (!b.finish(&file, &error)) std::fprintf(stderr, "%s\n", error.c_str());
  return file;
}

// A program and an instance, ready to run.
class Ready {
 public:
  explicit Ready(const emit::FileBytes& file) : x_(64), y_(64) {
    ProgramSource source;
    source.file = file.span();
    status = Program::open(source, emit::builtin_registry(), &program);
    if (!status.ok()) return;
    for (const Bank& b : program.table().banks) memory_.emplace_back((b.size + 128) / 8);
    for (auto& m : memory_) banks_.push_back({align(m), m.size() * 8 - 64});
    instance_memory_.resize(program.needs().instance / 8 + 1);
    scratch_.resize(program.needs().scratch(1) / 8 + 17);
    status = instance.create(program, {{reinterpret_cast<uint8_t*>(instance_memory_.data()), instance_memory_.size() * 8},
                                       {banks_.data(), banks_.size()},
                                       {align(scratch_), scratch_.size() * 8 - 64}});
    if (!status.ok()) return;
    status = instance.bind_input(0, 0, x_.data(), x_.size() * 4);
    if (status.ok()) status = instance.bind_output(0, 0, y_.data(), y_.size() * 4);
  }
  Status status;
  Program program;
  Instance instance;

 private:
  static uint8_t* align(std::vector<uint64_t>& v) {
    const auto at = reinterpret_cast<uintptr_t>(v.data());
    return reinterpret_cast<uint8_t*>((at + 63) / 64 * 64);
  }
  std::vector<float> x_, y_;
  std::vector<std::vector<uint64_t>> memory_;
  std::vector<ByteSpan> banks_;
  std::vector<uint64_t> instance_memory_, scratch_;
};

}  // namespace mote::bench
