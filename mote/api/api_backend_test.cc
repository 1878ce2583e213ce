// Backends from libraries, policy, placement, self-test, and what is given back, through the installed headers.

#include <gtest/gtest.h>

#include <fstream>

#include "mote/api/mote.hpp"
#include "mote/api/testing/programs.h"
#include "mote/format/delegate.h"
#include "mote/platform/process.h"

namespace mote {
namespace {

using namespace api_test;

// Doubles, reads its whole blob, and is there or not, as a test wants it.
struct DoublerState {
  bool there = true;
  bool releases = true;
  uint64_t sum = 0;
} doubler_state;
const mote_backend kDoubler = {MOTE_BACKEND_ABI,
                               "doubler",
                               "1",
                               [](const char*, const char*) -> uint32_t { return doubler_state.there ? 0 : MOTE_BACKEND_ABSENT | 1; },
                               [](const mote_backend_blob* blob, const mote_backend_tensor*, uint32_t, const mote_backend_tensor*, uint32_t,
                                  void** handle, uint32_t* release) -> uint32_t {
                                 doubler_state.sum = 0;
                                 for (uint64_t i = 0; i < blob->size; i += 1024) doubler_state.sum += blob->data[i];
                                 *handle = &doubler_state;
                                 *release = doubler_state.releases;
                                 return 0;
                               },
                               [](void*, const mote_backend_tensor* in, uint32_t, const mote_backend_tensor* out, uint32_t) -> uint32_t {
                                 for (int i = 0; i < in[0].dims[0]; ++i)
                                   static_cast<float*>(out[0].data)[i] = 2 * static_cast<const float*>(in[0].data)[i];
                                 return 0;
                               },
                               [](void*) {},
                               nullptr,
                               [](uint32_t* units) -> const char* { return *units = 7, "a device of arrays"; },
                               nullptr,
                               nullptr};

// y = relu(2 x): the product on the doubler, with or without the CPU's way behind it.
emit::FileBytes doubled_relu(bool fallback, size_t blob_bytes = 4, float golden = 4) {
  emit::ProgramBuilder b;
  const uint32_t backend = b.backend("doubler", "1", "", std::vector<uint8_t>(blob_bytes, 7));
  b.policy("fallback = \"listed\"\n");
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {3});
  const emit::TensorId y = b.temp(DType::f32, {3});
  if (fallback) {
    const DelegateRange range{{backend, 0}, 1};
    b.instruction(static_cast<uint16_t>(ControlOp::kDelegate), &range, sizeof range, {x}, {y});
    b.op_into(OpId::add, NoAttrs{}, {x, x}, {y});
  } else {
    b.delegate(backend, 0, {x}, {y});
  }
  b.output("y", b.op(OpId::relu, NoAttrs{}, {y}, "/relu"));
  b.begin_method("other");
  const emit::TensorId a = b.input("a", DType::s32, {2});
  b.output("b", b.op(OpId::add, NoAttrs{}, {a, a}));
  b.golden(0, {bytes_of<float>({-1, 1, 2})}, {bytes_of<float>({0, 2, golden})}, 1e-6f);
  return finish(b);
}

class ApiBackend : public ::testing::Test {
 protected:
  void SetUp() override {
    doubler_state = {};
    program.reset();
    mote_registry* r = nullptr;
    ASSERT_EQ(mote_registry_create(&r), 0u);
    registry.reset(r);
    options = {};
    options.struct_size = sizeof options;
    options.registry = r;
  }
  void add_doubler() { ASSERT_EQ(mote_registry_add_backend(registry.get(), &kDoubler, error.get()), 0u) << message(); }
  mote_status open(const emit::FileBytes& file) {
    mote_program* p = nullptr;
    const mote_status s = mote_program_open_memory(file.data(), file.size, &options, &p, error.get());
    program.reset(p);
    return s;
  }
  mote_status create(InstanceHandle* out) {
    mote_instance* i = nullptr;
    const mote_status s = mote_instance_create(program.get(), nullptr, &i, error.get());
    out->reset(i);
    return s;
  }
  mote_status load(const std::string& name) { return mote_registry_load_backend(registry.get(), name.c_str(), error.get()); }
  std::string message() const { return mote_error_message(error.get()); }
  std::string why() const { return mote_why_name(mote_status_why(mote_error_status(error.get()))); }
  bool says(const std::string& part) const { return message().find(part) != std::string::npos; }

