#include "mote/tools/measure_backends.h"

#include <algorithm>
#include <cmath>

#include "mote/backends/reference/reference_backend.h"
#include "mote/compiler/passes/pass.h"
#include "mote/compiler/placement/node_view.h"
#include "mote/compiler/placement/pieces.h"
#include "mote/compiler/placement/rates.h"
#include "mote/kernels/select.h"
#include "mote/platform/clock.h"
#include "mote/tools/backends.h"
#include "mote/tools/failure.h"
#include "mote/tools/least_squares.h"
#include "mote/tools/measure_probes.h"

namespace mote::tools {
namespace {

constexpr int kRuns = 9;
constexpr double kMostMs = 400;  // of one probe

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
  bool bytes;  // it has kinds of work for 8-bit numbers, if it takes them at all
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
  program::FileBytes bytes = program::FileBytes::of_size(blob.bytes.size());
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
  std::vector<Probe> all = measure_probes();
  if (place.bytes)
    for (Probe& p : measure_byte_probes()) all.push_back(std::move(p));
  for (size_t i = 0; i < all.size(); ++i) {
    Sample s;
    if (settings.progress) settings.progress(name + ", " + all[i].name, static_cast<double>(i) / static_cast<double>(all.size()));
    if (!take(all[i], place, rates, &s)) continue;
    rows.push_back(s.units);
    results.push_back(s.ns);
  }
  std::vector<double> x = relative_least_squares(rows, results), ratios;
  for (const Probe& p : measure_models()) {
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
      "cpu", {backends::reference_backend(), cpu, placement::kCpuWorkCount, placement::kCpuWorkNames, &placement::cpu_work, false},
      settings));
  for (const std::string& name : names) {
    if (name == "cpu") continue;
    const KnownBackend* k = find_known_backend(name);
    if (k == nullptr || k->compiler == nullptr) throw usage("--backend: expected some of " + backend_names() + ", found '" + name + "'");
    if (const uint32_t absent = k->device->probe(k->compiler->version, k->compiler->capabilities))
      throw Failure(name + ": " + (k->device->describe != nullptr ? k->device->describe(absent) : "not there"));
    if (k->compiler->work_count == 0) throw Failure(name + ": this backend has nothing to measure");
    out->backends.push_back(
        measure_place(name, {k->device, k->compiler, k->compiler->work_count, k->compiler->work_names, k->compiler->work, true}, settings));
  }
}

}  // namespace mote::tools
