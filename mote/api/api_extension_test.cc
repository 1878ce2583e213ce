// Custom operators and backends through the installed headers.

#include <gtest/gtest.h>

#include "mote/api/mote.hpp"
#include "mote/api/testing/programs.h"

namespace mote {
namespace {

using namespace api_test;

struct ScaleAttrs {
  float factor;
};

// acme::scale: y = x * factor + user offset, f32, any shape; scratch used to prove that it is there.
uint32_t scale_infer(void*, const mote_op_call* call, mote_op_type* out) {
  const mote_op_tensor& x = call->inputs[0];
  if (x.dtype != MOTE_F32) return MOTE_SHAPE;
  if (static_cast<const ScaleAttrs*>(call->attrs)->factor != static_cast<const ScaleAttrs*>(call->attrs)->factor)
    return MOTE_INVALID_ARGUMENT;
  out[0].dtype = MOTE_F32;
  out[0].rank = x.rank;
  for (int i = 0; i < x.rank; ++i) out[0].dims[i] = x.dims[i];
  return MOTE_OK;
}
uint32_t scale_run(void* user, const mote_op_call* call) {
  const mote_op_tensor &x = call->inputs[0], &y = call->outputs[0];
  int32_t n = 1;
  for (int i = 0; i < x.rank; ++i) n *= x.dims[i];
  if (call->scratch_bytes < sizeof(float) * static_cast<size_t>(n)) return MOTE_INTERNAL;
  auto* temp = static_cast<float*>(call->scratch);
  for (int32_t i = 0; i < n; ++i) temp[i] = static_cast<const float*>(x.data)[i] * static_cast<const ScaleAttrs*>(call->attrs)->factor;
  for (int32_t i = 0; i < n; ++i) static_cast<float*>(y.data)[i] = temp[i] + *static_cast<const float*>(user);
  return temp[0] == 666 ? 99u : 0u;
}
uint32_t scale_scratch(void*, const mote_op_call* call) {
  uint32_t n = sizeof(float);
  for (int i = 0; i < call->inputs[0].rank; ++i) n *= static_cast<uint32_t>(call->inputs[0].dims[i]);
  return n;
}

mote_custom_op scale_op(float* offset, const char* name = "acme::scale") {
  mote_custom_op op{};
  op.abi = MOTE_CUSTOM_OP_ABI;
  op.name = name;
  op.user = offset;
  op.attrs_size = sizeof(ScaleAttrs);
  op.min_inputs = op.max_inputs = op.min_outputs = op.max_outputs = 1;
  op.infer = &scale_infer;
  op.run = &scale_run;
  op.scratch = &scale_scratch;
  return op;
}

// A program that uses it. The certificate's scratch is computed by the writer with an equal definition of its own.
Status build_infer(const InferContext& c) noexcept {
  c.same_as(0, 0, DType::f32);
  return Status::kOk;
}
KernelFn build_select(const OpContext&) noexcept {
  return [](const OpContext&) noexcept -> Status { return Status::kOk; };
}
Scratch build_scratch(const OpContext& c) noexcept { return {static_cast<uint32_t>(4 * c.input(0).count()), 0}; }

emit::FileBytes scale_program(float factor) {
  static const OpDef def{0, sizeof(ScaleAttrs), 0, 1, 1, 1, 1, 0, 1, "acme::scale", &build_infer, &build_select, &build_scratch};
  const OpRegistry ops({&def, 1}, &emit::builtin_registry());
  emit::ProgramBuilder b(ops);
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {3});
  const emit::TensorId y = b.temp(DType::f32, {3});
  const ScaleAttrs attrs{factor};
  b.custom_into("acme::scale", &attrs, sizeof attrs, {x}, {y});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {y}));
  return finish(b);
}

