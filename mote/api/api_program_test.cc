// Opening and describing programs through the C interface.

#include <gtest/gtest.h>

#include "mote/api/mote.hpp"
#include "mote/api/testing/programs.h"

namespace mote {
namespace {

using namespace api_test;

struct Opened {
  ProgramHandle program;
  ErrorHandle error{mote_error_create()};
  mote_status status = 0;
  std::string message() const { return mote_error_message(error.get()); }
};

Opened open(const emit::FileBytes& file, const mote_open_options* options = nullptr) {
  Opened o;
  mote_program* p = nullptr;
  o.status = mote_program_open_memory(file.data(), file.size, options, &p, o.error.get());
  o.program.reset(p);
  return o;
}

mote_open_options make_options(uint32_t flags = 0) {
  mote_open_options o{};
  o.struct_size = sizeof o;
  o.flags = flags;
  return o;
}

TEST(ApiProgram, DescribesInputsAndOutputs) {
  const emit::FileBytes file = add_relu();
  const Opened o = open(file);
  ASSERT_EQ(o.status, 0u) << o.message();
  const mote_program* p = o.program.get();
  ASSERT_EQ(mote_program_method_count(p), 2u);
  EXPECT_STREQ(mote_program_method_name(p, 0), "main");
  EXPECT_EQ(mote_program_method_name(p, 2), nullptr);
  uint32_t method = 9;
  EXPECT_EQ(mote_program_find_method(p, "twice", &method), 0u);
  EXPECT_EQ(method, 1u);
  EXPECT_EQ(mote_status_code(mote_program_find_method(p, "thrice", &method)), MOTE_NOT_FOUND);
  ASSERT_EQ(mote_program_input_count(p, 0), 1u);
  mote_tensor_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(mote_program_input_info(p, 0, 0, &info), 0u);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dtype, MOTE_F32);
  EXPECT_EQ(info.rank, 1u);
  EXPECT_EQ(info.dims[0], 4);
  EXPECT_EQ(info.bytes, 16u);
  EXPECT_EQ(info.quantized, 1u);
  EXPECT_EQ(info.scale, 0.5f);
  EXPECT_EQ(info.zero_point, 3);
  uint32_t index = 9;
  EXPECT_EQ(mote_program_find_output(p, 0, "y", &index), 0u);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(mote_status_why(mote_program_find_input(p, 0, "y", &index)), 247u);
  EXPECT_EQ(mote_status_code(mote_program_output_info(p, 0, 1, &info)), MOTE_NOT_FOUND);
  EXPECT_EQ(mote_status_code(mote_program_output_info(p, 5, 0, &info)), MOTE_NOT_FOUND);
}

TEST(ApiProgram, InputsAndOutputsAreFoundByTheModelsOwnNamesToo) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  b.input("a", DType::f32, {1});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {1})}));
  b.evidence("source.input.main.x", "serving_default_x:0");
  b.evidence("source.input.main.gone", "serving_default_gone:0");
  b.evidence("source.input.other.a", "serving_default_a:0");
  b.evidence("source.output.main.y", "PartitionedCall:0");
  const emit::FileBytes file = finish(b);
  const Opened o = open(file);
  ASSERT_EQ(o.status, 0u) << o.message();
  uint32_t index = 9;
  EXPECT_EQ(mote_program_find_input(o.program.get(), 0, "serving_default_x:0", &index), 0u);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(mote_program_find_output(o.program.get(), 0, "PartitionedCall:0", &index), 0u);
  EXPECT_EQ(index, 0u);
  for (const char* name : {"PartitionedCall:0", "serving_default_gone:0", "serving_default_a:0", "main.x", ""})
    EXPECT_EQ(mote_status_code(mote_program_find_input(o.program.get(), 0, name, &index)), MOTE_NOT_FOUND) << name;
}

TEST(ApiProgram, AnOlderCallersStructIsFilledAsFarAsItGoes) {
  const emit::FileBytes file = add_relu();
  const Opened o = open(file);
  mote_tensor_info info{};
  info.struct_size = offsetof(mote_tensor_info, dynamic);
  info.scale = 77;
  ASSERT_EQ(mote_program_input_info(o.program.get(), 0, 0, &info), 0u);
  EXPECT_EQ(info.dims[0], 4);
  EXPECT_EQ(info.scale, 77);
  EXPECT_EQ(info.struct_size, offsetof(mote_tensor_info, dynamic));
  info.struct_size = 0;
  EXPECT_EQ(mote_status_code(mote_program_input_info(o.program.get(), 0, 0, &info)), MOTE_INVALID_ARGUMENT);
}

