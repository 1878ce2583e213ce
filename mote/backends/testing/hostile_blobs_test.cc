// Blobs that verify as programs and are no piece a compiler would have made, and operands they were not made for: refused, by every backend
// that takes pieces, and nothing outside of the operands is touched.

#include <gtest/gtest.h>

#include <algorithm>
#include <new>

#include "mote/backends/testing/hostile_blobs.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/matmul/matmul.h"

namespace {

// Allocations until one fails, where that is wanted. Those of this program alone: an OpenCL driver allocates with the same operators, and
// does not survive that one fails.
thread_local int64_t allocations_left = -1;
thread_local size_t largest_allocation = 0;

extern "C" char __executable_start, etext;
bool is_ours(const void* caller) { return caller >= &__executable_start && caller < &etext; }

void* allocate(size_t bytes, const void* caller) {
  if (allocations_left >= 0 && is_ours(caller) && allocations_left-- == 0) throw std::bad_alloc();
  largest_allocation = std::max(largest_allocation, bytes);
  void* p = std::malloc(bytes > 0 ? bytes : 1);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes) { return allocate(bytes, __builtin_return_address(0)); }
[[gnu::noinline]] void* operator new[](size_t bytes) { return allocate(bytes, __builtin_return_address(0)); }
// A sanitizer's own would not match the deletes below.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes > 0 ? bytes : 1); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes > 0 ? bytes : 1); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace mote::backends {
namespace {

// What a backend keeps for a process is made by the first call, whichever that is. Runs before the others.
TEST(FirstCalls, ThrowNothing) {
  for (const char* name : {"opencl", "xnnpack"}) {
    const mote_backend* backend = known_backend(name).device;
    if (backend == nullptr) continue;
    uint32_t units = 7;
    allocations_left = 0;
    const char* text = backend->device(&units);
    allocations_left = -1;
    EXPECT_NE(text, nullptr);
    EXPECT_LT(units, 2u);
  }
}

// Four bytes were copied of each element of 8 bits.
TEST_P(HostileBlobs, InputsOfAnotherTypeAreReadAsLargeAsTheyAre) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {1024});
  b.input("bytes", DType::s8, {65536});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {x}));
  const int32_t dims[] = {1024}, strides[] = {4}, many[] = {65536}, one[] = {1};
  const Fenced in(4096), bytes(65536), out(4096);
  const std::vector<mote_backend_tensor> inputs = {{in.data(), dims, strides, kF32, 1, 0}, {bytes.data(), many, one, kS8, 1, 0}};
  const std::vector<mote_backend_tensor> outputs = {{out.data(), dims, strides, kF32, 1, 0}};
  const float minus = -1;
  std::memcpy(in.data(), &minus, 4);
  std::memcpy(out.data(), &minus, 4);
  ASSERT_EQ(init(finished(b), inputs, outputs), 0u);
  EXPECT_EQ(execute(inputs, outputs), 0u);
  float found = 1;
  std::memcpy(&found, out.data(), 4);
  EXPECT_EQ(found, 0);
}

// Was thrown through a border that lets nothing pass, and ended the process.
TEST_P(HostileBlobs, AStateWithoutItsRecordIsRefused) {
  ProgramBuilder b;
  const TensorId kept = b.state(DType::f32, {4});
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4});
  b.output("y", b.op(OpId::add, NoAttrs{}, {x, kept}));
  const int32_t dims[] = {4}, strides[] = {4};
  float data[4] = {};
  const mote_backend_tensor t = {data, dims, strides, kF32, 1, 0};
  const uint32_t error = init(finished(b, [](ProgramRecords& r) { r.states.clear(); }), {t}, {t});
  EXPECT_EQ(error != 0, std::string(GetParam()) != "reference") << "which runs it as any instance would";
}