class ApiExtension : public ::testing::Test {
 protected:
  void SetUp() override {
    mote_registry* r = nullptr;
    ASSERT_EQ(mote_registry_create(&r), 0u);
    registry.reset(r);
  }
  mote_status open(const emit::FileBytes& file) {
    mote_open_options o{};
    o.struct_size = sizeof o;
    o.registry = registry.get();
    mote_program* p = nullptr;
    const mote_status s = mote_program_open_memory(file.data(), file.size, &o, &p, error.get());
    program.reset(p);
    if (s != 0) return s;
    mote_instance* i = nullptr;
    const mote_status created = mote_instance_create(p, nullptr, &i, error.get());
    instance.reset(i);
    return created;
  }
  mote_status run(std::vector<float> x, std::vector<float>* y) {
    y->assign(3, -1);
    mote_status s = mote_instance_bind_input(instance.get(), 0, 0, x.data(), 12, error.get());
    if (s == 0) s = mote_instance_bind_output(instance.get(), 0, 0, y->data(), 12, error.get());
    return s == 0 ? mote_instance_run(instance.get(), 0, nullptr, error.get()) : s;
  }
  std::string message() const { return mote_error_message(error.get()); }

  RegistryHandle registry;
  ProgramHandle program;
  InstanceHandle instance;
  ErrorHandle error{mote_error_create()};
};

TEST_F(ApiExtension, ACustomOperatorRuns) {
  float offset = 0.5f;
  const mote_custom_op op = scale_op(&offset);
  ASSERT_EQ(mote_registry_add_op(registry.get(), &op, error.get()), 0u) << message();
  const emit::FileBytes file = scale_program(2);
  ASSERT_EQ(open(file), 0u) << message();
  std::vector<float> y;
  ASSERT_EQ(run({-5, 1, 2}, &y), 0u) << message();
  EXPECT_EQ(y, (std::vector<float>{0, 2.5f, 4.5f}));
  EXPECT_EQ(mote_status_code(mote_registry_add_op(registry.get(), &op, nullptr)), MOTE_BUSY);
}

TEST_F(ApiExtension, ItsFailureIsReportedWithItsName) {
  float offset = 0;
  const mote_custom_op op = scale_op(&offset);
  ASSERT_EQ(mote_registry_add_op(registry.get(), &op, nullptr), 0u);
  const emit::FileBytes file = scale_program(2);
  ASSERT_EQ(open(file), 0u) << message();
  std::vector<float> y;
  EXPECT_EQ(mote_status_code(run({333, 0, 0}, &y)), MOTE_INTERNAL);
  EXPECT_STREQ(mote_error_op(error.get()), "acme::scale");
  EXPECT_NE(message().find("acme::scale"), std::string::npos) << message();
}

TEST_F(ApiExtension, AttributesItRefusesKeepTheProgramFromOpening) {
  float offset = 0;
  const mote_custom_op op = scale_op(&offset);
  ASSERT_EQ(mote_registry_add_op(registry.get(), &op, nullptr), 0u);
  const emit::FileBytes file = scale_program(__builtin_nanf(""));
  EXPECT_EQ(mote_status_code(open(file)), MOTE_INVALID_ARGUMENT);
}

TEST_F(ApiExtension, WithoutTheOperatorTheMessageNamesIt) {
  const emit::FileBytes file = scale_program(2);
  EXPECT_EQ(mote_status_code(open(file)), MOTE_UNSUPPORTED);
  EXPECT_NE(message().find("acme::scale"), std::string::npos) << message();
}

TEST_F(ApiExtension, ABuiltInOperatorCanBeReplaced) {
  mote_custom_op op{};
  op.abi = MOTE_CUSTOM_OP_ABI;
  op.name = "mote::relu";
  op.flags = MOTE_OP_ELEMENTWISE;
  op.min_inputs = op.max_inputs = op.min_outputs = op.max_outputs = 1;
  op.infer = [](void*, const mote_op_call* call, mote_op_type* out) -> uint32_t {
    out[0].dtype = call->inputs[0].dtype;
    out[0].rank = call->inputs[0].rank;
    for (int i = 0; i < call->inputs[0].rank; ++i) out[0].dims[i] = call->inputs[0].dims[i];
    return 0;
  };
  op.run = [](void*, const mote_op_call* call) -> uint32_t {
    for (int i = 0; i < 4; ++i) static_cast<float*>(call->outputs[0].data)[i] = 42;
    return 0;
  };
  ASSERT_EQ(mote_registry_add_op(registry.get(), &op, nullptr), 0u);
  const emit::FileBytes file = add_relu();
  ASSERT_EQ(open(file), 0u) << message();
  const float x[4] = {};
  float y[4] = {};
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, 16, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_output(instance.get(), 0, 0, y, 16, nullptr), 0u);
  ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, error.get()), 0u) << message();
  EXPECT_EQ(y[2], 42);
}

