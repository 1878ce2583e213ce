#pragma once

// A program as C++: constants, and a function that calls kernels one after the other. Nothing is read, registered or verified when it
// runs, because all that was done before.

#include <string>
#include <vector>

#include "mote/compiler/emit/cpp/kernels.h"
#include "mote/compiler/emit/cpp/names.h"

namespace mote::emit {

// A bank of the target: what it may hold and which section it is in. 0 and empty: not stated.
struct CppBank {
  std::string name, section;
  uint64_t limit = 0;
};

struct CppOptions {
  std::string name = "model";  // of the files and the namespace; made an identifier
  Isa isa = Isa::kDsp;
  uint32_t alignment = 16;
  uint64_t flash_bytes = 0;  // for constants; 0: not stated
  std::vector<CppBank> banks;
};

struct CppFiles {
  std::string name, header, source;  // name.h, name.cc
  uint64_t ram_bytes = 0, constant_bytes = 0;
  std::vector<std::string> portable;  // operators without a kernel for microcontrollers: the source has their portable ones
};

// From records as write_program takes them. False with *error for what cannot be emitted: sizes known only when running, delegates,
// custom operators, constants in another file.
bool emit_cpp(const program::ProgramRecords& records, const CppOptions& options, CppFiles* out, std::string* error);

}  // namespace mote::emit
