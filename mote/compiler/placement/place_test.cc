// Placement from the graph to the running program, on a backend that computes with the runtime itself and counts.

#include "mote/compiler/placement/place.h"
#include "mote/compiler/assemble/lower.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/schedule/schedule.h"
#include "mote/format/delegate.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::placement {
namespace {

// --- the mock: takes relu, add and mul of f32 ------------------------------------------------------------------------

struct Mock {
  bool present = true;
  uint32_t abi = MOTE_BACKEND_ABI;
  const char* version = "1";
  int executed = 0, handles = 0;
  uint32_t fail_with = 0;  // of execute
  bool asynchronous = false;
  uint32_t fail_wait_with = 0;
  int submitted = 0, waited = 0;
  std::string order;  // s: submitted, w: waited for
} mock;

const char* mock_supports(const mote_backend_op* op) {
  const auto id = static_cast<OpId>(op->op);
  return id == OpId::relu || id == OpId::add || id == OpId::mul ? nullptr : "it only adds and multiplies";
}
double mock_cost(const mote_backend_op*, const mote_backend_rates*) { return 0; }
uint32_t mock_lower(const uint8_t* program, uint64_t size, void (*emit)(void*, const void*, uint64_t), void* self, uint64_t* device_bytes) {
  *device_bytes = 7;
  emit(self, program, size);
  return 0;
}
const mote_backend_compiler kMockCompiler = {MOTE_BACKEND_COMPILER_ABI,
                                             "mock",
                                             "1",
                                             "f32",
                                             {1000, 1000, 1000, 0, 0, 0, {}},
                                             &mock_supports,
                                             &mock_cost,
                                             &mock_lower,
                                             0,
                                             nullptr,
                                             nullptr,
                                             0};

uint32_t mock_probe(const char* version, const char*) {
  return !mock.present ? 1 | MOTE_BACKEND_ABSENT : std::strcmp(version, mock.version) != 0 ? 2 : 0;
}
uint32_t mock_init(const mote_backend_blob* blob, const mote_backend_tensor*, uint32_t, const mote_backend_tensor*, uint32_t, void** handle,
                   uint32_t*) {
  emit::FileBytes file = emit::FileBytes::of_size(static_cast<size_t>(blob->size));
  std::memcpy(file.data(), blob->data, file.size);
  auto* loaded = new runtest::Loaded(std::move(file));
  if (!loaded->status.ok()) return delete loaded, 3;
  *handle = loaded;
  ++mock.handles;
  return 0;
}
uint32_t mock_execute(void* handle, const mote_backend_tensor* in, uint32_t in_count, const mote_backend_tensor* out, uint32_t out_count) {
  if (mock.fail_with != 0) return mock.fail_with;
  const auto bytes = [](const mote_backend_tensor& t) {
    size_t n = 4;
    for (int i = 0; i < t.rank; ++i) n *= static_cast<size_t>(t.dims[i]);
    return n;
  };
  std::vector<std::vector<uint8_t>> inputs, outputs;
  for (uint32_t i = 0; i < in_count; ++i) {
    const auto* p = static_cast<const uint8_t*>(in[i].data);
    inputs.emplace_back(p, p + bytes(in[i]));
  }
  if (!static_cast<runtest::Loaded*>(handle)->run(0, inputs, &outputs).ok()) return 4;
  for (uint32_t i = 0; i < out_count; ++i) std::memcpy(out[i].data, outputs[i].data(), outputs[i].size());
  ++mock.executed;
  return 0;
}
// Computes at the last moment: whoever does not wait sees nothing.
struct Pending {
  std::vector<mote_backend_tensor> in, out;
} pending;
uint32_t mock_submit(void* handle, const mote_backend_tensor* in, uint32_t in_count, const mote_backend_tensor* out, uint32_t out_count,
                     void** fence) {
  if (mock.fail_with != 0) return mock.fail_with;
  pending = {{in, in + in_count}, {out, out + out_count}};
  *fence = handle;
  ++mock.submitted;
  mock.order += 's';
  return 0;
}
uint32_t mock_wait(void* handle, void* fence) {
  EXPECT_EQ(handle, fence);
  ++mock.waited;
  mock.order += 'w';
  if (mock.fail_wait_with != 0) return mock.fail_wait_with;
  return mock_execute(handle, pending.in.data(), static_cast<uint32_t>(pending.in.size()), pending.out.data(),
                      static_cast<uint32_t>(pending.out.size()));
}
void mock_destroy(void* handle) {
  --mock.handles;
  delete static_cast<runtest::Loaded*>(handle);
}

// --- compiling and running -------------------------------------------------------------------------------------------

struct Result {
  bool compiled = false;
  ir::Problems problems;
  Placed placed;
  emit::FileBytes file;
};

// y = exp(relu(x + x) * x); exp stays on the CPU.
Result compile(const std::string& policy, bool branches = false) {
  Result r;
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  ir::Value* x = graph.add_input(m, "x", DType::f32, {2, 3});
  ir::NodeBuilder b(graph, *m.block, "node");
  ir::Value* y = b.op(OpId::mul, {b.op(OpId::relu, {b.op(OpId::add, {x, x})}), x});
  // With branches, something for the CPU to do meanwhile: y * exp(tanh(x)), which is subtracted from itself again.
  ir::Value* z = branches ? b.op(OpId::exp, {b.op(OpId::tanh, {x})}) : nullptr;
  graph.add_output(
      m, "y", b.op(OpId::exp, {branches ? b.op(OpId::sub, {b.op(OpId::pow, {y, b.op(OpId::div, {z, z})}), b.op(OpId::sub, {z, z})}) : y}));
  EXPECT_TRUE(b.ok()) << b.error();
  PlaceOptions options;
  std::string error;
  EXPECT_TRUE(parse_policy(policy, &options.policy, &error)) << error;
  options.backends = {&kMockCompiler};
  if (!place(graph, options, &r.placed, &r.problems)) return r;
  schedule::Plan plan;
  emit::ProgramRecords records;
  schedule::PlanOptions how;
  how.reorder = false;
  EXPECT_TRUE(schedule::make_plan(graph, how, &plan, &error)) << error;
  EXPECT_TRUE(assemble::lower(plan, {}, &records, &error)) << error;
  record(r.placed, options.policy, &records);
  r.compiled = emit::write_program(records, {}, emit::builtin_registry(), &r.file, &error);
  EXPECT_TRUE(r.compiled) << error;
  return r;
}

struct Trace {
  std::vector<Status> degraded;
};

struct Ran {
  Status loaded, ran;
  uint32_t degraded = 0;
  std::string degraded_name;
  Trace trace;
};

Ran run(const Result& r, uint32_t max_steps = 0, bool traced = true) {
  static mote_backend device;
  device = {mock.abi, "mock", "1", &mock_probe, &mock_init, &mock_execute, &mock_destroy, nullptr, nullptr, nullptr, nullptr};
  if (mock.asynchronous) device.submit = &mock_submit, device.wait = &mock_wait;
  static const mote_backend* const list[] = {&device};
  Ran out;
  TraceHook hook{&out.trace, [](void* self, const TraceEvent& e) {
                   if (e.kind == TraceEvent::Kind::kDegraded) static_cast<Trace*>(self)->degraded.push_back(e.why);
                 }};
  InstanceOptions options;
  options.backends = {list, mock.abi != 0 ? size_t{1} : size_t{0}};
  if (traced) options.trace = &hook;
  runtest::Loaded loaded(r.file, emit::builtin_registry(), options);
  out.loaded = loaded.status;
  if (!loaded.status.ok()) return out;
  out.degraded = loaded.instance.degraded_count();
  if (out.degraded > 0) out.degraded_name = loaded.instance.degraded_why().name;
  const std::vector<float> x = {-1, 0.5f, 1, 0, 0.25f, -2};
  std::vector<std::vector<uint8_t>> outputs;
  RunLimits limits;
  limits.max_steps = max_steps;
  out.ran = loaded.run(0, {runtest::bytes_of(x)}, &outputs, {}, limits);
  if (!out.ran.ok()) return out;
  const std::vector<float> y = runtest::values_of<float>(outputs[0]);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], std::exp(std::max(2 * x[i], 0.0f) * x[i]), 1e-5f);
  EXPECT_TRUE(loaded.guards_intact());
  return out;
}