// Constants of 8 bits were copied by whole words: behind the last of a file there need not be any.
TEST_P(HostileBlobs, ConstantsAreReadAsLargeAsTheyAre) {
  ProgramBuilder b;
  b.begin_method("main");
  const std::vector<int8_t> values(16, 7);
  const TensorId x = b.input("x", DType::s8, {4}), c = b.constant(DType::s8, {16}, values.data());
  b.output("y", b.op(OpId::concat, ops::concat::Attrs{}, {x, c}));
  // Its last 15 elements: from an odd address to the end.
  const emit::FileBytes piece = finished(b, [&](ProgramRecords& r) {
    TensorDesc &d = r.tensors[static_cast<size_t>(c)], &y = r.tensors[static_cast<size_t>(r.ios[1].tensor)];
    d.offset += 1, d.dims[0] = 15, y.dims[0] = 19;
  });
  ASSERT_EQ(piece.size % 16, 0u);
  const Fenced file(piece.size);
  std::memcpy(file.data(), piece.data(), piece.size);
  const mote_backend_compiler* compiler = known_backend(GetParam()).compiler;
  uint64_t emitted = 0, device_bytes = 0;
  const auto count = [](void* self, const void*, uint64_t bytes) { *static_cast<uint64_t*>(self) += bytes; };
  if (compiler != nullptr) {
    const uint32_t error = compiler->lower(file.data(), piece.size, count, &emitted, &device_bytes);
    EXPECT_EQ(error == 0, std::string(GetParam()) == "opencl") << "the one that knows 8-bit numbers";
    EXPECT_EQ(error == 0, emitted > piece.size);
  }
  const int32_t four[] = {4}, all[] = {19}, one[] = {1};
  int8_t in[4] = {1, 2, 3, 4}, out[19] = {};
  const std::vector<mote_backend_tensor> inputs = {{in, four, one, kS8, 1, 0}}, outputs = {{out, all, one, kS8, 1, 0}};
  if (std::string(GetParam()) == "xnnpack") return;
  ASSERT_EQ(init(piece, inputs, outputs), 0u);
  ASSERT_EQ(execute(inputs, outputs), 0u);
  for (int i = 0; i < 19; ++i) EXPECT_EQ(out[i], i < 4 ? in[i] : 7);
}

// What was made of a constant was found again by its address: of one that begins there and has more elements it is too little.
TEST_P(HostileBlobs, ConstantsThatBeginWhereOthersDoAreReadWhole) {
  constexpr int32_t kMany = 4096;
  ProgramBuilder b;
  b.begin_method("main");
  std::vector<float> values(kMany);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const TensorId x = b.input("x", DType::f32, {kMany}), first = b.constant_f32({1}, {0.0f}), all = b.constant_f32({kMany}, values);
  b.output("y", b.op(OpId::add, NoAttrs{}, {b.op(OpId::add, NoAttrs{}, {x, first}), all}));
  const emit::FileBytes piece =
      finished(b, [&](ProgramRecords& r) { r.tensors[static_cast<size_t>(first)].offset = r.tensors[static_cast<size_t>(all)].offset; });
  const int32_t dims[] = {kMany}, strides[] = {4};
  std::vector<float> in(kMany, 1.0f), out(kMany);
  const std::vector<mote_backend_tensor> inputs = {{in.data(), dims, strides, kF32, 1, 0}};
  const std::vector<mote_backend_tensor> outputs = {{out.data(), dims, strides, kF32, 1, 0}};
  ASSERT_EQ(init(piece, inputs, outputs), 0u);
  ASSERT_EQ(execute(inputs, outputs), 0u);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 1 + values[i]);
}

