#pragma once

// Opens and runs programs in tests, in memory of exactly the size the certificate states.

#include <memory>
#include <string>
#include <vector>

#include "mote/compiler/emit/builder.h"
#include "mote/runtime/instance.h"

namespace mote::runtest {

// A block of exactly `size` usable bytes, aligned; what lies behind them is checked when asked.
class Block {
 public:
  explicit Block(size_t size, size_t alignment = 64);
  ByteSpan span() { return {data_, size_}; }
  bool guard_intact() const;

 private:
  std::vector<uint8_t> store_;
  uint8_t* data_;
  size_t size_;
};

// A program with an instance in memory of exactly the stated sizes.
class Loaded {
 public:
  explicit Loaded(emit::FileBytes file, const OpRegistry& ops = emit::builtin_registry(), const InstanceOptions& options = {});

  // Before its memory goes: backends get their handles back.
  ~Loaded() { instance.close(); }

  Status status;  // of opening and creating
  Diagnostic diagnostic;
  Program program;
  Instance instance;

  // Runs a method on these inputs (dense bytes; dims only where dynamic) and returns its outputs.
  Status run(uint32_t method, const std::vector<std::vector<uint8_t>>& inputs, std::vector<std::vector<uint8_t>>* outputs,
             const std::vector<emit::Dims>& dims = {}, const RunLimits& limits = {});
  bool guards_intact() const;
  const emit::FileBytes& file() const { return file_; }

 private:
  emit::FileBytes file_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<ByteSpan> banks_;
};

emit::FileBytes finish(emit::ProgramBuilder& builder);

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& v) {
  const auto* p = reinterpret_cast<const uint8_t*>(v.data());
  return {p, p + v.size() * sizeof(T)};
}
template <class T>
std::vector<T> values_of(const std::vector<uint8_t>& b) {
  std::vector<T> v(b.size() / sizeof(T));
  if (!b.empty()) std::memcpy(v.data(), b.data(), b.size());
  return v;
}

}  // namespace mote::runtest