class PlacementMatrix : public testing::Test {
 protected:
  void SetUp() override { mock = Mock{}; }
  void TearDown() override { EXPECT_EQ(mock.handles, 0); }
};

// require, allow, forbid x device present, absent, another version, another interface x fallback refused, listed.
TEST_F(PlacementMatrix, NothingFallsBackInSilence) {
  const std::string rules[] = {"[default]\nrequire = [\"mock\"]\n[op.exp]\nallow = [\"cpu\"]\n",
                               "[default]\nallow = [\"mock\", \"cpu\"]\n[op.exp]\nallow = [\"cpu\"]\n", "[default]\nforbid = [\"mock\"]\n"};
  enum Device { kPresent, kAbsent, kNotRegistered, kOtherVersion, kOtherInterface, kDeviceCount };
  const Why reasons[] = {Why::kNone, Why::kBackendAbsent, Why::kBackendMissing, Why::kBackendVersion, Why::kBackendVersion};
  int cells = 0;
  for (int rule = 0; rule < 3; ++rule) {
    for (int device = 0; device < kDeviceCount; ++device) {
      for (const bool listed : {false, true}) {
        SCOPED_TRACE("rule " + std::to_string(rule) + ", device " + std::to_string(device) + ", listed " + std::to_string(listed));
        mock = Mock{};
        ++cells;
        const Result r = compile((listed ? "fallback = \"listed\"\n" : "fallback = \"refuse\"\n") + rules[rule]);
        ASSERT_TRUE(r.compiled);
        mock.present = device != kAbsent;
        if (device == kNotRegistered) mock.abi = 0;
        if (device == kOtherVersion) mock.version = "2";
        if (device == kOtherInterface) mock.abi = MOTE_BACKEND_ABI + 1;
        const Ran ran = run(r);
        if (rule == 2) {
          EXPECT_TRUE(r.placed.blobs.empty());
          EXPECT_TRUE(ran.ran.ok());
          EXPECT_EQ(mock.executed, 0);
        } else if (device == kPresent) {
          EXPECT_TRUE(ran.ran.ok());
          EXPECT_EQ(mock.executed, 1);
          EXPECT_EQ(ran.degraded, 0u);
          EXPECT_TRUE(ran.trace.degraded.empty());
        } else if (listed) {
          EXPECT_TRUE(ran.ran.ok());
          EXPECT_EQ(mock.executed, 0);
          EXPECT_EQ(ran.degraded, 1u);
          EXPECT_EQ(ran.degraded_name, "mock");
          ASSERT_EQ(ran.trace.degraded.size(), 1u);
          EXPECT_EQ(ran.trace.degraded[0], Status(Status::kBackend, reasons[device]));
        } else {
          EXPECT_EQ(ran.loaded, Status(Status::kBackend, reasons[device]));
          EXPECT_EQ(mock.executed, 0);
        }
      }
    }
  }
  EXPECT_EQ(cells, 3 * kDeviceCount * 2);
}

