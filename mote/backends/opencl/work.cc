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
    {"q_product_64x64", kByteLarge},
    {"q_product_32x32", kByteSmall},
    {"q_product_16x64", kByteFlat},
    {"quant_window", kByteWindows},
    {"quant_pool", kByteWindows},
    {"depthwise", kWindows},
    {"pool", kWindows},
    {"adaptive_pool", kWindows},
    {"resize", kInterpolations},
    {"winograd_input", kTransforms},
    {"winograd_output", kTransforms},
    {"window_product", kGroups},
    {"move", kWalks},
    {"pad", kWalks},
    {"binary", kWalks},
    {"move_bytes", kWalks},
    {"pad_bytes", kWalks},
    {"quant_binary", kByteBinary},
    {"unary", kFunctions},
    {"elu", kFunctions},
    {"leaps", kLeaps},
    {"reduce", kRows},
    {"quant_reduce", kRows},
    {"quant_reduce_columns", kRows},
    {"quant_softmax", kRows},
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

const char* const kWorkNames[kWorkCount] = {"launches",  "tile_large",   "tile_small",  "tile_flat", "matrices",      "windows",
                                            "groups",    "functions",    "elements",    "rows",      "transforms",    "interpolations",
                                            "walks",     "leaps",        "items",       "sums",      "byte_large",    "byte_small",
                                            "byte_flat", "byte_windows", "byte_binary", "byte_sums", "byte_wide_sums"};

void add_work(const std::vector<Launch>& launches, double* units) {
  for (const Launch& l : launches) {
    units[kLaunches] += 1;
    const Work kind = kind_of(l.like != nullptr ? l.like : l.kernel);
    units[kind] += l.items * l.each;
    if (kind == kTileLarge || kind == kTileSmall || kind == kTileFlat) units[kSums] += l.items * (kind == kTileLarge ? 16 : 4);
    if (kind == kWindows || kind == kInterpolations || kind == kGroups) units[kItems] += l.items;
    const Work scaled = l.wide ? kByteWideSums : kByteSums;
    if (kind == kByteLarge || kind == kByteSmall || kind == kByteFlat) units[scaled] += l.items * (kind == kByteLarge ? 16 : 4);
    if (kind == kByteWindows) units[scaled] += l.items;
  }
}

void work_of(const mote_backend_op* op, uint32_t compute_units, double* units) {
  const char* why = nullptr;
  const OpView v = view_of(*op, &why);
  Plan plan;
  plan.buffer_bytes.push_back(0);
  Target target;
  target.compute_units = compute_units;
  Recorder recorder(plan, target, true);
  if (why == nullptr && lower_op(v, &recorder) == nullptr) add_work(plan.launches, units);
}

}  // namespace mote::backends::opencl
