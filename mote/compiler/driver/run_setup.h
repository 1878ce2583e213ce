#pragma once

#include "mote/compiler/driver/run.h"
#include "mote/kernels/select.h"

namespace mote::driver {

// How programs are run to compare them.
struct RunSetup {
  RunBudget budget;
  kernels::SelectFn select = nullptr;  // null: portable kernels
  bool quantized = false;              // integer forms may round differently than the model says it
};

}  // namespace mote::driver