TEST_F(PlacementMatrix, TheCpuWorksWhileABackendDoes) {
  mock.asynchronous = true;
  const Result r = compile("[op.mul]\nrequire = [\"mock\"]\n[op.add]\nrequire = [\"mock\"]\n", true);
  ASSERT_TRUE(r.compiled);
  emit::ProgramRecords back;
  ASSERT_TRUE(emit::read_records(r.file.span(), &back));
  uint32_t overlap = 0;
  for (const Instruction& n : back.instructions)
    if (n.op == static_cast<uint16_t>(ControlOp::kDelegate)) overlap = std::max(overlap, overlap_count(n, back.attrs.data() + n.attrs));
  std::string order;
  for (const Instruction& n : back.instructions) order += std::to_string(n.op) + " ";
  SCOPED_TRACE(order);
  EXPECT_GE(overlap, 2u) << "tanh and exp need nothing of the backend";
  EXPECT_TRUE(run(r, 0, false).ran.ok());
  EXPECT_EQ(mock.order, "sw");
  // A trace waits at once, so that it shows how long the backend takes.
  EXPECT_TRUE(run(r).ran.ok());
  EXPECT_EQ(mock.order, "sw");
  // Whatever ends a run in between: what was submitted is waited for.
  mock.order = "";
  EXPECT_EQ(run(r, 2, false).ran.code(), Status::kStepLimit);
  EXPECT_EQ(mock.order, "sw");
  mock.fail_wait_with = 7;
  EXPECT_EQ(run(r, 0, false).ran, Status(Status::kBackend, Why::kBackendFailed));
  mock.fail_wait_with = 0;
  mock.fail_with = 8;
  EXPECT_EQ(run(r, 0, false).ran, Status(Status::kBackend, Why::kBackendFailed));
  EXPECT_EQ(mock.submitted, mock.waited);
}

