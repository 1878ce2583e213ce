#include "mote/tools/measure_backends.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "mote/backends/reference/reference_backend.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/passes/pass.h"
#include "mote/compiler/placement/node_view.h"
#include "mote/compiler/placement/pieces.h"
#include "mote/compiler/placement/rates.h"
#include "mote/kernels/select.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/ops/transpose/transpose.h"
#include "mote/platform/clock.h"
#include "mote/tools/backends.h"
#include "mote/tools/failure.h"
#include "mote/tools/least_squares.h"

namespace mote::tools {
namespace {

constexpr int kRuns = 9;
constexpr double kMostMs = 400;  // of one probe

// A small model: one operator, or a few of the same.
struct Probe {
  std::string name;
  ir::Dims input;
  std::function<ir::Value*(ir::Graph&, ir::NodeBuilder&, ir::Value*)> make;
};

ir::Value* weights(ir::Graph& g, const ir::Dims& dims) {
  int64_t count = 1;
  for (int32_t d : dims) count *= d;
  std::vector<float> v(static_cast<size_t>(count));
  for (size_t i = 0; i < v.size(); ++i) v[i] = 0.02f * static_cast<float>(static_cast<int>(i * 7 % 13) - 6);
  return g.constant<float>(dims, v);
}

Probe conv(int32_t size, int32_t in, int32_t out, int32_t kernel, int32_t stride, int32_t groups) {
  ops::conv::Attrs a;
  for (int i = 0; i < 2; ++i) a.strides[i] = stride, a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  a.groups = groups;
  a.activation = 2;
  return {"conv", {1, size, size, in}, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            return b.op(OpId::conv, a, {x, weights(g, {out, kernel, kernel, in / groups}), weights(g, {out})});
          }};
}

Probe product(int32_t rows, int32_t in, int32_t out) {
  ops::matmul::Attrs a;
  a.transpose_b = 1;
  return {"matmul", {rows, in}, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            return b.op(OpId::matmul, a, {x, weights(g, {out, in}), weights(g, {out})});
          }};
}

template <class A>
Probe unary(const char* name, OpId id, const A& a, const ir::Dims& dims) {
  return {name, dims, [=](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) { return b.op(id, a, {x}); }};
}

// `count` additions one behind the other.
Probe chain(int count, const ir::Dims& dims) {
  return {"chain", dims, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            ir::Value* one = weights(g, {dims.back()});
            for (int i = 0; i < count; ++i) x = b.op(i % 2 == 0 ? OpId::add : OpId::mul, {x, one});
            return x;
          }};
}