TEST(ApiProgram, MetadataEvidenceAndInstructions) {
  const emit::FileBytes file = add_relu();
  const Opened o = open(file);
  const mote_program* p = o.program.get();
  EXPECT_STREQ(mote_program_metadata(p, "name"), "add-relu");
  EXPECT_EQ(mote_program_metadata(p, "nothing"), nullptr);
  ASSERT_EQ(mote_program_metadata_count(p), 2u);
  const char *key = nullptr, *value = nullptr;
  ASSERT_EQ(mote_program_metadata_at(p, 1, &key, &value), 0u);
  EXPECT_STREQ(key, "labels");
  EXPECT_STREQ(mote_program_evidence(p, "producer"), "api test");
  EXPECT_EQ(mote_status_code(mote_program_evidence_at(p, 99, &key, &value)), MOTE_NOT_FOUND);
  ASSERT_EQ(mote_program_instruction_count(p), 3u);
  const char *op = nullptr, *source = nullptr;
  ASSERT_EQ(mote_program_instruction(p, 1, &op, &source), 0u);
  EXPECT_STREQ(op, "mote::relu");
  EXPECT_STREQ(source, "/relu");
}

TEST(ApiProgram, GoldenData) {
  const emit::FileBytes file = add_relu();
  const Opened o = open(file);
  ASSERT_EQ(mote_program_golden_count(o.program.get()), 2u);
  mote_golden g{};
  g.struct_size = sizeof g;
  ASSERT_EQ(mote_program_golden(o.program.get(), 1, &g), 0u);
  EXPECT_EQ(g.is_output, 1u);
  EXPECT_EQ(g.bytes, 16u);
  EXPECT_EQ(g.dims[0], 4);
  EXPECT_EQ(static_cast<const float*>(g.data)[3], 2.f);
}

TEST(ApiProgram, CertificateAndBanks) {
  const emit::FileBytes file = add_relu();
  const Opened o = open(file);
  mote_certificate c{};
  c.struct_size = sizeof c;
  ASSERT_EQ(mote_program_certificate(o.program.get(), &c), 0u);
  EXPECT_GT(c.instance_bytes, 0u);
  EXPECT_EQ(c.steps_bound, 2u);
  uint64_t total = 0;
  for (uint32_t i = 0; i < c.bank_count; ++i) {
    uint64_t bytes = 0;
    uint32_t alignment = 0;
    ASSERT_EQ(mote_program_bank(o.program.get(), i, nullptr, &bytes, &alignment), 0u);
    EXPECT_GE(alignment, 16u);
    total += bytes;
  }
  EXPECT_EQ(total, c.arena_bytes);
}

TEST(ApiProgram, MappedFilesCostNoMemoryForWeights) {
  const emit::FileBytes file = add_relu();
  const TempPath path("mapped.mote", file.span());
  mote_program* p = nullptr;
  ASSERT_EQ(mote_program_open_file(path.c_str(), nullptr, &p, nullptr), 0u);
  EXPECT_EQ(mote_program_allocated_bytes(p), 0u);
  EXPECT_EQ(mote_program_file_bytes(p), file.size);
  mote_program_release(p);
}

TEST(ApiProgram, ReadingInPartsLeavesGoldenDataOutUnlessAsked) {
  const emit::FileBytes file = add_relu();
  const TempPath path("read.mote", file.span());
  for (const bool golden : {false, true}) {
    const mote_open_options o =
        make_options(golden ? MOTE_OPEN_READ | MOTE_OPEN_VERIFY_DIGESTS | MOTE_OPEN_GOLDEN : MOTE_OPEN_READ | MOTE_OPEN_VERIFY_DIGESTS);
    mote_program* p = nullptr;
    ASSERT_EQ(mote_program_open_file(path.c_str(), &o, &p, nullptr), 0u);
    EXPECT_GT(mote_program_allocated_bytes(p), 0u);
    mote_golden g{};
    g.struct_size = sizeof g;
    EXPECT_EQ(mote_status_code(mote_program_golden(p, 0, &g)), golden ? MOTE_OK : MOTE_NOT_FOUND);
    mote_program_release(p);
  }
}