TEST_F(PlacementMatrix, CompilingFailsWithEveryOperatorThatCannotBePlaced) {
  const Result r = compile("[default]\nrequire = [\"mock\"]\n");
  EXPECT_FALSE(r.compiled);
  ASSERT_EQ(r.problems.size(), 1u);
  EXPECT_NE(r.problems[0].where.find("(exp)"), std::string::npos);
  EXPECT_NE(r.problems[0].what.find("it only adds and multiplies"), std::string::npos);
}

// A model has hundreds of nodes and few kinds of them.
TEST_F(PlacementMatrix, RefusalsForOneReasonAreOneProblem) {
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  ir::Value* y = graph.add_input(m, "x", DType::f32, {2, 3});
  for (int i = 0; i < 40; ++i) {
    ir::NodeBuilder b(graph, *m.block, "node" + std::to_string(i));
    y = b.op(i % 10 == 0 ? OpId::exp : OpId::tanh, {y});
  }
  graph.add_output(m, "y", y);
  PlaceOptions options;
  std::string error;
  ASSERT_TRUE(parse_policy("[default]\nrequire = [\"mock\"]\n[node.\"gone\"]\nallow = [\"cpu\"]\n", &options.policy, &error)) << error;
  options.backends = {&kMockCompiler};
  Placed placed;
  ir::Problems problems;
  EXPECT_FALSE(place(graph, options, &placed, &problems));
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].where, "4 nodes (exp): node0, node10, node20, ...");
  EXPECT_EQ(problems[1].where, "36 nodes (tanh): node1, node2, node3, ...");
  EXPECT_NE(problems[1].advice.find("[op.tanh]"), std::string::npos) << problems[1].advice;
  options.policy.all.require.clear();
  problems.clear();
  ASSERT_TRUE(place(graph, options, &placed, &problems));
  EXPECT_NE(placed.notes.back().find("[node.\"gone\"] does nothing"), std::string::npos);
}

TEST_F(PlacementMatrix, TheFileSaysWhatRunsWhereAndWhatWasDemanded) {
  const std::string policy = "[default]\nallow = [\"mock\", \"cpu\"]\n[op.mul]\nrequire = [\"mock\"]\n";
  const Result r = compile(policy);
  ASSERT_TRUE(r.compiled);
  ASSERT_EQ(r.placed.pieces.size(), 2u);
  EXPECT_EQ(r.placed.pieces[0].backend, "mock");
  EXPECT_EQ(r.placed.pieces[0].nodes.size(), 3u);
  emit::ProgramRecords back;
  ASSERT_TRUE(emit::read_records(r.file.span(), &back));
  ASSERT_EQ(back.placements.size(), 2u);
  EXPECT_EQ(back.placements[0].bytes_in, 24u);
  EXPECT_EQ(back.placements[0].bytes_out, 24u);
  ASSERT_EQ(back.backends.size(), 1u);
  EXPECT_EQ(back.backends[0].device_bytes, 7u);
  EXPECT_NE(back.policy, 0u);
}

TEST_F(PlacementMatrix, AFailingDeviceIsAnErrorAndTheNextRunCanWork) {
  const Result r = compile("fallback = \"listed\"\n[op.mul]\nrequire = [\"mock\"]\n");
  mock.fail_with = 9;
  const Ran failed = run(r);
  EXPECT_TRUE(failed.loaded.ok());
  EXPECT_EQ(failed.ran, Status(Status::kBackend, Why::kBackendFailed));
  mock.fail_with = 0;
  EXPECT_TRUE(run(r).ran.ok());
}

}  // namespace
}  // namespace mote::placement
