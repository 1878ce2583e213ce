#pragma once

// One node test of the onnx package: compiled, run in this process and compared.

#include <string>
#include <vector>

namespace mote::node_tests {

// A line of cases.tsv, which export_cases.py writes.
struct Case {
  std::string name;
  std::string operators;
  bool plain = false;  // inputs and outputs are tensors of number types
  double rtol = 0, atol = 0;
  int inputs = 0, outputs = 0;
};

enum class Verdict {
  kPassed,
  kRefused,   // the compiler said why it cannot
  kFailed,    // it compiled, but did not run or gave something else
  kCompiled,  // it compiled; its values are of a kind that .npy does not hold, so nobody ran it
};

struct Outcome {
  Verdict verdict = Verdict::kFailed;
  std::string reason;  // one line
};

struct Settings {
  bool open_dims = false;  // the first size of the first input, wherever inputs have it, is open and may be up to twice as large
};

// Takes the same way as `mote compile` and `mote run`.
Outcome run_case(const std::string& folder, const Case& test, const Settings& settings);

// The same in a process of its own, so that a crash or a hang is an outcome too.
Outcome run_guarded(const std::string& folder, const Case& test, const Settings& settings, int seconds);

}  // namespace mote::node_tests
