#include <algorithm>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"
#include "mote/ops/arg_max/arg_max.h"
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

// The windows of all outputs as lists of flat positions, each as long as the longest: the first position fills up.
std::vector<int64_t> adaptive_windows(const std::vector<int64_t>& in, const std::vector<int64_t>& out, int64_t* length) {
  std::vector<std::vector<int64_t>> windows{{0}};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    std::vector<std::vector<int64_t>> next;
    for (const std::vector<int64_t>& outer : windows)
      for (int64_t i = 0; i < out[axis]; ++i) {
        const int64_t begin = i * in[axis] / out[axis], end = ((i + 1) * in[axis] + out[axis] - 1) / out[axis];
        next.emplace_back();
        for (int64_t base : outer)
          for (int64_t k = begin; k < end; ++k) next.back().push_back(base * in[axis] + k);
      }
    windows = std::move(next);
  }
  size_t longest = 1;
  for (const auto& w : windows) longest = std::max(longest, w.size());
  std::vector<int64_t> flat;
  for (auto& w : windows) {
    w.resize(longest, w.empty() ? 0 : w[0]);
    flat.insert(flat.end(), w.begin(), w.end());
  }
  *length = static_cast<int64_t>(longest);
  return flat;
}

// Maxima and their places.
void adaptive_max_with_places(Op& o, Value* x, const std::vector<int64_t>& sizes) {
  const int spatial = static_cast<int>(sizes.size()), lead = rank_of(x) - spatial;
  std::vector<int64_t> in;
  int64_t count = 1, elements = 1;
  for (int i = 0; i < spatial; ++i) {
    const int64_t out = sizes[static_cast<size_t>(i)];
    if (!is_fixed(x, lead + i) || out < 1 || out > 4096 || dim_of(x, lead + i) < 1 || dim_of(x, lead + i) > 4096)
      return o.refuse("expected a fixed size to take windows of");
    in.push_back(dim_of(x, lead + i));
    count *= out;
    elements *= in.back() + 2 * out;  // no window set is larger
  }
  if (elements > kMostPlaces) return o.refuse("there are too many windows");
  int64_t length = 1;
  const std::vector<int64_t> places = adaptive_windows(in, sizes, &length);
  const std::vector<Size> all = o.sizes_of(x);
  std::vector<Size> flat(all.begin(), all.begin() + lead), shape = flat;
  flat.push_back({-1, nullptr});
  for (int64_t s : sizes) shape.push_back({s, nullptr});
  Value* windows = o.gather(o.reshape_to(x, flat), o.reshape(o.ints(places), {count, length}), lead);
  o.out(0, o.reshape_to(o.reduce(OpId::reduce_max, windows, {lead + 1}, false), shape));
  ops::arg_max::Attrs a;
  a.axis = lead + 1;
  a.keep_dims = 0;
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < count; ++i) begins.push_back(i * length);
  Value* at = o.b.ok() ? o.add(o.b.op(OpId::arg_max, a, {windows}), o.ints(begins)) : nullptr;
  o.out(1, o.reshape_to(o.gather(o.ints(places), at, 0), shape));
}

void import_adaptive_max_pool(Op& o) {
  const int spatial = spatial_of(o);
  Value* x = o.in("self");
  const std::vector<int64_t> sizes = wanted_sizes(o, x, spatial);
  if (!o.b.ok()) return;
  if (o.wants(1)) return adaptive_max_with_places(o, x, sizes);
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