  RegistryHandle registry;
  ProgramHandle program;
  ErrorHandle error{mote_error_create()};
  mote_open_options options;
};

#ifdef MOTE_NULL_PLUGIN
TEST_F(ApiBackend, AnAbsolutePathIsLoaded) {
  ASSERT_EQ(load(MOTE_NULL_PLUGIN), 0u) << message();
  ASSERT_EQ(load(MOTE_NULL_PLUGIN), 0u) << message();  // again: nothing happens
  ASSERT_EQ(mote_registry_backend_count(registry.get()), 1u);
  mote_backend_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(mote_registry_backend(registry.get(), 0, &info), 0u);
  EXPECT_STREQ(info.name, "null_plugin");
  EXPECT_STREQ(info.version, "1");
  EXPECT_STREQ(info.device, "");
  EXPECT_EQ(mote_status_code(mote_registry_backend(registry.get(), 1, &info)), MOTE_NOT_FOUND);
  const emit::FileBytes file = add_relu();
  ASSERT_EQ(open(file), 0u) << message();
  EXPECT_EQ(mote_status_code(load(MOTE_NULL_PLUGIN)), MOTE_BUSY);
}

TEST_F(ApiBackend, PluginsOfAnotherInterfaceAreRefused) {
  EXPECT_EQ(mote_status_code(load(MOTE_OTHER_PLUGIN_ABI)), MOTE_VERSION);
  EXPECT_TRUE(says("plug-in interface") && says("found 99")) << message();
  EXPECT_EQ(mote_status_code(load(MOTE_OTHER_BACKEND_ABI)), MOTE_VERSION);
  EXPECT_TRUE(says("backend interface") && says("found 99")) << message();
  EXPECT_EQ(mote_status_code(load(MOTE_NO_ENTRY)), MOTE_VERSION);
  EXPECT_TRUE(says("it has no function mote_backend_plugin_entry")) << message();
  EXPECT_EQ(mote_registry_backend_count(registry.get()), 0u);
}

TEST_F(ApiBackend, TwoBackendsOfOneNameAreRefused) {
  static mote_backend same = kDoubler;
  same.name = "null_plugin";
  ASSERT_EQ(mote_registry_add_backend(registry.get(), &same, error.get()), 0u);
  EXPECT_EQ(mote_status_code(load(MOTE_NULL_PLUGIN)), MOTE_INVALID_ARGUMENT);
  EXPECT_EQ(why(), "BackendTwice") << message();
}
#endif

TEST_F(ApiBackend, NothingElseIsLookedFor) {
  const std::string text = testing::TempDir() + "/api_backend_text.so";
  std::ofstream(text) << "not a library";
  for (const std::string& name :
       {std::string(), std::string("."), std::string("./x.so"), std::string("a/b"), std::string("../opencl"),
        std::string("libmote_opencl.so"), std::string("Opencl"), std::string("open cl"), std::string("x") + std::string(100, 'y')}) {
    EXPECT_EQ(mote_status_code(load(name)), MOTE_INVALID_ARGUMENT) << name;
    EXPECT_EQ(why(), "BackendName") << message();
  }
  EXPECT_EQ(mote_status_code(load("nothere_at_all")), MOTE_NOT_FOUND);
  EXPECT_EQ(mote_status_code(load("/no/such/library.so")), MOTE_NOT_FOUND);
  EXPECT_TRUE(says("there is no such file")) << message();
  EXPECT_EQ(mote_status_code(load("/" + std::string(5000, 'x'))), MOTE_INVALID_ARGUMENT);
  if (text[0] == '/') {
    EXPECT_NE(load(text), 0u);
    EXPECT_EQ(why(), "BackendLibrary") << message();
  }
  EXPECT_EQ(mote_status_code(mote_registry_load_backend(nullptr, "opencl", error.get())), MOTE_INVALID_ARGUMENT);
  EXPECT_EQ(mote_status_code(mote_registry_load_backend(registry.get(), nullptr, error.get())), MOTE_INVALID_ARGUMENT);
}

TEST_F(ApiBackend, PartsSayWhereOperatorsRun) {
  add_doubler();
  const emit::FileBytes file = doubled_relu(true);
  ASSERT_EQ(open(file), 0u) << message();
  ASSERT_EQ(mote_program_part_count(program.get()), 2u);
  mote_part part{};
  part.struct_size = sizeof part;
  ASSERT_EQ(mote_program_part(program.get(), 0, &part), 0u);
  EXPECT_STREQ(part.backend, "doubler");
  EXPECT_EQ(part.instruction_count, 1u);
  EXPECT_EQ(part.fallback_count, 1u);
  ASSERT_EQ(mote_program_part(program.get(), 1, &part), 0u);
  EXPECT_STREQ(part.backend, "cpu");
  EXPECT_EQ(part.first_instruction, 2u);
  EXPECT_EQ(mote_status_code(mote_program_part(program.get(), 2, &part)), MOTE_NOT_FOUND);
  EXPECT_STREQ(mote_program_policy(program.get()), "fallback = \"listed\"\n");
  InstanceHandle instance;
  ASSERT_EQ(create(&instance), 0u) << message();
  EXPECT_STREQ(mote_instance_backend(instance.get(), 0), "doubler");
  EXPECT_STREQ(mote_instance_backend(instance.get(), 2), "cpu");
  EXPECT_EQ(mote_instance_backend(instance.get(), 4), nullptr);
}

TEST_F(ApiBackend, APolicyIsKeptOrTheProgramIsRefused) {
  add_doubler();
  const emit::FileBytes file = doubled_relu(true);
  const char* both[] = {"doubler", "cpu"};
  options.require = both;
  options.require_count = 1;
  EXPECT_EQ(mote_status_code(open(file)), MOTE_POLICY);
  EXPECT_EQ(why(), "PlacedElsewhere");
  EXPECT_STREQ(mote_error_source(error.get()), "/relu");
  EXPECT_TRUE(says("'cpu', this operator and 1 others")) << message();
  options.require_count = 2;
  EXPECT_EQ(open(file), 0u) << message();
  const char* hole[] = {nullptr};
  options.require = hole;
  options.require_count = 1;
  EXPECT_EQ(mote_status_code(open(file)), MOTE_INVALID_ARGUMENT);
}

TEST_F(ApiBackend, AFallbackIsUsedOnlyWhereTheCallerLetsIt) {
  add_doubler();
  const emit::FileBytes file = doubled_relu(true);
  doubler_state.there = false;
  ASSERT_EQ(open(file), 0u) << message();
  InstanceHandle instance;
  ASSERT_EQ(create(&instance), 0u) << message();
  EXPECT_EQ(mote_instance_degraded(instance.get(), error.get()), 1u);
  EXPECT_STREQ(mote_instance_backend(instance.get(), 0), "cpu");
  EXPECT_EQ(mote_instance_self_test(instance.get(), nullptr, error.get()), 0u) << message();
  options.flags = MOTE_OPEN_NO_FALLBACK;
  ASSERT_EQ(open(file), 0u) << message();
  EXPECT_EQ(mote_status_code(create(&instance)), MOTE_BACKEND);
  EXPECT_EQ(why(), "BackendAbsent") << message();
  SetUp();  // not registered at all
  EXPECT_EQ(open(file), 0u) << message();
  options.flags = MOTE_OPEN_NO_FALLBACK;
  EXPECT_EQ(mote_status_code(open(file)), MOTE_BACKEND);
  EXPECT_EQ(why(), "BackendMissing") << message();
}

TEST_F(ApiBackend, TheSelfTestComparesWithTheExamples) {
  add_doubler();
  const emit::FileBytes good = doubled_relu(false), wrong = doubled_relu(false, 4, 5);
  mote_self_test result{};
  result.struct_size = sizeof result;
  InstanceHandle instance;
  ASSERT_EQ(open(good), 0u) << message();
  ASSERT_EQ(create(&instance), 0u) << message();
  ASSERT_EQ(mote_instance_own_io(instance.get(), 0, error.get()), 0u);
  const uint64_t before = mote_instance_allocated_bytes(instance.get());
  EXPECT_EQ(mote_instance_self_test(instance.get(), &result, error.get()), 0u) << message();
  EXPECT_EQ(result.outputs, 1u);
  EXPECT_EQ(result.failed, 0u);
  EXPECT_EQ(result.largest_error, 0);
  EXPECT_EQ(mote_instance_allocated_bytes(instance.get()), before);  // what it took to compare has gone back
  float x[3] = {};
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, sizeof x, error.get()), 0u);
  EXPECT_EQ(mote_status_code(mote_instance_self_test(instance.get(), nullptr, error.get())), MOTE_BUSY);
  ASSERT_EQ(open(wrong), 0u) << message();
  ASSERT_EQ(create(&instance), 0u) << message();
  EXPECT_EQ(mote_status_code(mote_instance_self_test(instance.get(), &result, error.get())), MOTE_INTERNAL);
  EXPECT_EQ(why(), "GoldenDiffers");
  EXPECT_TRUE(says("'y'")) << message();
  EXPECT_EQ(result.failed, 1u);
  EXPECT_NEAR(result.largest_error, 0.2, 1e-6);
  const emit::FileBytes without = dynamic_relu();
  ASSERT_EQ(open(without), 0u);
  ASSERT_EQ(create(&instance), 0u);
  EXPECT_EQ(mote_status_code(mote_instance_self_test(instance.get(), &result, error.get())), MOTE_NOT_FOUND);
}

