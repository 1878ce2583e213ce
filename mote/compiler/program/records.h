#pragma once

// The program level in memory: the records of a .mote file before they are laid out, and the bytes of a file. Host code.

#include <map>
#include <string>
#include <vector>

#include "mote/format/program.h"

namespace mote::program {

// The bytes of one segment before it has a place in the file.
struct SegmentData {
  SegmentKind kind = SegmentKind::kConstants;
  uint8_t flags = 0;
  std::vector<uint8_t> bytes;
  uint64_t reserve = 0;  // size when larger than bytes: the rest is zeros (signature slot)
};

// Texts of a program, each kept once. Offset 0 is the empty one.
class StringPool {
 public:
  uint32_t add(const std::string& text);
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  // A pool that begins with these bytes; texts added later go behind them.
  static StringPool from(ConstBytes bytes);

 private:
  std::vector<uint8_t> bytes_{0};
  std::map<std::string, uint32_t> known_{{"", 0}};
};

// Everything a file holds. Indices, offsets and string numbers are final; the writer adds segment places, digests and the certificate.
struct ProgramRecords {
  uint16_t major = kFormatMajor, minor = kFormatMinor;
  StringPool strings;
  std::vector<uint32_t> required_features;
  Certificate certificate{};  // macs and bytes_moved are the caller's; the rest is computed
  std::vector<Bank> banks;
  std::vector<SegmentData> segments;
  std::vector<TensorDesc> tensors;
  std::vector<int32_t> operands;
  std::vector<uint8_t> attrs;
  std::vector<Instruction> instructions;
  std::vector<Method> methods;
  std::vector<Io> ios;
  std::vector<State> states;
  std::vector<Step> steps;
  std::vector<OpName> op_names;
  std::vector<uint32_t> source_names;
  std::vector<BackendRecord> backends;
  std::vector<Placement> placements;
  uint32_t policy = 0;
  std::vector<Golden> goldens;
  std::vector<Quant> quants;
  std::vector<Pair> metadata;
  std::vector<Pair> evidence;
};

// The bytes of a file, 16-byte aligned.
struct FileBytes {
  struct alignas(16) Word {
    uint8_t bytes[16];
  };
  std::vector<Word> words;
  size_t size = 0;
  // Zeros.
  static FileBytes of_size(size_t bytes) { return {std::vector<Word>(bytes / sizeof(Word) + 1), bytes}; }
  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(words.data()); }
  uint8_t* data() { return reinterpret_cast<uint8_t*>(words.data()); }
  ConstBytes span() const { return {data(), size}; }
};

}  // namespace mote::program
