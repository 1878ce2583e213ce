#pragma once

// Compiles a case in more than one way, runs it with every kernel of the machine, and says where two of the results differ.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "mote/kernels/select.h"
#include "tests/differential/case.h"

namespace mote::differential {

constexpr size_t kIsas = static_cast<size_t>(kernels::Isa::kCount);

// What is wrong with a case. Findings of one kind are told once and counted.
struct Finding {
  std::string kind;  // "avx2 differs from portable (s8)"; empty: nothing is wrong
  std::string text;  // where and by how much
};

struct Checked {
  Finding finding;
  std::string refusal;                 // the compiler does not take this model, and why
  std::array<uint64_t, kIsas> runs{};  // of the optimised program, by instruction set
  uint64_t reference_runs = 0;
  uint64_t rounded = 0;  // comparisons that needed the reference's own sensitivity to rounding
};

// What is going on, for who finds the process dead.
struct Stage {
  char text[56] = "";
  void set(const char* what, const char* where = "") noexcept;
};

// Bytes of the case's model compiled. Empty with *refusal where the compiler does not take it.
// *notes: that the ranges of open sizes were narrowed, and why.
std::vector<uint8_t> compile_case(const Case& c, bool optimised, std::string* refusal, std::vector<std::string>* notes = nullptr);

// A message without names and numbers: the kind of it.
std::string without_names(const std::string& text);

Checked check_case(const Case& c, Stage* stage);

// What the unoptimised program gives at one size, and how far rounding alone may move each element: for comparing with other runtimes.
bool run_reference(const Case& c, size_t size, std::vector<driver::Array>* outputs, std::vector<std::vector<double>>* tolerance,
                   std::string* error);

}  // namespace mote::differential
