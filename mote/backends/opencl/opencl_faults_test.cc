// A driver that fails: every call of it once, with every kind of failure. What follows is an error that says so, no object is left on the
// device, and the next attempt works. Skipped, by name, where there is no OpenCL device.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "mote/backends/opencl/device.h"
#include "mote/backends/opencl/opencl_backend.h"
#include "mote/compiler/assemble/lower.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/placement/place.h"
#include "mote/compiler/schedule/schedule.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::backends::opencl {
namespace {

struct Injector {
  Api real;
  int calls = 0, fail_at = 0;
  bool once = true;  // else every call from there on: a driver that died
  cl_int code = CL_SUCCESS;
  int live = 0;
} inject;

bool hit() {
  ++inject.calls;
  return inject.fail_at > 0 && (inject.once ? inject.calls == inject.fail_at : inject.calls >= inject.fail_at);
}

template <auto M>
struct Call;
template <class... A, cl_int (*Api::*M)(A...)>
struct Call<M> {
  static cl_int fail(A... a) { return hit() ? inject.code : (inject.real.*M)(a...); }
  static cl_int release(A... a) {
    --inject.live;
    return (inject.real.*M)(a...);
  }
};
// A driver that died computes nothing more; the one behind this test must have come to its end, too.
cl_int finish(cl_command_queue queue) {
  const bool fails = hit();
  const cl_int code = inject.real.clFinish(queue);
  return fails ? inject.code : code;
}
template <auto M>
struct Make;
template <class R, class... A, R (*Api::*M)(A...)>
struct Make<M> {
  static R fail(A... a) {
    cl_int* error = std::get<sizeof...(A) - 1>(std::tie(a...));
    if (hit()) {
      if (error != nullptr) *error = inject.code;
      return nullptr;
    }
    R made = (inject.real.*M)(a...);
    if (made != nullptr) ++inject.live;
    return made;
  }
};

const Api& failing_api() {
  static const Api api = [] {
    Api a = inject.real;
#define INJECT(name) a.name = &Call<&Api::name>::fail
#define MAKE(name) a.name = &Make<&Api::name>::fail
#define RELEASE(name) a.name = &Call<&Api::name>::release
    INJECT(clGetPlatformIDs), INJECT(clGetDeviceIDs), INJECT(clGetDeviceInfo), INJECT(clBuildProgram), INJECT(clGetProgramInfo);
    INJECT(clSetKernelArg), INJECT(clEnqueueNDRangeKernel), INJECT(clEnqueueReadBuffer), INJECT(clEnqueueWriteBuffer), INJECT(clFlush);
    a.clFinish = &finish;
    MAKE(clCreateContext), MAKE(clCreateCommandQueue), MAKE(clCreateProgramWithSource), MAKE(clCreateProgramWithBinary);
    MAKE(clCreateKernel), MAKE(clCreateBuffer);
    RELEASE(clReleaseContext), RELEASE(clReleaseCommandQueue), RELEASE(clReleaseProgram), RELEASE(clReleaseKernel),
        RELEASE(clReleaseMemObject);
#undef INJECT
#undef MAKE
#undef RELEASE
    return a;
  }();
  return api;
}

// y = exp(x + c), all of it on the device.
emit::FileBytes program() {
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  ir::Value* x = graph.add_input(m, "x", DType::f32, {2, 3});
  ir::NodeBuilder b(graph, *m.block, "node");
  graph.add_output(m, "y", b.op(OpId::exp, {b.op(OpId::add, {x, graph.constant<float>({3}, {0, 1, 2})})}));
  placement::PlaceOptions options;
  placement::Placed placed;
  ir::Problems problems;
  std::string error;
  EXPECT_TRUE(placement::parse_policy("[default]\nrequire = [\"opencl\"]\n", &options.policy, &error));
  options.backends = {opencl_compiler()};
  EXPECT_TRUE(placement::place(graph, options, &placed, &problems));
  schedule::Plan plan;
  emit::ProgramRecords records;
  EXPECT_TRUE(schedule::make_plan(graph, {}, &plan, &error) && assemble::lower(plan, {}, &records, &error)) << error;
  placement::record(placed, options.policy, &records);
  emit::FileBytes file;
  EXPECT_TRUE(emit::write_program(records, {}, emit::builtin_registry(), &file, &error)) << error;
  return file;
}

// Creates an instance, runs it twice, closes it.
Status attempt(const emit::FileBytes& file, std::string* text) {
  static const mote_backend* const list[] = {opencl_backend()};
  InstanceOptions options;
  options.backends = {list, 1};
  runtest::Loaded loaded(file, emit::builtin_registry(), options);
  *text = describe(static_cast<uint32_t>(loaded.diagnostic.found));
  if (!loaded.status.ok()) return loaded.status;
  const std::vector<float> x = {0, -1, -2, 1, 0, 0.5f};
  for (int run = 0; run < 2; ++run) {
    std::vector<std::vector<uint8_t>> outputs;
    const Status status = loaded.run(0, {runtest::bytes_of(x)}, &outputs);
    *text = describe(static_cast<uint32_t>(loaded.instance.diagnostic().found));
    if (!status.ok()) return status;
    const std::vector<float> y = runtest::values_of<float>(outputs[0]);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], std::exp(x[i] + static_cast<float>(i % 3)), 1e-4f);
  }
  return Status::kOk;
}