constexpr size_t kLarge = 64u << 20;
#if defined(__unix__) || defined(__APPLE__)
constexpr bool kPagesGoBack = true;
#else
constexpr bool kPagesGoBack = false;
#endif
#ifdef MOTE_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST_F(ApiBackend, PagesOfABlobGoBackToTheSystem) {
  add_doubler();
  const TempPath path("large.mote", doubled_relu(false, kLarge).span());
  uint64_t resident[2];
  for (const bool releases : {false, true}) {
    doubler_state.releases = releases;
    mote_program* p = nullptr;
    ASSERT_EQ(mote_program_open_file(path.c_str(), &options, &p, error.get()), 0u) << message();
    program.reset(p);
    const uint64_t before = process_memory().resident_bytes;
    InstanceHandle instance;
    ASSERT_EQ(create(&instance), 0u) << message();
    resident[releases] = process_memory().resident_bytes;
    EXPECT_EQ(doubler_state.sum, uint64_t{kLarge / 1024 * 7});
    if (before == 0 || !kPagesGoBack) GTEST_SKIP() << "this system does not tell, or keeps them";
    // Another instance reads the same bytes again.
    doubler_state.sum = 0;
    InstanceHandle second;
    ASSERT_EQ(create(&second), 0u) << message();
    EXPECT_EQ(doubler_state.sum, uint64_t{kLarge / 1024 * 7});
  }
  EXPECT_LT(resident[true] + kLarge * 9 / 10, resident[false]);
}