TEST_F(ApiExtension, IncompleteOperatorsAreRefused) {
  float offset = 0;
  const auto refused = [&](auto change) {
    mote_custom_op op = scale_op(&offset);
    change(op);
    return mote_status_why(mote_registry_add_op(registry.get(), &op, nullptr)) == 244u;
  };
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.abi = 7; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.name = nullptr; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.name = ""; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.infer = nullptr; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.run = nullptr; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.attrs_size = 3; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.attrs_size = 4096; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.flags = 1u << 20; }));
  EXPECT_TRUE(refused([](mote_custom_op& o) { o.min_inputs = 2; }));
}

TEST_F(ApiExtension, ThereIsRoomForSixtyFourAndTheyComeBack) {
  float offset = 0;
  const mote_custom_op op = scale_op(&offset);
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < MOTE_MAX_CUSTOM_OPS; ++i) ASSERT_EQ(mote_registry_add_op(registry.get(), &op, nullptr), 0u) << i;
    EXPECT_EQ(mote_status_code(mote_registry_add_op(registry.get(), &op, nullptr)), MOTE_OUT_OF_MEMORY);
    SetUp();
  }
}

// acme::positives: the positive values of a vector. How many there are, only running tells.
uint32_t positives_infer(void*, const mote_op_call* call, mote_op_type* out) {
  if (call->inputs[0].rank != 1) return MOTE_SHAPE;
  out[0].dtype = MOTE_F32;
  out[0].rank = 1;
  out[0].dims[0] = -1;
  return MOTE_OK;
}
uint32_t positives_run(void*, const mote_op_call* call) {
  int32_t count = 0;
  for (int32_t i = 0; i < call->inputs[0].dims[0]; ++i) {
    const float v = static_cast<const float*>(call->inputs[0].data)[i];
    if (v > 0) static_cast<float*>(call->outputs[0].data)[count++] = v;
  }
  EXPECT_EQ(call->set_output_dim(call, 0, 0, 99), static_cast<uint32_t>(MOTE_SHAPE));
  EXPECT_EQ(call->set_output_dim(call, 0, 1, 1), static_cast<uint32_t>(MOTE_INVALID_ARGUMENT));
  EXPECT_EQ(call->set_output_dim(call, 5, 0, 1), static_cast<uint32_t>(MOTE_INVALID_ARGUMENT));
  return call->set_output_dim(call, 0, 0, count);
}

TEST_F(ApiExtension, ACustomOperatorMaySetItsOutputsSize) {
  static const OpDef def{0,
                         0,
                         kDataDependent,
                         1,
                         1,
                         1,
                         1,
                         0,
                         1,
                         "acme::positives",
                         [](const InferContext& c) noexcept -> Status {
                           const int32_t unknown = kDimUnknown;
                           return c.set(0, DType::f32, 1, &unknown);
                         },
                         &build_select,
                         nullptr};
  const OpRegistry ops({&def, 1}, &emit::builtin_registry());
  emit::ProgramBuilder b(ops);
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {3});
  const emit::TensorId y = b.temp(DType::f32, {3}, 1);
  b.custom_into("acme::positives", nullptr, 0, {x}, {y});
  b.output("y", b.op(OpId::add, NoAttrs{}, {y, y}));
  const emit::FileBytes file = finish(b);
  mote_custom_op op{};
  op.abi = MOTE_CUSTOM_OP_ABI;
  op.name = "acme::positives";
  op.flags = MOTE_OP_DATA_DEPENDENT;
  op.min_inputs = op.max_inputs = op.min_outputs = op.max_outputs = 1;
  op.infer = &positives_infer;
  op.run = &positives_run;
  ASSERT_EQ(mote_registry_add_op(registry.get(), &op, error.get()), 0u) << message();
  ASSERT_EQ(open(file), 0u) << message();
  std::vector<float> result;
  ASSERT_EQ(run({-1, 4, 5}, &result), 0u) << message();
  EXPECT_EQ(result[0], 8);
  EXPECT_EQ(result[1], 10);
  int32_t dims[MOTE_MAX_RANK];
  uint32_t rank = 0;
  ASSERT_EQ(mote_instance_output_dims(instance.get(), 0, 0, dims, &rank), 0u);
  EXPECT_EQ(dims[0], 2);
}

