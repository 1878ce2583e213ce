#pragma once

// Which operators of PyTorch the kernels of ExecuTorch programs are: aten_kernels.def and own_kernels.def as a table.

#include <string>
#include <vector>

namespace mote::frontends::executorch {

struct KernelArgument {
  std::string name;      // empty: nobody asks for it
  bool is_type = false;  // an integer that is a ScalarType
};

struct Kernel {
  const char* name;    // "aten::add.out"
  const char* target;  // "aten.add.Tensor"
  std::vector<KernelArgument> arguments;
  size_t outputs = 0;  // arguments behind them that are written; 0: what the instruction appends
};

// Null when the table does not have it.
const Kernel* find_kernel(const std::string& name);

}  // namespace mote::frontends::executorch