class OpenClFaults : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MOTE_OPENCL_CACHE", (testing::TempDir() + "/mote_opencl_faults").c_str(), 1);
    give_up(nullptr);
    Error error = kOk;
    std::string detail;
    if (find_device(&error, &detail) == nullptr) GTEST_SKIP() << describe(error) << ": " << detail;
    give_up(nullptr);
    inject = Injector{};
    inject.real = *find_api(&detail);
    replace_api(&failing_api());
  }
  void TearDown() override {
    give_up(nullptr);
    replace_api(nullptr);
    EXPECT_EQ(inject.live, 0);
  }

  void try_all(cl_int code, bool once, const std::vector<std::string>& texts) {
    const emit::FileBytes file = program();
    std::string text;
    give_up(nullptr);
    inject.calls = inject.fail_at = 0;
    ASSERT_TRUE(attempt(file, &text).ok());
    const int calls = inject.calls;
    EXPECT_GT(calls, 20);
    inject.code = code;
    inject.once = once;
    int errors = 0;
    for (int at = 1; at <= calls; ++at) {
      SCOPED_TRACE("call " + std::to_string(at) + " of " + std::to_string(calls));
      give_up(nullptr);
      inject.calls = 0;
      inject.fail_at = at;
      const Status status = attempt(file, &text);
      if (!status.ok()) {
        ++errors;
        EXPECT_EQ(status.code(), Status::kBackend);
        EXPECT_NE(std::find(texts.begin(), texts.end(), text), texts.end()) << text;
      } else {
        EXPECT_TRUE(once) << "a dead driver cannot have worked";
      }
      // The runtime is usable at once: without the fault the next attempt works, and nothing is left over.
      inject.fail_at = 0;
      EXPECT_TRUE(attempt(file, &text).ok()) << text;
      give_up(nullptr);
      EXPECT_EQ(inject.live, 0);
    }
    EXPECT_GT(errors, calls / 2);
  }
};

const std::string kMemory = describe(kOutOfMemory), kLost = describe(kDeviceLost), kNone = describe(kNoDevice),
                  kOld = describe(kDriverTooOld), kFailed = describe(kCommandFailed);

TEST_F(OpenClFaults, TooLittleDeviceMemory) { try_all(CL_MEM_OBJECT_ALLOCATION_FAILURE, true, {kMemory, kNone, kOld}); }
TEST_F(OpenClFaults, ALostDevice) { try_all(CL_DEVICE_NOT_AVAILABLE, true, {kLost, kNone, kOld}); }
TEST_F(OpenClFaults, ADriverThatDied) { try_all(CL_INVALID_COMMAND_QUEUE, false, {kLost, kNone, kOld}); }

// A failure while running is not a reason to fall back, even where one is listed; the other instances go on.
TEST_F(OpenClFaults, OtherInstancesGoOn) {
  const emit::FileBytes file = program();
  static const mote_backend* const list[] = {opencl_backend()};
  InstanceOptions options;
  options.backends = {list, 1};
  runtest::Loaded one(file, emit::builtin_registry(), options), two(file, emit::builtin_registry(), options);
  ASSERT_TRUE(one.status.ok() && two.status.ok());
  const std::vector<std::vector<uint8_t>> x = {runtest::bytes_of<float>({0, 0, 0, 0, 0, 0})};
  std::vector<std::vector<uint8_t>> y;
  inject.code = CL_OUT_OF_RESOURCES;
  inject.fail_at = inject.calls + 1;
  EXPECT_EQ(one.run(0, x, &y), Status(Status::kBackend, Why::kBackendFailed));
  inject.fail_at = 0;
  EXPECT_TRUE(two.run(0, x, &y).ok());
  EXPECT_TRUE(one.run(0, x, &y).ok()) << "the failure was one command's";
}

}  // namespace
}  // namespace mote::backends::opencl