TEST(ApiProgram, MemoryLimitHoldsForWhatIsRead) {
  const emit::FileBytes file = add_relu();
  const TempPath path("limit.mote", file.span());
  mote_open_options o = make_options(MOTE_OPEN_READ);
  mote_program* p = nullptr;
  ASSERT_EQ(mote_program_open_file(path.c_str(), &o, &p, nullptr), 0u);
  const uint64_t needed = mote_program_allocated_bytes(p);
  mote_program_release(p);
  o.memory_limit_bytes = needed;
  ASSERT_EQ(mote_program_open_file(path.c_str(), &o, &p, nullptr), 0u);
  mote_program_release(p);
  o.memory_limit_bytes = needed - 1;
  const ErrorHandle e{mote_error_create()};
  EXPECT_EQ(mote_status_code(mote_program_open_file(path.c_str(), &o, &p, e.get())), MOTE_OUT_OF_MEMORY);
  EXPECT_NE(std::string(mote_error_message(e.get())).find("memory limit"), std::string::npos);
}

TEST(ApiProgram, ExternalWeights) {
  emit::ProgramBuilder b;
  b.external_constants();
  describe_add_relu(b, 5);
  const emit::FileBytes file = finish(b);
  const std::vector<uint8_t>& outside = b.external_bytes();
  const Opened without = open(file);
  EXPECT_NE(without.status, 0u);
  EXPECT_NE(without.message().find("segment"), std::string::npos) << without.message();
  alignas(64) uint8_t weights[256] = {};
  ASSERT_LE(outside.size(), sizeof weights);
  std::memcpy(weights, outside.data(), outside.size());
  mote_open_options o = make_options(MOTE_OPEN_VERIFY_DIGESTS);
  o.weights = weights;
  o.weights_size = outside.size();
  EXPECT_EQ(open(file, &o).status, 0u) << open(file, &o).message();
  std::memmove(weights + 4, weights, outside.size());
  o.weights = weights + 4;
  EXPECT_EQ(mote_status_code(open(file, &o).status), MOTE_INVALID_ARGUMENT);
  EXPECT_NE(open(file, &o).message().find("16-byte boundary"), std::string::npos) << open(file, &o).message();
  std::memmove(weights, weights + 4, outside.size());
  o.weights = weights;
  weights[0] ^= 1;
  EXPECT_EQ(mote_status_code(open(file, &o).status), MOTE_DIGEST);
  o.weights_size = outside.size() - 1;
  EXPECT_NE(open(file, &o).status, 0u);
  const TempPath path("weights.bin", {outside.data(), outside.size()});
  o = make_options();
  o.weights_path = path.c_str();
  EXPECT_EQ(open(file, &o).status, 0u);
  o.weights_path = "/no/such/weights";
  EXPECT_EQ(mote_status_code(open(file, &o).status), MOTE_IO);
}

TEST(ApiProgram, DigestsAreComparedOnRequest) {
  emit::FileBytes file = add_relu();
  {
    const Opened o = open(file);
    EXPECT_EQ(mote_program_verify_digests(o.program.get(), nullptr), 0u);
  }
  file.data()[file.size - 1] ^= 1;
  const Opened o = open(file);
  ASSERT_EQ(o.status, 0u);
  EXPECT_EQ(mote_status_code(mote_program_verify_digests(o.program.get(), o.error.get())), MOTE_DIGEST);
  EXPECT_NE(o.message(), "");
  const mote_open_options options = make_options(MOTE_OPEN_VERIFY_DIGESTS);
  EXPECT_EQ(mote_status_code(open(file, &options).status), MOTE_DIGEST);
}

