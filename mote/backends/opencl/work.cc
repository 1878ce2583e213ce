#include "mote/backends/opencl/work.h"

#include <cstring>

namespace mote::backends::opencl {
namespace {

struct KernelKind {
  const char* kernel;
  Work kind;
};
constexpr KernelKind kKinds[] = {
    {"product_64x64", kTileLarge},
    {"product_32x32", kTileSmall},
    {"product_16x64", kTileFlat},
    {"matmul", kMatrices},
    {"attention", kMatrices},
    {"q_product_64x64", kTileLarge},
    {"q_product_32x32", kTileSmall},
    {"q_product_16x64", kTileFlat},
    {"quant_window", kGroups},
    {"quant_pool", kWindows},
    {"depthwise", kWindows},
    {"pool", kWindows},
    {"adaptive_pool", kWindows},
    {"resize", kWindows},
    {"winograd_input", kWindows},
    {"winograd_output", kWindows},
    {"window_product", kGroups},
    {"unary", kFunctions},
    {"elu", kFunctions},
    {"reduce", kRows},
    {"reduce_columns", kRows},
    {"softmax", kRows},
    {"layer_norm", kRows},
};

Work kind_of(const char* kernel) {
  for (const KernelKind& k : kKinds)
    if (std::strcmp(k.kernel, kernel) == 0) return k.kind;
  return kElements;
}

}  // namespace

const char* const kWorkNames[kWorkCount] = {"launches", "tile_large", "tile_small", "tile_flat", "matrices",
                                            "windows",  "groups",     "functions",  "elements",  "rows"};

void add_work(const std::vector<Launch>& launches, double* units) {
  for (const Launch& l : launches) {
    units[kLaunches] += 1;
    units[kind_of(l.kernel)] += l.items * l.each;
  }
}

void work_of(const mote_backend_op* op, uint32_t compute_units, double* units) {
  const char* why = nullptr;
  const OpView v = view_of(*op, &why);
  Plan plan;
  plan.buffer_bytes.push_back(0);
  Recorder recorder(plan, compute_units, true);
  if (why == nullptr && lower_op(v, &recorder) == nullptr) add_work(plan.launches, units);
}

}  // namespace mote::backends::opencl
