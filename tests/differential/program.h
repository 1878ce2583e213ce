#pragma once

// A compiled program run in any way: which kernels, how many threads, which sizes. Memory that a run must not touch is watched.

#include <memory>
#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"
#include "mote/kernels/select.h"
#include "mote/runtime/instance.h"

namespace mote::differential {

// Memory on the boundary that programs ask for, with marked bytes behind it.
class Block {
 public:
  Block() = default;
  explicit Block(size_t size) { resize(size); }
  void resize(size_t size);
  void fill(uint8_t with) { std::fill_n(span_.data, span_.size, with); }
  ByteSpan span() const { return span_; }
  bool overrun() const;

 private:
  std::vector<uint8_t> bytes_;
  ByteSpan span_;
};

struct Way {
  kernels::Isa isa = kernels::Isa::kPortable;
  const Threads* threads = nullptr;
  uint8_t fill = 0;  // what lies in memory that nothing was written to
};

class RunProgram {
 public:
  // `file` is borrowed.
  bool open(ConstBytes file, std::string* error);
  // An instance of it: before run().
  bool create(const Way& way, std::string* error);
  bool run(const std::vector<driver::Array>& inputs, std::vector<driver::Array>* outputs, std::string* error);

  // Every operator gives the same bits on every processor.
  bool exact() const { return exact_; }

 private:
  const Method& method() const { return program_.table().methods[0]; }
  const TensorDesc& io(uint32_t i) const { return program_.table().tensors[program_.table().ios[i].tensor]; }
  bool set_input(uint32_t i, const driver::Array& input);
  bool watch(const std::vector<driver::Array>& inputs, std::string* error) const;

  std::vector<ConstBytes> segments_;
  Program program_;
  bool exact_ = false;
  Block memory_, scratch_;
  std::vector<Block> banks_, inputs_, outputs_;
  std::vector<ByteSpan> bank_spans_;
  std::unique_ptr<Instance> instance_;
};

}  // namespace mote::differential
