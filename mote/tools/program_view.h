#pragma once

// A program's table for looking into it. Structure is verified, meaning is not, so that a program with operators this build
// does not have can still be looked at.

#include <string>

#include "mote/format/reader.h"
#include "mote/platform/file.h"

namespace mote::tools {

class ProgramView {
 public:
  explicit ProgramView(const std::string& path);  // throws Failure
  // The caller's bytes, 16-byte aligned, kept borrowed. Failures name them `name`.
  ProgramView(const std::string& name, ConstBytes bytes);

  const ProgramTable& table() const { return table_; }
  uint64_t file_bytes() const { return bytes_.size; }
  ConstBytes bytes() const { return bytes_; }
  const char* string(uint32_t offset) const { return table_.string(offset); }
  std::string op_name(const Instruction& n) const;     // "mote::relu", "loop"
  std::string tensor_name(int32_t tensor) const;       // an input's or output's name, or "%17"; "-" when absent
  std::string attrs_text(const Instruction& n) const;  // "axis=-1 stride=[1, 1]", "" when there are none or the operator is unknown

 private:
  void read(const std::string& name);

  MappedFile file_;
  ConstBytes bytes_;
  ProgramTable table_;
};

const char* segment_kind(SegmentKind kind);
const char* storage_name(Storage storage);
std::string hex(const uint8_t* bytes, size_t count);

}  // namespace mote::tools