TEST(ApiProgram, FailuresSayWhatAndWhere) {
  emit::FileBytes file = add_relu();
  mote_program* p = nullptr;
  const ErrorHandle e{mote_error_create()};
  EXPECT_EQ(mote_status_code(mote_program_open_file("/no/such/file", nullptr, &p, e.get())), MOTE_IO);
  EXPECT_STREQ(mote_error_message(e.get()), "cannot open the program: the file cannot be opened: No such file or directory");
  EXPECT_EQ(mote_status_code(mote_program_open_memory("not a program, at all", 16, nullptr, &p, e.get())) == MOTE_OK, false);
  EXPECT_EQ(mote_status_code(mote_program_open_memory(file.data(), 100, nullptr, &p, e.get())), MOTE_CORRUPT);
  EXPECT_EQ(mote_status_code(mote_program_open_memory(nullptr, 0, nullptr, &p, e.get())), MOTE_INVALID_ARGUMENT);
  mote_open_options unsized = {};
  EXPECT_EQ(mote_status_code(open(file, &unsized).status), MOTE_INVALID_ARGUMENT);
  EXPECT_EQ(p, nullptr);
}

TEST(ApiProgram, AReaderIsUsedForTheCallOnly) {
  const emit::FileBytes file = add_relu();
  struct Context {
    const emit::FileBytes* file;
    int reads;
    int fail_at;
  } context{&file, 0, -1};
  mote_reader r{};
  r.struct_size = sizeof r;
  r.context = &context;
  r.size = file.size;
  r.read = [](void* c, uint64_t offset, void* to, size_t size) {
    auto* x = static_cast<Context*>(c);
    if (x->reads++ == x->fail_at) return 1;
    std::memcpy(to, x->file->data() + offset, size);
    return 0;
  };
  mote_program* p = nullptr;
  ASSERT_EQ(mote_program_open_reader(&r, nullptr, &p, nullptr), 0u);
  mote_program_release(p);
  const int total = context.reads;
  EXPECT_GE(total, 3);
  for (int i = 0; i < total; ++i) {
    context = {&file, 0, i};
    EXPECT_EQ(mote_status_code(mote_program_open_reader(&r, nullptr, &p, nullptr)), MOTE_IO) << i;
  }
}

TEST(ApiProgram, LoadingIsTracedOnceItSucceeded) {
  emit::FileBytes file = add_relu();
  int loads = 0;
  mote_open_options o = make_options();
  o.trace = [](void* count, mote_trace_kind kind, uint32_t, uint32_t) { *static_cast<int*>(count) += kind == MOTE_TRACE_LOAD; };
  o.trace_context = &loads;
  EXPECT_EQ(open(file, &o).status, 0u);
  EXPECT_EQ(loads, 1);
  file.data()[8] ^= 0xff;  // the identifier
  EXPECT_NE(open(file, &o).status, 0u);
  EXPECT_EQ(loads, 1);
}

TEST(ApiProgram, NullHandlesAreRefusedNotFollowed) {
  uint32_t u = 0;
  mote_tensor_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(mote_program_method_count(nullptr), 0u);
  EXPECT_NE(mote_program_find_method(nullptr, "x", &u), 0u);
  EXPECT_NE(mote_program_input_info(nullptr, 0, 0, &info), 0u);
  EXPECT_NE(mote_program_verify_digests(nullptr, nullptr), 0u);
  EXPECT_NE(mote_program_certificate(nullptr, nullptr), 0u);
  EXPECT_STREQ(mote_error_message(nullptr), "");
  mote_program_release(nullptr);
  mote_error_destroy(nullptr);
  mote_registry_release(nullptr);
  mote_instance_destroy(nullptr);
  mote_cancel_destroy(nullptr);
}

TEST(ApiProgram, NamesAndVersions) {
  EXPECT_EQ(mote_api_version(), MOTE_API_VERSION);
  EXPECT_STRNE(mote_version(), "");
  EXPECT_STREQ(mote_code_name(MOTE_OUT_OF_MEMORY), "OutOfMemory");
  EXPECT_STREQ(mote_code_name(static_cast<mote_code>(200)), "Unknown");
  EXPECT_STREQ(mote_code_name(static_cast<mote_code>(256)), "Unknown");
  EXPECT_STREQ(mote_why_name(65536 + 200), "Unknown");
  EXPECT_EQ(mote_dtype_bits(static_cast<mote_dtype>(257)), 0u);
  EXPECT_STREQ(mote_why_name(200), "BankSize");
  EXPECT_STREQ(mote_dtype_name(MOTE_BOOL), "bool");
  EXPECT_EQ(mote_dtype_bits(MOTE_S4), 4u);
}

}  // namespace
}  // namespace mote
