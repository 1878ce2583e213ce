#pragma once

// A program's records as the emitter reads them, and the text of constants.

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "mote/compiler/program/records.h"
#include "mote/format/reader.h"
#include "mote/ops/op_id.h"

namespace mote::emit {

struct Source {
  const program::ProgramRecords& records;

  const TensorDesc& desc(int32_t t) const { return records.tensors[static_cast<size_t>(t)]; }
  // Of a constant.
  Tensor constant(int32_t t) const {
    const TensorDesc& d = desc(t);
    return {&d, const_cast<uint8_t*>(records.segments[d.bank].bytes.data() + d.offset)};
  }
  // -1 where an optional operand is absent.
  int32_t input(const Instruction& n, uint32_t i) const { return i < n.input_count ? records.operands[n.operands + i] : -1; }
  int32_t output(const Instruction& n, uint32_t i) const {
    return i < n.output_count ? records.operands[n.operands + n.input_count + i] : -1;
  }
  template <class A>
  A attrs(const Instruction& n) const {
    A a{};
    std::memcpy(static_cast<void*>(&a), records.attrs.data() + n.attrs, std::min<size_t>(sizeof a, n.attrs_size));
    return a;
  }
};

// Constants of the emitted file, equal ones once.
class Constants {
 public:
  // An array of words; its name.
  std::string words(std::vector<uint32_t> values);
  // Bytes as an array of words.
  std::string bytes(const uint8_t* data, size_t size);
  std::string channels(const std::vector<int32_t>& flat) { return words({flat.begin(), flat.end()}); }

  const std::string& text() const { return text_; }
  size_t byte_count() const { return bytes_; }
  size_t count() const { return known_.size(); }

 private:
  std::map<std::vector<uint32_t>, std::string> known_;
  std::string text_;
  size_t bytes_ = 0;
};

}  // namespace mote::emit
