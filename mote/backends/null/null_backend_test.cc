#include "mote/backends/null/null_backend.h"

#include <gtest/gtest.h>

#include "mote/compiler/emit/builder.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::backends {
namespace {

using emit::ProgramBuilder;
using emit::TensorId;

struct BlobSpec {
  std::string name = "null", version = "1", capabilities = "copy", blob = "copy";
  uint32_t entry = 0;
  emit::Dims out_dims = {2, 3};
};

// relu, then a delegate instruction that copies, then relu: the delegate works on tensors of the arena.
emit::FileBytes program_with(const BlobSpec& spec) {
  ProgramBuilder b;
  const uint32_t backend = b.backend(spec.name, spec.version, spec.capabilities, {spec.blob.begin(), spec.blob.end()});
  b.begin_method("main");
  const TensorId x = b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {2, 3})});
  const TensorId copied = b.temp(DType::f32, spec.out_dims);
  b.delegate(backend, spec.entry, {x}, {copied});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {copied}));
  return runtest::finish(b);
}

runtest::Loaded load(const BlobSpec& spec) {
  static const mote_backend* const list[] = {null_backend()};
  InstanceOptions options;
  options.backends = {list, 1};
  return runtest::Loaded(program_with(spec), emit::builtin_registry(), options);
}

TEST(NullBackend, CopiesInputsToOutputs) {
  runtest::Loaded loaded = load({});
  ASSERT_TRUE(loaded.status.ok()) << emit::describe(loaded.diagnostic);
  const std::vector<float> x = {-1, 2, -3, 4, 5, -6}, expected = {0, 2, 0, 4, 5, 0};
  std::vector<std::vector<uint8_t>> outputs;
  ASSERT_TRUE(loaded.run(0, {runtest::bytes_of(x)}, &outputs).ok());
  EXPECT_EQ(runtest::values_of<float>(outputs[0]), expected);
  EXPECT_TRUE(loaded.guards_intact());
}

TEST(NullBackend, LetsItsBlobBeReleasedAfterInit) {
  static const mote_backend* const list[] = {null_backend()};
  std::vector<uint32_t> released;
  InstanceOptions options;
  options.backends = {list, 1};
  options.release_self = &released;
  options.release_blob = [](void* self, uint32_t segment) { static_cast<std::vector<uint32_t>*>(self)->push_back(segment); };
  runtest::Loaded loaded(program_with({}), emit::builtin_registry(), options);
  ASSERT_TRUE(loaded.status.ok());
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(loaded.program.table().segments[released[0]].kind, SegmentKind::kBlob);
  const ConstBytes blob = loaded.program.segment(released[0]);
  std::memset(const_cast<uint8_t*>(blob.data), 0xee, blob.size);
  std::vector<std::vector<uint8_t>> outputs;
  EXPECT_TRUE(loaded.run(0, {runtest::bytes_of<float>({1, 2, 3, 4, 5, 6})}, &outputs).ok());
}

TEST(NullBackend, RefusesAnotherVersion) {
  BlobSpec spec;
  spec.version = "2";
  EXPECT_EQ(load(spec).status, Status(Status::kBackend, Why::kBackendVersion));
}

TEST(NullBackend, RefusesUnknownCapabilities) {
  BlobSpec spec;
  spec.capabilities = "copy fly";
  EXPECT_EQ(load(spec).status, Status(Status::kBackend, Why::kBackendVersion));
}

TEST(NullBackend, RefusesAnUnknownBlobEntryOrShape) {
  BlobSpec blob, entry, shape;
  blob.blob = "copyx";
  entry.entry = 1;
  shape.out_dims = {3, 2};
  for (const BlobSpec& spec : {blob, entry, shape}) EXPECT_EQ(load(spec).status, Status(Status::kBackend, Why::kBackendFailed));
}

TEST(NullBackend, IsNamedWhenItIsNotRegistered) {
  const runtest::Loaded loaded(program_with({}));
  EXPECT_EQ(loaded.status, Status(Status::kBackend, Why::kBackendMissing));
  ASSERT_NE(loaded.diagnostic.name, nullptr);
  EXPECT_STREQ(loaded.diagnostic.name, "null");
}

TEST(NullBackend, CopiesViewsWithGapsRowByRow) {
  const mote_backend* backend = null_backend();
  const mote_backend_blob blob = {reinterpret_cast<const uint8_t*>("copy"), 4, "1", "copy", 0};
  int16_t from[2][4] = {{1, 2, 3, -1}, {4, 5, 6, -1}}, to[2][5] = {};
  const int32_t dims[] = {2, 3}, from_strides[] = {8, 2}, to_strides[] = {10, 2};
  const uint8_t s16 = static_cast<uint8_t>(DType::s16);
  const mote_backend_tensor in = {from, dims, from_strides, s16, 2, 0}, out = {to, dims, to_strides, s16, 2, 0};
  void* handle = nullptr;
  uint32_t release = 0;
  ASSERT_EQ(backend->init(&blob, &in, 1, &out, 1, &handle, &release), 0u);
  EXPECT_EQ(release, 1u);
  ASSERT_EQ(backend->execute(handle, &in, 1, &out, 1), 0u);
  backend->destroy(handle);
  const int16_t expected[2][5] = {{1, 2, 3, 0, 0}, {4, 5, 6, 0, 0}};
  EXPECT_EQ(std::memcmp(to, expected, sizeof to), 0);
}

}  // namespace
}  // namespace mote::backends