// The same of weights, which are brought into another form.
TEST_P(HostileBlobs, WeightsThatBeginWhereOthersDoAreReadWhole) {
  constexpr int32_t kRows = 2, kK = 16, kFew = 8, kMany = 256;
  ProgramBuilder b;
  b.begin_method("main");
  std::vector<float> values(static_cast<size_t>(kMany) * kK);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / kK);
  ops::matmul::Attrs a{};
  a.transpose_b = 1;
  const TensorId x = b.input("x", DType::f32, {kRows, kK});
  const TensorId few = b.constant_f32({kFew, kK}, std::vector<float>(kFew * kK, 0.0f)), many = b.constant_f32({kMany, kK}, values);
  b.output("few", b.op(OpId::matmul, a, {x, few}));
  b.output("many", b.op(OpId::matmul, a, {x, many}));
  const emit::FileBytes piece =
      finished(b, [&](ProgramRecords& r) { r.tensors[static_cast<size_t>(few)].offset = r.tensors[static_cast<size_t>(many)].offset; });
  const int32_t in_dims[] = {kRows, kK}, few_dims[] = {kRows, kFew}, many_dims[] = {kRows, kMany};
  const int32_t in_strides[] = {4 * kK, 4}, few_strides[] = {4 * kFew, 4}, many_strides[] = {4 * kMany, 4};
  std::vector<float> in(kRows * kK, 1.0f), small(kRows * kFew), large(kRows * kMany);
  const std::vector<mote_backend_tensor> inputs = {{in.data(), in_dims, in_strides, kF32, 2, 0}};
  const std::vector<mote_backend_tensor> outputs = {{small.data(), few_dims, few_strides, kF32, 2, 0},
                                                    {large.data(), many_dims, many_strides, kF32, 2, 0}};
  ASSERT_EQ(init(piece, inputs, outputs), 0u);
  ASSERT_EQ(execute(inputs, outputs), 0u);
  for (size_t i = 0; i < large.size(); ++i) ASSERT_EQ(large[i], static_cast<float>(kK * (i % kMany)));
}

// A segment without bytes has no address: copying nothing from it is undefined behaviour all the same.
TEST_P(HostileBlobs, BlobsWithoutBytesAreRefused) {
  const int32_t dims[] = {4}, strides[] = {4};
  float data[4] = {};
  const mote_backend_tensor t = {data, dims, strides, kF32, 1, 0};
  const mote_backend_blob nothing = {nullptr, 0, backend_->version, "", 0};
  uint32_t release = 0;
  EXPECT_NE(backend_->init(&nothing, &t, 1, &t, 1, &handle_, &release), 0u);
}

// The bound's bytes were uploaded of an input that has fewer.
TEST_P(HostileBlobs, SmallerOperandsThanThePieceHasAreRefused) {
  ProgramBuilder b;
  b.begin_method("main");
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {64, 1024})}));
  const int32_t dims[] = {64, 1024}, less[] = {1, 1024}, none[] = {0, 1024}, strides[] = {4096, 4};
  const Fenced in(4096), out(64 * 4096);
  const std::vector<mote_backend_tensor> outputs = {{out.data(), dims, strides, kF32, 2, 0}};
  ASSERT_EQ(init(finished(b), {{nullptr, dims, strides, kF32, 2, 0}}, outputs), 0u);
  EXPECT_NE(execute({{in.data(), less, strides, kF32, 2, 0}}, outputs), 0u);
  EXPECT_NE(execute({{in.data(), none, strides, kF32, 2, 0}}, outputs), 0u);
  const Fenced whole(64 * 4096);
  EXPECT_NE(execute({{whole.data(), dims, strides, kF32, 2, 0}}, {{out.data(), less, strides, kF32, 2, 0}}), 0u);
  EXPECT_EQ(execute({{whole.data(), dims, strides, kF32, 2, 0}}, outputs), 0u);
}

// A small file may ask for any amount of memory.
TEST_P(HostileBlobs, PiecesBeyondTheMemoryTheyMayTakeAreRefused) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {1 << 20});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {x}));
  const int32_t dims[] = {1 << 20}, strides[] = {4};
  const std::vector<mote_backend_tensor> t = {{nullptr, dims, strides, kF32, 1, 0}};
  const emit::FileBytes piece = finished(b);
  setenv("MOTE_BACKEND_MEMORY", "4194304", 1);
  EXPECT_NE(init(piece, t, t), 0u);
  setenv("MOTE_BACKEND_MEMORY", "67108864", 1);
  EXPECT_EQ(init(piece, t, t), 0u);
  unsetenv("MOTE_BACKEND_MEMORY");
}