// What models are made of, at sizes from their beginnings and their ends.
std::vector<Probe> probes() {
  std::vector<Probe> all = {
      chain(1, {1, 16}),
      chain(8, {1, 16}),
      chain(32, {1, 16}),
      chain(1, {1, 56, 56, 64}),
      chain(1, {1, 112, 112, 96}),
      chain(1, {1, 28, 28, 64}),
      chain(8, {1, 56, 56, 32}),
      chain(1, {1, 14, 14, 256}),
      conv(224, 3, 32, 3, 2, 1),
      conv(56, 64, 64, 3, 1, 1),
      conv(28, 128, 128, 3, 1, 1),
      conv(14, 256, 256, 3, 1, 1),
      conv(7, 512, 512, 3, 1, 1),
      conv(112, 32, 16, 1, 1, 1),
      conv(56, 24, 144, 1, 1, 1),
      conv(56, 64, 256, 1, 1, 1),
      conv(28, 192, 32, 1, 1, 1),
      conv(14, 96, 576, 1, 1, 1),
      conv(14, 576, 96, 1, 1, 1),
      conv(7, 960, 160, 1, 1, 1),
      conv(7, 320, 1280, 1, 1, 1),
      conv(28, 512, 128, 1, 1, 1),
      conv(112, 16, 96, 1, 1, 1),
      conv(112, 32, 32, 3, 1, 32),
      conv(112, 96, 96, 3, 2, 96),
      conv(56, 144, 144, 3, 1, 144),
      conv(28, 192, 192, 3, 1, 192),
      conv(14, 576, 576, 3, 1, 576),
      conv(7, 960, 960, 3, 1, 960),
      conv(14, 576, 576, 5, 1, 576),
      conv(56, 58, 58, 3, 1, 2),
      conv(28, 128, 128, 3, 1, 32),
      conv(32, 16, 16, 3, 1, 1),
      conv(16, 32, 32, 3, 1, 1),
      conv(8, 64, 64, 3, 1, 1),
      conv(64, 24, 24, 1, 1, 1),
      conv(16, 88, 96, 1, 1, 1),
      conv(8, 96, 96, 1, 1, 1),
      conv(64, 24, 24, 3, 1, 24),
      conv(32, 48, 48, 5, 1, 48),
      conv(8, 96, 96, 3, 1, 96),
      chain(4, {1, 16, 16, 96}),
      product(1, 1280, 1000),
      product(1, 2048, 1000),
      product(1, 512, 512),
      product(16, 256, 256),
      product(197, 192, 768),
      product(128, 768, 768),
      unary("relu", OpId::relu, NoAttrs{}, {1, 56, 56, 64}),
      unary("sigmoid", OpId::sigmoid, NoAttrs{}, {1, 28, 28, 192}),
      unary("exp", OpId::exp, NoAttrs{}, {1, 56, 56, 32}),
      unary("tanh", OpId::tanh, NoAttrs{}, {1, 14, 14, 256}),
      unary("softmax", OpId::softmax, ops::softmax::Attrs{}, {1, 1000}),
      unary("softmax", OpId::softmax, ops::softmax::Attrs{}, {12, 197, 197}),
      unary("transpose", OpId::transpose, ops::transpose::Attrs{{0, 3, 1, 2}, 4}, {1, 28, 28, 128}),
  };
  for (const int32_t size : {112, 28}) {
    ops::max_pool::Attrs a;
    for (int i = 0; i < 2; ++i) a.kernel[i] = 3, a.strides[i] = 2, a.pads_begin[i] = a.pads_end[i] = 1;
    all.push_back(unary("max_pool", OpId::max_pool, a, {1, size, size, 64}));
  }
  for (const int32_t size : {64, 14}) {
    ops::resize::Attrs a;
    a.mode = size == 64 ? ops::resize::kLinear : ops::resize::kNearest;
    a.sizes[0] = a.sizes[1] = 2 * size;
    all.push_back(unary("resize", OpId::resize, a, {1, size, size, 1024 / size}));
  }
  for (const int32_t size : {56, 16}) {
    ops::pad::Attrs a;
    a.begin[1] = a.begin[2] = a.end[1] = a.end[2] = 1;
    all.push_back(unary("pad", OpId::pad, a, {1, size, size, 64}));
  }
  for (const int32_t channels : {1280, 512}) {
    ops::ReduceAttrs mean;
    mean.axes[0] = 1, mean.axes[1] = 2, mean.axis_count = 2;
    all.push_back(unary("mean", OpId::reduce_mean, mean, {1, 7, 7, channels}));
  }
  all.push_back({"layer_norm", {197, 192}, [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
                   const auto y = b.ops(OpId::layer_norm, ops::layer_norm::Attrs{}, {x, weights(g, {192}), weights(g, {192})}, 1);
                   return y.empty() ? nullptr : y[0];
                 }});
  all.push_back({"concat", {1, 28, 28, 64}, [](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) {
                   ops::concat::Attrs a;
                   a.axis = -1;
                   return b.op(OpId::concat, a, {x, x});
                 }});
  all.push_back({"matrices", {12, 197, 64}, [](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) {
                   ops::matmul::Attrs a;
                   a.transpose_b = 1;
                   return b.op(OpId::matmul, a, {x, x});
                 }});
  return all;
}

// `count` blocks of operators one behind the other, with a shortcut around each.
Probe blocks(int count, const std::vector<Probe>& parts) {
  return {"blocks", parts[0].input, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            for (int i = 0; i < count; ++i) {
              ir::Value* y = x;
              for (const Probe& p : parts) y = p.make(g, b, y);
              x = b.op(OpId::add, {x, y});
            }
            return x;
          }};
}

// As they stand in models: in there, nothing that an operator reads is as near as when it runs alone, over and over.
std::vector<Probe> models() {
  const auto inverted = [](int32_t size, int32_t narrow, int32_t wide) {
    return blocks(3, {conv(size, narrow, wide, 1, 1, 1), conv(size, wide, wide, 3, 1, wide), conv(size, wide, narrow, 1, 1, 1)});
  };
  return {inverted(56, 24, 144), inverted(28, 32, 192), inverted(14, 96, 576),
          inverted(8, 96, 192),  inverted(7, 160, 960), blocks(2, {conv(28, 128, 128, 3, 1, 1), conv(28, 128, 128, 3, 1, 1)})};
}

struct Sample {
  std::vector<double> units;  // hand-overs, bytes moved, then the backend's kinds
  double ns = 0;
};

struct Place {
  const mote_backend* device;
  const mote_backend_compiler* lowers;
  uint32_t count;
  const char* const* names;
  void (*work)(const mote_backend_op*, const mote_backend_rates*, double*);
};

