#pragma once

// An ExecuTorch program: the file with its segments, and the .ptd files beside it. Every index and range is checked before anything uses
// it. Names and constants point into the file's bytes, which the Program keeps alive. Host code.

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executorch_generated.h"
#include "mote/compiler/frontends/frontend.h"

namespace mote::frontends::executorch {

// Element i of a vector of 64-bit numbers: the file's verifier knows no alignment of those.
template <class T>
T wide_at(const flatbuffers::Vector<T>& v, uint32_t i) {
  T x;
  std::memcpy(&x, v.Data() + sizeof x * i, sizeof x);
  return x;
}

std::string text_of(const flatbuffers::String* s);

class Program {
 public:
  // False with what is wrong. Instructions and values are not judged here.
  bool read(const Source& source, ir::Problems* problems);

  const fb::Program& table() const { return *table_; }
  // The bytes of a tensor with that data_buffer_idx: a constant, or the first content of a mutable tensor. Nothing where they do not lie
  // in the file; more than `size` bytes are cut.
  std::optional<ir::Bytes> constant(uint32_t index, uint64_t size) const;
  std::optional<ir::Bytes> initial(uint64_t list, uint32_t index, uint64_t size) const;
  // Named data of the program and of .ptd files, which are read when the program alone does not have it.
  std::optional<ir::Bytes> named(std::string_view key) const;
  // What a delegate was given by its partitioner.
  std::optional<ir::Bytes> payload(const fb::BackendDelegateDataReference* where) const;

 private:
  bool wrong(const std::string& what);
  bool read_header();
  bool read_segments();
  std::optional<ir::Bytes> segment(uint64_t index) const;
  std::optional<ir::Bytes> from_offsets(const fb::SubsegmentOffsets* list, uint32_t index, uint64_t size) const;
  void read_data_files() const;

  ir::Bytes bytes_;
  const fb::Program* table_ = nullptr;
  uint64_t program_size_ = 0, segment_base_ = 0;
  mutable std::map<std::string, ir::Bytes, std::less<>> named_;
  mutable bool files_read_ = false;
  std::string path_;
  ir::Problems* problems_ = nullptr;
};

// What one .ptd file names. False when it is none or is damaged.
bool read_data_file(const ir::Bytes& bytes, std::map<std::string, ir::Bytes, std::less<>>* out);

// True when the bytes carry the format's signature.
bool is_program(const Source& source);

}  // namespace mote::frontends::executorch