// A backend that doubles, and counts its handles.
int handles = 0;
uint32_t release_request = 0;
const mote_backend kDoubler = {MOTE_BACKEND_ABI,
                               "doubler",
                               "1",
                               [](const char* version, const char*) -> uint32_t { return std::strcmp(version, "1") == 0 ? 0u : 5u; },
                               [](const mote_backend_blob* blob, const mote_backend_tensor*, uint32_t, const mote_backend_tensor*, uint32_t,
                                  void** handle, uint32_t* release) -> uint32_t {
                                 if (blob->size == 0 || blob->data[0] != 7) return 6;
                                 ++handles;
                                 *handle = &handles;
                                 *release = release_request;
                                 return 0;
                               },
                               [](void*, const mote_backend_tensor* in, uint32_t, const mote_backend_tensor* out, uint32_t) -> uint32_t {
                                 for (int i = 0; i < in[0].dims[0]; ++i)
                                   static_cast<float*>(out[0].data)[i] = 2 * static_cast<const float*>(in[0].data)[i];
                                 return static_cast<const float*>(in[0].data)[0] == 13 ? 8 : 0;
                               },
                               [](void*) { --handles; },
                               nullptr,
                               nullptr,
                               nullptr,
                               nullptr};

emit::FileBytes delegate_program(uint8_t blob) {
  emit::ProgramBuilder b;
  const uint32_t backend = b.backend("doubler", "1", "", {blob, 0, 0, 0});
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {3});
  const emit::TensorId y = b.temp(DType::f32, {3});
  b.delegate(backend, 0, {x}, {y});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {y}));
  return finish(b);
}

TEST_F(ApiExtension, ABackendRunsItsPart) {
  ASSERT_EQ(mote_registry_add_backend(registry.get(), &kDoubler, error.get()), 0u) << message();
  const emit::FileBytes file = delegate_program(7);
  ASSERT_EQ(open(file), 0u) << message();
  EXPECT_EQ(handles, 1);
  std::vector<float> y;
  ASSERT_EQ(run({-1, 1, 2}, &y), 0u) << message();
  EXPECT_EQ(y, (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(mote_status_code(run({13, 1, 2}, &y)), MOTE_BACKEND);
  EXPECT_NE(message().find("doubler"), std::string::npos) << message();
  instance.reset();
  EXPECT_EQ(handles, 0);
  const emit::FileBytes bad = delegate_program(9);
  EXPECT_EQ(mote_status_code(open(bad)), MOTE_BACKEND);
  EXPECT_EQ(handles, 0);
}

TEST_F(ApiExtension, BackendsAreNeverReplacedInSilence) {
  const emit::FileBytes file = delegate_program(7);
  EXPECT_EQ(mote_status_why(open(file)), 213u);
  EXPECT_NE(message().find("doubler"), std::string::npos);
  SetUp();
  ASSERT_EQ(mote_registry_add_backend(registry.get(), &kDoubler, nullptr), 0u);
  const char* allowed[] = {"opencl"};
  mote_open_options o{};
  o.struct_size = sizeof o;
  o.registry = registry.get();
  o.backends = allowed;
  o.backend_count = 1;
  mote_program* p = nullptr;
  EXPECT_EQ(mote_status_code(mote_program_open_memory(file.data(), file.size, &o, &p, error.get())), MOTE_POLICY);
  o.backends = nullptr;
  o.backend_count = 0;
  EXPECT_EQ(mote_program_open_memory(file.data(), file.size, &o, &p, error.get()), 0u) << message();
  mote_program_release(p);
  mote_backend broken = kDoubler;
  broken.execute = nullptr;
  SetUp();
  EXPECT_EQ(mote_status_code(mote_registry_add_backend(registry.get(), &broken, nullptr)), MOTE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace mote
