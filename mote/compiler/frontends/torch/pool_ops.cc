#include <algorithm>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/max_pool/max_pool.h"

namespace mote::frontends::torch {
namespace {

// The digit of "max_pool2d".
int spatial_of(const Op& o) {
  const size_t d = o.node.target.find_first_of("123");
  return d == std::string::npos ? 0 : o.node.target[d] - '0';
}

bool read_list(Op& o, const char* name, int spatial, const std::vector<int64_t>& otherwise, int32_t* out) {
  std::vector<int64_t> given = o.integers(name, otherwise);
  if (given.empty()) given = otherwise;
  if (given.size() == 1) given.resize(static_cast<size_t>(spatial), given[0]);
  if (static_cast<int>(given.size()) != spatial) {
    o.refuse(std::string("'") + name + "': expected " + std::to_string(spatial) + " values, found " + std::to_string(given.size()));
    return false;
  }
  for (int i = 0; i < spatial; ++i) out[i] = static_cast<int32_t>(std::clamp<int64_t>(given[static_cast<size_t>(i)], INT32_MIN, INT32_MAX));
  return true;
}

template <class A>
bool read_window(Op& o, int spatial, A* a) {
  if (!read_list(o, "kernel_size", spatial, {1}, a->kernel) ||
      !read_list(o, "stride", spatial, {a->kernel, a->kernel + spatial}, a->strides) ||
      !read_list(o, "padding", spatial, {0}, a->pads_begin))
    return false;
  std::copy(a->pads_begin, a->pads_begin + 3, a->pads_end);
  a->ceil_mode = o.flag("ceil_mode", false) ? 1 : 0;
  return true;
}

// (C, spatial...) gets a batch for the time of the operator.
Value* with_batch(Op& o, Value* x, int spatial) { return rank_of(x) == spatial + 1 ? o.unsqueeze(x, {0}) : x; }
Value* without_batch(Op& o, Value* y, const Value* x, int spatial) { return rank_of(x) == spatial + 1 ? o.squeeze(y, {0}) : y; }

void import_max_pool(Op& o) {
  const int spatial = spatial_of(o);
  Value* x = o.in("self");
  ops::max_pool::Attrs a;
  if (!o.b.ok() || !read_window(o, spatial, &a) || !read_list(o, "dilation", spatial, {1}, a.dilations)) return;
  Value* last = o.channels_last(with_batch(o, x, spatial));
  const bool indices = o.wants(1);
  const std::vector<Value*> y = o.b.ok() ? o.b.ops(OpId::max_pool, a, {last}, indices ? 2 : 1) : std::vector<Value*>{};
  for (size_t i = 0; i < y.size(); ++i) o.out(i, without_batch(o, o.channels_first(y[i]), x, spatial));
}

void import_avg_pool(Op& o) {
  const int spatial = spatial_of(o);
  Value* x = o.in("self");
  const DType t = dtype_of_value(x);
  ops::avg_pool::Attrs a;
  if (!o.b.ok() || !read_window(o, spatial, &a)) return;
  a.count_include_pad = o.flag("count_include_pad", true) ? 1 : 0;
  a.divisor_override = static_cast<int32_t>(std::clamp<int64_t>(o.integer("divisor_override", 0), INT32_MIN, INT32_MAX));
  Value* last = o.channels_last(with_batch(o, o.cast(x, is_float(t) ? t : DType::f64), spatial));
  Value* y = o.b.ok() ? o.b.op(OpId::avg_pool, a, {last}) : nullptr;
  o.out(o.cast(without_batch(o, o.channels_first(y), x, spatial), t));
}

// What the exporter gives as None stays as it is.
std::vector<int64_t> wanted_sizes(Op& o, const Value* x, int spatial) {
  std::vector<int64_t> out = o.integers("output_size");
  if (out.size() == 1) out.resize(static_cast<size_t>(spatial), out[0]);
  if (static_cast<int>(out.size()) != spatial || rank_of(x) < spatial) o.refuse("'output_size' does not fit the tensor");
  return out;
}

void import_adaptive_avg_pool(Op& o) {
  const int spatial = spatial_of(o);
  Value* x = o.in("self");
  const std::vector<int64_t> sizes = wanted_sizes(o, x, spatial);
  if (!o.b.ok()) return;
  if (std::all_of(sizes.begin(), sizes.end(), [](int64_t s) { return s == 1; })) {
    std::vector<int64_t> axes;
    for (int i = 0; i < spatial; ++i) axes.push_back(rank_of(x) - spatial + i);
    return o.out(o.reduce(OpId::reduce_mean, x, axes, true));
  }
  ops::adaptive_avg_pool::Attrs a;
  for (int i = 0; i < spatial; ++i) a.size[i] = static_cast<int32_t>(std::clamp<int64_t>(sizes[static_cast<size_t>(i)], 0, INT32_MAX));
  Value* last = o.channels_last(with_batch(o, x, spatial));
  Value* y = o.b.ok() ? o.b.op(OpId::adaptive_avg_pool, a, {last}) : nullptr;
  o.out(without_batch(o, o.channels_first(y), x, spatial));
}

// Windows of one axis: output i looks at [floor(i * in / out), ceil((i + 1) * in / out)).
Value* adaptive_max_axis(Op& o, Value* x, int axis, int64_t out) {
  const int64_t in = dim_of(x, axis);
  std::vector<Value*> parts;
  for (int64_t i = 0; i < out && o.b.ok(); ++i)
    parts.push_back(o.reduce(OpId::reduce_max, o.slice(x, axis, i * in / out, ((i + 1) * in + out - 1) / out), {axis}, true));
  return o.concat(parts, axis);
}

void import_adaptive_max_pool(Op& o) {
  const int spatial = spatial_of(o);
  Value* x = o.in("self");
  const std::vector<int64_t> sizes = wanted_sizes(o, x, spatial);
  if (!o.b.ok()) return;
  if (o.wants(1)) return o.refuse("indices of an adaptive maximum are not supported");
  for (int i = 0; i < spatial && o.b.ok(); ++i) {
    const int axis = rank_of(x) - spatial + i;
    const int64_t out = sizes[static_cast<size_t>(i)];
    if (!is_fixed(x, axis) || out < 1 || out > 4096) return o.refuse("expected a fixed size to take windows of");
    x = adaptive_max_axis(o, x, axis, out);
  }
  o.out(x);
}

}  // namespace

void add_pool_ops(OpTable& t);
void add_pool_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.max_pool1d", "default", &import_max_pool, kReal},
                   {"aten.max_pool2d", "default", &import_max_pool, kReal},
                   {"aten.max_pool3d", "default", &import_max_pool, kReal},
                   {"aten.max_pool1d_with_indices", "default", &import_max_pool, kReal},
                   {"aten.max_pool2d_with_indices", "default", &import_max_pool, kReal},
                   {"aten.max_pool3d_with_indices", "default", &import_max_pool, kReal},
                   {"aten.avg_pool1d", "default", &import_avg_pool, kReal},
                   {"aten.avg_pool2d", "default", &import_avg_pool, kReal},
                   {"aten.avg_pool3d", "default", &import_avg_pool, kReal},
                   {"aten.adaptive_avg_pool1d", "default", &import_adaptive_avg_pool, kFloat},
                   {"aten.adaptive_avg_pool2d", "default", &import_adaptive_avg_pool, kFloat},
                   {"aten.adaptive_avg_pool3d", "default", &import_adaptive_avg_pool, kFloat},
                   {"aten._adaptive_avg_pool2d", "default", &import_adaptive_avg_pool, kFloat},
                   {"aten._adaptive_avg_pool3d", "default", &import_adaptive_avg_pool, kFloat},
                   {"aten.adaptive_max_pool1d", "default", &import_adaptive_max_pool, kFloat},
                   {"aten.adaptive_max_pool2d", "default", &import_adaptive_max_pool, kFloat},
                   {"aten.adaptive_max_pool3d", "default", &import_adaptive_max_pool, kFloat},
               });
}

}  // namespace mote::frontends::torch