TEST_F(ApiBackend, MemoryOfABlobGoesBackWhereThereIsOneInstance) {
  add_doubler();
  const TempPath path("large.mote", doubled_relu(false, kLarge).span());
  for (const bool one : {false, true}) {
    options.flags = MOTE_OPEN_READ | (one ? MOTE_OPEN_ONE_INSTANCE : 0);
    mote_program* p = nullptr;
    ASSERT_EQ(mote_program_open_file(path.c_str(), &options, &p, error.get()), 0u) << message();
    program.reset(p);
    EXPECT_GT(mote_program_allocated_bytes(p), kLarge);
    const uint64_t before = process_memory().resident_bytes;
    InstanceHandle instance, second;
    ASSERT_EQ(create(&instance), 0u) << message();
    EXPECT_EQ(mote_program_allocated_bytes(p) < kLarge, one);
    // Sanitizers keep what is freed for a while.
    if (one && before > 0 && kPagesGoBack && !kSanitized) {
      EXPECT_LT(process_memory().resident_bytes + kLarge * 9 / 10, before);
    }
    EXPECT_EQ(mote_status_code(create(&second)), one ? MOTE_BUSY : MOTE_OK) << message();
    EXPECT_EQ(mote_program_verify_digests(p, error.get()), 0u) << message();
    float x[3] = {1, 2, 3}, y[3] = {};
    ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, sizeof x, error.get()), 0u);
    ASSERT_EQ(mote_instance_bind_output(instance.get(), 0, 0, y, sizeof y, error.get()), 0u);
    ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, error.get()), 0u) << message();
    EXPECT_EQ(y[2], 6);
  }
}

TEST_F(ApiBackend, ALimitMayChangeLater) {
  const emit::FileBytes file = add_relu();
  ASSERT_EQ(open(file), 0u);
  InstanceHandle instance;
  ASSERT_EQ(create(&instance), 0u);
  const uint64_t held = mote_instance_allocated_bytes(instance.get());
  EXPECT_EQ(mote_status_code(mote_instance_set_memory_limit(instance.get(), held - 1, error.get())), MOTE_OUT_OF_MEMORY);
  ASSERT_EQ(mote_instance_set_memory_limit(instance.get(), held, error.get()), 0u) << message();
  EXPECT_EQ(mote_status_code(mote_instance_own_io(instance.get(), 0, error.get())), MOTE_OUT_OF_MEMORY);
  ASSERT_EQ(mote_instance_set_memory_limit(instance.get(), 0, error.get()), 0u);
  EXPECT_EQ(mote_instance_own_io(instance.get(), 0, error.get()), 0u) << message();
}