// Weights in another form were made before anyone counted them: one row of them becomes 64 columns.
TEST_P(HostileBlobs, WeightsBeyondTheMemoryTheyMayTakeAreNotUnpacked) {
  constexpr int32_t kK = 1 << 20;
  ProgramBuilder b;
  b.begin_method("main");
  ops::matmul::Attrs a{};
  a.transpose_b = 1;
  const TensorId w = b.constant_f32({1, kK}, std::vector<float>(kK, 1.0f));
  b.output("y", b.op(OpId::matmul, a, {b.input("x", DType::f32, {1, kK}), w}));
  const emit::FileBytes piece = finished(b);
  const int32_t in_dims[] = {1, kK}, out_dims[] = {1, 1}, in_strides[] = {4 * kK, 4}, out_strides[] = {4, 4};
  setenv("MOTE_BACKEND_MEMORY", "33554432", 1);
  largest_allocation = 0;
  (void)init(piece, {{nullptr, in_dims, in_strides, kF32, 2, 0}}, {{nullptr, out_dims, out_strides, kF32, 2, 0}});
  unsetenv("MOTE_BACKEND_MEMORY");
  EXPECT_LT(largest_allocation, size_t{1} << 25);
}

// Whichever allocation fails, the backend says so.
TEST_P(HostileBlobs, NothingIsThrownWhenMemoryRunsOut) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4, 2});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.op(OpId::add, NoAttrs{}, {x, x})}));
  const emit::FileBytes piece = finished(b);
  // Rows with gaps, which some put into memory of their own first.
  const int32_t dims[] = {4, 2}, strides[] = {16, 4};
  float data[16] = {};
  const std::vector<mote_backend_tensor> t = {{data, dims, strides, kF32, 2, 0}};
  blob_ = blob_of(piece);
  const std::string capabilities = "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32";
  const mote_backend_blob view = {blob_.data(), blob_.size, backend_->version, "", 0};
  const mote_backend_compiler* compiler = known_backend(GetParam()).compiler;
  const auto ignore = [](void*, const void*, uint64_t) {};
  int64_t failures = 0;
  for (bool done = false; !done; ++failures) {
    uint32_t release = 0, units = 0;
    uint64_t bytes = 0;
    allocations_left = failures;
    (void)backend_->probe(backend_->version, capabilities.c_str());
    allocations_left = failures;
    (void)backend_->device(&units);
    allocations_left = failures;
    if (compiler != nullptr) (void)compiler->lower(piece.data(), piece.size, ignore, nullptr, &bytes);
    allocations_left = failures;
    const uint32_t error = backend_->init(&view, t.data(), 1, t.data(), 1, &handle_, &release);
    done = allocations_left >= 0;
    if (error == 0) {
      allocations_left = failures;
      (void)backend_->execute(handle_, t.data(), 1, t.data(), 1);
      backend_->destroy(handle_);
    }
    allocations_left = -1;
    // Kernels that could not be kept or found in a cache are compiled: OpenCL may go on.
    EXPECT_TRUE(error == 0 ? done || std::string(GetParam()) == "opencl" : !done) << "allocation " << failures;
    handle_ = nullptr;
    ASSERT_LT(failures, 10000);
  }
  EXPECT_GT(failures, 5);
}

// An execution's own allocations: of a session that was made without a failure.
TEST_P(HostileBlobs, NothingIsThrownWhenMemoryRunsOutInARun) {
  ProgramBuilder b;
  b.begin_method("main");
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {4, 2})}));
  const int32_t dims[] = {4, 2}, strides[] = {16, 4};
  float data[16] = {}, out[16] = {};
  const std::vector<mote_backend_tensor> in = {{data, dims, strides, kF32, 2, 0}}, to = {{out, dims, strides, kF32, 2, 0}};
  int64_t failures = 0;
  for (bool done = false; !done; ++failures) {
    ASSERT_EQ(init(finished(b), in, to), 0u);
    data[0] = 3, out[0] = 0;
    allocations_left = failures;
    const uint32_t error = execute(in, to);
    done = allocations_left >= 0;
    allocations_left = -1;
    EXPECT_EQ(error == 0, done) << "allocation " << failures;
    EXPECT_EQ(out[0], done ? 3 : out[0]);
    backend_->destroy(handle_);
    handle_ = nullptr;
    ASSERT_LT(failures, 1000);
  }
  EXPECT_GT(failures, std::string(GetParam()) == "opencl" ? 1 : 0) << "rows with gaps are gathered there";
}

INSTANTIATE_TEST_SUITE_P(Backends, HostileBlobs, all_backends(), name_of);

}  // namespace
}  // namespace mote::backends
