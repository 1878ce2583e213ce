#include "mote/compiler/frontends/onnx/decompose.h"

#include <algorithm>

namespace mote::frontends::onnx {

int axis_of(NodeContext& c, int64_t axis, int rank) {
  const int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front >= 0 && from_front < std::max(rank, 1)) return static_cast<int>(from_front);
  c.fail("axis " + std::to_string(axis) + " does not exist in a tensor of rank " + std::to_string(rank));
  return 0;
}

namespace {

bool read_list(NodeContext& c, const char* name, int spatial, int32_t* out) {
  const std::vector<int64_t> given = c.attr_ints(name);
  if (given.empty()) return true;
  if (static_cast<int>(given.size()) != spatial) {
    c.fail(std::string(name) + ": expected " + std::to_string(spatial) + " values, found " + std::to_string(given.size()));
    return false;
  }
  for (int i = 0; i < spatial; ++i) out[i] = static_cast<int32_t>(std::clamp<int64_t>(given[static_cast<size_t>(i)], INT32_MIN, INT32_MAX));
  return true;
}

// SAME_UPPER and SAME_LOWER: as much padding as makes ceil(in / stride) outputs.
bool pad_same(NodeContext& c, const Value* x, bool upper, WindowSpec* w) {
  for (int i = 0; i < w->rank; ++i) {
    const int axis = i + 2;
    const int64_t extent = (int64_t{w->kernel[i]} - 1) * w->dilations[i] + 1, stride = std::max(w->strides[i], 1);
    if (!is_fixed(x, axis) && stride != 1) {
      c.fail("auto_pad SAME with stride " + std::to_string(stride) + " needs a fixed size in dimension " + std::to_string(axis),
             "fix it with --dim or --shape");
      return false;
    }
    const int64_t in = x->type.dims[static_cast<size_t>(axis)];
    const int64_t out = (in + stride - 1) / stride;
    const int64_t total = std::max<int64_t>(stride == 1 ? extent - 1 : (out - 1) * stride + extent - in, 0);
    const int64_t less = total / 2, more = total - less;
    w->begin[i] = static_cast<int32_t>(upper ? less : more);
    w->end[i] = static_cast<int32_t>(upper ? more : less);
  }
  return true;
}

}  // namespace

bool read_steps(NodeContext& c, int spatial, const std::vector<int64_t>& kernel, WindowSpec* w) {
  if (spatial < 1 || spatial > 3) {
    c.fail("expected 1 to 3 spatial dimensions, found " + std::to_string(spatial));
    return false;
  }
  if (static_cast<int>(kernel.size()) != spatial) {
    c.fail("kernel_shape: expected " + std::to_string(spatial) + " sizes, found " + std::to_string(kernel.size()));
    return false;
  }
  w->rank = spatial;
  for (size_t i = 0; i < kernel.size(); ++i) w->kernel[i] = static_cast<int32_t>(std::clamp<int64_t>(kernel[i], 0, INT32_MAX));
  return read_list(c, "strides", spatial, w->strides) && read_list(c, "dilations", spatial, w->dilations);
}

bool read_window(NodeContext& c, const Value* x, const std::vector<int64_t>& kernel, WindowSpec* w) {
  if (!c.b.ok() || !read_steps(c, rank_of(x) - 2, kernel, w)) return false;
  const std::string auto_pad = c.attr_string("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") return pad_same(c, x, auto_pad == "SAME_UPPER", w);
  if (auto_pad == "VALID") return true;
  if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    c.fail("auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found " + auto_pad);
    return false;
  }
  int32_t pads[6] = {};
  if (!c.attr_ints("pads").empty()) {
    const std::vector<int64_t> given = c.attr_ints("pads");
    if (static_cast<int>(given.size()) != 2 * w->rank) {
      c.fail("pads: expected " + std::to_string(2 * w->rank) + " values, found " + std::to_string(given.size()));
      return false;
    }
    for (size_t i = 0; i < given.size(); ++i) pads[i] = static_cast<int32_t>(std::clamp<int64_t>(given[i], INT32_MIN, INT32_MAX));
  }
  for (int i = 0; i < w->rank; ++i) {
    w->begin[i] = pads[i];
    w->end[i] = pads[w->rank + i];
  }
  return true;
}

}  // namespace mote::frontends::onnx