TEST(Runtime, LoadsModelsWithItsSettings) {
  auto runtime = Runtime::make();
  ASSERT_TRUE(runtime) << runtime.error().message;
  EXPECT_TRUE(runtime->backends().empty());
  runtime->set_threads(2);
  runtime->set_kernels("portable");
  const TempPath path("add.mote", add_relu().span());
  auto model = runtime->load(path.str());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name(), "add-relu");
  ASSERT_EQ(model->parts().size(), 1u);
  EXPECT_EQ(model->parts()[0].runs_on, "cpu");
  EXPECT_FALSE(model->degraded());
  EXPECT_TRUE(model->self_test().passed()) << model->self_test().error.message;
  EXPECT_EQ(model->self_test().outputs, 1u);
  std::vector<float> x = {-2, -1, 0, 1}, y(4);
  ASSERT_FALSE(model->run({input_view(x)}, {output_view(y)}));
  EXPECT_EQ(y, (std::vector<float>{0, 0, 1, 2}));
  // What was loaded keeps its settings; what comes later has new ones.
  runtime->set_kernels("no such kernels");
  EXPECT_EQ(runtime->load(path.str()).error().code(), MOTE_UNSUPPORTED);
  EXPECT_EQ(runtime->swap(*model, path.str()).code(), MOTE_UNSUPPORTED);
  EXPECT_FALSE(model->run({input_view(x)}, {output_view(y)}));
  runtime->set_kernels("");
  runtime->set_policy({"opencl"}, false);
  EXPECT_EQ(runtime->load(path.str()).error().code(), MOTE_POLICY);
  runtime->set_policy({"cpu"}, true);
  EXPECT_FALSE(runtime->swap(*model, path.str()));
  runtime->set_memory_limit(64);
  EXPECT_EQ(runtime->load(path.str()).error().code(), MOTE_OUT_OF_MEMORY);
}

TEST(Runtime, BackendsMayChange) {
  auto runtime = Runtime::make({"cpu"});
  ASSERT_TRUE(runtime) << runtime.error().message;
  const Error missing = runtime->set_backends({"nothere"});
  EXPECT_EQ(missing.code(), MOTE_NOT_FOUND) << missing.message;
  EXPECT_EQ(Runtime::make({"./here.so"}).error().code(), MOTE_INVALID_ARGUMENT);
  const emit::FileBytes file = doubled_relu(false);
  EXPECT_EQ(runtime->load(file.data(), file.size).error().code(), MOTE_POLICY);  // only the CPU is allowed
#ifdef MOTE_NULL_PLUGIN
  ASSERT_FALSE(runtime->set_backends({MOTE_NULL_PLUGIN}));
  ASSERT_EQ(runtime->backends().size(), 1u);
  EXPECT_EQ(runtime->backends()[0].name, "null_plugin");
  EXPECT_EQ(runtime->options().backends, (std::vector<std::string>{"cpu", "null_plugin"}));
  ModelOptions alone;
  alone.backends = {MOTE_NULL_PLUGIN};
  const emit::FileBytes plain = add_relu();
  EXPECT_TRUE(Model::load(plain.data(), plain.size, alone));
#endif
}

TEST(Runtime, AModelsLimitMayChange) {
  const emit::FileBytes file = add_relu();
  auto model = Model::load(file.data(), file.size);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->set_memory_limit(model->allocated_bytes() - 1).code(), MOTE_OUT_OF_MEMORY);
  EXPECT_FALSE(model->set_memory_limit(model->allocated_bytes()));
  EXPECT_FALSE(model->set_memory_limit(0));
}

TEST(Runtime, TheDeviceOfABackendIsTold) {
  mote_registry* r = nullptr;
  ASSERT_EQ(mote_registry_create(&r), 0u);
  const RegistryHandle registry(r);
  ASSERT_EQ(mote_registry_add_backend(r, &kDoubler, nullptr), 0u);
  const std::vector<BackendInfo> all = api_detail::backends_of(r);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].device, "a device of arrays");
  EXPECT_EQ(all[0].units, 7u);
}

}  // namespace
}  // namespace mote
