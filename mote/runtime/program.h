#pragma once

#include "mote/format/reader.h"
#include "mote/runtime/op_registry.h"

namespace mote {

// Where a program's bytes are. All of it is borrowed and must stay unchanged while the program is in use.
struct ProgramSource {
  ConstBytes file;                  // the whole file, or at least its table; 16-byte aligned
  uint64_t file_size = 0;           // 0: file.size
  Span<const ConstBytes> segments;  // where each was loaded, 16-byte aligned; empty: all lie inside `file`
};

// Memory an instance needs on this machine, in bytes. The banks are in table().banks.
struct MemoryNeeds {
  uint32_t instance = 0;    // at least what the certificate states; more when a newer runtime extends attributes of an older file
  CertifiedNeeds stated{};  // what the certificate must say
  uint64_t scratch(uint32_t threads) const { return stated.scratch_base + uint64_t{threads} * stated.scratch_per_thread; }
};

// A verified program. Immutable, a few words; may be shared by threads and copied. Owns nothing.
class Program {
 public:
  Program() = default;

  // Verifies everything (structure and meaning) before anything can run. Linear in the size of the table, allocates nothing.
  // `ops` must outlive the program.
  static Status open(const ProgramSource& source, const OpRegistry& ops, Program* out, Diagnostic* diagnostic = nullptr) noexcept;

  // The same without comparing the certificate: for writers, which make it from needs().
  static Status open_uncertified(const ProgramSource& source, const OpRegistry& ops, Program* out, Diagnostic* diagnostic) noexcept;

  const ProgramTable& table() const { return table_; }
  const MemoryNeeds& needs() const { return needs_; }
  const OpRegistry& ops() const { return *ops_; }
  ConstBytes segment(uint32_t i) const noexcept;  // empty when it was not handed over
  // The method's index, or -1.
  int32_t find_method(const char* name) const noexcept;
  // The symbolic name the file records for an operator, or null.
  const char* op_name(uint16_t op) const noexcept;
  // The definition an instruction runs with; never null for operators of a verified program.
  const OpDef* definition(const Instruction& n) const noexcept;

 private:
  ProgramTable table_;
  ProgramSource source_;
  MemoryNeeds needs_;
  const OpRegistry* ops_ = nullptr;
};

// What layouts say of weights' values (Layout::kPanel16k4Pairs) is true: kernels believe it, for their numbers alone. Loading does not do
// this, for it reads the weights. A failure leaves the number of the tensor in diagnostic->found.
Status check_layouts(const Program& program, Diagnostic* diagnostic) noexcept;

// Reads every byte of the program and compares the SHA-256 of each segment with the table's, then check_layouts(). Loading does not do
// this. A failure leaves the number of the segment in diagnostic->found.
Status check_digests(const Program& program, Diagnostic* diagnostic) noexcept;

}  // namespace mote