// False when the place does not take the probe.
bool take(const Probe& probe, const Place& place, const mote_backend_rates& rates, Sample* out) {
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  ir::Value* x = graph.add_input(m, "x", DType::f32, probe.input);
  ir::NodeBuilder b(graph, *m.block, probe.name);
  ir::Value* y = probe.make(graph, b, x);
  if (y == nullptr || !b.ok()) throw Failure("the model that backends are measured on cannot be made: " + b.error());
  graph.add_output(m, "y", y);
  passes::run_pass("pack", graph);  // weights as fast kernels read them
  std::vector<ir::Node*> nodes;
  double units[MOTE_BACKEND_WORK_KINDS] = {};
  for (const auto& n : m.block->nodes) {
    const placement::NodeView view(*n);
    if (place.lowers->supports(&view.op()) != nullptr) return false;
    place.work(&view.op(), &rates, units);
    nodes.push_back(n.get());
  }
  placement::Blob blob;
  std::string error;
  const placement::Boundary boundary = placement::boundary_of(nodes);
  if (!placement::make_blob(nodes, boundary, *place.lowers, nullptr, &blob, &error)) throw Failure(probe.name + ": " + error);
  emit::FileBytes bytes = emit::FileBytes::of_size(blob.bytes.size());
  std::copy(blob.bytes.begin(), blob.bytes.end(), bytes.data());
  const auto tensor_of = [](const ir::Value& v, std::vector<float>& data, std::vector<int32_t>& strides) {
    data.assign(static_cast<size_t>(v.type.count()), 0.5f);
    strides.assign(v.type.dims.size(), 4);
    for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * v.type.dims[i];
    return mote_backend_tensor{
        data.data(), v.type.dims.data(), strides.data(), static_cast<uint8_t>(DType::f32), static_cast<uint8_t>(v.type.rank()), 0};
  };
  std::vector<float> in_data, out_data;
  std::vector<int32_t> in_strides, out_strides;
  const mote_backend_tensor in = tensor_of(*x, in_data, in_strides), to = tensor_of(*y, out_data, out_strides);
  const mote_backend_blob view = {bytes.data(), bytes.size, blob.version.c_str(), blob.capabilities.c_str(), 0};
  void* handle = nullptr;
  uint32_t release = 0;
  if (const uint32_t code = place.device->init(&view, &in, 1, &to, 1, &handle, &release))
    throw Failure(std::string(place.device->name) + " failed with " + std::to_string(code));
  std::vector<double> times;
  const uint64_t begin = clock_now_ns();
  for (int i = 0; i <= kRuns; ++i) {
    const uint64_t start = clock_now_ns();
    const uint32_t code = place.device->execute(handle, &in, 1, &to, 1);
    const uint64_t end = clock_now_ns();
    if (code != 0) throw Failure(std::string(place.device->name) + " failed with " + std::to_string(code));
    if (i > 0) times.push_back(static_cast<double>(end - start));  // the first one finds cold caches
    if (i > 2 && static_cast<double>(end - begin) > kMostMs * 1e6) break;
  }
  place.device->destroy(handle);
  out->units = {1, static_cast<double>(x->type.byte_size() + y->type.byte_size())};
  out->units.insert(out->units.end(), units, units + place.count);
  out->ns = std::max(1.0, median(times));
  return true;
}

target::BackendRates measure_place(const std::string& name, const Place& place, const MeasureSettings& settings) {
  target::BackendRates r;
  r.backend = name;
  uint32_t units = 0;
  r.device = place.device->device != nullptr ? place.device->device(&units) : "";
  r.units = units;
  mote_backend_rates rates = place.lowers->rates;
  rates.units = units;
  std::vector<std::vector<double>> rows;
  std::vector<double> results;
  const std::vector<Probe> all = probes();
  for (size_t i = 0; i < all.size(); ++i) {
    Sample s;
    if (settings.progress) settings.progress(name + ", " + all[i].name, static_cast<double>(i) / static_cast<double>(all.size()));
    if (!take(all[i], place, rates, &s)) continue;
    rows.push_back(s.units);
    results.push_back(s.ns);
  }
  std::vector<double> x = relative_least_squares(rows, results), ratios;
  for (const Probe& p : models()) {
    Sample s;
    if (!take(p, place, rates, &s)) continue;
    double predicted = 0;
    for (size_t i = 0; i < x.size(); ++i) predicted += s.units[i] * x[i];
    ratios.push_back(predicted > 0 ? s.ns / predicted : 1);
  }
  if (!ratios.empty())
    for (size_t i = 2; i < x.size(); ++i) x[i] *= median(ratios);
  r.sync_ns = x[0];
  r.transfer_gbps = x[1] > 0 ? 1 / x[1] : 1e6;
  for (uint32_t i = 0; i < place.count; ++i) r.work_ns.emplace_back(place.names[i], x[2 + i]);
  return r;
}

}  // namespace

void measure_backends(const std::vector<std::string>& names, const MeasureSettings& settings, target::Target* out) {
  backends::reference_kernels = kernels::select_for(settings.isa);
  const mote_backend_compiler* cpu = backends::reference_compiler();
  out->backends.push_back(measure_place(
      "cpu", {backends::reference_backend(), cpu, placement::kCpuWorkCount, placement::kCpuWorkNames, &placement::cpu_work}, settings));
  for (const std::string& name : names) {
    if (name == "cpu") continue;
    const KnownBackend* k = find_known_backend(name);
    if (k == nullptr || k->compiler == nullptr) throw usage("--backend: expected some of " + backend_names() + ", found '" + name + "'");
    if (const uint32_t absent = k->device->probe(k->compiler->version, k->compiler->capabilities))
      throw Failure(name + ": " + (k->device->describe != nullptr ? k->device->describe(absent) : "not there"));
    if (k->compiler->work_count == 0) throw Failure(name + ": this backend has nothing to measure");
    out->backends.push_back(
        measure_place(name, {k->device, k->compiler, k->compiler->work_count, k->compiler->work_names, k->compiler->work}, settings));
  }
}

}  // namespace mote::tools
